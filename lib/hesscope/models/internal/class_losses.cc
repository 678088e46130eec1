// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include <hesscope/models/internal/class_losses.h>

namespace hesscope::detail {
namespace {

// The axis of the output for the classes, where the axes of one sample are counted from 0.
std::size_t class_axis(const LossOptions& options, const Shape& shape) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t axis = *options.class_axis;
  if (axis == 0 || axis > rank || axis < -rank) {
    options.source.refuse(
        "class_axis",
        fmt::format(
            "'class_axis' is {}, but outputs are {}, with classes on one of the axes 1 ... {}",
            axis,
            with_samples(shape),
            rank));
  }
  return static_cast<std::size_t>(axis > 0 ? axis - 1 : rank + axis);
}

Shape without(Shape shape, std::size_t axis) {
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  return shape;
}

// Whether the targets are one probability per output.
bool are_probabilities(const LossOptions& options,
                       const Shape& shape,
                       const std::string& target,
                       const TensorShapes& data) {
  return options.kind == LossKind::kCrossEntropy && !shape.empty() &&
         target_shape(data, target) == shape && !data.has_integers(target);
}

// Whether the probabilities of all samples add up to 1 along this axis.
bool are_normalized(const std::vector<double>& probabilities,
                    const Shape& shape,
                    std::size_t axis) {
  constexpr double kRounding = 1e-6;  // of sums in 32 bits
  const auto here = shape.begin() + static_cast<std::ptrdiff_t>(axis);
  const auto num_classes = static_cast<std::size_t>(*here);
  const auto behind = static_cast<std::size_t>(volume_of(Shape(here + 1, shape.end())));
  const std::size_t block = num_classes * behind;
  for (std::size_t first = 0; first < probabilities.size(); first += block) {
    for (std::size_t j = 0; j < behind; ++j) {
      double total = 0;
      for (std::size_t c = 0; c < num_classes; ++c) total += probabilities[first + c * behind + j];
      if (!(std::abs(total - 1) <= kRounding)) return false;
    }
  }
  return true;
}

// For targets that are probabilities: the last or the first axis, whichever is the only one of them
// along which they add up to 1; nothing if both or neither is, or if they cannot be read.
std::optional<std::size_t> axis_of_probabilities(const Shape& shape,
                                                 const std::string& target,
                                                 const TensorShapes& data) {
  if (!data.read || shape.size() < 2) return std::nullopt;
  const std::vector<double> probabilities = data.read(target);
  const bool is_first = are_normalized(probabilities, shape, 0);
  const bool is_last = are_normalized(probabilities, shape, shape.size() - 1);
  if (is_first == is_last) return std::nullopt;
  return is_first ? 0 : shape.size() - 1;
}

// Possible class axes for these targets: the last, and the first as in PyTorch.
std::vector<std::size_t> possible_class_axes(const Shape& shape, const Shape& targets) {
  std::vector<std::size_t> axes;
  if (shape.empty()) return axes;
  for (const std::size_t axis : {shape.size() - 1, std::size_t{0}}) {
    const bool is_listed = std::ranges::find(axes, axis) != axes.end();
    if (!is_listed && trimmed(without(shape, axis)) == trimmed(targets)) axes.push_back(axis);
  }
  return axes;
}

// The matrix z with a column per class and a row for each combination of the other axes.
Var class_rows(Var z, const Shape& shape, std::size_t axis) {
  const auto here = shape.begin() + static_cast<std::ptrdiff_t>(axis);
  const Eigen::Index before = volume_of(Shape(shape.begin(), here));
  const Eigen::Index behind = volume_of(Shape(here + 1, shape.end()));
  const Eigen::Index num_classes = *here;
  if (behind == 1) return reshape(z, before, num_classes);
  std::vector<std::int32_t> table;
  for (Eigen::Index i = 0; i < before; ++i) {
    for (Eigen::Index j = 0; j < behind; ++j) {
      for (Eigen::Index c = 0; c < num_classes; ++c) {
        table.push_back(static_cast<std::int32_t>((i * num_classes + c) * behind + j));
      }
    }
  }
  return gather(z, table, before * behind, num_classes);
}

// Logits, one row per target, and the shape of the targets.
struct ClassRows {
  Var rows;
  Shape targets;
};

ClassRows class_rows_of(const LossOptions& options,
                        Var output,
                        const Shape& shape,
                        const TensorShapes& data,
                        const std::string& target) {
  const Shape found = target_shape(data, target);
  std::vector<std::size_t> axes = possible_class_axes(shape, found);
  if (options.class_axis) {
    const std::size_t axis = class_axis(options, shape);
    const bool fits = trimmed(without(shape, axis)) == trimmed(found);
    axes.assign(fits ? 1 : 0, axis);
  }
  if (axes.empty()) {
    refuse_target(
        data,
        target,
        fmt::format(
            "has the shape {}; for outputs {} a class for each row of them{}, or "
            "a number for each output, is expected{}",
            with_samples(found),
            with_samples(shape),
            options.class_axis ? fmt::format(" (classes are on axis {})", *options.class_axis) : "",
            data.has_integers(target) && trimmed(found) == trimmed(shape)
                ? " (integers are classes: probabilities are stored as reals)"
                : ""));
  }
  return {class_rows(output, shape, axes.front()), found};
}

std::vector<double> class_weights(const LossOptions& options, Eigen::Index num_classes) {
  if (options.class_weights.empty()) {
    return std::vector<double>(static_cast<std::size_t>(num_classes), 1.0);
  }
  if (static_cast<Eigen::Index>(options.class_weights.size()) != num_classes) {
    options.source.refuse(
        "class_weights",
        fmt::format("'class_weights' has {} numbers, but the model tells {} classes apart",
                    options.class_weights.size(),
                    num_classes));
  }
  return options.class_weights;
}

// factor w_c for each class, as a row.
Var weight_row(ModelBuilder& builder, double factor, std::vector<double> weights) {
  for (double& w : weights) w *= factor;
  return builder.graph().constant(weights, 1, static_cast<Eigen::Index>(weights.size()));
}

// For a column of classes: a row for each, with a 1 at the class and zeros elsewhere.
Var one_hot_rows(ModelBuilder& builder, Var classes, Eigen::Index num_classes) {
  std::vector<double> all(static_cast<std::size_t>(num_classes));
  std::iota(all.begin(), all.end(), 0.0);
  return equal(classes, builder.graph().constant(all, 1, num_classes));
}

// Whether the loss is the mean over all targets with equal weights.
bool is_plain_mean(const LossOptions& options) {
  return options.class_weights.empty() && !options.ignore_index;
}

bool is_ignored(const std::optional<std::int64_t>& ignore_index, double y) {
  return ignore_index && y == static_cast<double>(*ignore_index);
}

// The weight of a row in the mean over samples of sums over rows: samples / (sum of the targets'
// weights).
double row_factor(const LossOptions& options,
                  const std::vector<double>& weights,
                  Eigen::Index num_rows,
                  const TensorShapes& data,
                  const std::string& target) {
  if (is_plain_mean(options)) return 1.0 / static_cast<double>(num_rows);
  if (!data.read) {
    refuse_target(data, target, "is drawn: 'class_weights' and 'ignore_index' need a data file");
  }
  double total = 0;
  const std::vector<double> classes = data.read(target);
  for (const double y : classes) {
    if (is_ignored(options.ignore_index, y)) continue;
    const bool is_class = y >= 0 && y < static_cast<double>(weights.size()) && y == std::floor(y);
    if (!is_class) {
      refuse_target(data,
                    target,
                    fmt::format("holds {}, which is no class: 0 ... {}{}",
                                y,
                                weights.size() - 1,
                                options.ignore_index ? fmt::format(", or {} for those ignored",
                                                                   *options.ignore_index)
                                                     : ""));
    }
    total += weights[static_cast<std::size_t>(y)];
  }
  if (!(total > 0)) refuse_target(data, target, "has no target that counts");
  return static_cast<double>(data.at(target)[0]) / total;
}

// Targets for the classes y given by one-hot rows: factor a_c = factor ((1 - e) w_y [c = y] + e w_c
// / C).
Var targets_of(ModelBuilder& builder,
               const LossOptions& options,
               Var one_hot,
               const std::vector<double>& weights,
               double factor) {
  const double e = options.label_smoothing;
  const double own = (1 - e) * factor;
  Var targets = one_hot;
  if (!options.class_weights.empty()) {
    targets = hadamard(one_hot, weight_row(builder, own, weights));
  } else if (own != 1) {
    targets = own * one_hot;
  }
  if (e == 0) return targets;
  return targets + weight_row(builder, e * factor / static_cast<double>(weights.size()), weights);
}

// C targets for each row, from the data; those of an ignored row are 0.
Var class_targets(ModelBuilder& builder,
                  const LossOptions& options,
                  const ClassRows& z,
                  const TensorShapes& data,
                  const std::string& target) {
  const Eigen::Index num_targets = z.rows.rows();
  const Eigen::Index C = z.rows.cols();
  const std::vector<double> weights = class_weights(options, C);
  const double factor = row_factor(options, weights, num_targets, data, target);
  const bool is_one_class = num_targets == 1 && !options.ignore_index;
  if (is_one_class) {
    const Var one_hot = reshape(builder.one_hot(target, C), 1, C);
    if (!is_plain_mean(options)) {
      builder.set_sample_weight(target, [weights, factor](std::span<const double> entries) {
        return factor * std::inner_product(entries.begin(), entries.end(), weights.begin(), 0.0);
      });
    }
    return targets_of(builder, options, one_hot, weights, factor);
  }
  Var classes = builder.integers(target,
                                 z.targets,
                                 std::min<std::int64_t>(0, options.ignore_index.value_or(0)),
                                 std::max<std::int64_t>(C - 1, options.ignore_index.value_or(0)));
  if (!is_plain_mean(options)) {
    const std::optional<std::int64_t> ignored = options.ignore_index;
    builder.set_sample_weight(target, [weights, factor, ignored](std::span<const double> entries) {
      double sum = 0;
      for (const double y : entries) {
        if (!is_ignored(ignored, y)) sum += weights[static_cast<std::size_t>(y)];
      }
      return factor * sum;
    });
  }
  classes = reshape(classes, num_targets, 1);
  const Var one_hot = one_hot_rows(builder, classes, C);
  const Var targets = targets_of(builder, options, one_hot, weights, factor);
  if (!options.ignore_index) return targets;
  const Var ignored = equal(classes, number(builder, static_cast<double>(*options.ignore_index)));
  return hadamard(number(builder, 1.0) - ignored, targets);
}

// One probability per class; weights count in the sum, but not in the mean (as in PyTorch).
Var soft_targets(ModelBuilder& builder,
                 const LossOptions& options,
                 const Shape& shape,
                 std::size_t axis,
                 const std::string& target,
                 const TensorShapes& data) {
  if (options.ignore_index) {
    refuse_target(data, target, "holds probabilities; 'ignore_index' is for classes");
  }
  const Eigen::Index C = shape[axis];
  const std::vector<double> weights = class_weights(options, C);
  const double e = options.label_smoothing;
  const double factor = static_cast<double>(C) / static_cast<double>(volume_of(shape));
  const Var given =
      class_rows(builder.array(target, shape, DataArray::Content::kProbability), shape, axis);
  const Var smoothed =
      e == 0 ? given : (1 - e) * given + number(builder, e / static_cast<double>(C));
  return hadamard(smoothed, weight_row(builder, factor, weights));
}

}  // namespace

