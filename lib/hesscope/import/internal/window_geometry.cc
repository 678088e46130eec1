// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/import/internal/window_geometry.h>

namespace hesscope::onnx {
namespace {

void place_same(AutoPad mode, SlidingAxis& axis) {
  axis.places = detail::ceil_div(axis.length, axis.stride);
  const std::int64_t total =
      std::max<std::int64_t>(0, (axis.places - 1) * axis.stride + axis.reach() - axis.length);
  const std::int64_t less = total / 2;
  axis.pad_begin = mode == AutoPad::kSameUpper ? less : total - less;
  axis.pad_end = total - axis.pad_begin;
}

}  // namespace

AutoPad auto_pad_of(const OperatorCall& call) {
  const std::string name = call.text("auto_pad", "NOTSET");
  if (name == "NOTSET" || name.empty()) return AutoPad::kNone;
  const std::vector<std::int64_t> pads = call.integers("pads");
  if (std::ranges::any_of(pads, [](std::int64_t pad) { return pad != 0; })) {
    call.refuse("has both pads and auto_pad '{}'", name);
  }
  if (name == "SAME_UPPER") return AutoPad::kSameUpper;
  if (name == "SAME_LOWER") return AutoPad::kSameLower;
  if (name == "VALID") return AutoPad::kValid;
  call.refuse("auto_pad '{}' is none of NOTSET, SAME_UPPER, SAME_LOWER, VALID", name);
}

std::vector<std::int64_t> spatial_list(const OperatorCall& call,
                                       const std::string& name,
                                       const std::string& what,
                                       std::size_t count,
                                       std::int64_t fallback,
                                       std::int64_t least) {
  if (!call.has_attribute(name)) return std::vector<std::int64_t>(count, fallback);
  std::vector<std::int64_t> list = call.integers(name);
  if (list.size() != count) {
    call.refuse("'{}' has {} numbers; there must be {}", name, list.size(), count);
  }
  for (const std::int64_t number : list) {
    if (number < least || number > kLargestLength) {
      call.refuse("{} {} is not from {} to {}", what, number, least, kLargestLength);
    }
  }
  return list;
}

void require_spatial(const OperatorCall& call, const Value& x, const std::string& what) {
  if (x.rank() < 3) call.refuse("takes a tensor (N, C, D1, ...), got {}", text(x.axes));
  for (int axis = 1; axis < x.rank(); ++axis) call.require_no_batch(x, axis, what);
}

std::vector<SlidingAxis> sliding_axes(const OperatorCall& call,
                                      const Value& x,
                                      std::span<const std::int64_t> kernel) {
  const std::size_t count = x.axes.size() - 2;
  const auto strides = spatial_list(call, "strides", "stride", count, 1, 1);
  const auto dilations = spatial_list(call, "dilations", "dilation", count, 1, 1);
  const auto pads = spatial_list(call, "pads", "pad", 2 * count, 0, 0);
  std::vector<SlidingAxis> axes;
  for (std::size_t i = 0; i < count; ++i) {
    if (kernel[i] > kLargestLength) call.refuse("a kernel of {} is too large", kernel[i]);
    axes.push_back({.length = x.axes[i + 2].size,
                    .kernel = kernel[i],
                    .stride = strides[i],
                    .dilation = dilations[i],
                    .pad_begin = pads[i],
                    .pad_end = pads[i + count]});
  }
  return axes;
}

void place_windows(const OperatorCall& call, bool ceil_mode, std::vector<SlidingAxis>& axes) {
  const AutoPad mode = auto_pad_of(call);
  for (SlidingAxis& axis : axes) {
    if (mode == AutoPad::kSameUpper || mode == AutoPad::kSameLower) {
      place_same(mode, axis);
      continue;
    }
    const std::int64_t room = axis.length + axis.pad_begin + axis.pad_end - axis.reach();
    // Rounding up adds a place for a kernel that begins within the tensor and ends beyond it.
    const bool is_rounded_up = ceil_mode && room > -axis.stride;
    if (room < 0 && !is_rounded_up) {
      call.refuse("a kernel of {} with dilation {} does not fit a length of {} with pads {} and {}",
                  axis.kernel,
                  axis.dilation,
                  axis.length,
                  axis.pad_begin,
                  axis.pad_end);
    }
    axis.places = (ceil_mode ? detail::ceil_div(room, axis.stride) : room / axis.stride) + 1;
    if (ceil_mode && (axis.places - 1) * axis.stride >= axis.length + axis.pad_begin) --axis.places;
  }
}

std::int64_t count_of(std::span<const SlidingAxis> axes, std::int64_t SlidingAxis::*member) {
  std::int64_t product = 1;
  for (const SlidingAxis& axis : axes) product *= axis.*member;
  return product;
}

Movement window_movement(const OperatorCall& call,
                         const Value& x,
                         std::span<const SlidingAxis> axes,
                         WindowOrder order) {
  Axes windows = {x.axes[0], x.axes[1]};
  const auto append = [&](std::int64_t SlidingAxis::*member) {
    for (const SlidingAxis& axis : axes) windows.push_back({.size = axis.*member});
  };
  const bool entries_first = order == WindowOrder::kEntriesFirst;
  append(entries_first ? &SlidingAxis::kernel : &SlidingAxis::places);
  append(entries_first ? &SlidingAxis::places : &SlidingAxis::kernel);
  const std::size_t entries = entries_first ? 2 : 2 + axes.size();
  const std::size_t places = entries_first ? 2 + axes.size() : 2;
  const std::vector<std::int64_t> strides = strides_of(x.axes);
  std::vector<std::int32_t> table = table_of(call, windows, [&](auto position) -> std::int64_t {
    std::int64_t from = position[0] * strides[0] + position[1] * strides[1];
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const std::int64_t at = axes[i].position(position[places + i], position[entries + i]);
      if (at < 0 || at >= axes[i].length) return -1;
      from += at * strides[i + 2];
    }
    return from;
  });
  return {.axes = std::move(windows), .table = std::move(table)};
}

}  // namespace hesscope::onnx
