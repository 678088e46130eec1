// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /attention-terms, for the model `attention`: lower bounds on the rate of gradient descent
/// when the model is over-parametrised.
///
/// With MH_i = sum_h S_ih X_i WV_h WO_h, let B have a row for every token of every sample and H D
/// columns; the rows of sample i are [S_i1 X_i, ..., S_iH X_i]. The derivatives of MH by WV alone
/// give K_V = sum_h |WO_h|^2 B_h B_h^T. So for the mean over N samples of |MH_i - y_i|^2,
///   |gradient|^2 >= (4 / N) lambda_min(K_V) loss >= (4 / N) min_h |WO_h|^2 sigma_min(B)^2 loss,
/// and steps with a small learning rate eta multiply the loss by at most 1 - eta rate_bound;
/// rate_bound is zero unless H D >= N n. With WQ and WK, which add to K_V, the bound is
/// kernel_rate_bound.
/// @source Theorem 1 of Song et al., arXiv 2411.07538, whose exact factors are not known to us;
///         those here follow from the equations above.
/// @cost as tangent-kernel.
AnalyzerKind attention_terms_analyzer();

}  // namespace hesscope
