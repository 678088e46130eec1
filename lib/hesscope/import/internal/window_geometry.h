// SPDX-License-Identifier: BSD-3-Clause
//
// Windows that slide over the spatial axes of a tensor (B, C, D1, ..., Dd): their positions, and
// the sources of their entries. Shared by convolutions and pools.
//
// Axis 0 may be anything, since its entries are treated independently: the batch, the batch with
// other factors, or a length without it. The axes behind it must be free of the batch.
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
  std::int64_t places = 1;  ///< number of positions of the window

  /// Steps from the window's first entry to one past its last.
  std::int64_t reach() const { return dilation * (kernel - 1) + 1; }

  /// Where entry k of the window at a place is located; in the padding if outside [0, length).
  std::int64_t position(std::int64_t place, std::int64_t k) const {
    return place * stride + k * dilation - pad_begin;
  }
};

enum class AutoPad { kNone, kSameUpper, kSameLower, kValid };

/// The attribute `auto_pad`. Refuses unknown values, and explicit pads in addition to one.
AutoPad auto_pad_of(const OperatorCall& call);

/// A list with one number per spatial axis; `fallback` for all if the node has none. Refuses other
/// lengths, and numbers outside [least, 10^7]. `what` ("stride") is for messages.
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

/// Determines the places, and the pads of SAME_UPPER and SAME_LOWER. With `ceil_mode` a last window
/// may extend beyond the end, as long as it begins within the tensor or the padding in front of it.
void place_windows(const OperatorCall& call, bool ceil_mode, std::vector<SlidingAxis>& axes);

/// The product over the axes of one of their members: &SlidingAxis::kernel, &SlidingAxis::places.
std::int64_t count_of(std::span<const SlidingAxis> axes, std::int64_t SlidingAxis::*member);

enum class WindowOrder {
  kEntriesFirst,  ///< (B, C, k1, ..., kd, p1, ..., pd): patches as columns
  kPlacesFirst,   ///< (B, C, p1, ..., pd, k1, ..., kd): windows as rows
};

/// The sources of the entries of all windows; -1 in the padding.
Movement window_movement(const OperatorCall& call,
                         const Value& x,
                         std::span<const SlidingAxis> axes,
                         WindowOrder order);

}  // namespace hesscope::onnx
