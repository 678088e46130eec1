// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <hesscope/dataset/internal/dataset_bytes.h>

namespace hesscope::io {
namespace {

// put() writes what take() reads. A list consists of the number of its elements and the elements; a
// list of numbers is copied from memory. No list can claim more elements than its bytes hold, since
// each element takes at least one.

template <typename T>
concept Number = std::is_arithmetic_v<T> || std::is_enum_v<T>;

template <Number T>
void put(ByteWriter& out, T value) {
  out.add_bytes(&value, sizeof value);
}

template <Number T>
bool take(ByteReader& in, T& value) {
  return in.take_bytes(&value, sizeof value);
}

// An enumeration whose last value is `last`.
template <typename Enum>
bool take_one_of(ByteReader& in, Enum& value, Enum last) {
  return take(in, value) && value >= Enum{} && value <= last;
}

bool take(ByteReader& in, Status& status) {
  return take_one_of(in, status, static_cast<Status>(kStatusMeanings.size() - 1));
}

bool take(ByteReader& in, bool& value) {
  std::uint8_t byte = 0;
  const bool is_there = take(in, byte);
  value = byte == 1;
  return is_there && byte <= 1;
}

void put(ByteWriter& out, const std::string& text) { out.add(text); }

bool take(ByteReader& in, std::string& text) { return in.take(text); }

// Types that occur in lists and themselves contain lists.
void put(ByteWriter& out, const Attribute& attribute);
void put(ByteWriter& out, const Dimension& dimension);
void put(ByteWriter& out, const Variable& variable);
bool take(ByteReader& in, Attribute& attribute);
bool take(ByteReader& in, Dimension& dimension);
bool take(ByteReader& in, Variable& variable);

template <typename T>
void put(ByteWriter& out, const std::vector<T>& values) {
  out.add(std::uint64_t{values.size()});
  if constexpr (Number<T>) {
    out.add_bytes(values.data(), values.size() * sizeof(T));
  } else {
    for (const T& value : values) put(out, value);
  }
}

template <typename T>
bool take(ByteReader& in, std::vector<T>& values) {
  std::uint64_t count = 0;
  if (!in.take(count) || count > in.size() / (Number<T> ? sizeof(T) : 1)) return false;
  if constexpr (Number<T> && !std::is_enum_v<T>) {
    values.resize(count);
    return in.take_bytes(values.data(), count * sizeof(T));
  } else {
    for (std::uint64_t i = 0; i < count; ++i) {
      if (!take(in, values.emplace_back())) return false;
    }
    return true;
  }
}

// The index of the alternative, and its value.
template <typename... T>
void put(ByteWriter& out, const std::variant<T...>& value) {
  put(out, static_cast<std::uint8_t>(value.index()));
  std::visit([&](const auto& each) { put(out, each); }, value);
}

template <typename... T>
bool take(ByteReader& in, std::variant<T...>& value) {
  std::uint8_t which = 0;
  if (!take(in, which)) return false;
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return ((which == I && take(in, value.template emplace<I>())) || ...);
  }
  (std::index_sequence_for<T...>());
}

// Writes or reads the members of an object, one after another.
template <typename... T>
void put_all(ByteWriter& out, const T&... members) {
  (put(out, members), ...);
}

template <typename... T>
bool take_all(ByteReader& in, T&... members) {
  return (take(in, members) && ...);
}

void put(ByteWriter& out, const Attribute& attribute) {
  put_all(out, attribute.name, attribute.value);
}

bool take(ByteReader& in, Attribute& attribute) {
  return take_all(in, attribute.name, attribute.value);
}

void put(ByteWriter& out, const Dimension& d) {
  put_all(out, d.name, d.size, d.labels, d.numbers, d.long_name, d.definition, d.has_coordinate);
}

bool take(ByteReader& in, Dimension& d) {
  return take_all(in,
                  d.name,
                  d.size,
                  d.labels,
                  d.numbers,
                  d.long_name,
                  d.definition,
                  d.has_coordinate) &&
         d.size >= 0;
}

void put(ByteWriter& out, const Variable& v) {
  put_all(out, v.name, v.type, v.dimensions, v.long_name, v.definition);
  put_all(out, v.references, v.flag_meanings, v.units);
  put_all(out, v.headline, v.values, v.statuses, v.is_proved);
  put_all(out, v.shape, v.coordinates, v.ancillary_variables);
}

bool take(ByteReader& in, Variable& v) {
  return take(in, v.name) && take_one_of(in, v.type, VariableType::kOther) &&
         take_all(in, v.dimensions, v.long_name, v.definition) &&
         take_all(in, v.references, v.flag_meanings, v.units) &&
         take_all(in, v.headline, v.values, v.statuses, v.is_proved) &&
         take_all(in, v.shape, v.coordinates, v.ancillary_variables);
}

}  // namespace

void put(ByteWriter& out, const Group& group) {
  put_all(out, group.name, group.attributes, group.dimensions, group.variables);
}

bool take(ByteReader& in, Group& group) {
  return take_all(in, group.name, group.attributes, group.dimensions, group.variables);
}

std::string to_bytes(const Group& group) {
  ByteWriter out;
  put(out, group);
  return out.take();
}

std::optional<Group> group_from_bytes(std::string_view bytes) {
  ByteReader in(bytes);
  Group group;
  if (!take(in, group) || !in.is_at_end()) return std::nullopt;
  return group;
}

}  // namespace hesscope::io
