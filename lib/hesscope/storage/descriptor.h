// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace hesscope::io {

/// Owns a file descriptor, or none; the destructor closes it.
class Descriptor {
 public:
  Descriptor() = default;

  /// @param number  less than 0: none.
  explicit Descriptor(int number) : number_(number) {}

  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;

  bool is_open() const { return number_ >= 0; }

  int number() const { return number_; }

 private:
  int number_ = -1;
};

}  // namespace hesscope::io
