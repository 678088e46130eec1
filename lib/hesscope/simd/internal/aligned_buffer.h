// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include <hesscope/core/huge_pages.h>
#include <hesscope/core/internal/pool.h>

namespace hesscope::detail {

/// Doubles aligned for any vector register, uninitialised; large buffers are on huge pages.
class AlignedBuffer {
 public:
  explicit AlignedBuffer(std::size_t size)
      : data_(static_cast<double*>(::operator new(size * sizeof(double), kAlignment))) {
    advise_huge_pages(data_.get(), static_cast<Eigen::Index>(size));
  }

  double* data() const { return data_.get(); }

 private:
  static constexpr std::align_val_t kAlignment{64};

  struct Delete {
    void operator()(double* data) const { ::operator delete(data, kAlignment); }
  };

  std::unique_ptr<double, Delete> data_;
};

/// Scratch of one size for tasks.
class BufferPool {
 public:
  explicit BufferPool(std::size_t size) : pool_([size] { return AlignedBuffer(size); }) {}

  /// Calls use(double*) with a buffer that is exclusively its own until it returns.
  template <typename F>
  void with_buffer(F use) {
    pool_.with([&](AlignedBuffer& buffer) { use(buffer.data()); });
  }

 private:
  Pool<AlignedBuffer> pool_;
};

}  // namespace hesscope::detail
