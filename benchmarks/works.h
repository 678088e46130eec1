// SPDX-License-Identifier: BSD-3-Clause
//
// The works by which hesscope is measured: a model, synthetic data and a point from a fixed
// generator, and the quantity that is computed there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <hesscope/models/attention.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/models/mlp.h>
#include <hesscope/objective/graph_objective.h>

namespace hesscope::bench {

struct Problem {
  Model model;
  SampleTable samples;
  Eigen::VectorXd theta;
};

/// Prompts of noiseless linear regression, x ~ N(0, I), w ~ N(0, I), y = w . x, the query's label 0
/// in Z; weights 0.05 N(0, 1). Parameters full or sparse.
/// @param set  for the model's own structure, here and below.
Problem linear_attention_problem(const LinearAttentionOptions& options,
                                 Eigen::Index num_samples,
                                 InstructionSet set = best_instruction_set());

/// Inputs N(0, I); classes cut by the angle of the first two inputs, or targets N(0, I); weights
/// N(0, 1) / sqrt(fan-in), biases 0.1 N(0, 1). Activation tanh.
Problem mlp_problem(const MlpOptions& options, Eigen::Index num_samples);

/// Tokens and targets N(0, I); weights N(0, 1) / sqrt(embedding).
Problem attention_problem(const AttentionOptions& options, Eigen::Index num_samples);

/// Models exported from PyTorch (models/make_models.py), by cross-entropy, at the weights in their
/// files. Images and sequences N(0, I), tokens and classes evenly drawn.
Problem gpt_problem(Eigen::Index num_samples);
Problem cnn_problem(Eigen::Index num_samples);
Problem resnet_problem(Eigen::Index num_samples);
Problem lstm_problem(Eigen::Index num_samples);
Problem vit_problem(Eigen::Index num_samples);

enum class Quantity {
  kGradient,
  kHessian,
  kHessianTimes,  ///< H V for kNumDirections columns of V
};

constexpr Eigen::Index kNumDirections = 16;

/// An upper bound on a work's time.
struct TimeLimit {
  double amount;
  enum class Unit {
    kGflop,       ///< the time of a square dgemm with that many GFLOP on as many threads
    kGradients,   ///< the time of that many gradients of the same objective
    kArithmetic,  ///< that many times the time of a dgemm with as many operations (arithmetic.h)
  } unit;
};

struct Work {
  std::string name;
  std::string title;
  Problem (*problem)(InstructionSet set);
  Quantity quantity;
  std::optional<TimeLimit> time_limit;
  /// In addition to what the process holds before the work begins, in bytes.
  std::optional<double> memory_limit;
};

const std::vector<Work>& works();

/// @throws std::invalid_argument naming the existing works.
const Work& work_named(const std::string& name);

/// Computes the quantity once and returns the norm of the result.
double perform(const GraphObjective& objective, const Eigen::VectorXd& theta, Quantity quantity);

}  // namespace hesscope::bench
