// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/memory_file.h"

#include <cerrno>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace hesscope::fuzz {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

MemoryFile::MemoryFile(int descriptor) : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
  if (descriptor_ < 0) fail("memfd_create");
  if (descriptor >= 0) {
    const int moved = ::dup3(descriptor_, descriptor, O_CLOEXEC);
    ::close(descriptor_);
    descriptor_ = moved;
    if (descriptor_ < 0) fail("dup3");
  }
  path_ = "/proc/self/fd/" + std::to_string(descriptor_);
}

MemoryFile::~MemoryFile() { ::close(descriptor_); }

void MemoryFile::assign(Input content) {
  // Written first and cut then: pages that are there already are used again.
  const ssize_t written = ::pwrite(descriptor_, content.data(), content.size(), 0);
  if (written < 0 || static_cast<std::size_t>(written) != content.size()) fail("pwrite");
  if (::ftruncate(descriptor_, static_cast<off_t>(content.size())) != 0) fail("ftruncate");
}

}  // namespace hesscope::fuzz
