// SPDX-License-Identifier: BSD-3-Clause
//
// The inputs of RNN, GRU and LSTM: sequences of one length, or of lengths given by the data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <hesscope/import/internal/operator_call.h>
#include <hesscope/import/internal/recurrent_activations.h>

namespace hesscope::onnx {

/// Shared by the three operators: sizes, weights and initial states.
struct Sequences {
  std::int64_t steps;
  std::int64_t rows;
  std::int64_t hidden;
  std::int64_t directions;
  Axis batch;
  bool is_batch_first;
  Var inputs;  ///< T B x I, step by step
  std::vector<RecurrentActivation> activations;
  std::optional<Var> lengths;  ///< B x H, equal within a row; none: all steps
};

/// The result of a step, as a constant if it depends on constants alone.
Var folded(const OperatorCall& call, Var var);

/// Refuses sizes that do not fit each other.
/// @param activations  the operator's default ones.
Sequences sequences_of(const OperatorCall& call,
                       int num_gates,
                       const std::vector<std::string>& activations);

/// The entries of `next` for sequences that have this step, and those of `before` for the others;
/// without `before`, zeros.
Var within_lengths(const OperatorCall& call,
                   const Sequences& all,
                   std::int64_t step,
                   Var next,
                   const std::optional<Var>& before);

}  // namespace hesscope::onnx
