// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <hesscope/models/attention_kernel.h>
#include <hesscope/models/model.h>
#include <hesscope/models/model_registry.h>

namespace hesscope {

struct AttentionOptions {
  std::int64_t heads = 1;
  std::int64_t embedding = 1;       ///< D
  std::int64_t head_dimension = 1;  ///< d
  std::int64_t sequence = 1;        ///< n
  AttentionKernel kernel = AttentionKernel::kSoftmax;
};

/// One layer of multi-head attention that regresses one number per token.
///
/// A sample is X in R^{n x D} and y in R^n. With q = X WQ_h, k = X WK_h and the kernel matrix S_h,
/// head_h = S_h X WV_h, MH = [head_1 ... head_H] WO, and the loss is ||MH - y||^2.
///
/// Parameters: WQ, WK, WV (heads, D, d), WO (heads * d). Arrays: inputs (n, D), target (n).
/// @source Song et al., arXiv 2411.07538 (the poster's notation).
/// @throws PreconditionError unless every size is at least 1.
Model attention(const AttentionOptions& options);

ModelKind attention_kind();

}  // namespace hesscope
