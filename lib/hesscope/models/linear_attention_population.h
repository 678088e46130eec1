// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <hesscope/models/linear_attention.h>
#include <hesscope/models/model.h>
#include <hesscope/models/model_registry.h>

namespace hesscope {

struct LinearAttentionPopulationOptions {
  std::int64_t dimension = 5;  ///< d
  LinearAttentionParametrization parametrization = LinearAttentionParametrization::kSparse;
  /// E ||x||^2 and E ||x||^4 of a token x with an isotropic distribution: d and d (d + 2) for N(0,
  /// I), 1 and 1 for the unit sphere, k theta and k (k + 1) theta^2 for sqrt(r) u with r ~ Gamma(k,
  /// theta).
  double second_moment = 5;
  double fourth_moment = 35;
};

/// The expectation of the loss of linear_attention() with one layer over all prompts, in closed
/// form: no prompts are drawn, and there is no sampling error.
///
/// Prompts are those of the sampler "linear-regression": w ~ N(0, I_d), tokens x_1, ..., x_{n+1}
/// independent with the same isotropic distribution, labels <w, x_j>. With s = E ||x||^2 / d and
/// kappa = E ||x||^4 / (d (d + 2)), this distribution has E x x^T = s I and E x x^T M x x^T = kappa
/// (M + M^T + tr(M) I). The prediction depends on the last row (p^T, p_0) of P and the first d
/// columns [Q; q^T] of Q. With u = p + p_0 w, G = Q + w q^T and X = sum_{j <= n} x_j x_j^T / n it
/// is -u^T X G x_{n+1}, so that
///
///     L = s d + 2 s^2 E u^T G w + s E u^T (X G G^T X) u
///       = s d + 2 s^2 T_1 + s^3 (1 - 1/n) T_2 + (kappa s / n) (2 T_2 + T_3),
///     T_1 = E u^T G w       = p^T q + p_0 tr Q,
///     T_2 = E |G^T u|^2     = |Q^T p|^2 + p_0^2 |Q|^2 + |p|^2 |q|^2 + (2 + 2 d) p_0 p^T Q q
///                             + d (d + 2) p_0^2 |q|^2,
///     T_3 = E |G|^2 |u|^2   = |Q|^2 (|p|^2 + d p_0^2) + 4 p_0 p^T Q q + d |p|^2 |q|^2
///                             + d (d + 2) p_0^2 |q|^2,
///
/// a polynomial of fourth degree. If Q is 0 except for its first block, and p is 0, as in the
/// sparse form, H = 2 s (s^2 (1 - 1/n) + kappa (d + 2) / n) I with respect to Q and 0 with respect
/// to P.
///
/// A sample is a context length; with several samples, the loss is the mean over them.
///
/// Parameters: those of linear_attention() with one layer, so that its checkpoints can be used.
/// Arrays: context (), n >= 1.
/// @source model, task and distributions: Ahn et al., arXiv 2310.01082; the moments of a Wishart
/// matrix for Gaussian tokens: von Rosen (1988), Scand. J. Statist. 15, 97-109.
/// @throws PreconditionError unless the dimension is at least 1 and the moments are positive,
///         finite and possible: fourth >= second^2.
Model linear_attention_population(const LinearAttentionPopulationOptions& options);

ModelKind linear_attention_population_kind();

}  // namespace hesscope
