// SPDX-License-Identifier: BSD-3-Clause
//
// For kernel sources only: elementwise operations on a batch, forward and backward, each in one
// loop over all packs.
#pragma once

#include <hesscope/autodiff/internal/batch_numbers.h>
#include <hesscope/autodiff/internal/elementary.h>

namespace hesscope::HESSCOPE_ISA {
namespace {

// y = phi(x) and, unless `slopes` is null, phi'(x): in one function, since they share most of the
// work.
template <typename Phi, typename B>
[[gnu::flatten]] void evaluate(const Phi& phi, const B* x, B* y, B* slopes, Eigen::Index size) {
  if (slopes == nullptr) {
    for (Eigen::Index e = 0; e < size; ++e) y[e] = phi.f(x[e]);
    return;
  }
  for (Eigen::Index e = 0; e < size; ++e) {
    const B argument = x[e];
    y[e] = phi.f(argument);
    slopes[e] = phi.df(argument);
  }
}

/// y = phi(x) of a kElementary, and its slopes on request.
inline void forward_elementary(BatchNumbers& numbers, std::int32_t i, bool has_slopes) {
  using B = BatchNumbers::B;
  const Graph::Node& n = numbers.node(i);
  detail::visit_elementary(n.function, n.factor, n.beta, [&](auto phi) {
    evaluate(phi,
             numbers.values<B>(n.a),
             numbers.values<B>(i),
             has_slopes ? numbers.slopes(i) : nullptr,
             numbers.packs() * n.size());
  });
}

// abar = share(e) if is_first, else abar += share(e), entry by entry; abar may be in the same place
// as the node's own adjoint.
template <typename B, typename F>
void pass_back(B* a_bar, Eigen::Index size, bool is_first, F share) {
  if (is_first) {
    for (Eigen::Index e = 0; e < size; ++e) a_bar[e] = share(e);
  } else {
    for (Eigen::Index e = 0; e < size; ++e) a_bar[e] += share(e);
  }
}

/// y = phi(x): xbar += ybar phi'(x).
inline void reverse_elementary(BatchNumbers& numbers, std::int32_t i) {
  using B = BatchNumbers::B;
  const Graph::Node& n = numbers.node(i);
  const B* const bar = numbers.adjoints<B>(i);
  const B* const slopes = numbers.slopes(i);
  pass_back(numbers.adjoints<B>(n.a),
            numbers.packs() * n.size(),
            numbers.info(i).a.is_first,
            [&](auto e) { return bar[e] * slopes[e]; });
}

/// y = s x: xbar += ybar s.
inline void reverse_scale(BatchNumbers& numbers, std::int32_t i) {
  using B = BatchNumbers::B;
  const Graph::Node& n = numbers.node(i);
  const B* const bar = numbers.adjoints<B>(i);
  const B factor(n.factor);
  pass_back(numbers.adjoints<B>(n.a),
            numbers.packs() * n.size(),
            numbers.info(i).a.is_first,
            [&](auto e) { return bar[e] * factor; });
}

/// Backward pass of the entrywise c = a + b, a - b or a b, to those of a and b that have one entry
/// per sample for each of c. Calls others(to_a, to_b) for the remaining operands.
template <typename F>
void reverse_entrywise(BatchNumbers& numbers, std::int32_t i, F others) {
  using B = BatchNumbers::B;
  const Graph::Node& n = numbers.node(i);
  const detail::BatchNode& info = numbers.info(i);
  const Eigen::Index size = numbers.packs() * n.size();
  const B* const bar = numbers.adjoints<B>(i);
  const bool is_product = n.op == Graph::Op::kHadamard;
  const bool is_done = info.a.is_entrywise && info.b.is_entrywise;
  // Passes back to one of them; returns whether it remains to be done.
  const auto to = [&](std::int32_t o, detail::BatchOperand plan, std::int32_t other, bool minus) {
    if (!numbers.info(o).is_needed) return false;
    if (is_product ? !is_done : !plan.is_entrywise) return true;
    B* const o_bar = numbers.adjoints<B>(o);
    if (is_product) {
      const B* const factor = numbers.values<B>(other);
      pass_back(o_bar, size, plan.is_first, [&](auto e) { return bar[e] * factor[e]; });
    } else if (minus) {
      pass_back(o_bar, size, plan.is_first, [&](auto e) { return -bar[e]; });
    } else if (!plan.is_in_place) {
      pass_back(o_bar, size, plan.is_first, [&](auto e) { return bar[e]; });
    }
    return false;
  };
  const bool a_is_left = to(n.a, info.a, n.b, false);
  const bool b_is_left = to(n.b, info.b, n.a, n.op == Graph::Op::kSubtract);
  if (a_is_left || b_is_left) others(a_is_left, b_is_left);
}

}  // namespace
}  // namespace hesscope::HESSCOPE_ISA
