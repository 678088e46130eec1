// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include <unistd.h>

#include <hesscope/storage/descriptor.h>

namespace hesscope::io {

Descriptor::~Descriptor() {
  if (is_open()) ::close(number_);
}

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

}  // namespace hesscope::io
