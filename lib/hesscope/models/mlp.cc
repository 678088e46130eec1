// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/models/invariances.h>
#include <hesscope/models/losses.h>
#include <hesscope/models/mlp.h>

namespace hesscope {
namespace {

std::string weight_name(std::size_t layer) { return fmt::format("layers.{}.weight", layer); }

std::string bias_name(std::size_t layer) { return fmt::format("layers.{}.bias", layer); }

// None for the identity.
std::optional<Elementary> elementary_of(Activation activation) {
  switch (activation) {
    case Activation::kTanh:
      return Elementary::kTanh;
    case Activation::kGelu:
      return Elementary::kGelu;
    case Activation::kRelu:
      return Elementary::kRelu;
    case Activation::kSoftplus:
      return Elementary::kSoftplus;
    case Activation::kIdentity:
      return std::nullopt;
  }
  throw PreconditionError("mlp: unknown activation");
}

Activation activation_named(const std::string& name) {
  if (name == "gelu") return Activation::kGelu;
  if (name == "relu") return Activation::kRelu;
  if (name == "softplus") return Activation::kSoftplus;
  if (name == "identity") return Activation::kIdentity;
  return Activation::kTanh;
}

// What the setting says, if it is there.
std::optional<MlpBias> bias_from(const Settings& settings) {
  if (!settings.has("bias")) return std::nullopt;
  const std::string& name = settings.text("bias");
  if (name == "none") return MlpBias::kNone;
  return name == "hidden" ? MlpBias::kHidden : MlpBias::kAll;
}

bool has_bias(MlpBias bias, std::size_t layer, std::size_t num_layers) {
  return bias == MlpBias::kAll || (bias == MlpBias::kHidden && layer + 1 < num_layers);
}

// How the output is used: as logits of classes, or as numbers.
MlpLoss loss_named(const std::string& name) {
  return name == "cross-entropy" ? MlpLoss::kCrossEntropy : MlpLoss::kMeanSquaredError;
}

constexpr std::int64_t kMaxWidth = 1'000'000;

// For "15,15", the numbers; none for an empty text.
std::vector<std::int64_t> parsed_widths(const std::string& text) {
  std::vector<std::int64_t> widths;
  const char* next = text.data();
  const char* const end = next + text.size();
  while (next != end) {
    std::int64_t width = 0;
    const auto [after, error] = std::from_chars(next, end, width);
    const bool goes_on = after != end && *after == ',' && after + 1 != end;
    if (error != std::errc() || width < 1 || width > kMaxWidth || !(after == end || goes_on)) {
      throw ConfigError(fmt::format(
          "[model] of kind 'mlp': 'hidden' must be widths between 1 and {} with commas between "
          "them, as \"15,15\", got \"{}\"",
          kMaxWidth,
          text));
    }
    widths.push_back(width);
    next = goes_on ? after + 1 : after;
  }
  return widths;
}

struct Layers {
  std::vector<std::int64_t> widths;
  MlpBias bias;
};

// Those of the checkpoint's layers.0, layers.1, ... Unless a setting says which biases there are,
// there are all or none.
Layers layers_of(const Settings& settings, const TensorShapes& checkpoint) {
  std::size_t num_layers = 0;
  bool has_any = false;
  for (; num_layers == 0 || checkpoint.has(weight_name(num_layers)); ++num_layers) {
    has_any = has_any || checkpoint.has(bias_name(num_layers));
  }
  const MlpBias bias = bias_from(settings).value_or(has_any ? MlpBias::kAll : MlpBias::kNone);
  std::vector<std::int64_t> widths = {checkpoint.at(weight_name(0), 2, "(out, in)")[1]};
  for (std::size_t i = 0; i < num_layers; ++i) {
    const auto& weight = checkpoint.at(weight_name(i), 2, "(out, in)");
    std::int64_t out = weight[0];
    if (has_bias(bias, i, num_layers)) {
      const bool is_last = i + 1 == num_layers;
      if (is_last && !settings.has("bias") && !checkpoint.has(bias_name(i))) {
        throw InputError(fmt::format(
            "{}: no tensor '{}', although the layers before have one; if the last layer has none, "
            "say so in [model]: bias = \"hidden\"",
            checkpoint.source,
            bias_name(i)));
      }
      out = checkpoint.at(bias_name(i), 1, "(out,)")[0];
    }
    // Compared here, so that a transposed weight can be reported as such.
    if (weight[0] != out || weight[1] != widths.back()) {
      const bool is_transposed = weight[1] == out && (i == 0 || weight[0] == widths.back());
      throw InputError(
          fmt::format("{}: tensor '{}': expected shape (out, in) = ({}, {}), found ({}, {}){}",
                      checkpoint.source,
                      weight_name(i),
                      out,
                      i == 0 ? weight[0] : widths.back(),
                      weight[0],
                      weight[1],
                      is_transposed ? "; it looks transposed" : ""));
    }
    widths.push_back(out);
  }
  return {std::move(widths), bias};
}

// Those that the settings and the data give.
Layers new_layers(const Settings& settings, const TensorShapes& data) {
  // (samples,) stands for (samples, 1).
  const auto width_of = [&data](const std::string& name) {
    return data.at(name).size() == 1 ? 1 : data.at(name, 2, "(samples, width)")[1];
  };
  std::vector<std::int64_t> widths = parsed_widths(settings.text("hidden"));
  widths.insert(widths.begin(), width_of("inputs"));
  const std::int64_t classes = settings.integer("classes");
  const bool is_classifier = loss_named(settings.text("loss")) == MlpLoss::kCrossEntropy;
  if (is_classifier != (classes > 0)) {
    settings.refuse("classes",
                    is_classifier
                        ? "[model] of kind 'mlp' with loss = \"cross-entropy\" needs the key "
                          "'classes' (number of classes)"
                        : "[model] of kind 'mlp': 'classes' is for loss = \"cross-entropy\"; "
                          "leave it out, 'target' gives the number of outputs");
  }
  widths.push_back(is_classifier ? classes : width_of("target"));
  return {std::move(widths), bias_from(settings).value_or(MlpBias::kAll)};
}

// A column; without entries if the layer has no bias.
MatrixView bias_view(const Model& model, const MlpOptions& options, std::size_t layer) {
  if (has_bias(options.bias, layer, options.widths.size() - 1)) {
    return matrix_view(model, bias_name(layer));
  }
  return {.rows = options.widths[layer + 1]};
}

// The contribution of hidden layer i to the next one does not change if its units are scaled (relu
// is homogeneous), or undergo any affine map (identity). With tanh, gelu or softplus, hidden layers
// have only finitely many symmetries (Sussmann, Neural Networks 5, 1992, 589-593, for tanh).
//
// Not affine and therefore not included: with the identity, moving W_i, h x inputs with h < inputs,
// within the kernel of W_{i+1}, o x h, where 2 <= o < h. For o = 1, addition_across does it.
std::vector<Invariance> hidden_invariances(const Model& model, const MlpOptions& options) {
  std::vector<Invariance> scales;
  std::vector<Invariance> maps;
  for (std::size_t i = 0; i + 2 < options.widths.size(); ++i) {
    const MatrixView weight = matrix_view(model, weight_name(i));
    const MatrixView bias = bias_view(model, options, i);
    const MatrixView next_bias = bias_view(model, options, i + 1);
    const MatrixView next = matrix_view(model, weight_name(i + 1)).transposed();
    if (options.activation == Activation::kRelu) {
      scales.push_back(rescaling_of_units(weight, bias, next.transposed()));
    } else if (options.activation == Activation::kIdentity) {
      maps.push_back(change_of_basis({weight, bias}, {next}));
      if (bias.cols > 0 && next_bias.cols > 0) {
        maps.push_back(translation(bias, next.transposed(), next_bias));
      }
      if (next.cols == 1) maps.push_back(addition_across({weight, bias}, next));
    }
  }
  std::vector<Invariance> found;
  if (!scales.empty()) found.push_back(joined("rescaling of hidden units", std::move(scales)));
  if (!maps.empty()) found.push_back(joined("factors of linear layers", std::move(maps)));
  return found;
}

std::vector<Invariance> invariances_of(const Model& model, const MlpOptions& options) {
  std::vector<Invariance> found = hidden_invariances(model, options);
  if (options.loss == MlpLoss::kCrossEntropy) {
    const std::size_t last = options.widths.size() - 2;
    found.push_back(joined("shift of all logits",
                           {shift_of_all_rows(matrix_view(model, weight_name(last)),
                                              bias_view(model, options, last))}));
  }
  return found;
}

// The output of all layers, declared as the prediction.
Var recorded_layers(ModelBuilder& b, const MlpOptions& options) {
  const auto& widths = options.widths;
  if (widths.size() < 2 || *std::min_element(widths.begin(), widths.end()) < 1) {
    throw PreconditionError("mlp: widths must be at least two, each at least 1");
  }
  const std::optional<Elementary> activation = elementary_of(options.activation);
  Var z = b.array("inputs", {widths.front()});
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    const Var weight = b.parameter(weight_name(i), {widths[i + 1], widths[i]});
    z = matmul(weight, z);
    if (has_bias(options.bias, i, widths.size() - 1)) {
      z = z + b.parameter(bias_name(i), {widths[i + 1]});
    }
    if (activation && i + 2 < widths.size()) z = elementary(*activation, z);
  }
  b.set_prediction(z);
  return z;
}

std::vector<SettingKey> keys_of_mlp() {
  std::vector<SettingKey> keys = {{.name = "activation",
                                   .meaning = "the function between layers",
                                   .choices = {"tanh", "gelu", "relu", "softplus", "identity"}},
                                  {.name = "bias",
                                   .meaning = "which layers have a bias; hidden: all but the last; "
                                              "if absent, all, or none if the checkpoint has none",
                                   .choices = {"all", "none", "hidden"},
                                   .is_optional = true}};
  const std::vector<SettingKey> losses = loss_keys({LossKind::kCrossEntropy,
                                                    LossKind::kMeanSquaredError,
                                                    LossKind::kBinaryCrossEntropy,
                                                    LossKind::kHuber});
  keys.insert(keys.end(), losses.begin(), losses.end());
  keys.push_back(weight_decay_key());
  return keys;
}

Model sized(const ModelSources& sources, Layers layers) {
  const Settings& settings = sources.settings;
  const LossOptions loss = loss_options(settings);
  const MlpOptions options{.widths = std::move(layers.widths),
                           .activation = activation_named(settings.text("activation")),
                           .loss = loss_named(settings.text("loss")),
                           .bias = layers.bias};
  const auto with_loss = [&] {
    ModelBuilder b("mlp");
    const Var z = recorded_layers(b, options);
    Model model =
        b.finish(record_loss(b, loss, z, {options.widths.back()}, "target", sources.data));
    model.invariances = invariances_of(model, options);
    return model;
  };
  Model model = is_plain(loss, "target", sources.data) ? mlp(options) : with_loss();
  model.weight_decay = weight_decay_from(settings);
  if (std::string remark = remark_on_single_class(loss, options.widths.back()); !remark.empty()) {
    model.remarks.push_back(std::move(remark));
  }
  return model;
}

}  // namespace

