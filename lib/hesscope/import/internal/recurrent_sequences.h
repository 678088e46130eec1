// SPDX-License-Identifier: BSD-3-Clause
//
// What RNN, GRU and LSTM are given: sequences, of one length or of as many steps as the data say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <hesscope/import/internal/operator_call.h>
#include <hesscope/import/internal/recurrent_activations.h>

namespace hesscope::onnx {

/// What the three operators have in common: sizes, weights and initial states.
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

/// A step's result, a constant where it depends on constants alone.
Var folded(const OperatorCall& call, Var var);

/// Refuses sizes that do not fit each other.
/// @param activations  those that the operator has by default.
Sequences sequences_of(const OperatorCall& call,
                       int num_gates,
                       const std::vector<std::string>& activations);

/// The entries of `next` in sequences that have this step, of the others those of `before`; none
/// are zeros.
Var within_lengths(const OperatorCall& call,
                   const Sequences& all,
                   std::int64_t step,
                   Var next,
                   const std::optional<Var>& before);

}  // namespace hesscope::onnx
