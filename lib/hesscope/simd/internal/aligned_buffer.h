// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include <hesscope/core/huge_pages.h>

namespace hesscope::detail {

/// Doubles aligned for any vector register, not initialised; large ones on huge pages.
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

/// Scratch of one size for tasks: as many buffers as are ever in use at once.
class BufferPool {
 public:
  explicit BufferPool(std::size_t size) : size_(size) {}

  /// Calls use(double*) with a buffer that is its own until it returns.
  template <typename F>
  void with_buffer(F use) {
    AlignedBuffer buffer = take();
    use(buffer.data());
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(buffer));
  }

 private:
  AlignedBuffer take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        AlignedBuffer buffer = std::move(idle_.back());
        idle_.pop_back();
        return buffer;
      }
    }
    return AlignedBuffer(size_);
  }

  std::size_t size_;
  std::mutex mutex_;
  std::vector<AlignedBuffer> idle_;
};

}  // namespace hesscope::detail
