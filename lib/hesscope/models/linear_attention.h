// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <hesscope/models/model.h>
#include <hesscope/models/model_registry.h>

namespace hesscope {

enum class LinearAttentionParametrization {
  kSparse,         ///< P, Q (d x d) inside P_full = [[P, 0], [0, 1]], Q_full = [[Q, 0], [0, 0]]
  kFull,           ///< P, Q (both (d + 1) x (d + 1))
  kSplitQk,        ///< P, WQ, WK (all (d + 1) x (d + 1)), Q = WK^T WQ
  kSparseSplitQk,  ///< as kSparse, with WQ, WK (d x d) and Q = WK^T WQ
};

enum class LinearAttentionActivation {
  kNone,
  kSoftmax,  ///< over all n + 1 keys of each query, before M removes the query's own
};

struct LinearAttentionOptions {
  std::int64_t layers = 3;
  std::int64_t dimension = 5;  ///< d, of the covariates
  std::int64_t context = 20;   ///< n, prompt examples before the query
  LinearAttentionParametrization parametrization = LinearAttentionParametrization::kSparse;
  LinearAttentionActivation activation = LinearAttentionActivation::kNone;
  std::int64_t mlp_hidden = 0;  ///< units of the perceptron in front; 0: none
  std::int64_t heads = 1;       ///< per layer; more than one only with kFull
};

/// Linear attention trained on in-context regression.
///
/// A sample is a prompt Z in R^{(d+1) x (n+1)}, whose last column is the query with 0 in the label
/// row, and the query's label `target`. A layer maps Z <- Z + (1/n) P Z M Z^T Q Z with M =
/// diag(I_n, 0); the prediction is -[Z_L]_{d+1,n+1} and the loss (prediction - target)^2.
///
/// Without activation, only S = Z M Z^T and the query column q matter: with A = I + P S Q / n, q <-
/// A q and S <- A S A^T, so the cost of a layer does not depend on n. With softmax, Z <- Z + (1/n)
/// P Z M softmax(Z^T Q Z), column by column and not scaled by sqrt(d); a layer costs O(d n^2).
///
/// With H > 1 heads, a layer adds the contributions of all heads, Z <- Z + (1/n) sum_h P_h Z M Z^T
/// Q_h Z. Their matrices are full, since the fixed corner of the sparse form would give all heads
/// the same sign.
///
/// With mlp_hidden = h > 0, the covariates x of all tokens, including the query, are first replaced
/// by W_2 relu(W_0 x + b_0) + b_2 with h hidden units.
///
/// Parameters: if h > 0, mlp.0.weight (h, d), mlp.0.bias (h), mlp.2.weight (d, h), mlp.2.bias (d);
/// layers.{l}.P, layers.{l}.Q, or layers.{l}.P, layers.{l}.WQ, layers.{l}.WK; with several heads
/// layers.{l}.heads.{h}.P, layers.{l}.heads.{h}.Q.
/// Arrays: Z (d + 1, n + 1), target ().
/// @source Ahn et al., arXiv 2310.01082, section 2, Figure 7 (softmax) and Appendix B (perceptron);
/// the sparse form and the order of softmax, mask and 1 / n follow its published code.
/// @throws PreconditionError unless layers, dimension, context and heads are at least 1, mlp_hidden
///         is at least 0, and the matrices of several heads are full.
Model linear_attention(const LinearAttentionOptions& options);

ModelKind linear_attention_kind();

}  // namespace hesscope
