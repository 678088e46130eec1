// SPDX-License-Identifier: BSD-3-Clause
//
// One model of every kind, parametrization and shape that matters to invariances.
#pragma once

#include <cmath>
#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include <hesscope/models/attention.h>
#include <hesscope/models/attention_classifier.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/models/mlp.h>
#include <hesscope/models/model.h>
#include <hesscope/models/signal_noise.h>

#include "support/numbers.h"

namespace hesscope::test {

/// A model of few parameters, and the generators it must have.
struct InvarianceCase {
  std::string name;
  Model model;
  std::vector<Eigen::Index> num_generators;  // of each family
  /// Flat directions that no affine map gives; see mlp.cc.
  Eigen::Index beyond_affine = 0;
};

inline void PrintTo(const InvarianceCase& c, std::ostream* out) { *out << c.name; }

inline InvarianceCase attention_case(const std::string& name,
                                     AttentionKernel kernel,
                                     Eigen::Index D,
                                     Eigen::Index d) {
  const Eigen::Index H = 2;
  const Eigen::Index scores = kernel == AttentionKernel::kSoftmax ? d * d : d * (d - 1) / 2;
  return {name, attention({H, D, d, 5, kernel}), {H * scores, H * (d * d + D * d * (d - 1) / 2)}};
}

inline InvarianceCase mlp_case(const std::string& name,
                               Activation activation,
                               MlpLoss loss,
                               std::vector<std::int64_t> widths,
                               std::vector<Eigen::Index> num_generators,
                               Eigen::Index beyond_affine = 0,
                               MlpBias bias = MlpBias::kAll) {
  return {name,
          mlp({std::move(widths), activation, loss, bias}),
          std::move(num_generators),
          beyond_affine};
}

inline InvarianceCase classifier_case(const std::string& name,
                                      const AttentionClassifierOptions& options,
                                      Eigen::Index beyond_affine = 0) {
  const Eigen::Index d = options.head_dimension;
  const Eigen::Index D = options.embedding;
  const Eigen::Index heads = options.layers * options.heads;
  const bool is_softmax = options.kernel == AttentionKernel::kSoftmax;
  std::vector<Eigen::Index> counts = {heads * (is_softmax ? d * d : d * (d - 1) / 2),
                                      heads * d * d};
  if (options.activation == ClassifierActivation::kRelu) {
    counts.push_back(options.layers * options.mlp_hidden);
  }
  counts.push_back(D);
  counts.push_back(D + 1);
  return {name, attention_classifier(options), std::move(counts), beyond_affine};
}

inline std::vector<InvarianceCase> invariance_cases() {
  using Activations = LinearAttentionActivation;
  using Parametrization = LinearAttentionParametrization;
  const auto softmax = AttentionKernel::kSoftmax;
  const auto gaussian = AttentionKernel::kGaussian;
  const auto entropy = MlpLoss::kCrossEntropy;
  const auto mse = MlpLoss::kMeanSquaredError;
  return {
      {"LinearAttentionSparse", linear_attention({3, 3, 6, Parametrization::kSparse}), {}},
      {"LinearAttentionSparseOneLayer", linear_attention({1, 3, 6, Parametrization::kSparse}), {}},
      {"LinearAttentionSparseOneCovariate",
       linear_attention({3, 1, 6, Parametrization::kSparse}),
       {}},
      {"LinearAttentionFull", linear_attention({3, 2, 6, Parametrization::kFull}), {3}},
      {"LinearAttentionFullOneLayer", linear_attention({1, 2, 6, Parametrization::kFull}), {1}},
      {"LinearAttentionSplitQk", linear_attention({2, 2, 6, Parametrization::kSplitQk}), {2, 18}},
      {"LinearAttentionSparseSplitQk",
       linear_attention({2, 2, 6, Parametrization::kSparseSplitQk}),
       {8}},
      {"LinearAttentionSoftmax",
       linear_attention({2, 2, 6, Parametrization::kSparse, Activations::kSoftmax}),
       {}},
      {"LinearAttentionSoftmaxFull",
       linear_attention({2, 2, 6, Parametrization::kFull, Activations::kSoftmax}),
       {}},
      {"LinearAttentionSoftmaxSplitQk",
       linear_attention({2, 2, 6, Parametrization::kSplitQk, Activations::kSoftmax}),
       {18}},
      {"LinearAttentionTwoHeads",
       linear_attention({2, 2, 6, Parametrization::kFull, Activations::kNone, 0, 2}),
       {8, 3}},
      {"LinearAttentionTwoSoftmaxHeads",
       linear_attention({2, 2, 6, Parametrization::kFull, Activations::kSoftmax, 0, 2}),
       {}},
      {"LinearAttentionTwoHeadsPerceptron",
       linear_attention({2, 2, 6, Parametrization::kFull, Activations::kNone, 3, 2}),
       {8, 3, 3, 4}},
      {"LinearAttentionPerceptron",
       linear_attention({3, 2, 6, Parametrization::kSparse, Activations::kNone, 3}),
       {3, 4}},
      {"LinearAttentionPerceptronFull",
       linear_attention({2, 2, 6, Parametrization::kFull, Activations::kNone, 3}),
       {2, 3, 4}},
      {"LinearAttentionPerceptronSplitQk",
       linear_attention({2, 2, 6, Parametrization::kSplitQk, Activations::kNone, 4}),
       {2, 18, 4, 4}},
      {"LinearAttentionPerceptronSoftmax",
       linear_attention({2, 2, 6, Parametrization::kFull, Activations::kSoftmax, 3}),
       {3, 4}},
      attention_case("AttentionSoftmax", softmax, 4, 3),
      attention_case("AttentionSoftmaxWideHeads", softmax, 2, 3),
      attention_case("AttentionSoftmaxOneColumn", softmax, 3, 1),
      attention_case("AttentionGaussian", gaussian, 4, 3),
      attention_case("AttentionGaussianWideHeads", gaussian, 2, 3),
      {"SignalNoise", signal_noise({4, 2, 3}), {4, 20}},
      {"SignalNoiseManyKeys", signal_noise({3, 5, 1}), {25, 3}},
      classifier_case("Classifier", {2, 2, 2, 1, 3, 4, 3, softmax, ClassifierActivation::kRelu}),
      classifier_case("ClassifierWideHeads",
                      {1, 1, 2, 3, 2, 4, 4, softmax, ClassifierActivation::kGelu}),
      classifier_case("ClassifierGaussian",
                      {2, 2, 3, 2, 2, 4, 4, gaussian, ClassifierActivation::kGelu}),
      // m (D - (C - 1))
      classifier_case(
          "ClassifierTwoClasses", {1, 1, 3, 2, 2, 4, 2, softmax, ClassifierActivation::kGelu}, 4),
      mlp_case("Tanh", Activation::kTanh, entropy, {2, 4, 3, 3}, {4}),
      mlp_case("TanhMse", Activation::kTanh, mse, {2, 4, 3, 3}, {}),
      mlp_case("Gelu", Activation::kGelu, entropy, {2, 5, 3}, {6}),
      mlp_case("GeluMse", Activation::kGelu, mse, {2, 5, 2}, {}),
      mlp_case("Softplus", Activation::kSoftplus, entropy, {3, 4, 3, 2}, {4}),
      mlp_case("SoftplusMse", Activation::kSoftplus, mse, {3, 4, 2}, {}),
      mlp_case("Relu", Activation::kRelu, entropy, {3, 4, 3, 3}, {7, 4}),
      mlp_case("ReluMse", Activation::kRelu, mse, {3, 5, 2}, {5}),
      mlp_case("Identity", Activation::kIdentity, entropy, {3, 2, 4, 3}, {2 * 3 + 4 * 5, 5}),
      mlp_case("IdentityMse", Activation::kIdentity, mse, {2, 4, 3}, {4 * 5}),
      // 3 pairs for each of 4 weights and the bias
      mlp_case("IdentityOneOutput", Activation::kIdentity, mse, {4, 3, 1}, {3 * 4 + 3 * 5}),
      // (h - o)(inputs - h) for o, h, inputs = 2, 3, 5
      mlp_case("IdentityNarrowing", Activation::kIdentity, mse, {5, 3, 2}, {3 * 4}, 2),
      mlp_case("OneLayer", Activation::kTanh, entropy, {3, 4}, {4}),
      mlp_case("OneMatrix", Activation::kTanh, entropy, {3, 4}, {3}, 0, MlpBias::kNone),
      mlp_case("ReluWithoutBiases", Activation::kRelu, mse, {3, 5, 2}, {5}, 0, MlpBias::kNone),
      mlp_case("ProductOfMatrices", Activation::kIdentity, mse, {2, 4, 3}, {16}, 0, MlpBias::kNone),
      mlp_case("IdentityWithHiddenBias",
               Activation::kIdentity,
               entropy,
               {3, 2, 3},
               {4, 2},
               0,
               MlpBias::kHidden),
  };
}

/// Random records; signs and classes where they must be.
inline SampleTable random_samples(const Model& model, Eigen::Index count, std::uint64_t seed) {
  test::Numbers numbers(seed);
  SampleTable table = numbers.table(count, model.record_size());
  for (const DataArray& array : model.arrays) {
    for (Eigen::Index i = 0; i < count; ++i) {
      auto entries = table.row(i).segment(array.offset, array.width);
      if (array.content == DataArray::Content::kSign) entries[0] = entries[0] < 0 ? -1 : 1;
      if (array.content == DataArray::Content::kClass) {
        const auto c = static_cast<Eigen::Index>(
            std::floor((numbers.next() + 1) / 2 * static_cast<double>(array.width)));
        entries.setZero();
        entries[c] = 1;
      }
    }
  }
  return table;
}

}  // namespace hesscope::test
