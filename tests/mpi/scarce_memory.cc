// SPDX-License-Identifier: BSD-3-Clause
//
// A file of its own, so that the compiler does not see that `operator new` is malloc.
#include "mpi/scarce_memory.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace hesscope::test {

long allocation_that_fails = 0;

namespace {

bool is_lacking(std::size_t size) {
  constexpr std::size_t kLeast = 512;
  return size >= kLeast && allocation_that_fails > 0 && --allocation_that_fails == 0;
}

}  // namespace
}  // namespace hesscope::test

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names.
extern "C" void* __real_malloc(std::size_t size);
extern "C" void* __wrap_malloc(std::size_t size);
extern "C" void* __real_calloc(std::size_t count, std::size_t size);
extern "C" void* __wrap_calloc(std::size_t count, std::size_t size);

extern "C" void* __wrap_malloc(std::size_t size) {
  return hesscope::test::is_lacking(size) ? nullptr : __real_malloc(size);
}

// What compilers make of malloc and zeros.
extern "C" void* __wrap_calloc(std::size_t count, std::size_t size) {
  return hesscope::test::is_lacking(count * size) ? nullptr : __real_calloc(count, size);
}

void* operator new(std::size_t size) {
  void* const found = __wrap_malloc(size);
  if (found == nullptr) throw std::bad_alloc();
  return found;
}

// NOLINTEND(bugprone-reserved-identifier)

void operator delete(void* memory) noexcept { std::free(memory); }

void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
