// SPDX-License-Identifier: BSD-3-Clause
//
// The sums over a chunk of samples in mlp_hessian.h, as products of matrices cut into tiles.
//
// The rows of a product are entries of the packs' blocks; its columns are elementwise products of
// two rows of samples, formed when they are needed. A tile copies its rows into panels once, runs
// through its columns, and adds what comes out to H. No two tiles of one list write the same entry
// of H.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include <hesscope/core/block_tree.h>
#include <hesscope/simd/internal/pack_kernels.h>
#include <hesscope/structured/internal/mlp/factors.h>

namespace hesscope::detail {

struct MlpProduct {
  enum class Kind {
    kCurvature,      ///< rows (i, a): E_ml[i,a], columns (e = j, b): zt_m[j] zt_l[b]
    kSlope,          ///< rows (j, a): J_ml[j,a], columns (e = i, b): delta_m[i] zt_l[b]
    kDiagonalSlope,  ///< rows (i, 0): delta_m[i], columns (e = a, b): phi'(h_l)[a] zt_l[b]
  };

  Kind kind;
  int m;
  int l;
  long first_entry;                            ///< of the rows' matrix in a block
  int row_length;                              ///< of that matrix
  int first_x;                                 ///< row of samples for e = 0
  int num_x;                                   ///< values of e
  bool from_diagonal;                          ///< whether only columns e >= b are wanted
  std::vector<std::pair<int, int>> rows = {};  ///< indices into that matrix
};

struct MlpTile {
  const MlpProduct* product;
  int first_row;
  int first_b;
  int end_b;
  long work;  ///< entries, of which each takes a multiplication for each sample
};

/// H, column-major.
struct MlpTarget {
  double* data;
  long stride;
  bool is_new;  ///< to be written, not added to
};

/// With E: these write every entry of H in its lower triangle, except, for l = m, those with i < a
/// or j < b.
std::vector<MlpProduct> mlp_curvature_products(const MlpFactors& factors);

/// With J.
std::vector<MlpProduct> mlp_slope_products(const MlpFactors& factors);

/// Inputs b of layers l, biases included, counted over all layers: tiles of different ones write to
/// different columns of H.
struct MlpColumns {
  std::vector<int> first = {};    ///< of each layer; then their number
  std::vector<double> work = {};  ///< of each column
};

MlpColumns mlp_columns(const MlpFactors& factors,
                       std::span<const std::vector<MlpProduct>* const> products);

/// The tiles of all products, which must outlive them, in columns [own.begin, own.end).
std::vector<MlpTile> mlp_tiles(const MlpFactors& factors,
                               const std::vector<MlpProduct>& products,
                               const MlpColumns& columns,
                               const BlockRange& own);

/// Doubles of scratch that run_mlp_tile() needs, aligned to 64 bytes.
long mlp_tile_scratch(int num_packs);

void run_mlp_tile(const MlpFactors& factors,
                  const PackKernels& kernels,
                  const MlpTile& tile,
                  const MlpChunk& chunk,
                  double* scratch,
                  MlpTarget h);

}  // namespace hesscope::detail
