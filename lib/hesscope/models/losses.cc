// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/models/internal/class_losses.h>
#include <hesscope/models/internal/target_shapes.h>
#include <hesscope/models/losses.h>

namespace hesscope {

namespace {

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

// A key that some losses take, and its value if it was not given.
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
        .is_optional = true,
        .takes_one = true},
       {LossKind::kBinaryCrossEntropy}},
      {{.name = "ignore_index",
        .type = Type::kInteger,
        .meaning = "targets of this class do not count",
        .is_optional = true},
       {LossKind::kCrossEntropy, LossKind::kNegativeLogLikelihood}},
      {{.name = "class_axis",
        .type = Type::kInteger,
        .meaning = "axis of the output that the classes are on; samples are on 0, -1 is the last",
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

// --- numbers ---

Var numbers(ModelBuilder& builder,
            Var output,
            const detail::Shape& shape,
            const std::string& target,
            const TensorShapes& data,
            DataArray::Content content = DataArray::Content::kReal) {
  const detail::Shape found = detail::target_shape(data, target);
  if (detail::trimmed(found) != detail::trimmed(shape)) {
    detail::refuse_target(data,
                          target,
                          fmt::format("has the shape {}, the outputs have {}",
                                      detail::with_samples(found),
                                      detail::with_samples(shape)));
  }
  return reshape(builder.array(target, shape, content), output.rows(), output.cols());
}

Var mean(Var a) { return (1.0 / static_cast<double>(a.rows() * a.cols())) * sum(a); }

// Whether there is one number for each entry of the last axes, which PyTorch broadcasts over those
// before.
bool is_of_last_axes(Eigen::Index count, const detail::Shape& shape) {
  Eigen::Index entries = 1;
  return std::any_of(shape.rbegin(), shape.rend(), [&](std::int64_t extent) {
    return (entries *= extent) == count;
  });
}

// t p softplus(-z) + (1 - t) softplus(z): neither part cancels.
Var binary_cross_entropy(
    ModelBuilder& builder, const LossOptions& options, Var z, const detail::Shape& shape, Var t) {
  Var positive = hadamard(t, softplus(-z));
  const auto& weight = options.pos_weight;
  if (weight.size() == 1) {
    positive = weight[0] * positive;
  } else if (!weight.empty()) {
    const auto count = static_cast<Eigen::Index>(weight.size());
    const Eigen::Index size = z.rows() * z.cols();
    if (!is_of_last_axes(count, shape)) {
      options.source.refuse("pos_weight",
                            fmt::format("'pos_weight' has {} numbers, but outputs are {}",
                                        count,
                                        detail::with_samples(shape)));
    }
    const Eigen::MatrixXd row = Eigen::Map<const Eigen::RowVectorXd>(weight.data(), count);
    positive = reshape(hadamard(reshape(positive, size / count, count), builder.constant(row)),
                       z.rows(),
                       z.cols());
  }
  return mean(positive + hadamard(detail::number(builder, 1.0) - t, softplus(z)));
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

bool takes_classes(LossKind kind) {
  return kind == LossKind::kCrossEntropy || kind == LossKind::kNegativeLogLikelihood;
}

std::vector<SettingKey> loss_keys(const std::vector<LossKind>& choices) {
  SettingKey loss{.name = "loss", .meaning = "the loss of a sample"};
  for (const LossKind kind : choices) loss.choices.emplace_back(to_string(kind));
  if (std::ranges::find(choices, LossKind::kBinaryCrossEntropy) != choices.end()) {
    loss.choices_note =
        "cross-entropy and bce-with-logits take logits, so export the model without its last "
        "softmax or sigmoid; nll takes logarithms of probabilities";
  }
  std::vector<SettingKey> keys = {loss};
  for (const LossKey& entry : keys_of_losses()) {
    const bool is_taken = std::ranges::any_of(entry.losses, [&](LossKind kind) {
      return std::ranges::find(choices, kind) != choices.end();
    });
    if (is_taken) keys.push_back(entry.key);
  }
  return keys;
}

SettingKey weight_decay_key() {
  return {.name = "weight_decay",
          .type = SettingKey::Type::kReal,
          .meaning = "w of a term w/2 |theta|^2 in the loss",
          .range = RealRange(),
          .is_optional = true};
}

double weight_decay_from(const Settings& settings) {
  const std::string name = weight_decay_key().name;
  return settings.has(name) ? settings.real(name) : 0;
}

bool is_plain(const LossOptions& options, const std::string& target, const TensorShapes& data) {
  const bool has_keys = options.label_smoothing != 0 || !options.class_weights.empty() ||
                        !options.pos_weight.empty() || options.ignore_index || options.class_axis;
  const bool has_one_class =
      !data.has(target) || detail::trimmed(detail::target_shape(data, target)).empty();
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
    if (entry.key.type == SettingKey::Type::kReals && settings.reals(entry.key.name).empty()) {
      settings.refuse(entry.key.name,
                      fmt::format("[model]: '{}' holds no number; leave it out", entry.key.name));
    }
  }
  if (options.kind == LossKind::kOutput && settings.has("target")) {
    settings.refuse(
        "target",
        "[model]: 'target' is not for loss = \"output\", whose targets are inputs of the "
        "graph; leave it out");
  }
  if (settings.has("label_smoothing")) options.label_smoothing = settings.real("label_smoothing");
  if (settings.has("class_weights")) options.class_weights = settings.reals("class_weights");
  if (settings.has("pos_weight")) options.pos_weight = settings.reals("pos_weight");
  if (settings.has("class_axis")) options.class_axis = settings.integer("class_axis");
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
            detail::with_samples(shape)));
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
          shape,
          numbers(builder, output, shape, target, data, DataArray::Content::kProbability));
    case LossKind::kCrossEntropy:
    case LossKind::kNegativeLogLikelihood:
      break;
  }
  return detail::class_loss(builder, options, output, shape, target, data);
}

