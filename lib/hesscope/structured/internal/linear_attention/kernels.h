// SPDX-License-Identifier: BSD-3-Clause
//
// The arithmetic of sum.cc, compiled once for each instruction set. Arrays of "lanes" hold one
// double for each of kernels.lanes prompts side by side; such a group is a pack.
#pragma once

#include <hesscope/simd/internal/dispatch.h>
#include <hesscope/structured/internal/linear_attention/network.h>

namespace hesscope::detail {

/// A network and the storage of a group of packs. A state x_l = (S_l, q_l) has s = e (e + 1) / 2 +
/// e entries: S_ij for i <= j row by row, then q.
struct LinearAttentionGroup : LinearAttentionNetwork {
  int packs;

  // Lanes, each aligned to 64 bytes.
  double* states;     ///< packs x state_size: what a pack keeps of its layers
  double* gradients;  ///< parameters x packs: of the prediction
  double* curvature;  ///< packs x s x s: d2 f / dx dx at the state after the current layer
  double* second;     ///< packs x e^2 x e^2: d2 f / dA dA at the current layer
  double* mixed;      ///< packs x 2 trained^2 x s: d2 f / d(P, Q) dx at the current layer

  double* h;  ///< parameters x parameters, row-major; the lower triangle is added to
  long ldh;
};

/// The rows of H that one task computes: `count` parameters, first, first + step, ...
struct LinearAttentionRows {
  enum Kind { kP, kQ, kLastP, kLastQ, kLastQState };

  Kind kind;
  int fixed;  ///< kP: row a; kQ: column b of Q; others: see rows.h
  int first;  ///< first value of the varying index
  int count;
};

struct LinearAttentionKernels {
  int lanes;
  int max_rows;  ///< upper limit of LinearAttentionRows::count

  // Sizes in doubles.
  long (*state_size)(const LinearAttentionGroup&);
  long (*pack_scratch_size)(const LinearAttentionGroup&);
  long (*row_scratch_size)(const LinearAttentionGroup&);

  /// States, gradient and first adjoints of one pack. prompts[i] is Z (e x (n + 1), row-major) of
  /// prompt i; active[i] is 1, or 0 for padding.
  void (*forward_reverse)(const LinearAttentionGroup&,
                          int pack,
                          const double* const* prompts,
                          const double* targets,
                          const double* active,
                          double* scratch);

  /// `curvature` at the input of the last layer.
  void (*last_layer)(const LinearAttentionGroup&, int pack);

  /// From `curvature` after `layer`, computes `second` and, if layer > 0, `mixed` and `curvature`
  /// before it.
  void (*layer)(const LinearAttentionGroup&, int pack, int layer, double* scratch);

  /// Adds rows of H: the columns of `layer` and of all layers before it.
  void (*rows)(const LinearAttentionGroup&, int layer, LinearAttentionRows rows, double* scratch);

  /// Adds sum (grad f)(grad f)^T to rows [first, first + count) of H, up to the diagonal.
  void (*outer_products)(const LinearAttentionGroup&, int first, int count);

  /// out[j] += sum over prompts of (f - t) df / dtheta_j.
  void (*weighted_gradient)(const LinearAttentionGroup&, double* out);
};

}  // namespace hesscope::detail

HESSCOPE_DECLARE_KERNELS(detail::LinearAttentionKernels, linear_attention_kernels)
