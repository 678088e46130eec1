// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include <unistd.h>

namespace hesscope::io {

/// Owns a file descriptor, or none: closes it at its end.
class Descriptor {
 public:
  Descriptor() = default;

  /// @param number  less than 0: none.
  explicit Descriptor(int number) : number_(number) {}

  ~Descriptor() {
    if (is_open()) ::close(number_);
  }

  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  bool is_open() const { return number_ >= 0; }

  int number() const { return number_; }

 private:
  int number_ = -1;
};

}  // namespace hesscope::io
