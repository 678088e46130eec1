// SPDX-License-Identifier: BSD-3-Clause
//
// A sequence of numbers and texts as bytes, for communication between processes on one machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace hesscope::io {

/// Numbers take 8 bytes in this machine's byte order; a text is preceded by its number of bytes.
class ByteWriter {
 public:
  void add(std::uint64_t number) { add_bytes(&number, sizeof number); }

  void add_bytes(const void* first, std::size_t size) {
    if (size > 0) bytes_.append(static_cast<const char*>(first), size);
  }

  void add(std::string_view text) {
    add(std::uint64_t{text.size()});
    bytes_ += text;
  }

  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads arbitrary bytes. If a value cannot be read, the position does not change.
class ByteReader {
 public:
  explicit ByteReader(std::string_view rest) : rest_(rest) {}

  bool is_at_end() const { return rest_.empty(); }

  /// Number of remaining bytes.
  std::size_t size() const { return rest_.size(); }

  bool take(std::uint64_t& number) { return take_bytes(&number, sizeof number); }

  bool take_bytes(void* first, std::size_t size) {
    if (rest_.size() < size) return false;
    if (size > 0) std::memcpy(first, rest_.data(), size);
    rest_.remove_prefix(size);
    return true;
  }

  bool take(std::string& text) {
    const std::string_view before = rest_;
    std::uint64_t size = 0;
    if (!take(size) || rest_.size() < size) {
      rest_ = before;
      return false;
    }
    text = rest_.substr(0, static_cast<std::size_t>(size));
    rest_.remove_prefix(static_cast<std::size_t>(size));
    return true;
  }

 private:
  std::string_view rest_;
};

}  // namespace hesscope::io
