// SPDX-License-Identifier: BSD-3-Clause
//
// The Hessian of a multilayer perceptron (models/mlp.h), from its structure.
//
// Layer l gives h_l = W_l z_l + b_l and z_{l+1} = phi(h_l), for l = 0 ... D-1, without phi after
// the last; the loss is L(h_{D-1}). Write zt_l = (z_l, 1), which joins a bias to its weight as the
// last column, and for one sample, with D_l = diag(phi'(h_l)),
//
//   delta_l = dL/dh_l,            E_ml = d delta_m / dh_l,   J_ml = dz_m / dh_l      (l < m),
//   E_mm    = D_m W_{m+1}^T E_{m+1,m+1} W_{m+1} D_m + diag(phi''(h_m) . W_{m+1}^T delta_{m+1}),
//   E_{m,l} = E_{m,l+1} W_{l+1} D_l,   J_{m,m-1} = D_{m-1},   J_{m,l} = J_{m,l+1} W_{l+1} D_l.
//
// The entry of H for weight (i, j) of layer m and weight (a, b) of layer l <= m is the sum over
// samples of
//
//   E_ml[i,a] zt_m[j] zt_l[b]  +  delta_m[i] J_ml[j,a] zt_l[b],      the second for l < m only:
//
// two products of matrices whose inner index is the sample, [(i,a)] x [(j,b)] and [(j,a)] x
// [(i,b)]. J_{m,m-1} is diagonal, which leaves [i] x [(a,b)]; for l = m both pairs are symmetric,
// and i >= a and j >= b suffice.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <hesscope/autodiff/graph.h>
#include <hesscope/simd/instruction_set.h>
#include <hesscope/structured/structured_hessian.h>

namespace hesscope {

enum class MlpLoss {
  kCrossEntropy,      ///< log sum_c exp(z_c) - z_target
  kMeanSquaredError,  ///< mean over outputs of (z - target)^2
};

struct MlpStructure {
  std::vector<std::int64_t> widths;  ///< input, hidden ..., output: at least two
  std::optional<Elementary> activation = Elementary::kTanh;  ///< none: the identity
  MlpLoss loss = MlpLoss::kCrossEntropy;
  Eigen::Index input_offset = 0;   ///< of the inputs in a record
  Eigen::Index target_offset = 0;  ///< of the targets: one-hot, or numbers
};

/// theta holds, layer after layer, W_l (out, in) row-major and then b_l. A sample with a number
/// that is not finite, be it given or computed, makes every entry of H NaN.
///
/// @cost per sample about n^2 / 4 multiply-adds for each pair of equal layers, n the layer's
///       parameters, and between n_m n_l and 2 n_m n_l for a pair of different ones; scratch
///       bounded by about 128 MiB plus what one pack of eight samples needs.
/// @param set  the instructions to use; by default the best this processor has.
/// @throws PreconditionError for fewer than two widths, one below 1, a negative offset, or a set
/// that
///         this processor does not support.
std::shared_ptr<const StructuredHessian> mlp_hessian(const MlpStructure& structure,
                                                     InstructionSet set = best_instruction_set());

}  // namespace hesscope
