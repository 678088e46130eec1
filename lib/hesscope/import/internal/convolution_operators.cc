// SPDX-License-Identifier: BSD-3-Clause
//
// Conv and ConvTranspose as matrix products, and Col2Im.
//
//   Conv           patches of x as columns, (B, C k1 ... kd, P); a group's weights
//                  (O/g, C/g k1 ... kd) times its patches give (O/g, P): y is (B, O, P) as it is.
//   ConvTranspose  a group's weights, transposed, (O/g k1 ... kd, C/g) times x, (C/g, S): what each
//                  entry of x contributes through each entry of the kernel. An entry of y is the
//                  sum of the contributions that arrive at it.
//   Col2Im         computes these sums, from contributions (B, C k1 ... kd, P).
#include <algorithm>
#include <array>
#include <span>

#include <hesscope/import/internal/composition.h>
#include <hesscope/import/internal/operator_registry.h>
#include <hesscope/import/internal/window_geometry.h>

namespace hesscope::onnx {
namespace {

// Inputs 0 and 1 of both operators.
struct Convolved {
  Value x;                   // (B, C, D1, ...)
  Value weights;             // (.., .., k1, ...)
  std::int64_t samples = 1;  // B: leading entries, convolved separately
  std::int64_t channels = 1;
  std::int64_t groups = 1;
  std::vector<std::int64_t> kernel = {};
};

Convolved convolved(const OperatorCall& call) {
  Convolved in{.x = call.real(0), .weights = call.real(1)};
  const Axes& axes = in.weights.axes;
  require_spatial(call, in.x, "convolves over");
  if (axes.size() != in.x.axes.size()) {
    call.refuse("weights {} and a tensor {} differ in rank", text(axes), text(in.x.axes));
  }
  for (int axis = 0; axis < in.weights.rank(); ++axis) {
    call.require_no_batch(in.weights, axis, "its weights have the samples along");
  }
  in.samples = in.x.axes[0].size;
  in.channels = in.x.axes[1].size;
  in.groups = call.integer("group", 1);
  if (in.groups < 1 || in.groups > in.channels) {
    call.refuse("group {} is not from 1 to the {} channels", in.groups, in.channels);
  }
  for (std::size_t i = 2; i < axes.size(); ++i) in.kernel.push_back(axes[i].size);
  if (call.has_attribute("kernel_shape") && call.integers("kernel_shape") != in.kernel) {
    call.refuse("kernel_shape is not that of its weights, {}", text(axes));
  }
  return in;
}

// The weights, as one matrix for each product of the stack of samples and groups.
Value stacked_weights(const OperatorCall& call, const Convolved& in) {
  if (in.groups == 1 || in.samples == 1) return in.weights;
  Axes repeated = in.weights.axes;
  repeated.insert(repeated.begin(), {.size = in.samples});
  return expanded(call, in.weights, repeated);
}

StackedProduct stack_of(const Convolved& in) {
  return {.stack = in.samples * in.groups, .is_shared_a = in.groups == 1};
}

Value with_bias(const OperatorCall& call, const Value& y) {
  if (!call.has_entries(2)) return y;
  Value bias = call.real(2);
  const std::int64_t channels = y.axes[1].size;
  if (bias.axes != Axes{{.size = channels}}) {
    call.refuse("a bias {} does not fit {} channels", text(bias.axes), channels);
  }
  bias.axes.resize(y.axes.size() - 1);
  return plus(call, y, bias);
}

Values lower_conv(const OperatorCall& call) {
  const Convolved in = convolved(call);
  const std::int64_t outputs = in.weights.axes[0].size;
  const std::int64_t taken = in.weights.axes[1].size;
  if (taken * in.groups != in.channels) {
    call.refuse("weights {} in {} group(s) take {} channels; the tensor {} has {}",
                text(in.weights.axes),
                in.groups,
                taken * in.groups,
                text(in.x.axes),
                in.channels);
  }
  if (outputs % in.groups != 0) {
    call.refuse("{} channels made by {} groups are not as many for each", outputs, in.groups);
  }
  std::vector<SlidingAxis> axes = sliding_axes(call, in.x, in.kernel);
  place_windows(call, false, axes);
  Axes result = {in.x.axes[0], {.size = outputs}};
  for (const SlidingAxis& axis : axes) result.push_back({.size = axis.places});
  call.checked_size(result);

  const Value patches =
      moved(call, in.x, window_movement(call, in.x, axes, WindowOrder::kEntriesFirst));
  const Value weights = stacked_weights(call, in);
  const std::int64_t patch = taken * count_of(axes, &SlidingAxis::kernel);
  const std::int64_t places = count_of(axes, &SlidingAxis::places);
  const Var product = stacked_matmul(matrix(weights, weights.size() / patch, patch),
                                     matrix(patches, in.samples * in.groups * patch, places),
                                     stack_of(in));
  return {with_bias(call, call.result(product, std::move(result)))};
}

// --- ConvTranspose: SlidingAxis is that of the convolution that it transposes, of y's length with
// --- x's entries as places

// Sets length and pads. `shape` is the attribute output_shape, or 0.
void size_output(const OperatorCall& call,
                 AutoPad mode,
                 std::int64_t output_padding,
                 std::int64_t shape,
                 SlidingAxis& axis) {
  const std::int64_t whole = axis.stride * (axis.places - 1) + output_padding + axis.reach();
  const bool is_same = mode == AutoPad::kSameUpper || mode == AutoPad::kSameLower;
  if (shape == 0 && !is_same) {
    axis.length = whole - axis.pad_begin - axis.pad_end;
    return;
  }
  axis.length = shape > 0 ? shape : axis.places * axis.stride;
  const std::int64_t total = std::max<std::int64_t>(0, whole - axis.length);
  // In opset 11, the odd element is on the other side than in opset 1.
  const bool less_in_front = (mode == AutoPad::kSameUpper) == (call.opset() >= 11);
  axis.pad_begin = less_in_front ? total / 2 : total - total / 2;
  axis.pad_end = total - axis.pad_begin;
}

std::vector<std::int64_t> output_shape_of(const OperatorCall& call, std::size_t count) {
  if (!call.has_attribute("output_shape")) return std::vector<std::int64_t>(count, 0);
  return spatial_list(call, "output_shape", "output_shape", count, 0, 1);
}

std::vector<SlidingAxis> transposed_axes(const OperatorCall& call, const Convolved& in) {
  std::vector<SlidingAxis> axes = sliding_axes(call, in.x, in.kernel);
  const auto shape = output_shape_of(call, axes.size());
  const auto padding = spatial_list(call, "output_padding", "output_padding", axes.size(), 0, 0);
  const AutoPad mode = auto_pad_of(call);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    axes[i].places = axes[i].length;
    if (padding[i] >= std::max(axes[i].stride, axes[i].dilation)) {
      call.refuse("output_padding {} is not below the stride {} or the dilation {}",
                  padding[i],
                  axes[i].stride,
                  axes[i].dilation);
    }
    size_output(call, mode, padding[i], shape[i], axes[i]);
  }
  return axes;
}

// Entry k of the kernel carries the entry of x at `place` to some entry of y.
struct Arrival {
  std::int64_t k;
  std::int64_t place;
};

// The contributions to each entry of y along one axis.
std::vector<std::vector<Arrival>> arrivals_along(const SlidingAxis& axis) {
  std::vector<std::vector<Arrival>> arrivals(static_cast<std::size_t>(axis.length));
  for (std::int64_t k = 0; k < axis.kernel; ++k) {
    for (std::int64_t place = 0; place < axis.places; ++place) {
      const std::int64_t at = axis.position(place, k);
      if (at >= 0 && at < axis.length) arrivals[static_cast<std::size_t>(at)].push_back({k, place});
    }
  }
  return arrivals;
}

// The sums of the contributions, from `sent` (B, O, k1, ..., kd, s1, ..., sd).
Value collected(const OperatorCall& call,
                const Value& sent,
                std::span<const SlidingAxis> axes,
                const Axes& result) {
  std::vector<std::vector<std::vector<Arrival>>> arrivals;
  Axes rows = result;
  std::int64_t most = 1;
  for (const SlidingAxis& axis : axes) {
    arrivals.push_back(arrivals_along(axis));
    std::size_t count = 1;
    for (const auto& here : arrivals.back()) count = std::max(count, here.size());
    rows.push_back({.size = static_cast<std::int64_t>(count)});
    most *= rows.back().size;
  }
  const std::vector<std::int64_t> strides = strides_of(sent.axes);
  std::vector<std::int32_t> table = table_of(call, rows, [&](auto position) -> std::int64_t {
    std::int64_t from = position[0] * strides[0] + position[1] * strides[1];
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const auto& here = arrivals[i][static_cast<std::size_t>(position[2 + i])];
      const auto which = static_cast<std::size_t>(position[2 + axes.size() + i]);
      if (which >= here.size()) return -1;
      from += here[which].k * strides[2 + i] + here[which].place * strides[2 + axes.size() + i];
    }
    return from;
  });
  const Value all = moved(call, sent, {.axes = std::move(rows), .table = std::move(table)});
  if (most == 1) return with_axes(call, all, result);
  return call.result(sum_rows(matrix(all, size_of(result), most)), result);
}

