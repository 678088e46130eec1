// SPDX-License-Identifier: BSD-3-Clause
#include "works.h"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <stdexcept>

#include <hesscope/structured/linear_attention_hessian.h>
#include <hesscope/structured/linear_attention_loss.h>

#include "exported_problem.h"
#include "random.h"

namespace hesscope::bench {
namespace {

constexpr std::uint64_t kPointSeed = 2;

Eigen::Index class_of(double x, double y, Eigen::Index num_classes) {
  const double turn = 0.5 + std::atan2(y, x) / (2.0 * std::numbers::pi);
  return std::min(num_classes - 1,
                  static_cast<Eigen::Index>(turn * static_cast<double>(num_classes)));
}

constexpr double kMiB = 0x1p20;

// Twice the n x n Hessian and 512 MiB.
constexpr double two_hessians_and_half_a_gib(double n) { return 2 * 8 * n * n + 512 * kMiB; }

Problem w1(InstructionSet set) {
  return linear_attention_problem({.layers = 3,
                                   .dimension = 5,
                                   .context = 20,
                                   .parametrization = LinearAttentionParametrization::kFull},
                                  20'000,
                                  set);
}

Problem w2(InstructionSet set) {
  return linear_attention_problem({.layers = 3, .dimension = 5, .context = 20}, 1'000, set);
}

Problem w3(InstructionSet set) {
  return linear_attention_problem({.layers = 8,
                                   .dimension = 20,
                                   .context = 60,
                                   .parametrization = LinearAttentionParametrization::kFull},
                                  256,
                                  set);
}

Problem w4(InstructionSet /*set*/) { return mlp_problem({.widths = {2, 64, 64, 3}}, 2'000); }

Problem w5(InstructionSet /*set*/) {
  return attention_problem({.heads = 2, .embedding = 16, .head_dimension = 8, .sequence = 16}, 512);
}

Problem w6(InstructionSet /*set*/) { return mlp_problem({.widths = {2, 28, 28, 3}}, 10'000); }

Problem w7(InstructionSet /*set*/) { return gpt_problem(64); }

Problem w8(InstructionSet /*set*/) { return cnn_problem(1'797); }

Problem w9(InstructionSet /*set*/) { return resnet_problem(256); }

Problem w10(InstructionSet /*set*/) { return lstm_problem(256); }

Problem w11(InstructionSet /*set*/) { return vit_problem(256); }

Problem without_own_structure(Problem problem) {
  problem.model.structured_hessian = nullptr;
  problem.model.structured_loss = nullptr;
  return problem;
}

Problem w1_graph(InstructionSet set) { return without_own_structure(w1(set)); }

}  // namespace

Problem linear_attention_problem(const LinearAttentionOptions& options,
                                 Eigen::Index num_samples,
                                 InstructionSet set) {
  Problem problem{.model = linear_attention(options), .samples = {}, .theta = {}};
  const LinearAttentionStructure structure = {
      .layers = options.layers,
      .dimension = options.dimension,
      .context = options.context,
      .parametrization = options.parametrization == LinearAttentionParametrization::kSparse
                             ? LinearAttentionStructure::Parametrization::kSparse
                             : LinearAttentionStructure::Parametrization::kFull,
      .z_offset = problem.model.arrays[0].offset,
      .target_offset = problem.model.arrays[1].offset};
  problem.model.structured_hessian = linear_attention_hessian(structure, set);
  problem.model.structured_loss = linear_attention_loss(structure, set);
  const Eigen::Index d = options.dimension;
  const Eigen::Index n = options.context;
  problem.samples.resize(num_samples, problem.model.record_size());
  Random random(kDataSeed);
  Eigen::VectorXd w(d);
  for (Eigen::Index i = 0; i < num_samples; ++i) {
    double* record = problem.samples.row(i).data();  // Z, (d + 1) x (n + 1) row-major; target
    for (double& entry : w) entry = random.normal();
    for (Eigen::Index column = 0; column <= n; ++column) {
      double label = 0;
      for (Eigen::Index k = 0; k < d; ++k) {
        const double x = random.normal();
        record[k * (n + 1) + column] = x;
        label += w(k) * x;
      }
      record[d * (n + 1) + column] = column < n ? label : 0.0;
      if (column == n) record[(d + 1) * (n + 1)] = label;
    }
  }
  Random point(kPointSeed);
  problem.theta.resize(problem.model.num_parameters());
  for (double& entry : problem.theta) entry = 0.05 * point.normal();
  return problem;
}

Problem mlp_problem(const MlpOptions& options, Eigen::Index num_samples) {
  Problem problem{.model = mlp(options), .samples = {}, .theta = {}};
  const Eigen::Index num_inputs = options.widths.front();
  const Eigen::Index num_outputs = options.widths.back();
  problem.samples.setZero(num_samples, problem.model.record_size());
  Random random(kDataSeed);
  for (Eigen::Index i = 0; i < num_samples; ++i) {
    auto record = problem.samples.row(i);  // inputs; one-hot class, or targets
    for (Eigen::Index k = 0; k < num_inputs; ++k) record(k) = random.normal();
    if (options.loss == MlpLoss::kCrossEntropy) {
      record(num_inputs + class_of(record(0), num_inputs > 1 ? record(1) : 1.0, num_outputs)) = 1;
    } else {
      for (Eigen::Index k = 0; k < num_outputs; ++k) record(num_inputs + k) = random.normal();
    }
  }
  Random point(kPointSeed);
  problem.theta.resize(problem.model.num_parameters());
  for (const ParameterBlock& block : problem.model.parameters) {
    const double scale =
        block.shape.size() == 2 ? 1 / std::sqrt(static_cast<double>(block.shape[1])) : 0.1;
    for (double& entry : problem.theta.segment(block.offset, block.size)) {
      entry = scale * point.normal();
    }
  }
  return problem;
}

Problem attention_problem(const AttentionOptions& options, Eigen::Index num_samples) {
  Problem problem{.model = attention(options), .samples = {}, .theta = {}};
  problem.samples.resize(num_samples, problem.model.record_size());
  Random random(kDataSeed);
  for (double& entry : problem.samples.reshaped<Eigen::RowMajor>()) entry = random.normal();
  Random point(kPointSeed);
  const double scale = 1 / std::sqrt(static_cast<double>(options.embedding));
  problem.theta.resize(problem.model.num_parameters());
  for (double& entry : problem.theta) entry = scale * point.normal();
  return problem;
}

Problem gpt_problem(Eigen::Index num_samples) {
  return exported_problem("gpt", {{"tokens", {16}, 32}, {"target", {16}, 32}}, num_samples);
}

Problem cnn_problem(Eigen::Index num_samples) {
  return exported_problem("cnn", {{"image", {1, 8, 8}}, {"target", {}, 10}}, num_samples);
}

Problem resnet_problem(Eigen::Index num_samples) {
  return exported_problem("resnet", {{"image", {3, 8, 8}}, {"target", {}, 10}}, num_samples);
}

Problem lstm_problem(Eigen::Index num_samples) {
  return exported_problem("lstm", {{"sequence", {20, 4}}, {"target", {}, 5}}, num_samples);
}

Problem vit_problem(Eigen::Index num_samples) {
  return exported_problem("vit", {{"image", {1, 8, 8}}, {"target", {}, 10}}, num_samples);
}

const std::vector<Work>& works() {
  using enum Quantity;
  using enum TimeLimit::Unit;
  static const std::vector<Work> all = {
      {"W1",
       "linear-attention full, L=3 d=5 n=20, 20,000 prompts",
       &w1,
       kHessian,
       TimeLimit{12, kGflop},
       std::nullopt},
      {"W2",
       "linear-attention sparse, L=3 d=5 n=20, 1,000 prompts",
       &w2,
       kHessian,
       TimeLimit{0.5, kGflop},
       std::nullopt},
      {"W3",
       "linear-attention full, L=8 d=20 n=60, 256 prompts",
       &w3,
       kHessian,
       TimeLimit{700, kGflop},
       two_hessians_and_half_a_gib(7056)},
      {"W4",
       "mlp 2-64-64-3 tanh cross-entropy, 2,000 samples",
       &w4,
       kHessian,
       TimeLimit{30, kGflop},
       two_hessians_and_half_a_gib(4547)},
      {"W5",
       "attention softmax, 2 heads D=16 d=8 n=16, 512 sequences",
       &w5,
       kHessian,
       TimeLimit{15, kGflop},
       std::nullopt},
      {"W6",
       "mlp 2-28-28-3 tanh cross-entropy, 10,000 samples",
       &w6,
       kHessian,
       TimeLimit{11, kGflop},
       1e9},
      {"W1-graph", "W1 without its own structure", &w1_graph, kHessian, TimeLimit{25, kGflop}, {}},
      {"W7", "gpt.onnx, 64 sequences of 16 tokens", &w7, kHessian, TimeLimit{1.5, kArithmetic}, {}},
      {"W8", "cnn.onnx, 1,797 images", &w8, kHessian, TimeLimit{1.5, kArithmetic}, {}},
      {"W9", "resnet.onnx, 256 images", &w9, kHessian, TimeLimit{1.5, kArithmetic}, {}},
      {"W10", "lstm.onnx, 256 sequences", &w10, kHessian, TimeLimit{1.5, kArithmetic}, {}},
      {"W11", "vit.onnx, 256 images", &w11, kHessian, TimeLimit{1.5, kArithmetic}, {}},
      {"W2-times",
       "16 Hessian-vector products of W2",
       &w2,
       kHessianTimes,
       TimeLimit{3 * kNumDirections, kGradients},
       std::nullopt},
      {"W4-times",
       "16 Hessian-vector products of W4",
       &w4,
       kHessianTimes,
       TimeLimit{3 * kNumDirections, kGradients},
       std::nullopt},
      {"W5-times",
       "16 Hessian-vector products of W5",
       &w5,
       kHessianTimes,
       TimeLimit{3 * kNumDirections, kGradients},
       std::nullopt},
      {"W2-gradient", "gradient of W2", &w2, kGradient, TimeLimit{0.06, kGflop}, std::nullopt},
      {"W4-gradient", "gradient of W4", &w4, kGradient, TimeLimit{2, kArithmetic}, {}},
      {"W5-gradient", "gradient of W5", &w5, kGradient, TimeLimit{2, kArithmetic}, {}},
      {"W6-gradient", "gradient of W6", &w6, kGradient, TimeLimit{2, kArithmetic}, {}},
      {"W7-gradient", "gradient of W7", &w7, kGradient, TimeLimit{2, kArithmetic}, {}},
      {"W8-gradient", "gradient of W8", &w8, kGradient, TimeLimit{2, kArithmetic}, {}},
      {"W9-gradient", "gradient of W9", &w9, kGradient, TimeLimit{2, kArithmetic}, {}},
      {"W10-gradient", "gradient of W10", &w10, kGradient, TimeLimit{2, kArithmetic}, {}},
      {"W11-gradient", "gradient of W11", &w11, kGradient, TimeLimit{2, kArithmetic}, {}},
  };
  return all;
}

const Work& work_named(const std::string& name) {
  std::string names;
  for (const Work& work : works()) {
    if (work.name == name) return work;
    names += (names.empty() ? "" : ", ") + work.name;
  }
  throw std::invalid_argument("no work '" + name + "'; there are " + names);
}

double perform(const GraphObjective& objective, const Eigen::VectorXd& theta, Quantity quantity) {
  switch (quantity) {
    case Quantity::kGradient:
      return objective.gradient(theta).norm();
    case Quantity::kHessian:
      return objective.hessian(theta).norm();
    case Quantity::kHessianTimes:
      return objective.hessian_times(theta, Eigen::MatrixXd::Identity(theta.size(), kNumDirections))
          .norm();
  }
  throw std::invalid_argument("perform: unknown quantity");
}

}  // namespace hesscope::bench
