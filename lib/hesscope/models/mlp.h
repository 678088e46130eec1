// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include <hesscope/models/model.h>
#include <hesscope/models/model_registry.h>

namespace hesscope {

enum class Activation { kTanh, kGelu, kRelu, kSoftplus, kIdentity };

enum class MlpLoss {
  kCrossEntropy,      ///< log sum_c exp(z_c) - z_target
  kMeanSquaredError,  ///< mean over outputs of (z - target)^2
};

/// Which layers have a bias.
enum class MlpBias {
  kAll,
  kNone,
  kHidden,  ///< all but the last
};

struct MlpOptions {
  std::vector<std::int64_t> widths;  ///< input, hidden ..., output: at least two
  Activation activation = Activation::kTanh;
  MlpLoss loss = MlpLoss::kCrossEntropy;
  MlpBias bias = MlpBias::kAll;
};

/// A multilayer perceptron: z_0 = x, z_{i+1} = phi(W_i z_i + b_i), without phi after the last
/// layer.
///
/// Parameters: layers.{i}.weight (out, in), and layers.{i}.bias (out) where there is a b_i. Arrays:
/// inputs (in), and target () with class indices for cross-entropy or target (out) with numbers for
/// the mean squared error.
/// @throws PreconditionError for fewer than two widths or one below 1.
Model mlp(const MlpOptions& options);

ModelKind mlp_kind();

}  // namespace hesscope