Values lower_conv_transpose(const OperatorCall& call) {
  const Convolved in = convolved(call);
  if (in.weights.axes[0].size != in.channels || in.channels % in.groups != 0) {
    call.refuse("weights {} in {} group(s) do not fit the {} channels of a tensor {}",
                text(in.weights.axes),
                in.groups,
                in.channels,
                text(in.x.axes));
  }
  const std::vector<SlidingAxis> axes = transposed_axes(call, in);
  const Axis outputs{.size = in.weights.axes[1].size * in.groups};
  Axes result = {in.x.axes[0], outputs};
  Axes sent = result;
  for (const SlidingAxis& axis : axes) result.push_back({.size = axis.length});
  for (const SlidingAxis& axis : axes) sent.push_back({.size = axis.kernel});
  for (const SlidingAxis& axis : axes) sent.push_back({.size = axis.places});
  call.checked_size(result);
  call.checked_size(sent);

  const Value weights = stacked_weights(call, in);
  StackedProduct product = stack_of(in);
  product.transpose_a = true;
  const std::int64_t made = in.weights.size() / in.channels;
  const Var parts =
      stacked_matmul(matrix(weights, weights.size() / made, made),
                     matrix(in.x, in.samples * in.channels, count_of(axes, &SlidingAxis::places)),
                     product);
  return {with_bias(call, collected(call, call.result(parts, std::move(sent)), axes, result))};
}

