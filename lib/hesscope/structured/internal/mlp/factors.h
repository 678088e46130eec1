// SPDX-License-Identifier: BSD-3-Clause
//
// What the products of mlp_hessian.h multiply, for a chunk of samples in packs
// (simd/pack_kernels.h).
#pragma once

#include <span>
#include <vector>

#include <hesscope/simd/internal/pack_kernels.h>
#include <hesscope/structured/mlp_hessian.h>

namespace hesscope::detail {

/// A chunk's numbers. Row r of samples begins at rows + r * num_packs * kPackSamples; the block of
/// a pack, whose entries are packs, at blocks + pack * (entries of a block) * kPackSamples.
struct MlpChunk {
  double* rows;
  double* blocks;
  int num_packs;
};

/// Where the numbers of layer m lie. E, J, delta, zt, h as in mlp_hessian.h; matrices are
/// row-major.
struct MlpLayer {
  int in;
  int out;
  // Offsets in theta.
  long weight;
  long bias;
  // First rows of samples.
  int z_row;      ///< zt_m: in + 1 rows
  int delta_row;  ///< delta_m: out rows
  int slope_row;  ///< phi'(h_m): out rows, none for the last layer
  // First entries of a block.
  long delta;                   ///< delta_m: out
  long bend;                    ///< phi''(h_m): out; for the last layer h_m itself
  std::vector<long> curvature;  ///< [l], l <= m: E_ml, out x out(l)
  std::vector<long> jacobian;   ///< [l], l < m - 1: J_ml, in x out(l)
};

class MlpFactors {
 public:
  /// @throws PreconditionError as mlp_hessian().
  MlpFactors(MlpStructure structure, const PackKernels& kernels);

  const std::vector<MlpLayer>& layers() const { return layers_; }

  int num_rows() const { return num_rows_; }

  long block_size() const { return block_size_; }

  /// Writes pack `pack` of the chunk that holds these records. A sample with an input, target, h or
  /// derivative of the loss that is not finite gets NaN for all its delta and E, so that no factor
  /// of 0 hides it. Lanes beyond the last record repeat that record with delta, E = 0: they add
  /// nothing.
  void fill(std::span<const double> theta, Records records, int pack, const MlpChunk& chunk) const;

 private:
  MlpStructure structure_;
  const PackKernels* kernels_;
  std::vector<MlpLayer> layers_;
  int num_rows_ = 0;
  long block_size_ = 0;
};

}  // namespace hesscope::detail
