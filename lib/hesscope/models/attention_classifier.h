// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <hesscope/models/attention_kernel.h>
#include <hesscope/models/model.h>
#include <hesscope/models/model_registry.h>

namespace hesscope {

enum class ClassifierActivation { kRelu, kGelu };

struct AttentionClassifierOptions {
  std::int64_t layers = 1;
  std::int64_t heads = 1;
  std::int64_t embedding = 1;       ///< D
  std::int64_t head_dimension = 1;  ///< d
  std::int64_t mlp_hidden = 1;      ///< m
  std::int64_t tokens = 1;          ///< n
  std::int64_t classes = 2;         ///< C
  AttentionKernel kernel = AttentionKernel::kSoftmax;
  ClassifierActivation activation = ClassifierActivation::kRelu;
};

/// A small Transformer encoder that classifies a sequence of n embedded tokens.
///
/// Starting from X in R^{n x D}, each layer adds attention and a perceptron applied to every token,
///   Y = X + sum_h S_h X WV_h WO_h,   X <- Y + phi(Y W_0^T + b_0) W_2^T + b_2,
/// with S_h the kernel matrix of the queries X WQ_h and the keys X WK_h, and WO_h the rows h d ...
/// (h + 1) d - 1 of WO. The logits are W x + b with x the mean of all tokens; the loss is their
/// cross-entropy.
///
/// Parameters: layers.{l}.WQ, .WK, .WV (heads, D, d), layers.{l}.WO (heads * d, D),
/// layers.{l}.mlp.0.weight (m, D), layers.{l}.mlp.0.bias (m), layers.{l}.mlp.2.weight (D, m),
/// layers.{l}.mlp.2.bias (D); head.weight (C, D), head.bias (C).
/// Arrays: inputs (n, D), target () of class indices.
/// @source Kernels and sizes (two layers, D = 64, two heads, m = 128) from the experiments of Song
/// et al., arXiv 2411.07538. Where they leave details open, the choices are ours: residual
/// connections around both parts, the mean over tokens, no layer normalisation and no dropout;
/// embeddings are data.
/// @throws PreconditionError unless every size is at least 1.
Model attention_classifier(const AttentionClassifierOptions& options);

ModelKind attention_classifier_kind();

}  // namespace hesscope
