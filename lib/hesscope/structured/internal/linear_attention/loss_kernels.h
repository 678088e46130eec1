// SPDX-License-Identifier: BSD-3-Clause
//
// The arithmetic of linear_attention_loss.cc, compiled once for each instruction set. Arrays of
// "lanes" hold one double for each of kernels.lanes prompts side by side; such a group is a pack.
// All are aligned to 64 bytes.
#pragma once

#include <hesscope/simd/internal/dispatch.h>
#include <hesscope/structured/internal/linear_attention/network.h>

namespace hesscope::detail {

struct LinearAttentionLossKernels {
  int lanes;

  // Sizes in doubles.
  long (*pack_size)(const LinearAttentionNetwork&);
  long (*scratch_size)(const LinearAttentionNetwork&);

  /// S_0 (its upper triangle row by row), q_0 and target of a pack. prompts[i] is Z (e x (n + 1),
  /// row-major) of prompt i.
  void (*condense)(const LinearAttentionNetwork&,
                   const double* const* prompts,
                   const double* targets,
                   double* pack,
                   double* scratch);

  /// Sum of (f - t)^2 over the first `count` prompts of the packs.
  double (*value)(const LinearAttentionNetwork&, const double* packs, long count, double* scratch);

  /// The same to the last bit; also out[j] += its derivative with respect to parameter j of (P_0,
  /// Q_0, P_1, ...), each trained x trained.
  double (*value_and_gradient)(
      const LinearAttentionNetwork&, const double* packs, long count, double* scratch, double* out);
};

}  // namespace hesscope::detail

HESSCOPE_DECLARE_KERNELS(detail::LinearAttentionLossKernels, linear_attention_loss_kernels)
