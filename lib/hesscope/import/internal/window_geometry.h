// SPDX-License-Identifier: BSD-3-Clause
//
// Windows that slide over the spatial axes of a tensor (B, C, D1, ..., Dd): where they stand, and
// where their entries come from. Convolutions and pools share it.
//
// Axis 0 may be anything, as each of its entries is treated alone: the batch, the batch with other
// factors, or a length without it. The axes behind it must be free of the batch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/operator_call.h>

namespace hesscope::onnx {

/// A window along one spatial axis.
struct SlidingAxis {
  std::int64_t length = 1;  ///< of the tensor under the window
  std::int64_t kernel = 1;  ///< entries of the window
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad_begin = 0;
  std::int64_t pad_end = 0;
  std::int64_t places = 1;  ///< where the window stands

  /// Steps from the window's first entry to one past its last.
  std::int64_t reach() const { return dilation * (kernel - 1) + 1; }

  /// Where entry k of the window at a place lies; in the padding outside of [0, length).
  std::int64_t position(std::int64_t place, std::int64_t k) const {
    return place * stride + k * dilation - pad_begin;
  }
};

enum class AutoPad { kNone, kSameUpper, kSameLower, kValid };

/// The attribute `auto_pad`. Refuses unknown ones, and pads beside one.
AutoPad auto_pad_of(const OperatorCall& call);

/// A list of one number for each spatial axis; `fallback` for all if the node has none. Refuses
/// other lengths, and numbers out of [least, 10^7]. `what` ("stride") is for messages.
std::vector<std::int64_t> spatial_list(const OperatorCall& call,
                                       const std::string& name,
                                       const std::string& what,
                                       std::size_t count,
                                       std::int64_t fallback,
                                       std::int64_t least);

/// Refuses tensors that are not (B, C, D1, ...), and the batch behind axis 0.
void require_spatial(const OperatorCall& call, const Value& x, const std::string& what);

/// Kernel, strides, dilations and explicit pads along the axes D1, ... of x; no places yet.
std::vector<SlidingAxis> sliding_axes(const OperatorCall& call,
                                      const Value& x,
                                      std::span<const std::int64_t> kernel);

/// Finds the places, and the pads of SAME_UPPER and SAME_LOWER. With `ceil_mode` a last window may
/// stand half outside, as long as it begins within the tensor or the padding in front of it.
void place_windows(const OperatorCall& call, bool ceil_mode, std::vector<SlidingAxis>& axes);

/// The product over the axes of one of their numbers: &SlidingAxis::kernel, &SlidingAxis::places.
std::int64_t count_of(std::span<const SlidingAxis> axes, std::int64_t SlidingAxis::*member);

enum class WindowOrder {
  kEntriesFirst,  ///< (B, C, k1, ..., kd, p1, ..., pd): patches as columns
  kPlacesFirst,   ///< (B, C, p1, ..., pd, k1, ..., kd): windows as rows
};

/// Where the entries of all windows come from, -1 in the padding.
Movement window_movement(const OperatorCall& call,
                         const Value& x,
                         std::span<const SlidingAxis> axes,
                         WindowOrder order);

}  // namespace hesscope::onnx
