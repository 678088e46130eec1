// SPDX-License-Identifier: BSD-3-Clause
#include <bit>
#include <cstdint>
#include <utility>
#include <variant>

#include <hesscope/dataset/internal/result_listing.h>
#include <hesscope/storage/internal/byte_record.h>

namespace hesscope::io {
namespace {

// put() writes what take() reads; a list is the number of its elements and they. No list from
// outside can claim more than its bytes hold, since each of its elements takes some.

void put(ByteWriter& out, double value) { out.add(std::bit_cast<std::uint64_t>(value)); }

void put(ByteWriter& out, std::int64_t value) { out.add(static_cast<std::uint64_t>(value)); }

void put(ByteWriter& out, std::int8_t value) { put(out, std::int64_t{value}); }

void put(ByteWriter& out, std::uint64_t value) { out.add(value); }

void put(ByteWriter& out, const std::string& text) { out.add(text); }

void put(ByteWriter& out, const Attribute& attribute);
void put(ByteWriter& out, const ResultDimension& dimension);
void put(ByteWriter& out, const ResultVariable& variable);
void put(ByteWriter& out, const ResultGroup& group);
void put(ByteWriter& out, const ListedText& text);

template <typename T>
void put(ByteWriter& out, const std::vector<T>& values) {
  out.add(std::uint64_t{values.size()});
  for (const T& value : values) put(out, value);
}

bool take(ByteReader& in, std::uint64_t& value) { return in.take(value); }

bool take(ByteReader& in, std::string& text) { return in.take(text); }

bool take(ByteReader& in, double& value) {
  std::uint64_t bits = 0;
  const bool is_there = in.take(bits);
  value = std::bit_cast<double>(bits);
  return is_there;
}

template <typename Integer>
bool take_integer(ByteReader& in, Integer& value) {
  std::uint64_t bits = 0;
  const bool is_there = in.take(bits);
  value = static_cast<Integer>(bits);
  return is_there;
}

bool take(ByteReader& in, std::int64_t& value) { return take_integer(in, value); }

bool take(ByteReader& in, std::int8_t& value) { return take_integer(in, value); }

bool take(ByteReader& in, Attribute& attribute);
bool take(ByteReader& in, ResultDimension& dimension);
bool take(ByteReader& in, ResultVariable& variable);
bool take(ByteReader& in, ResultGroup& group);
bool take(ByteReader& in, ListedText& text);

template <typename T>
bool take(ByteReader& in, std::vector<T>& values) {
  std::uint64_t count = 0;
  if (!in.take(count)) return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    T value{};
    if (!take(in, value)) return false;
    values.push_back(std::move(value));
  }
  return true;
}

void put(ByteWriter& out, const Attribute& attribute) {
  put(out, attribute.name);
  out.add(std::uint64_t{attribute.value.index()});
  std::visit([&](const auto& value) { put(out, value); }, attribute.value);
}

template <std::size_t... I>
bool take_alternative(ByteReader& in,
                      std::uint64_t which,
                      AttributeValue& value,
                      std::index_sequence<I...> /*alternatives*/) {
  return ((which == I && take(in, value.emplace<I>())) || ...);
}

bool take(ByteReader& in, Attribute& attribute) {
  std::uint64_t which = 0;
  return take(in, attribute.name) && take(in, which) &&
         take_alternative(in,
                          which,
                          attribute.value,
                          std::make_index_sequence<std::variant_size_v<AttributeValue>>());
}

void put(ByteWriter& out, const ResultDimension& dimension) {
  put(out, dimension.name);
  out.add(dimension.size);
  out.add(std::uint64_t{dimension.has_coordinate});
}

bool take(ByteReader& in, ResultDimension& dimension) {
  std::uint64_t flag = 0;
  const bool is_there = take(in, dimension.name) && take(in, dimension.size) && take(in, flag);
  dimension.has_coordinate = flag != 0;
  return is_there && flag <= 1;
}

// The type as its number plus 1, 0 for none.
void put(ByteWriter& out, const ResultVariable& variable) {
  put(out, variable.name);
  out.add(variable.type ? static_cast<std::uint64_t>(*variable.type) + 1 : 0);
  put(out, variable.dimensions);
  put(out, variable.shape);
  put(out, variable.long_name);
  put(out, variable.units);
  put(out, variable.definition);
  put(out, variable.flag_meanings);
  put(out, variable.coordinates);
  put(out, variable.ancillary_variables);
}

bool take(ByteReader& in, ResultVariable& variable) {
  std::uint64_t type = 0;
  if (!take(in, variable.name) || !take(in, type) ||
      type > static_cast<std::uint64_t>(VariableType::kText) + 1) {
    return false;
  }
  if (type != 0) variable.type = static_cast<VariableType>(type - 1);
  return take(in, variable.dimensions) && take(in, variable.shape) &&
         take(in, variable.long_name) && take(in, variable.units) &&
         take(in, variable.definition) && take(in, variable.flag_meanings) &&
         take(in, variable.coordinates) && take(in, variable.ancillary_variables) &&
         variable.dimensions.size() == variable.shape.size();
}

void put(ByteWriter& out, const ResultGroup& group) {
  put(out, group.name);
  put(out, group.attributes);
  put(out, group.dimensions);
  put(out, group.variables);
}

bool take(ByteReader& in, ResultGroup& group) {
  return take(in, group.name) && take(in, group.attributes) && take(in, group.dimensions) &&
         take(in, group.variables);
}

void put(ByteWriter& out, const ListedText& text) {
  put(out, text.values);
  put(out, text.error);
}

bool take(ByteReader& in, ListedText& text) {
  return take(in, text.values) && take(in, text.error);
}

std::size_t num_variables(const std::vector<ResultGroup>& groups) {
  std::size_t count = 0;
  for (const ResultGroup& group : groups) count += group.variables.size();
  return count;
}

}  // namespace

std::string encode(const ResultListing& listing) {
  ByteWriter out;
  put(out, listing.groups);
  put(out, listing.texts);
  return out.take();
}

std::optional<ResultListing> decode_result_listing(std::string_view bytes) {
  ByteReader in(bytes);
  ResultListing listing;
  if (!take(in, listing.groups) || !take(in, listing.texts) || !in.is_at_end() ||
      listing.texts.size() != num_variables(listing.groups)) {
    return std::nullopt;
  }
  return listing;
}

}  // namespace hesscope::io
