// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/models/losses.h>

namespace hesscope {
namespace {

using Shape = std::vector<std::int64_t>;

struct NamedLoss {
  LossKind kind;
  std::string_view name;
};

constexpr std::array<NamedLoss, 6> kLosses = {{
    {LossKind::kCrossEntropy, "cross-entropy"},
    {LossKind::kMeanSquaredError, "mse"},
    {LossKind::kBinaryCrossEntropy, "bce-with-logits"},
    {LossKind::kHuber, "huber"},
    {LossKind::kNegativeLogLikelihood, "nll"},
    {LossKind::kOutput, "output"},
}};

// A key that some losses take, and how it looks when it was not given.
struct LossKey {
  SettingKey key;
  std::vector<LossKind> losses;
};

std::vector<LossKey> keys_of_losses() {
  using Type = SettingKey::Type;
  return {
      {{.name = "label_smoothing",
        .type = Type::kReal,
        .meaning = "share of each target that is spread over all classes",
        .range = RealRange{.minimum = 0, .maximum = 1},
        .is_optional = true},
       {LossKind::kCrossEntropy}},
      {{.name = "class_weights",
        .type = Type::kReals,
        .meaning = "a weight for each class",
        .range = RealRange{},
        .is_optional = true},
       {LossKind::kCrossEntropy, LossKind::kNegativeLogLikelihood}},
      {{.name = "pos_weight",
        .type = Type::kReals,
        .meaning = "weight of positive targets: one number, or one for each output",
        .range = RealRange{},
        .is_optional = true},
       {LossKind::kBinaryCrossEntropy}},
      {{.name = "ignore_index",
        .type = Type::kInteger,
        .meaning = "targets of this class do not count",
        .is_optional = true},
       {LossKind::kCrossEntropy, LossKind::kNegativeLogLikelihood}},
      {{.name = "delta",
        .type = Type::kReal,
        .meaning = "where the loss turns from a square into a line",
        .range = RealRange{.minimum = 1e-300},
        .is_optional = true},
       {LossKind::kHuber}},
  };
}

// A scalar sample may be written (samples, 1), and a column of outputs (samples,).
Shape trimmed(Shape shape) {
  while (!shape.empty() && shape.back() == 1) shape.pop_back();
  return shape;
}

Shape target_shape(const TensorShapes& data, const std::string& target) {
  const Shape& all = data.at(target);
  return all.empty() ? Shape() : Shape(all.begin() + 1, all.end());
}

Eigen::Index volume_of(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), Eigen::Index{1}, std::multiplies<>());
}

[[noreturn]] void refuse(const TensorShapes& data,
                         const std::string& target,
                         const std::string& why) {
  throw InputError(fmt::format("{}: array '{}' {}", data.source, target, why));
}

std::string with_samples(const Shape& shape) {
  return fmt::format("({}{}{})", "samples", shape.empty() ? "" : ", ", fmt::join(shape, ", "));
}

Var number(ModelBuilder& builder, double value) {
  return builder.constant(Eigen::MatrixXd::Constant(1, 1, value));
}

// --- classes ---

// Logits with the classes last, and the shape of the rest: the shape of the targets.
struct ClassRows {
  Var rows;
  Shape targets;
};

// Row-major a x b to b x a.
Var transposed(Var z, Eigen::Index a, Eigen::Index b) {
  std::vector<std::int32_t> table;
  for (Eigen::Index j = 0; j < b; ++j) {
    for (Eigen::Index i = 0; i < a; ++i) table.push_back(static_cast<std::int32_t>(i * b + j));
  }
  return gather(z, table, b, a);
}

