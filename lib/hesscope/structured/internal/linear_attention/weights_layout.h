// SPDX-License-Identifier: BSD-3-Clause
//
// Kernel code (simd/lane.h). A network's weights and the positions of its parameters.
#pragma once

#include <hesscope/simd/internal/lane.h>
#include <hesscope/structured/internal/linear_attention/network.h>

namespace hesscope::HESSCOPE_ISA {

using Matrix = Strided<Lane>;
using Constant = Strided<const double>;

// A network whose extents are known at compile time: for d = 5, which the papers use, small
// products are unrolled.
template <typename Network, int E, int kTrained>
struct Fixed : Network {
  explicit Fixed(const Network& network) : Network(network) {}

  static constexpr int e = E;
  static constexpr int trained = kTrained;
};

// Calls body(network), with the extents as compile-time constants if they are those of the papers.
template <typename Network, typename F>
auto with_extents(const Network& network, F body) {
  if (network.e == 6 && network.trained == 6) return body(Fixed<Network, 6, 6>(network));
  if (network.e == 6 && network.trained == 5) return body(Fixed<Network, 6, 5>(network));
  return body(network);
}

inline int square(int x) { return x * x; }

Constant p_of(const auto& g, int layer) { return row_major(g.p + layer * square(g.e), g.e); }

Constant q_of(const auto& g, int layer) { return row_major(g.q + layer * square(g.e), g.e); }

// p, the last row of the last layer's P / n.
const double* last_p(const auto& g) { return &p_of(g, g.layers - 1)(g.e - 1, 0); }

double inverse_n(const auto& g) { return 1.0 / g.context; }

// Position of the first entry of P or Q among the parameters.
long first_p(const auto& g, int layer) { return 2L * layer * square(g.trained); }

long first_q(const auto& g, int layer) { return first_p(g, layer) + square(g.trained); }

}  // namespace hesscope::HESSCOPE_ISA
