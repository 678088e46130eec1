// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/structured/internal/linear_attention/loss.h>
#include <hesscope/structured/internal/linear_attention/loss_kernels.h>

namespace hesscope::HESSCOPE_ISA {
namespace {

using detail::LinearAttentionNetwork;

// The number of layers computed with matrices.
int num_inner(const auto& g) { return g.layers > 2 ? g.layers - 2 : 0; }

long parameters(const auto& g) { return 2L * g.layers * square(g.trained); }

// The kept layers, S before the last two, and their vectors; the rest is for the gradient only.
long loss_scratch_lanes(const auto& g) {
  const long e = g.e;
  const long forward = num_inner(g) * inner_lanes(g.e) + e * e + kEndingVectors * e;
  const long backward = parameters(g) + e * e + e + 4 * e * e + 16 * e;
  const long condense = condense_scratch_lanes(g);
  return forward + backward > condense ? forward + backward : condense;
}

struct Forward {
  Lane* kept;
  Lane* s;
  Ending ending;
  Lane* rest;
};

Forward forward_of(const auto& g, Lane* scratch) {
  Forward f;
  f.kept = scratch;
  f.s = f.kept + num_inner(g) * inner_lanes(g.e);
  f.ending = ending(f.s + square(g.e), g.e);
  f.rest = f.s + square(g.e) + kEndingVectors * g.e;
  return f;
}

// f - t for a pack; 0 in lanes from `count` on.
Lane residual(const auto& g, const double* pack, long count, const Forward& forward) {
  const int e = g.e;
  const int inner = num_inner(g);
  const auto in = condensed(lanes(pack), e);
  Lane* s = inner > 0 ? inner_layer(forward.kept, e, 0).s : forward.s;
  Lane* q = inner > 0 ? inner_layer(forward.kept, e, 0).q : forward.ending.q;
  const Lane* next = in.s;
  for (int i = 0; i < e; ++i) {
    for (int j = i; j < e; ++j) {
      s[i * e + j] = *next;
      s[j * e + i] = *next++;
    }
  }
  for (int i = 0; i < e; ++i) q[i] = in.q[i];
  for (int layer = 0; layer < inner; ++layer) {
    const bool is_last = layer + 1 == inner;
    const InnerLayer after = inner_layer(forward.kept, e, is_last ? layer : layer + 1);
    inner_forward(g,
                  layer,
                  inner_layer(forward.kept, e, layer),
                  is_last ? forward.s : after.s,
                  is_last ? forward.ending.q : after.q);
  }
  Lane r = ending_forward(g, forward.s, forward.ending) - *in.target;
  for (long i = count; i < kLanes; ++i) r[i] = 0.0;
  return r;
}

// Sums the lanes in order.
double total(Lane x) {
  double sum = 0;
  for (int i = 0; i < kLanes; ++i) sum += x[i];
  return sum;
}

double value(const auto& g, const double* packs, long count, Lane* scratch) {
  const Forward forward = forward_of(g, scratch);
  const long pack_size = condensed_lanes(g.e) * kLanes;
  Lane sum{};
  for (; count > 0; count -= kLanes, packs += pack_size) {
    const Lane r = residual(g, packs, count, forward);
    sum += r * r;
  }
  return total(sum);
}

double value_and_gradient(
    const auto& g, const double* packs, long count, Lane* scratch, double* out) {
  const int e = g.e;
  const Forward forward = forward_of(g, scratch);
  const long pack_size = condensed_lanes(e) * kLanes;
  Backward back;
  back.sums = forward.rest;
  back.cs = back.sums + parameters(g);
  back.c = back.cs + square(e);
  back.temporaries = back.c + e;
  for (long j = 0; j < parameters(g); ++j) back.sums[j] = Lane{};
  Lane sum{};
  for (; count > 0; count -= kLanes, packs += pack_size) {
    const Lane r = residual(g, packs, count, forward);
    sum += r * r;
    ending_reverse(g, forward.s, forward.ending, 2.0 * r, back);
    for (int layer = num_inner(g) - 1; layer >= 0; --layer) {
      inner_reverse(g, layer, inner_layer(forward.kept, e, layer), back);
    }
  }
  for (int layer = 0; layer < g.layers; ++layer) {
    for (long j = first_p(g, layer); j < first_q(g, layer); ++j) {
      out[j] += inverse_n(g) * total(back.sums[j]);
    }
    for (long j = first_q(g, layer); j < first_p(g, layer + 1); ++j) {
      out[j] += total(back.sums[j]);
    }
  }
  return total(sum);
}

constexpr detail::LinearAttentionLossKernels kLossKernels = {
    .lanes = kLanes,
    .pack_size = [](const LinearAttentionNetwork& g) { return condensed_lanes(g.e) * kLanes; },
    .scratch_size = [](const LinearAttentionNetwork& g) { return loss_scratch_lanes(g) * kLanes; },
    .condense =
        [](const LinearAttentionNetwork& network,
           const double* const* prompts,
           const double* targets,
           double* pack,
           double* scratch) {
          with_extents(network, [&](const auto& g) {
            condense(g, prompts, targets, lanes(pack), lanes(scratch));
          });
        },
    .value =
        [](const LinearAttentionNetwork& network,
           const double* packs,
           long count,
           double* scratch) {
          return with_extents(
              network, [&](const auto& g) { return value(g, packs, count, lanes(scratch)); });
        },
    .value_and_gradient =
        [](const LinearAttentionNetwork& network,
           const double* packs,
           long count,
           double* scratch,
           double* out) {
          return with_extents(network, [&](const auto& g) {
            return value_and_gradient(g, packs, count, lanes(scratch), out);
          });
        },
};

}  // namespace

const detail::LinearAttentionLossKernels& linear_attention_loss_kernels() { return kLossKernels; }

}  // namespace hesscope::HESSCOPE_ISA
