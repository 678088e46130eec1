// SPDX-License-Identifier: BSD-3-Clause
//
// Normalisations: a tensor is brought to mean 0 and variance 1 over some of its axes, never over
// the batch, then scaled and shifted. Variances are the mean of the squares of centred values,
// which cannot cancel.
#include <algorithm>
#include <array>
#include <cmath>

#include <hesscope/import/internal/composition.h>
#include <hesscope/import/internal/indices.h>
#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/operator_registry.h>

namespace hesscope::onnx {
namespace {

// 1e-5, ONNX's default.
double epsilon_of(const OperatorCall& call) {
  const double epsilon = call.number("epsilon", 1e-5);
  if (!(epsilon >= 0 && std::isfinite(epsilon))) {
    call.refuse("epsilon {} is no number from 0 on", epsilon);
  }
  return epsilon;
}

void require_samples_apart(const OperatorCall& call, const Value& x, int first) {
  for (int axis = first; axis < x.rank(); ++axis) call.require_no_batch(x, axis, "normalises over");
}

// A parameter per channel, aligned to axis 1 of x.
Value by_channel(const OperatorCall& call, std::size_t input, const Value& x) {
  Value value = call.real(input);
  const std::int64_t channels = x.rank() < 2 ? 1 : x.axes[1].size;
  if (value.axes != Axes{{.size = channels}}) {
    call.refuse("input {} is {}; a tensor {} has {} channels",
                input + 1,
                text(value.axes),
                text(x.axes),
                channels);
  }
  if (x.rank() > 2) value.axes.resize(x.axes.size() - 1);
  return value;
}

// x * scale + shift.
Value affine(const OperatorCall& call, const Value& x, const Value& scale, const Value& shift) {
  return plus(call, times(call, x, scale), shift);
}

// --- by learned statistics ---

void require_evaluation_mode(const OperatorCall& call) {
  const auto& outputs = call.node().outputs;
  const bool has_statistics = std::any_of(outputs.begin() + (outputs.empty() ? 0 : 1),
                                          outputs.end(),
                                          [](const auto& name) { return !name.empty(); });
  const bool is_evaluation =
      call.opset() < 7 ? call.integer("is_test", 0) != 0 : call.integer("training_mode", 0) == 0;
  if (is_evaluation && !has_statistics) return;
  call.refuse(
      "is in training mode (training_mode), where the batch's own mean and variance are taken: "
      "samples would interact; export the model in evaluation mode");
}

Values lower_batch_normalization(const OperatorCall& call) {
  require_evaluation_mode(call);
  const Value x = call.real(0);
  // Without `spatial`, each entry has its own statistics, in the order of the axes behind the
  // batch.
  const bool by_entry = call.opset() < 9 && call.integer("spatial", 1) == 0;
  const auto statistic = [&](std::size_t i) {
    return by_entry ? call.real(i) : by_channel(call, i, x);
  };
  const Value variance = statistic(4);
  const Value deviation = call.result(
      sqrt(matrix(variance, variance.size(), 1) + call.constant(epsilon_of(call))), variance.axes);
  const Value factor =
      times(call, statistic(1), call.result(reciprocal(*deviation.var), deviation.axes));
  const Value y = affine(call, minus(call, x, statistic(3)), factor, statistic(2));
  if (y.axes != x.axes) call.refuse("its statistics do not fit a tensor {}", text(x.axes));
  return {y};
}

// --- by the tensor's own statistics ---

Values lower_instance_normalization(const OperatorCall& call) {
  const Value x = call.real(0);
  if (x.rank() < 3) call.refuse("takes a tensor (N, C, D1, ...), got {}", text(x.axes));
  require_samples_apart(call, x, 1);
  const std::int64_t rows = x.axes[0].size * x.axes[1].size;
  const Var y = standardize_rows(matrix(x, rows, x.size() / rows), epsilon_of(call));
  return {affine(call, call.result(y, x.axes), by_channel(call, 1, x), by_channel(call, 2, x))};
}

Values lower_group_normalization(const OperatorCall& call) {
  const Value x = call.real(0);
  if (x.rank() < 2) call.refuse("takes a tensor (N, C, ...), got {}", text(x.axes));
  require_samples_apart(call, x, 1);
  const std::int64_t groups = call.integer("num_groups", 0);
  if (groups < 1 || x.axes[1].size % groups != 0) {
    call.refuse("num_groups {} does not divide the channels of {}", groups, text(x.axes));
  }
  const Axes grouped = {x.axes[0], {.size = groups}, {.size = x.size() / x.axes[0].size / groups}};
  const Var rows =
      standardize_rows(matrix(x, x.axes[0].size * groups, grouped[2].size), epsilon_of(call));
  // One scale and shift per group before opset 21, per channel since then.
  Value y = call.result(rows, call.opset() < 21 ? grouped : x.axes);
  y = affine(call, y, by_channel(call, 1, y), by_channel(call, 2, y));
  return {with_axes(call, y, x.axes)};
}

// A factor or shift that can be broadcast to x, without enlarging it.
Value fitting(const OperatorCall& call, const Value& x, std::size_t i) {
  Value value = call.real(i);
  if (broadcast_axes(call, x.axes, value.axes) != x.axes) {
    call.refuse("input {} is {}, more than a tensor {}", i + 1, text(value.axes), text(x.axes));
  }
  return value;
}

Values lower_layer_normalization(const OperatorCall& call) {
  const Value x = call.real(0);
  const int first = call.axis(call.integer("axis", -1), x.rank());
  require_samples_apart(call, x, first);
  Axes by_row(x.axes.size());
  std::copy_n(x.axes.begin(), first, by_row.begin());
  const std::int64_t num_rows = size_of(by_row);
  const Var rows = matrix(x, num_rows, x.size() / num_rows);
  const double epsilon = epsilon_of(call);
  Value y = call.result(standardize_rows(rows, epsilon), x.axes);
  y = times(call, y, fitting(call, x, 1));
  if (call.has_entries(2)) y = plus(call, y, fitting(call, x, 2));
  if (call.node().outputs.size() == 1) return {y};
  const Var mean = mean_rows(rows);
  const Var variance = mean_rows(square(rows - mean));
  const Var inverse_deviation = reciprocal(sqrt(variance + call.constant(epsilon)));
  return {y, call.result(mean, by_row), call.result(inverse_deviation, by_row)};
}

Values lower_rms_normalization(const OperatorCall& call) {
  const Value x = call.real(0);
  const int first = call.axis(call.integer("axis", -1), x.rank());
  require_samples_apart(call, x, first);
  const std::int64_t length = extent_of(x.axes, first, x.rank());
  const Var rows = rms_normalize_rows(matrix(x, x.size() / length, length), epsilon_of(call));
  return {times(call, call.result(rows, x.axes), fitting(call, x, 1))};
}

// Applies a function of rows to some axes and restores their order.
template <typename OfRows>
Value over_axes(const OperatorCall& call,
                const Value& x,
                const std::vector<int>& axes,
                OfRows of_rows) {
  std::int64_t length = 1;
  for (const int axis : axes) {
    call.require_no_batch(x, axis, "normalises over");
    length *= x.axes[static_cast<std::size_t>(axis)].size;
  }
  const std::vector<int> order = order_with_last(x.rank(), axes);
  const Value ordered = transposed(call, x, order);
  const Var rows = of_rows(matrix(ordered, x.size() / length, length));
  return transposed(call, call.result(rows, ordered.axes), inverse_order(order));
}

Values lower_mean_variance_normalization(const OperatorCall& call) {
  const Value x = call.real(0);
  const std::vector<std::int64_t> list =
      call.has_attribute("axes") ? call.integers("axes") : std::vector<std::int64_t>{0, 2, 3};
  return {over_axes(call, x, call.axes(list, x.rank()), [&](Var rows) {
    const Var rest = rows - mean_rows(rows);
    // Added to the deviation, as ONNX defines it.
    return rest / (sqrt(mean_rows(square(rest))) + call.constant(1e-9));
  })};
}

Values lower_lp_normalization(const OperatorCall& call) {
  const Value x = call.real(0);
  const std::int64_t p = call.integer("p", 2);
  if (p != 1 && p != 2) call.refuse("p = {} is neither 1 nor 2", p);
  const int axis = call.axis(call.integer("axis", -1), x.rank());
  return {over_axes(call, x, {axis}, [&](Var rows) {
    return rows / norm_rows(call, rows, static_cast<double>(p));
  })};
}

// x / (bias + alpha / size * (sum of the squares of channels nearby))^beta
Values lower_local_response_normalization(const OperatorCall& call) {
  const Value x = call.real(0);
  if (x.rank() < 2) call.refuse("takes a tensor (N, C, ...), got {}", text(x.axes));
  call.require_no_batch(x, 1, "normalises over");
  const std::int64_t size = call.integer("size", 0);
  if (size < 1) call.refuse("size {} is not at least 1", size);
  const std::int64_t channels = x.axes[1].size;
  call.checked_size({{.size = channels}, {.size = channels}});
  Eigen::MatrixXd nearby(channels, channels);
  for (Eigen::Index to = 0; to < channels; ++to) {
    for (Eigen::Index from = 0; from < channels; ++from) {
      nearby(to, from) = from >= to - (size - 1) / 2 && from <= to + size / 2 ? 1 : 0;
    }
  }
  const Value squares = call.result(square(*x.var), x.axes);
  const Value sums = multiplied_along(call, squares, 1, nearby);
  const double share = call.number("alpha", 1e-4) / static_cast<double>(size);
  const Var base = share * *sums.var + call.constant(call.number("bias", 1));
  const Value factor = call.result(power(base, -call.number("beta", 0.75)), x.axes);
  return {times(call, x, factor)};
}

}  // namespace

std::span<const Operator> normalization_operators() {
  static constexpr auto kOperators = std::to_array<Operator>({
      // Learned statistics are not parameters.
      {"BatchNormalization", lower_batch_normalization, 0b00111},
      {"GroupNormalization", lower_group_normalization, kAllSlopes, 18},
      {"InstanceNormalization", lower_instance_normalization},
      {"LRN", lower_local_response_normalization},
      {"LayerNormalization", lower_layer_normalization, kAllSlopes, 17},
      {"LpNormalization", lower_lp_normalization},
      {"MeanVarianceNormalization", lower_mean_variance_normalization, kAllSlopes, 9},
      {"RMSNormalization", lower_rms_normalization, kAllSlopes, 23},
  });
  return kOperators;
}

}  // namespace hesscope::onnx
