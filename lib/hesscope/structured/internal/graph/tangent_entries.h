// SPDX-License-Identifier: BSD-3-Clause
//
// For kernel sources only: what is done to the tangents of one entry, and products of matrices of them.
#pragma once

#include <hesscope/simd/internal/lane.h>
#include <hesscope/structured/internal/graph/tangent_sweep.h>

namespace hesscope::HESSCOPE_ISA {
namespace {

using detail::Interval;
using detail::kDirections;
using detail::kPackSamples;
using detail::kPanelRows;
using detail::SweepNode;
using detail::TangentSweep;
using Node = Graph::Node;
using Op = Graph::Op;

constexpr int kParts = kPackSamples / kLanes;  // registers of a pack
constexpr int kEntry = kDirections * kParts;   // registers of an entry's tangents

using Mask [[gnu::vector_size(8 * HESSCOPE_LANES)]] = long long;

// One entry: y += c x over directions, c a pack, a number or absent.

[[gnu::always_inline]] inline void add_scaled(Lane* y, const Lane* x, const Lane* c) {
  for (int part = 0; part < kParts; ++part) {
    const Lane factor = c[part];
    for (int d = part; d < kEntry; d += kParts) y[d] += factor * x[d];
  }
}

[[gnu::always_inline]] inline void assign_scaled(Lane* y, const Lane* x, const Lane* c) {
  for (int part = 0; part < kParts; ++part) {
    const Lane factor = c[part];
    for (int d = part; d < kEntry; d += kParts) y[d] = factor * x[d];
  }
}

[[gnu::always_inline]] inline void subtract_scaled(Lane* y, const Lane* x, const Lane* c) {
  for (int part = 0; part < kParts; ++part) {
    const Lane factor = c[part];
    for (int d = part; d < kEntry; d += kParts) y[d] -= factor * x[d];
  }
}

[[gnu::always_inline]] inline void add(Lane* y, const Lane* x) {
  for (int d = 0; d < kEntry; ++d) y[d] += x[d];
}

[[gnu::always_inline]] inline void add_times(Lane* y, const Lane* x, double factor) {
  for (int d = 0; d < kEntry; ++d) y[d] += factor * x[d];
}

// y += x where the mask is not 0.
[[gnu::always_inline]] inline void add_where(Lane* y,
                                             const Lane* x,
                                             const Lane* mask,
                                             bool is_wanted) {
  const Lane zero = {};
  for (int part = 0; part < kParts; ++part) {
    const Mask wanted = is_wanted ? mask[part] != zero : mask[part] == zero;
    for (int d = part; d < kEntry; d += kParts) y[d] += wanted ? x[d] : zero;
  }
}

void clear(Lane* y, int num_entries) {
  for (int d = 0; d < num_entries * kEntry; ++d) y[d] = Lane{};
}

// out[p, q] += sum_r plain[p, r] tangent[r, q], entries of which have all directions. Strides count
// entries.

template <typename T>
struct Plain {
  const T* data;  // doubles, or packs
  int p_stride;
  int r_stride;
};

struct Entries {
  Lane* data;
  int first_stride;
  int second_stride;
};

template <typename T>
void add_product(Entries out, Plain<T> plain, Entries tangent, int p_size, int r_size, int q_size) {
  constexpr int kPlain = sizeof(T) == sizeof(double) ? 1 : kParts;
  const bool is_run = out.second_stride == 1 && tangent.second_stride == 1;
  const int num_runs = is_run ? 1 : q_size;
  const int run = is_run ? q_size * kDirections : kDirections;
  for (int q = 0; q < num_runs; ++q) {
    for (int part = 0; part < kParts; ++part) {
      product<Store::kAdd>(
          Strided<Lane>{
              out.data + q * out.second_stride * kEntry + part, out.first_stride * kEntry, kParts},
          Strided<const T>{plain.data + (kPlain == 1 ? 0 : part),
                           plain.p_stride * kPlain,
                           plain.r_stride * kPlain},
          Strided<const Lane>{tangent.data + q * tangent.second_stride * kEntry + part,
                              tangent.first_stride * kEntry,
                              kParts},
          p_size,
          r_size,
          run);
    }
  }
}

}  // namespace
}  // namespace hesscope::HESSCOPE_ISA
