// SPDX-License-Identifier: BSD-3-Clause
//
// Shared by models with attention: how much weight a query gives to each key.
#pragma once

#include <string>

#include <hesscope/core/settings.h>
#include <hesscope/models/invariances.h>
#include <hesscope/models/model.h>

namespace hesscope {

enum class AttentionKernel {
  kSoftmax,   ///< softmax(q_k . k_j / sqrt(d)) over j
  kGaussian,  ///< exp(-||q_k - k_j||^2 / (2 sqrt(d))), not normalised
};

/// The weights of keys (columns) for queries (rows), tokens x tokens. Neither kernel overflows.
/// @param queries,keys  tokens x d.
Var kernel_matrix(AttentionKernel kernel, Var queries, Var keys);

/// The maps that leave a head's weights unchanged for all tokens. Softmax scores depend on WQ WK^T
/// only: d^2 generators. The Gaussian's distances depend on the inner products of all rows of WQ
/// and WK: d (d - 1) / 2 generators.
/// @param wq,wk  D x d.
Invariance kernel_invariance(AttentionKernel kernel, const MatrixView& wq, const MatrixView& wk);

/// The key `kernel` of a [model] table, and the kernel denoted by one of its values.
SettingKey kernel_key();
AttentionKernel kernel_named(const std::string& name);

}  // namespace hesscope
