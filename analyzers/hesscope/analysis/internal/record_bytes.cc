// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <hesscope/analysis/internal/record_bytes.h>

namespace hesscope {
namespace {

// Entries: name, kind, content; then the names of what is unproved. Counts are 64 bits.
enum class Kind : std::uint8_t { kReal, kCount, kFlag };

template <typename T>
void put(std::string& bytes, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

void put_text(std::string& bytes, const std::string& text) {
  put(bytes, static_cast<std::uint64_t>(text.size()));
  bytes += text;
}

// Takes values from the front; once there are too few, everything taken is zero and ok() is false.
class ByteSource {
 public:
  explicit ByteSource(std::string_view bytes) : rest_(bytes) {}

  template <typename T>
  T take() {
    T value{};
    if (const std::string_view part = take_bytes(sizeof(T)); part.size() == sizeof(T)) {
      std::memcpy(&value, part.data(), sizeof(T));
    }
    return value;
  }

  std::string take_text() { return std::string(take_bytes(take<std::uint64_t>())); }

  std::vector<double> take_doubles() {
    const auto count = take<std::uint64_t>();
    if (count > rest_.size() / sizeof(double)) {
      ok_ = false;
      return {};
    }
    std::vector<double> values(count);
    const std::string_view part = take_bytes(count * sizeof(double));
    if (count > 0) std::memcpy(values.data(), part.data(), part.size());
    return values;
  }

  bool ok() const { return ok_; }

  bool is_empty() const { return rest_.empty(); }

 private:
  std::string_view take_bytes(std::uint64_t count) {
    if (count > rest_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view part = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return part;
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace

std::string to_bytes(const Record& record) {
  std::string bytes;
  put(bytes, static_cast<std::uint64_t>(record.entries().size()));
  for (const auto& [name, entry] : record.entries()) {
    put_text(bytes, name);
    if (const auto* real = std::get_if<Record::Real>(&entry)) {
      put(bytes, Kind::kReal);
      put(bytes, real->status);
      put(bytes, static_cast<std::uint64_t>(real->values.size()));
      bytes.append(reinterpret_cast<const char*>(real->values.data()),
                   real->values.size() * sizeof(double));
    } else if (const auto* count = std::get_if<std::int64_t>(&entry)) {
      put(bytes, Kind::kCount);
      put(bytes, *count);
    } else if (const auto* flag = std::get_if<std::int8_t>(&entry)) {
      put(bytes, Kind::kFlag);
      put(bytes, *flag);
    }
  }
  put(bytes, static_cast<std::uint64_t>(record.unproved().size()));
  for (const std::string& name : record.unproved()) put_text(bytes, name);
  return bytes;
}

std::optional<Record> record_from_bytes(std::string_view bytes) {
  ByteSource source(bytes);
  Record record;
  for (auto count = source.take<std::uint64_t>(); count > 0 && source.ok(); --count) {
    const std::string name = source.take_text();
    switch (source.take<Kind>()) {
      case Kind::kReal: {
        const auto status = source.take<Status>();
        record.set_entry(name, Record::Real{status, source.take_doubles()});
        break;
      }
      case Kind::kCount:
        record.set_entry(name, source.take<std::int64_t>());
        break;
      case Kind::kFlag:
        record.set_entry(name, source.take<std::int8_t>());
        break;
      default:
        return std::nullopt;
    }
  }
  for (auto count = source.take<std::uint64_t>(); count > 0 && source.ok(); --count) {
    record.set_unproved(source.take_text());
  }
  if (!source.ok() || !source.is_empty()) return std::nullopt;
  return record;
}

}  // namespace hesscope
