// SPDX-License-Identifier: BSD-3-Clause
//
// Divides a tensor into parts of bounded size.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <hdf5.h>

namespace hesscope::io {

/// Cuts a tensor into hyperslabs that follow each other in row-major order, each of at most
/// max_elements: a range of one axis with everything along the axes behind it, at one index of each
/// axis before it.
class Slabs {
 public:
  Slabs(std::span<const std::int64_t> shape, std::size_t max_elements)
      : shape_(shape.begin(), shape.end()), start_(shape.size()), extents_(shape.size(), 1) {
    while (axis_ < shape_.size()) {
      inner_ = 1;
      for (std::size_t i = axis_ + 1; i < shape_.size(); ++i) inner_ *= shape_[i];
      if (inner_ <= max_elements) break;
      ++axis_;
    }
    for (std::size_t i = axis_ + 1; i < shape_.size(); ++i) extents_[i] = shape_[i];
    if (inner_ > 0) most_ = max_elements / inner_;
  }

  std::span<const hsize_t> start() const { return start_; }

  std::span<const hsize_t> extents() const { return extents_; }

  /// Advances to the next slab, or initially to the first. @returns its number of elements.
  std::size_t next() {
    if (shape_.empty()) return 1;
    if (!is_first_) advance();
    is_first_ = false;
    extents_[axis_] = std::min<hsize_t>(most_, shape_[axis_] - start_[axis_]);
    return static_cast<std::size_t>(extents_[axis_] * inner_);
  }

 private:
  void advance() {
    start_[axis_] += extents_[axis_];
    for (std::size_t i = axis_; i > 0 && start_[i] == shape_[i]; --i) {
      start_[i] = 0;
      ++start_[i - 1];
    }
  }

  std::vector<hsize_t> shape_;
  std::vector<hsize_t> start_;
  std::vector<hsize_t> extents_;
  std::size_t axis_ = 0;
  hsize_t inner_ = 1;  ///< elements of the axes behind axis_
  hsize_t most_ = 0;   ///< of axis_ in one slab
  bool is_first_ = true;
};

}  // namespace hesscope::io
