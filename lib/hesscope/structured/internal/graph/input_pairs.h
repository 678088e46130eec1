// SPDX-License-Identifier: BSD-3-Clause
//
// Products x[b] x[j] of a use's inputs, used as columns of matrix products: if a block of H is
// symmetric in b and j, each pair b <= j is computed once per chunk, for all units.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/structured/internal/graph/chunk_rows.h>
#include <hesscope/structured/internal/graph/parameter_uses.h>

namespace hesscope::detail {

struct InputPair {
  int b;
  int j;
};

class InputPairs {
 public:
  /// The pairs (b, b), (b, b + 1), ... for each b, of all inputs of the uses for which this is
  /// worthwhile.
  /// @param is_free  for each use: whether its block is symmetric in its inputs.
  InputPairs(const ParameterUses& uses, std::span<const char> is_free);

  /// The pairs of a use; empty if not worthwhile.
  std::span<const InputPair> of(int use) const { return pairs_[static_cast<std::size_t>(use)]; }

  int num_panels(int use) const {
    return static_cast<int>(ceil_div(std::ssize(of(use)), kPanelCols));
  }

  /// Doubles of all panels of a chunk.
  long panels_size(int use, int num_packs) const {
    return detail::panels_size({.positions = 1, .width = static_cast<int>(of(use).size())},
                               num_packs);
  }

  /// Fills one of the panels, which begin at `panels`, from the use's inputs x at its only
  /// position.
  void fill_panel(const PackKernels& packs,
                  int use,
                  int panel,
                  const RowBlock& x,
                  const ChunkRows& rows,
                  double* panels) const;

 private:
  std::vector<std::vector<InputPair>> pairs_;  // for each use
};

}  // namespace hesscope::detail
