// SPDX-License-Identifier: BSD-3-Clause
//
// For kernel sources only: products of matrices whose entries are rows of packs.
#pragma once

#include <hesscope/structured/internal/graph/tangent_entries.h>

namespace hesscope::HESSCOPE_ISA {
namespace {

// a(i, 0) b(0, j), and once more of a second term, for kCols columns from j on.
template <int kTerms, int kCols>
void outer_products(const detail::RowProduct& m, int i, int j) {
  const Lane* a[kTerms];
  const Lane* b[kTerms][kCols];
  Lane* out[kCols];
  for (int t = 0; t < kTerms; ++t) {
    a[t] = lanes(m.terms[t].a.data + i * m.terms[t].a.first_stride);
    for (int c = 0; c < kCols; ++c) {
      b[t][c] = lanes(m.terms[t].b.data + (j + c) * m.terms[t].b.second_stride);
    }
  }
  for (int c = 0; c < kCols; ++c) {
    out[c] = lanes(m.out + i * m.out_first_stride + (j + c) * m.out_second_stride);
  }
  const long step = m.out_pack_stride / kLanes;
  for (int p = 0; p < m.num_packs; ++p) {
    for (int part = 0; part < kParts; ++part) {
      const int from = p * kParts + part;
      for (int c = 0; c < kCols; ++c) {
        Lane sum = a[0][from] * b[0][c][from];
        if constexpr (kTerms > 1) sum += a[1][from] * b[1][c][from];
        out[c][p * step + part] = sum;
      }
    }
  }
}

template <int kTerms>
void outer_products(const detail::RowProduct& m) {
  for (int i = 0; i < m.rows; ++i) {
    int j = 0;
    for (; j + kPanelRows <= m.cols; j += kPanelRows) outer_products<kTerms, kPanelRows>(m, i, j);
    for (; j < m.cols; ++j) outer_products<kTerms, 1>(m, i, j);
  }
}

template <Store kStore>
void multiply_pack(const detail::RowProduct& m, const detail::RowTerm& term, int p) {
  const auto lane = [](long doubles) { return static_cast<int>(doubles / kLanes); };
  for (int part = 0; part < kParts; ++part) {
    product<kStore>(Strided<Lane>{lanes(m.out + p * m.out_pack_stride) + part,
                                  lane(m.out_first_stride),
                                  lane(m.out_second_stride)},
                    Strided<const Lane>{lanes(term.a.data + p * kPackSamples) + part,
                                        lane(term.a.first_stride),
                                        lane(term.a.second_stride)},
                    Strided<const Lane>{lanes(term.b.data + p * kPackSamples) + part,
                                        lane(term.b.first_stride),
                                        lane(term.b.second_stride)},
                    m.rows,
                    term.inner,
                    m.cols);
  }
}

bool is_outer(const detail::RowProduct& m) {
  return m.terms[0].inner == 1 && (m.num_terms == 1 || m.terms[1].inner == 1);
}

// Pack by pack, since products have rows in common.
void multiply(std::span<const detail::RowProduct> products) {
  for (const detail::RowProduct& m : products) {
    if (!is_outer(m)) continue;
    m.num_terms == 1 ? outer_products<1>(m) : outer_products<2>(m);
  }
  const int num_packs = products.empty() ? 0 : products.front().num_packs;
  for (int p = 0; p < num_packs; ++p) {
    for (const detail::RowProduct& m : products) {
      if (is_outer(m)) continue;
      multiply_pack<Store::kAssign>(m, m.terms[0], p);
      if (m.num_terms > 1) multiply_pack<Store::kAdd>(m, m.terms[1], p);
    }
  }
}

}  // namespace
}  // namespace hesscope::HESSCOPE_ISA