Var class_loss(ModelBuilder& builder,
               const LossOptions& options,
               Var output,
               const Shape& shape,
               const std::string& target,
               const TensorShapes& data) {
  if (are_probabilities(options, shape, target, data)) {
    const std::size_t axis =
        options.class_axis ? class_axis(options, shape)
                           : axis_of_probabilities(shape, target, data).value_or(shape.size() - 1);
    const Var targets = soft_targets(builder, options, shape, axis, target, data);
    return sum(cross_entropy_rows(class_rows(output, shape, axis), targets));
  }
  const ClassRows z = class_rows_of(options, output, shape, data, target);
  const Var targets = class_targets(builder, options, z, data, target);
  if (options.kind == LossKind::kCrossEntropy) return sum(cross_entropy_rows(z.rows, targets));
  // log p may be -inf for a class that is not a target.
  const Var zeros = builder.constant(Eigen::MatrixXd::Zero(targets.rows(), targets.cols()));
  return -sum(hadamard(select(targets, z.rows, zeros), targets));
}

}  // namespace hesscope::detail

namespace hesscope {

std::string remark_on_class_axis(const LossOptions& options,
                                 const std::vector<std::int64_t>& shape,
                                 const std::string& target,
                                 const TensorShapes& data) {
  if (!takes_classes(options.kind) || options.class_axis || shape.size() < 2) return {};
  const bool is_any =
      detail::are_probabilities(options, shape, target, data)
          ? !detail::axis_of_probabilities(shape, target, data)
          : detail::possible_class_axes(shape, detail::target_shape(data, target)).size() > 1;
  if (!is_any) return {};
  return fmt::format(
      "array '{}' fits outputs {} with the classes on any axis; they are taken to be on the last: "
      "class_axis = -1 in [model] says so, class_axis = 1 that they are where PyTorch has them",
      target,
      detail::with_samples(shape));
}

}  // namespace hesscope
