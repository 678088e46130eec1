// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>

#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/structured/internal/graph/input_pairs.h>
#include <hesscope/structured/internal/graph/kept_tangents.h>

namespace hesscope::detail {

// Making a pair takes about eight times as long as making an entry of a row, of which there is
// otherwise one for each two units and each input; with pairs of more inputs, a chunk could hold
// only few samples.
InputPairs::InputPairs(const ParameterUses& uses, std::span<const char> is_free)
    : pairs_(uses.uses.size()) {
  constexpr int kEntries = 8;
  constexpr int kMostInputs = 96;
  for (std::size_t u = 0; u < pairs_.size(); ++u) {
    const ParameterUse& use = uses.uses[u];
    const bool pays = use.units * (use.units + 1) > kEntries * (use.inputs + 1);
    if (!is_free[u] || !pays || use.inputs > kMostInputs) continue;
    for (int b = 0; b < use.inputs; ++b) {
      for (int j = b; j < use.inputs; ++j) pairs_[u].push_back({b, j});
    }
  }
}

void InputPairs::fill_panel(const PackKernels& packs,
                            int use,
                            int panel,
                            const RowBlock& x,
                            const ChunkRows& rows,
                            double* panels) const {
  const auto row = [&](int k) { return rows.values + x.row(0, k) * row_step(rows.num_packs); };
  const auto pairs = of(use).subspan(at(long{panel} * kPanelCols));
  const int count = std::min(kPanelCols, static_cast<int>(pairs.size()));
  std::array<const double*, kPanelCols> first;
  std::array<const double*, kPanelCols> second;
  first.fill(rows.zeros);
  second.fill(rows.zeros);
  for (int c = 0; c < count; ++c) {
    first[at(c)] = row(pairs[at(c)].b);
    second[at(c)] = row(pairs[at(c)].j);
  }
  packs.fill_columns(panels + long{panel} * kPanelCols * rows.num_packs * kPackSamples,
                     first.data(),
                     second.data(),
                     kPackSamples,
                     count,
                     rows.num_packs);
}

}  // namespace hesscope::detail