ClassRows class_rows(Var output,
                     const Shape& shape,
                     const Shape& targets,
                     const TensorShapes& data,
                     const std::string& target) {
  if (!shape.empty()) {
    const Shape front(shape.begin(), shape.end() - 1);
    if (trimmed(front) == trimmed(targets)) {
      return {reshape(output, volume_of(front), shape.back()), targets};
    }
    const Shape back(shape.begin() + 1, shape.end());
    if (trimmed(back) == trimmed(targets)) {
      return {transposed(output, shape.front(), volume_of(back)), targets};
    }
  }
  refuse(
      data,
      target,
      fmt::format("has the shape {}; for outputs {} a class for each row of them, or a number for "
                  "each output, is expected",
                  with_samples(targets),
                  with_samples(shape)));
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

// Row y holds the targets of class y, a_c = (1 - e) w_y [c = y] + e w_c / C; one more row, of zeros, is
// for targets that are ignored.
Eigen::MatrixXd targets_of_classes(const LossOptions& options, const std::vector<double>& weights) {
  const auto C = static_cast<Eigen::Index>(weights.size());
  Eigen::MatrixXd table = Eigen::MatrixXd::Zero(C + 1, C);
  for (Eigen::Index y = 0; y < C; ++y) {
    for (Eigen::Index c = 0; c < C; ++c) {
      const double w = weights[static_cast<std::size_t>(c)];
      table(y, c) = options.label_smoothing * w / static_cast<double>(C) +
                    (c == y ? (1 - options.label_smoothing) * w : 0.0);
    }
  }
  return table;
}

// What a row counts in the mean over samples of sums over rows: samples / (sum of the targets' weights).
double row_factor(const LossOptions& options,
                  const std::vector<double>& weights,
                  Eigen::Index num_rows,
                  const TensorShapes& data,
                  const std::string& target) {
  const bool is_plain = options.class_weights.empty() && !options.ignore_index;
  if (is_plain) return 1.0 / static_cast<double>(num_rows);
  if (!data.read) {
    refuse(data, target, "is drawn: 'class_weights' and 'ignore_index' need a data file");
  }
  double total = 0;
  const std::vector<double> classes = data.read(target);
  for (const double y : classes) {
    if (options.ignore_index && y == static_cast<double>(*options.ignore_index)) continue;
    const bool is_class = y >= 0 && y < static_cast<double>(weights.size()) && y == std::floor(y);
    if (!is_class) {
      refuse(data,
             target,
             fmt::format("holds {}, which is no class: 0 ... {}{}",
                         y,
                         weights.size() - 1,
                         options.ignore_index
                             ? fmt::format(", or {} for those ignored", *options.ignore_index)
                             : ""));
    }
    total += weights[static_cast<std::size_t>(y)];
  }
  if (!(total > 0)) refuse(data, target, "has no target that counts");
  return static_cast<double>(data.at(target)[0]) / total;
}

// Targets for each row, C of them, from the data; `factor` included.
Var class_targets(ModelBuilder& builder,
                  const LossOptions& options,
                  const ClassRows& z,
                  const TensorShapes& data,
                  const std::string& target) {
  const Eigen::Index C = z.rows.cols();
  const std::vector<double> weights = class_weights(options, C);
  const double factor = row_factor(options, weights, z.rows.rows(), data, target);
  const Eigen::MatrixXd table = factor * targets_of_classes(options, weights);
  const bool is_one_class = z.rows.rows() == 1 && !options.ignore_index;
  if (is_one_class) {
    const Var one_hot = reshape(builder.one_hot(target, C), 1, C);
    const bool is_plain = options.class_weights.empty() && options.label_smoothing == 0;
    return is_plain ? one_hot : matmul(one_hot, builder.constant(table.topRows(C)));
  }
  Var classes = builder.integers(target,
                                 z.targets,
                                 std::min<std::int64_t>(0, options.ignore_index.value_or(0)),
                                 std::max<std::int64_t>(C - 1, options.ignore_index.value_or(0)));
  classes = reshape(classes, z.rows.rows(), 1);
  if (options.ignore_index) {
    const Var ignored = equal(classes, number(builder, static_cast<double>(*options.ignore_index)));
    const Var last =
        builder.constant(Eigen::MatrixXd::Constant(classes.rows(), 1, static_cast<double>(C)));
    classes = select(ignored, last, classes);
  }
  return lookup(builder.constant(table), classes);
}

// A probability for each class; weights count in the sum, not in the mean (as PyTorch).
Var soft_targets(ModelBuilder& builder,
                 const LossOptions& options,
                 const Shape& shape,
                 const std::string& target,
                 const TensorShapes& data) {
  if (options.ignore_index) {
    refuse(data, target, "holds probabilities; 'ignore_index' is for classes");
  }
  const Eigen::Index C = shape.back();
  const Eigen::Index num_rows = volume_of(shape) / C;
  const std::vector<double> weights = class_weights(options, C);
  const double e = options.label_smoothing;
  const double factor = 1.0 / static_cast<double>(num_rows);
  Eigen::MatrixXd scale(1, C);
  for (Eigen::Index c = 0; c < C; ++c) {
    scale(0, c) = factor * weights[static_cast<std::size_t>(c)];
  }
  const Var given =
      reshape(builder.array(target, shape, DataArray::Content::kProbability), num_rows, C);
  const Var smoothed =
      e == 0 ? given : (1 - e) * given + number(builder, e / static_cast<double>(C));
  return hadamard(smoothed, builder.constant(scale));
}

// --- numbers ---

Var numbers(ModelBuilder& builder,
            Var output,
            const Shape& shape,
            const std::string& target,
            const TensorShapes& data,
            DataArray::Content content = DataArray::Content::kReal) {
  const Shape found = target_shape(data, target);
  if (trimmed(found) != trimmed(shape)) {
    refuse(data,
           target,
           fmt::format(
               "has the shape {}, the outputs have {}", with_samples(found), with_samples(shape)));
  }
  return reshape(builder.array(target, shape, content), output.rows(), output.cols());
}

Var mean(Var a) { return (1.0 / static_cast<double>(a.rows() * a.cols())) * sum(a); }

// t p softplus(-z) + (1 - t) softplus(z): neither part cancels.
Var binary_cross_entropy(ModelBuilder& builder, const LossOptions& options, Var z, Var t) {
  Var positive = hadamard(t, softplus(-z));
  const auto& weight = options.pos_weight;
  if (weight.size() == 1) {
    positive = weight[0] * positive;
  } else if (!weight.empty()) {
    const auto count = static_cast<Eigen::Index>(weight.size());
    const Eigen::Index size = z.rows() * z.cols();
    if (size % count != 0) {
      options.source.refuse(
          "pos_weight",
          fmt::format("'pos_weight' has {} numbers, but a sample has {} outputs", count, size));
    }
    const Eigen::MatrixXd row = Eigen::Map<const Eigen::RowVectorXd>(weight.data(), count);
    positive = reshape(hadamard(reshape(positive, size / count, count), builder.constant(row)),
                       z.rows(),
                       z.cols());
  }
  return mean(positive + hadamard(number(builder, 1.0) - t, softplus(z)));
}

// c (r - c / 2), where c is r clipped to [-delta, delta].
Var huber(Var r, double delta) {
  const Var c = elementary(Elementary::kClip, r, -delta, delta);
  return mean(hadamard(c, r - 0.5 * c));
}

}  // namespace