std::string remark_on_single_class(const LossOptions& options, Eigen::Index num_outputs) {
  if (options.kind != LossKind::kCrossEntropy || num_outputs != 1) return {};
  return "the model has one output, and loss = \"cross-entropy\" of one class is 0 whatever the "
         "parameters: \"bce-with-logits\" takes the logit of one class against another";
}

std::string remark_on_probabilities(const LossOptions& options, Var output) {
  using Op = Graph::Op;
  const auto nodes = output.graph().nodes();
  const Graph::Node* last = &nodes[static_cast<std::size_t>(output.node())];
  const auto moves = [](const Graph::Node& node) {
    return node.op == Op::kReshape || node.op == Op::kSlice ||
           (node.op == Op::kGather && node.b < 0);
  };
  while (moves(*last)) last = &nodes[static_cast<std::size_t>(last->a)];
  const bool is_softmax = last->op == Op::kSoftmaxRows;
  const bool is_sigmoid = last->op == Op::kElementary && last->function == Elementary::kSigmoid;
  if (options.kind == LossKind::kCrossEntropy && is_softmax) {
    return "the model ends in softmax, and loss = \"cross-entropy\", which takes logits, applies "
           "it once more: export it without its last layer, or with log_softmax for loss = "
           "\"nll\"";
  }
  if (options.kind == LossKind::kNegativeLogLikelihood && is_softmax) {
    return "the model ends in softmax, and loss = \"nll\" takes its probabilities for their "
           "logarithms: export it with log_softmax, or without its last layer for loss = "
           "\"cross-entropy\"";
  }
  if (options.kind == LossKind::kBinaryCrossEntropy && is_sigmoid) {
    return "the model ends in a sigmoid, and loss = \"bce-with-logits\", which takes logits, "
           "applies it once more: export it without its last layer";
  }
  return {};
}

}  // namespace hesscope
