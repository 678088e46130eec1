// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <hesscope/models/model.h>
#include <hesscope/models/model_registry.h>

namespace hesscope {

struct SignalNoiseOptions {
  std::int64_t dimension = 1;      ///< d, of a token
  std::int64_t key_neurons = 1;    ///< m_k, rows of WQ and WK
  std::int64_t value_neurons = 1;  ///< m_v, rows of WV.pos and WV.neg
};

/// A two-layer Transformer that classifies a signal token next to a noise token.
///
/// A sample is X with two tokens x^(1), x^(2) as rows and a label y = +-1. f = F_1 - F_{-1} with
/// F_j = (1/m_v) sum_l 1^T W_{V,j} X^T softmax(X WK^T WQ x^(l)), and the loss is log(1 + exp(-y
/// f)).
///
/// Parameters: WQ, WK (m_k, d), WV.pos, WV.neg (m_v, d). Arrays: inputs (2, d), target () of +-1.
/// @source Li et al., arXiv 2410.04870.
/// @throws PreconditionError unless every size is at least 1.
Model signal_noise(const SignalNoiseOptions& options);

ModelKind signal_noise_kind();

}  // namespace hesscope