// --- Col2Im: SlidingAxis is that of the windows, over the image that they are brought back to

std::vector<std::int64_t> lengths_at(const OperatorCall& call,
                                     std::size_t i,
                                     const std::string& what) {
  std::vector<std::int64_t> lengths = call.known(i);
  for (const std::int64_t length : lengths) {
    if (length < 1 || length > kLargestLength) {
      call.refuse("{} {} is not from 1 to {}", what, length, kLargestLength);
    }
  }
  return lengths;
}

// The windows of a block over an image (N, C, D1, ...), at as many places as x has.
std::vector<SlidingAxis> windows_over(const OperatorCall& call,
                                      const Value& x,
                                      const Axes& image,
                                      std::span<const std::int64_t> block) {
  std::vector<SlidingAxis> axes = sliding_axes(call, {.axes = image}, block);
  place_windows(call, false, axes);
  Axes places;
  for (const SlidingAxis& axis : axes) places.push_back({.size = axis.places});
  if (size_of(places) != x.axes[2].size) {
    call.refuse("blocks stand at {} places of its image, and a tensor {} is of {}",
                size_of(places),
                text(x.axes),
                x.axes[2].size);
  }
  return axes;
}

Values lower_column_to_image(const OperatorCall& call) {
  const Value x = call.real(0);
  if (x.rank() != 3) call.refuse("takes a tensor (N, C * block, places), got {}", text(x.axes));
  for (const int axis : {1, 2}) call.require_no_batch(x, axis, "adds up windows along");
  const std::vector<std::int64_t> lengths = lengths_at(call, 1, "a length of the image");
  const std::vector<std::int64_t> block = lengths_at(call, 2, "a length of the block");
  if (lengths.empty() || lengths.size() != block.size()) {
    call.refuse("has an image of {} axes and a block of {}", lengths.size(), block.size());
  }
  const std::int64_t entries = call.checked_size(plain_axes(block));
  if (x.axes[1].size % entries != 0) {
    call.refuse(
        "axis 1 of {} is of no whole number of blocks of {} entries", text(x.axes), entries);
  }
  Axes image = {x.axes[0], {.size = x.axes[1].size / entries}};
  Axes sent = image;
  for (const std::int64_t length : lengths) image.push_back({.size = length});
  call.checked_size(image);
  const std::vector<SlidingAxis> axes = windows_over(call, x, image, block);
  for (const SlidingAxis& axis : axes) sent.push_back({.size = axis.kernel});
  for (const SlidingAxis& axis : axes) sent.push_back({.size = axis.places});
  return {collected(call, with_axes(call, x, std::move(sent)), axes, image)};
}

}  // namespace

std::span<const Operator> convolution_operators() {
  static constexpr auto kOperators = std::to_array<Operator>({
      {"Col2Im", lower_column_to_image, kSlopeOfFirst, 18},
      {"Conv", lower_conv},
      {"ConvTranspose", lower_conv_transpose},
  });
  return kOperators;
}

}  // namespace hesscope::onnx