std::string_view to_string(LossKind kind) {
  return std::ranges::find(kLosses, kind, &NamedLoss::kind)->name;
}

std::vector<SettingKey> loss_keys(const std::vector<LossKind>& choices) {
  SettingKey loss{.name = "loss", .meaning = "the loss of a sample"};
  for (const LossKind kind : choices) loss.choices.emplace_back(to_string(kind));
  std::vector<SettingKey> keys = {loss};
  for (const LossKey& entry : keys_of_losses()) {
    const bool is_taken = std::ranges::any_of(entry.losses, [&](LossKind kind) {
      return std::ranges::find(choices, kind) != choices.end();
    });
    if (is_taken) keys.push_back(entry.key);
  }
  return keys;
}

bool is_plain(const LossOptions& options, const std::string& target, const TensorShapes& data) {
  const bool has_keys = options.label_smoothing != 0 || !options.class_weights.empty() ||
                        !options.pos_weight.empty() || options.ignore_index;
  const bool has_one_class = !data.has(target) || trimmed(target_shape(data, target)).empty();
  return !has_keys && (options.kind == LossKind::kMeanSquaredError ||
                       (options.kind == LossKind::kCrossEntropy && has_one_class));
}

LossOptions loss_options(const Settings& settings, std::optional<LossKind> only) {
  LossOptions options{.source = settings};
  const std::string name(only ? to_string(*only) : settings.text("loss"));
  options.kind = std::ranges::find(kLosses, name, &NamedLoss::name)->kind;
  for (const LossKey& entry : keys_of_losses()) {
    if (!settings.has(entry.key.name)) continue;
    if (std::ranges::find(entry.losses, options.kind) == entry.losses.end()) {
      settings.refuse(
          entry.key.name,
          fmt::format(
              "[model]: '{}' is not for loss = \"{}\"; leave it out", entry.key.name, name));
    }
  }
  if (settings.has("label_smoothing")) options.label_smoothing = settings.real("label_smoothing");
  if (settings.has("class_weights")) options.class_weights = settings.reals("class_weights");
  if (settings.has("pos_weight")) options.pos_weight = settings.reals("pos_weight");
  if (settings.has("ignore_index")) options.ignore_index = settings.integer("ignore_index");
  if (settings.has("delta")) options.delta = settings.real("delta");
  return options;
}

Var record_loss(ModelBuilder& builder,
                const LossOptions& options,
                Var output,
                const std::vector<std::int64_t>& shape,
                const std::string& target,
                const TensorShapes& data) {
  switch (options.kind) {
    case LossKind::kOutput:
      if (output.rows() * output.cols() != 1) {
        throw InputError(fmt::format(
            "the model's output has the shape {}; with loss = \"output\" it must be one number for "
            "each sample, its loss",
            with_samples(shape)));
      }
      return reshape(output, 1, 1);
    case LossKind::kMeanSquaredError:
      return mean(square(output - numbers(builder, output, shape, target, data)));
    case LossKind::kHuber:
      return huber(output - numbers(builder, output, shape, target, data), options.delta);
    case LossKind::kBinaryCrossEntropy:
      return binary_cross_entropy(
          builder,
          options,
          output,
          numbers(builder, output, shape, target, data, DataArray::Content::kProbability));
    case LossKind::kCrossEntropy:
    case LossKind::kNegativeLogLikelihood:
      break;
  }
  const Shape found = target_shape(data, target);
  const bool is_likelihood = options.kind == LossKind::kNegativeLogLikelihood;
  if (!is_likelihood && !shape.empty() && found == shape && !data.has_integers(target)) {
    const Eigen::Index C = shape.back();
    const Var z = reshape(output, volume_of(shape) / C, C);
    return sum(cross_entropy_rows(z, soft_targets(builder, options, shape, target, data)));
  }
  const ClassRows z = class_rows(output, shape, found, data, target);
  const Var targets = class_targets(builder, options, z, data, target);
  return is_likelihood ? -sum(hadamard(z.rows, targets)) : sum(cross_entropy_rows(z.rows, targets));
}

}  // namespace hesscope
