// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>

#include <hesscope/core/error.h>
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

// The widths that the checkpoint's layers.0, layers.1, ... have. A weight is checked against its
// bias and the layer before it here, where a transposed one can be called so.
std::vector<std::int64_t> widths_of(const TensorShapes& checkpoint) {
  std::vector<std::int64_t> widths = {checkpoint.at(weight_name(0), 2, "(out, in)")[1]};
  for (std::size_t i = 0; i == 0 || checkpoint.shapes.contains(weight_name(i)); ++i) {
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

}  // namespace

Model mlp(const MlpOptions& options) {
  const auto& widths = options.widths;
  if (widths.size() < 2 || *std::min_element(widths.begin(), widths.end()) < 1) {
    throw PreconditionError("mlp: widths must be at least two, each at least 1");
  }
  const std::optional<Elementary> activation = elementary_of(options.activation);
  ModelBuilder b("mlp");
  Var z = b.array("inputs", {widths.front()});
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    const Var weight = b.parameter(weight_name(i), {widths[i + 1], widths[i]});
    const Var bias = b.parameter(bias_name(i), {widths[i + 1]});
    z = matmul(weight, z) + bias;
    if (activation && i + 2 < widths.size()) z = elementary(*activation, z);
  }
  b.set_prediction(z);
  const auto loss = [&] {
    if (options.loss == MlpLoss::kCrossEntropy) {
      return cross_entropy(z, b.one_hot("target", widths.back()));
    }
    const Var target = b.array("target", {widths.back()});
    return (1.0 / static_cast<double>(widths.back())) * sum(square(z - target));
  };
  Model model = b.finish(loss());
  model.structured_hessian = mlp_hessian({.widths = widths,
                                          .activation = activation,
                                          .loss = options.loss,
                                          .input_offset = model.arrays[0].offset,
                                          .target_offset = model.arrays[1].offset});
  return model;
}

ModelKind mlp_kind() {
  return {
      .name = "mlp",
      .summary = "multilayer perceptron of any depth",
      .keys = {{.name = "activation",
                .meaning = "the function between layers",
                .choices = {"tanh", "gelu", "relu", "softplus", "identity"}},
               {.name = "loss",
                .meaning = "the loss of a sample",
                .choices = {"cross-entropy", "mse"}}},
      .build =
          [](const Settings& settings,
             const TensorShapes& checkpoint,
             const TensorShapes& /*data*/) {
            return mlp({.widths = widths_of(checkpoint),
                        .activation = activation_named(settings.text("activation")),
                        .loss = settings.text("loss") == "mse" ? MlpLoss::kMeanSquaredError
                                                               : MlpLoss::kCrossEntropy});
          },
  };
}

}  // namespace hesscope
