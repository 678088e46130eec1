// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/structured/internal/linear_attention/curvature.h>
#include <hesscope/structured/internal/linear_attention/forward_reverse.h>
#include <hesscope/structured/internal/linear_attention/kernels.h>
#include <hesscope/structured/internal/linear_attention/rows.h>

namespace hesscope::HESSCOPE_ISA {
namespace {

// Up to three runs of parameters on which f depends: for the last layer's P, at most its last row.
struct Live {
  int first[3];
  int end[3];
};

Live live_parameters(const auto& g) {
  const int last = g.layers - 1;
  const int inner = static_cast<int>(first_p(g, last));
  const int q = static_cast<int>(first_q(g, last));
  const int p = g.trained == g.e ? q - g.e : q;
  return {{0, p, q}, {inner, q, q + square(g.trained)}};
}

void outer_products(const auto& g, int first, int count) {
  const Lane* gradients = lanes(g.gradients);
  const auto rows_from = [&](int row) {
    return Family{gradients + static_cast<long>(row) * g.packs, g.packs, 1, 0};
  };
  const Live live = live_parameters(g);
  for (int i = 0; i < 3; ++i) {
    const int row = first > live.first[i] ? first : live.first[i];
    const int row_end = first + count < live.end[i] ? first + count : live.end[i];
    if (row >= row_end) continue;
    for (int j = 0; j <= i; ++j) {
      const int col = live.first[j];
      const int col_end = row_end < live.end[j] ? row_end : live.end[j];
      dots(entry(g, row, col),
           g.ldh,
           1,
           rows_from(row),
           rows_from(col),
           row_end - row,
           col_end - col,
           g.packs,
           1);
    }
  }
}

void weighted_gradient(const auto& g, double* out) {
  const long parameters = 2L * g.layers * square(g.trained);
  dots(out,
       1,
       0,
       {lanes(g.gradients), g.packs, 1, 0},
       over_states(g, last_layer_of(g, 0).w, 0, 0),
       static_cast<int>(parameters),
       1,
       g.packs,
       1);
}

constexpr detail::LinearAttentionKernels kKernels = {
    .lanes = kLanes,
    .max_rows = kMaxRows,
    .state_size = [](const Group& g) { return state_lanes(g) * kLanes; },
    .pack_scratch_size = [](const Group& g) { return pack_scratch_lanes(g) * kLanes; },
    .row_scratch_size = [](const Group& g) { return row_scratch_lanes(g) * kLanes; },
    .forward_reverse =
        [](const Group& group,
           int pack,
           const double* const* prompts,
           const double* targets,
           const double* active,
           double* scratch) {
          with_extents(group, [&](const auto& g) {
            forward_reverse(g, pack, prompts, targets, active, scratch);
          });
        },
    .last_layer =
        [](const Group& group, int pack) {
          with_extents(group, [&](const auto& g) { last_layer(g, pack); });
        },
    .layer =
        [](const Group& group, int pack, int index, double* scratch) {
          with_extents(group, [&](const auto& g) { layer(g, pack, index, scratch); });
        },
    .rows =
        [](const Group& group, int index, Rows block, double* scratch) {
          with_extents(group, [&](const auto& g) { rows(g, index, block, scratch); });
        },
    .outer_products = [](const Group& g, int first, int count) { outer_products(g, first, count); },
    .weighted_gradient = [](const Group& g, double* out) { weighted_gradient(g, out); },
};

}  // namespace

const detail::LinearAttentionKernels& linear_attention_kernels() { return kKernels; }

}  // namespace hesscope::HESSCOPE_ISA
