// SPDX-License-Identifier: BSD-3-Clause
//
// What models with attention share: how much a query takes of each key.
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

/// What keeps a head's weights whatever the tokens. Softmax scores see WQ WK^T: d^2 generators; the
/// Gaussian distances the inner products of all rows of WQ and WK: d (d - 1) / 2.
/// @param wq,wk  D x d.
Invariance kernel_invariance(AttentionKernel kernel, const MatrixView& wq, const MatrixView& wk);

/// The key `kernel` of a [model] table, and the kernel a value of it means.
SettingKey kernel_key();
AttentionKernel kernel_named(const std::string& name);

}  // namespace hesscope
