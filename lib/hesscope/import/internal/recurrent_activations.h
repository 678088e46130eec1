// SPDX-License-Identifier: BSD-3-Clause
//
// Activations of RNN, GRU and LSTM, by name.
#pragma once

#include <string>
#include <vector>

#include <hesscope/import/internal/operator_call.h>

namespace hesscope::onnx {

/// One activation with its parameters, applied after clipping its input.
class RecurrentActivation {
 public:
  Var operator()(Var x) const { return function_(bound_ > 0 ? clipped(x) : x, alpha_, beta_); }

 private:
  friend std::vector<RecurrentActivation> recurrent_activations(const OperatorCall&,
                                                                const std::vector<std::string>&,
                                                                std::int64_t);

  Var clipped(Var x) const { return elementary(Elementary::kClip, x, -bound_, bound_); }

  Var (*function_)(Var x, double alpha, double beta) = nullptr;
  double alpha_ = 0;
  double beta_ = 0;
  double bound_ = 0;  ///< 0: none
};

/// The activations of all directions, one direction after the other. Reads the attributes
/// `activations`, `activation_alpha` and `activation_beta` (whose numbers belong, in order, to
/// those functions that have such parameters) and `clip`.
/// @param fallback  for one direction. Names are compared case-insensitively.
std::vector<RecurrentActivation> recurrent_activations(const OperatorCall& call,
                                                       const std::vector<std::string>& fallback,
                                                       std::int64_t directions);

}  // namespace hesscope::onnx