Model mlp(const MlpOptions& options) {
  const auto& widths = options.widths;
  ModelBuilder b("mlp");
  const Var z = recorded_layers(b, options);
  const auto loss = [&] {
    if (options.loss == MlpLoss::kCrossEntropy) {
      return cross_entropy(z, b.one_hot("target", widths.back()));
    }
    const Var target = b.array("target", {widths.back()});
    return (1.0 / static_cast<double>(widths.back())) * sum(square(z - target));
  };
  Model model = b.finish(loss());
  model.invariances = invariances_of(model, options);
  return model;
}

ModelKind mlp_kind() {
  return {
      .name = "mlp",
      .summary = "multilayer perceptron of any depth",
      .arrays = {"inputs", "target"},
      .keys = keys_of_mlp(),
      .size_keys = {{.name = "hidden",
                     .meaning =
                         "widths of the hidden layers, as [15, 15] or \"15,15\"; empty for none",
                     .fallback = SettingValue(std::string()),
                     .takes_numbers = true},
                    {.name = "classes",
                     .type = SettingKey::Type::kInteger,
                     .meaning = "number of classes, for cross-entropy",
                     .minimum = 1,
                     .maximum = kMaxWidth,
                     .fallback = SettingValue(std::int64_t{0})}},
      .build =
          [](const ModelSources& sources, const TensorShapes& checkpoint) {
            return sized(sources, layers_of(sources.settings, checkpoint));
          },
      .create =
          [](const ModelSources& sources) {
            return sized(sources, new_layers(sources.settings, sources.data));
          },
  };
}

}  // namespace hesscope
