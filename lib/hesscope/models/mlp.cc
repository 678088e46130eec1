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

// The widths of the checkpoint's layers.0, layers.1, ... Each weight is compared here with its bias
// and the previous layer, so that a transposed one can be reported as such.
std::vector<std::int64_t> widths_of(const TensorShapes& checkpoint) {
  std::vector<std::int64_t> widths = {checkpoint.at(weight_name(0), 2, "(out, in)")[1]};
  for (std::size_t i = 0; i == 0 || checkpoint.has(weight_name(i)); ++i) {
    const auto& weight = checkpoint.at(weight_name(i), 2, "(out, in)");
    const std::int64_t out = checkpoint.at(bias_name(i), 1, "(out,)")[0];
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
  return widths;
}

// The widths that the settings and the data give.
std::vector<std::int64_t> widths_of(const Settings& settings, const TensorShapes& data) {
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
  return widths;
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
    const MatrixView bias = matrix_view(model, bias_name(i));
    const MatrixView next = matrix_view(model, weight_name(i + 1)).transposed();
    if (options.activation == Activation::kRelu) {
      scales.push_back(rescaling_of_units(weight, bias, next.transposed()));
    } else if (options.activation == Activation::kIdentity) {
      maps.push_back(change_of_basis({weight, bias}, {next}));
      maps.push_back(translation(bias, next.transposed(), matrix_view(model, bias_name(i + 1))));
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
                                              matrix_view(model, bias_name(last)))}));
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
    const Var bias = b.parameter(bias_name(i), {widths[i + 1]});
    z = matmul(weight, z) + bias;
    if (activation && i + 2 < widths.size()) z = elementary(*activation, z);
  }
  b.set_prediction(z);
  return z;
}

std::vector<SettingKey> keys_of_mlp() {
  std::vector<SettingKey> keys = {{.name = "activation",
                                   .meaning = "the function between layers",
                                   .choices = {"tanh", "gelu", "relu", "softplus", "identity"}}};
  const std::vector<SettingKey> losses = loss_keys({LossKind::kCrossEntropy,
                                                    LossKind::kMeanSquaredError,
                                                    LossKind::kBinaryCrossEntropy,
                                                    LossKind::kHuber});
  keys.insert(keys.end(), losses.begin(), losses.end());
  keys.push_back(weight_decay_key());
  return keys;
}

Model sized(const ModelSources& sources, std::vector<std::int64_t> widths) {
  const Settings& settings = sources.settings;
  const LossOptions loss = loss_options(settings);
  const MlpOptions options{.widths = std::move(widths),
                           .activation = activation_named(settings.text("activation")),
                           .loss = loss_named(settings.text("loss"))};
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
      .build = [](const ModelSources& sources,
                  const TensorShapes& checkpoint) { return sized(sources, widths_of(checkpoint)); },
      .create =
          [](const ModelSources& sources) {
            return sized(sources, widths_of(sources.settings, sources.data));
          },
  };
}

}  // namespace hesscope
