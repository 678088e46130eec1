// SPDX-License-Identifier: BSD-3-Clause
//
// For kernel sources only: operations on the tangents of single entries, and matrix products of
// them.
#pragma once

#include <hesscope/simd/internal/lane.h>
#include <hesscope/structured/internal/graph/tangent_sweep.h>

namespace hesscope::HESSCOPE_ISA {
namespace {

// NOLINTBEGIN(misc-definitions-in-headers): for one source of each instruction set

using detail::common_part;
using detail::hull;
using detail::Interval;
using detail::kDirections;
using detail::kPackSamples;
using detail::kPanelRows;
using detail::length;
using detail::SweepNode;
using detail::TangentSweep;
using Node = Graph::Node;
using Op = Graph::Op;

constexpr int kParts = kPackSamples / kLanes;  // registers per pack
constexpr int kEntry = detail::kEntryStride;   // registers from one entry's tangents to the next's

using Mask [[gnu::vector_size(8 * HESSCOPE_LANES)]] = long long;

// One entry: y and x have all directions; c is a register, a number or absent.

[[gnu::always_inline]] inline void assign(Lane* y, const Lane* x) {
  for (int d = 0; d < kDirections; ++d) y[d] = x[d];
}

[[gnu::always_inline]] inline void assign_scaled(Lane* y, const Lane* x, Lane c) {
  for (int d = 0; d < kDirections; ++d) y[d] = c * x[d];
}

[[gnu::always_inline]] inline void add(Lane* y, const Lane* x) {
  for (int d = 0; d < kDirections; ++d) y[d] += x[d];
}

[[gnu::always_inline]] inline void add_scaled(Lane* y, const Lane* x, Lane c) {
  for (int d = 0; d < kDirections; ++d) y[d] += c * x[d];
}

[[gnu::always_inline]] inline void subtract_scaled(Lane* y, const Lane* x, Lane c) {
  for (int d = 0; d < kDirections; ++d) y[d] -= c * x[d];
}

[[gnu::always_inline]] inline void scale_by(Lane* y, Lane c) {
  for (int d = 0; d < kDirections; ++d) y[d] *= c;
}

[[gnu::always_inline]] inline void add_where(Lane* y, const Lane* x, Mask wanted) {
  for (int d = 0; d < kDirections; ++d) y[d] += wanted ? x[d] : Lane{};
}

// Adds x to y where the mask is nonzero, or where it is zero.
[[gnu::always_inline]] inline void add_chosen(Lane* y, const Lane* x, Lane mask, bool is_wanted) {
  const Lane zero = {};
  add_where(y, x, is_wanted ? mask != zero : mask == zero);
}

[[gnu::always_inline]] inline void clear_entry(Lane* y) {
  for (int d = 0; d < kDirections; ++d) y[d] = Lane{};
}

inline void clear(Lane* y, int num_entries) {
  for (int e = 0; e < num_entries; ++e) clear_entry(y + e * kEntry);
}

// out[p, q] = sum_r plain[p, r] tangent[r, q], or += it; entries of tangents have all directions.
// Strides count entries.

template <typename T>
struct Plain {
  const T* data;  // doubles, or the part's registers of packs
  int p_stride;
  int r_stride;
};

struct Entries {
  Lane* data;
  int first_stride;
  int second_stride;
};

template <Store kStore, typename T>
void multiply_entries(
    Entries out, Plain<T> plain, Entries tangent, int p_size, int r_size, int q_size) {
  constexpr int kPlain = sizeof(T) == sizeof(double) ? 1 : kParts;
  for (int q = 0; q < q_size; ++q) {
    product_of_any_extents<kStore>(
        Strided<Lane>{out.data + q * out.second_stride * kEntry, out.first_stride * kEntry, 1},
        Strided<const T>{plain.data, plain.p_stride * kPlain, plain.r_stride * kPlain},
        Strided<const Lane>{
            tangent.data + q * tangent.second_stride * kEntry, tangent.first_stride * kEntry, 1},
        p_size,
        r_size,
        kDirections);
  }
}

// NOLINTEND(misc-definitions-in-headers)

}  // namespace
}  // namespace hesscope::HESSCOPE_ISA
