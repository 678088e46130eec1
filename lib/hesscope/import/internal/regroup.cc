// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/ranges.h>

#include <hesscope/import/internal/integer_arithmetic.h>
#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/regroup.h>

namespace hesscope::onnx {
namespace {

std::string text(const Integers& shape) {
  std::vector<std::string> parts;
  for (std::size_t e = 0; e < shape.base.size(); ++e) {
    const std::int64_t slope = shape.slope(e);
    parts.push_back(slope == 0           ? fmt::format("{}", shape.base[e])
                    : shape.base[e] != 0 ? fmt::format("{} + {} N", shape.base[e], slope)
                    : slope == 1         ? std::string("N")
                                         : fmt::format("{} N", slope));
  }
  return fmt::format("({})", fmt::join(parts, ", "));
}

[[noreturn]] void refuse_shape(const OperatorCall& call,
                               const Value& value,
                               const Integers& shape) {
  const bool has_batch = batch_axis(value.axes) >= 0;
  const bool is_constant = !shape.base.empty() && shape.slope(0) == 0 && shape.base[0] > 0;
  call.refuse("{} cannot become {}{}{}",
              onnx::text(value.axes),
              text(shape),
              has_batch ? ": the samples of the batch (N) would be mixed, or cut" : "",
              has_batch && is_constant
                  ? fmt::format("; if the {} was the number of samples in the example that was "
                                "exported, write x.size(0) or -1 instead of it",
                                shape.base[0])
                  : "");
}

// A length of the new shape: `size` for one sample, times N if it is a multiple of it.
struct Length {
  std::int64_t size = 1;
  bool has_batch = false;
};

// Replaces 0 and -1 by the lengths for which they stand.
std::vector<Length> lengths(const OperatorCall& call,
                            const Value& value,
                            const Integers& shape,
                            bool zero_is_zero) {
  std::vector<Length> result;
  std::size_t open = shape.base.size();  // position of -1
  std::int64_t product = 1;
  bool has_batch = false;
  for (std::size_t e = 0; e < shape.base.size(); ++e) {
    Length length{shape.base[e], false};
    if (shape.slope(e) != 0) {
      if (shape.base[e] != 0 || shape.slope(e) < 0) refuse_shape(call, value, shape);
      length = {shape.slope(e), true};
    } else if (shape.base[e] == 0 && !zero_is_zero) {
      if (e >= value.axes.size()) call.refuse("has a 0 at {} for an axis that is not there", e);
      length = {value.axes[e].size, value.axes[e].has_batch};
    } else if (shape.base[e] == -1) {
      if (open < shape.base.size()) call.refuse("has two unknown lengths (-1)");
      open = e;
      result.push_back({});
      continue;
    }
    if (length.size < 0 || (length.has_batch && has_batch)) refuse_shape(call, value, shape);
    has_batch = has_batch || length.has_batch;
    product = checked_product(call, product, length.size);
    result.push_back(length);
  }
  if (open < shape.base.size()) {
    if (product == 0 || value.size() % product != 0) refuse_shape(call, value, shape);
    result[open] = {value.size() / product, batch_axis(value.axes) >= 0 && !has_batch};
  } else if (product != value.size()) {
    refuse_shape(call, value, shape);
  }
  return result;
}

}  // namespace

Value reshaped(const OperatorCall& call,
               const Value& value,
               const Integers& shape,
               bool zero_is_zero) {
  const std::vector<Length> target = lengths(call, value, shape, zero_is_zero);
  const int batch = batch_axis(value.axes);
  std::int64_t in_front = 1;  // factor before the batch
  for (int i = 0; i < batch; ++i) in_front *= value.axes[static_cast<std::size_t>(i)].size;
  if (batch >= 0) in_front *= value.axes[static_cast<std::size_t>(batch)].before;
  Axes axes;
  bool is_found = false;
  std::int64_t product = 1;
  for (const Length& length : target) {
    Axis axis{.size = length.size};
    if (length.has_batch) {
      const bool fits = batch >= 0 && product != 0 && in_front != 0 && in_front % product == 0;
      if (!fits) refuse_shape(call, value, shape);
      axis = {.size = length.size, .has_batch = true, .before = in_front / product};
      if (axis.size % axis.before != 0) refuse_shape(call, value, shape);
      is_found = true;
    }
    product *= length.size;
    axes.push_back(axis);
  }
  if (is_found != (batch >= 0)) refuse_shape(call, value, shape);
  return with_axes(call, value, std::move(axes));
}

Axes axes_of(const OperatorCall& call, const Integers& shape) {
  Axes axes;
  for (std::size_t e = 0; e < shape.base.size(); ++e) {
    const std::int64_t slope = shape.slope(e);
    if (slope == 0) {
      if (shape.base[e] < 1) call.refuse("makes a tensor of shape {}", text(shape));
      axes.push_back({.size = shape.base[e]});
      continue;
    }
    if (shape.base[e] != 0 || slope < 0 || batch_axis(axes) >= 0) {
      call.refuse("makes a tensor of shape {}: samples of the batch (N) would meet", text(shape));
    }
    axes.push_back({.size = slope, .has_batch = true});
  }
  return axes;
}

}  // namespace hesscope::onnx
