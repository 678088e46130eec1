// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/models/attention_classifier.h>
#include <hesscope/models/invariances.h>
#include <hesscope/models/losses.h>

namespace hesscope {
namespace {

using Options = AttentionClassifierOptions;

std::string name_in(std::int64_t layer, const char* name) {
  return fmt::format("layers.{}.{}", layer, name);
}

// X + sum_h S_h X WV_h WO_h.
Var attended(ModelBuilder& b, const Options& options, std::int64_t l, Var x) {
  const std::int64_t H = options.heads;
  const std::int64_t D = options.embedding;
  const std::int64_t d = options.head_dimension;
  const auto wq = b.parameter_stack(name_in(l, "WQ"), H, D, d);
  const auto wk = b.parameter_stack(name_in(l, "WK"), H, D, d);
  const auto wv = b.parameter_stack(name_in(l, "WV"), H, D, d);
  const Var wo = b.parameter(name_in(l, "WO"), {H * d, D});
  Var y = x;
  for (std::int64_t h = 0; h < H; ++h) {
    const auto i = static_cast<std::size_t>(h);
    const Var s = kernel_matrix(options.kernel, matmul(x, wq[i]), matmul(x, wk[i]));
    const Var head = matmul(s, matmul(x, wv[i]));
    y = y + matmul(head, slice(wo, h * d, 0, d, D));
  }
  return y;
}

// Y + phi(Y W_0^T + b_0) W_2^T + b_2, token by token.
Var fed_forward(ModelBuilder& b, const Options& options, std::int64_t l, Var y) {
  const std::int64_t D = options.embedding;
  const std::int64_t m = options.mlp_hidden;
  const Var each_token = b.constant(Eigen::VectorXd::Ones(options.tokens));
  const Var w0 = b.parameter(name_in(l, "mlp.0.weight"), {m, D});
  const Var b0 = b.parameter(name_in(l, "mlp.0.bias"), {m});
  const Var w2 = b.parameter(name_in(l, "mlp.2.weight"), {D, m});
  const Var b2 = b.parameter(name_in(l, "mlp.2.bias"), {D});
  const Elementary phi =
      options.activation == ClassifierActivation::kRelu ? Elementary::kRelu : Elementary::kGelu;
  const Var hidden = elementary(phi, matmul_nt(y, w0) + matmul_nt(each_token, b0));
  return y + matmul_nt(hidden, w2) + matmul_nt(each_token, b2);
}

// Not affine and therefore not included: with C - 1 < D, moving the last W_2 within what all
// differences of the head's rows annihilate.
std::vector<Invariance> invariances_of(const Model& model, const Options& options) {
  const std::int64_t d = options.head_dimension;
  std::vector<Invariance> scores;
  std::vector<Invariance> values;
  std::vector<Invariance> units;
  for (std::int64_t l = 0; l < options.layers; ++l) {
    const auto view = [&](const char* name, Eigen::Index i = 0) {
      return matrix_view(model, name_in(l, name), i);
    };
    for (std::int64_t h = 0; h < options.heads; ++h) {
      scores.push_back(kernel_invariance(options.kernel, view("WQ", h), view("WK", h)));
      values.push_back(
          change_of_basis({view("WV", h).transposed()}, {view("WO").middle_rows(h * d, d)}));
    }
    if (options.activation == ClassifierActivation::kRelu) {
      units.push_back(
          rescaling_of_units(view("mlp.0.weight"), view("mlp.0.bias"), view("mlp.2.weight")));
    }
  }
  const MatrixView weight = matrix_view(model, "head.weight");
  const MatrixView bias = matrix_view(model, "head.bias");
  const MatrixView last = matrix_view(model, name_in(options.layers - 1, "mlp.2.bias"));
  std::vector<Invariance> found = {joined("basis of queries and keys", std::move(scores)),
                                   joined("basis of values", std::move(values))};
  if (!units.empty()) found.push_back(joined("rescaling of hidden units", std::move(units)));
  found.push_back(joined("last bias against the head's", {translation(last, weight, bias)}));
  found.push_back(joined("shift of all logits", {shift_of_all_rows(weight, bias)}));
  return found;
}

struct Sizes {
  std::int64_t layers;
  std::int64_t heads;
  std::int64_t head_dimension;
  std::int64_t mlp_hidden;
  std::int64_t classes;
};

constexpr const char* kInputsShape = "(samples, n, D)";

// The logits, declared as the prediction.
Var recorded_logits(ModelBuilder& b, const Options& options) {
  if (std::min({options.layers,
                options.heads,
                options.embedding,
                options.head_dimension,
                options.mlp_hidden,
                options.tokens,
                options.classes}) < 1) {
    throw PreconditionError("attention_classifier: every size must be at least 1");
  }
  const std::int64_t n = options.tokens;
  Var x = b.array("inputs", {n, options.embedding});
  for (std::int64_t l = 0; l < options.layers; ++l) {
    x = fed_forward(b, options, l, attended(b, options, l, x));
  }
  const Var mean = b.constant(Eigen::VectorXd::Constant(n, 1.0 / static_cast<double>(n)));
  const Var weight = b.parameter("head.weight", {options.classes, options.embedding});
  const Var bias = b.parameter("head.bias", {options.classes});
  const Var logits = matmul(weight, matmul_tn(x, mean)) + bias;
  b.set_prediction(logits);
  return logits;
}

Model sized(const ModelSources& sources, const Sizes& sizes) {
  const Settings& settings = sources.settings;
  const auto& inputs = sources.data.at("inputs", 3, kInputsShape);
  const Options options{.layers = sizes.layers,
                        .heads = sizes.heads,
                        .embedding = inputs[2],
                        .head_dimension = sizes.head_dimension,
                        .mlp_hidden = sizes.mlp_hidden,
                        .tokens = inputs[1],
                        .classes = sizes.classes,
                        .kernel = kernel_named(settings.text("kernel")),
                        .activation = settings.text("activation") == "relu"
                                          ? ClassifierActivation::kRelu
                                          : ClassifierActivation::kGelu};
  ModelBuilder b("attention-classifier");
  const Var logits = recorded_logits(b, options);
  Model model = b.finish(record_loss(b,
                                     loss_options(settings, LossKind::kCrossEntropy),
                                     logits,
                                     {options.classes},
                                     "target",
                                     sources.data));
  model.invariances = invariances_of(model, options);
  model.weight_decay = weight_decay_from(settings);
  return model;
}

Sizes sizes_of(const TensorShapes& checkpoint) {
  const auto& wq = checkpoint.at("layers.0.WQ", 3, "(heads, D, d)");
  std::int64_t layers = 1;
  while (checkpoint.has(name_in(layers, "WQ"))) ++layers;
  return {.layers = layers,
          .heads = wq[0],
          .head_dimension = wq[2],
          .mlp_hidden = checkpoint.at("layers.0.mlp.0.weight", 2, "(hidden, D)")[0],
          .classes = checkpoint.at("head.weight", 2, "(classes, D)")[0]};
}

}  // namespace

Model attention_classifier(const Options& options) {
  ModelBuilder b("attention-classifier");
  const Var logits = recorded_logits(b, options);
  Model model = b.finish(cross_entropy(logits, b.one_hot("target", options.classes)));
  model.invariances = invariances_of(model, options);
  return model;
}

namespace {

std::vector<SettingKey> keys_of_classifier() {
  std::vector<SettingKey> keys = {kernel_key(),
                                  {.name = "activation",
                                   .meaning = "the function within the perceptrons",
                                   .choices = {"relu", "gelu"}}};
  const std::vector<SettingKey> losses = loss_keys({LossKind::kCrossEntropy});
  keys.insert(keys.end(), losses.begin() + 1, losses.end());  // there is only one loss
  keys.push_back(weight_decay_key());
  return keys;
}

}  // namespace

ModelKind attention_classifier_kind() {
  return {
      .name = "attention-classifier",
      .summary = "small Transformer encoder classifying sequences, softmax or Gaussian kernel",
      .arrays = {"inputs", "target"},
      .keys = keys_of_classifier(),
      .size_keys = {size_key("layers", "number of layers", 1000),
                    size_key("heads", "number of heads"),
                    size_key("head_width", "d, of one head"),
                    {.name = "mlp_hidden",
                     .type = SettingKey::Type::kInteger,
                     .meaning = "hidden units of the perceptrons",
                     .minimum = 1,
                     .maximum = 1'000'000,
                     .fallback = SettingValue(std::int64_t{128})},
                    size_key("classes", "number of classes")},
      .build =
          [](const ModelSources& sources, const TensorShapes& checkpoint) {
            const std::int64_t D = checkpoint.at("layers.0.WQ", 3, "(heads, D, d)")[1];
            const auto& inputs = sources.data.at("inputs", 3, kInputsShape);
            if (inputs[2] != D) {
              throw InputError(fmt::format(
                  "{}: array 'inputs': expected shape (samples, n, {}) to fit 'layers.0.WQ' in {}, "
                  "found ({}, {}, {})",
                  sources.data.source,
                  D,
                  checkpoint.source,
                  inputs[0],
                  inputs[1],
                  inputs[2]));
            }
            return sized(sources, sizes_of(checkpoint));
          },
      .create =
          [](const ModelSources& sources) {
            const Sizes sizes = {.layers = sources.settings.integer("layers"),
                                 .heads = sources.settings.integer("heads"),
                                 .head_dimension = sources.settings.integer("head_width"),
                                 .mlp_hidden = sources.settings.integer("mlp_hidden"),
                                 .classes = sources.settings.integer("classes")};
            return sized(sources, sizes);
          },
  };
}

}  // namespace hesscope
