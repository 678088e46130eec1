// SPDX-License-Identifier: BSD-3-Clause
//
// For kernel sources only: tangents of softmax, log-sum-exp, cross-entropy and distances.
#pragma once

#include <hesscope/structured/internal/graph/tangent_products.h>

namespace hesscope::HESSCOPE_ISA {
namespace {

class RowSweep : protected ProductSweep {
 protected:
  using ProductSweep::ProductSweep;

  // dp_j = p_j (dx_j - sum_k p_k dx_k)
  void forward_softmax(int i, Interval rows) {
    const auto cols = static_cast<int>(node(i).cols);
    const Interval live = plan(node(i).a).tangent;
    for (int r = rows.begin; r < rows.end; ++r) {
      Lane inner[kEntry] = {};
      const Interval own = common_part(live, {r * cols, (r + 1) * cols});
      for (int e = own.begin; e < own.end; ++e) {
        add_scaled(inner, tangent(node(i).a) + e * kEntry, value(i) + e * kParts);
      }
      for (int e = r * cols; e < (r + 1) * cols; ++e) {
        Lane difference[kEntry];
        const bool is_live = e >= live.begin && e < live.end;
        const Lane* x = tangent(node(i).a) + e * kEntry;
        for (int d = 0; d < kEntry; ++d) difference[d] = is_live ? x[d] - inner[d] : -inner[d];
        assign_scaled(tangent(i) + e * kEntry, difference, value(i) + e * kParts);
      }
    }
  }

  // dxbar_j += dp_j (ybar_j - sum_k p_k ybar_k) + p_j (dybar_j - sum_k (dp_k ybar_k + p_k dybar_k))
  void reverse_softmax(int i) {
    const int a = node(i).a;
    if (!has_adjoint(a)) return;
    const auto cols = static_cast<int>(node(i).cols);
    const Interval bars = plan(i).adjoint;
    const Interval live = plan(i).tangent;
    const Lane* const p = value(i);
    for (int r = 0; r < static_cast<int>(node(i).rows); ++r) {
      const Interval row{r * cols, (r + 1) * cols};
      const Interval of_bar = common_part(bars, row);
      const Interval of_tangent = common_part(live, row);
      if (of_bar.is_empty() && of_tangent.is_empty()) continue;
      Lane inner[kEntry] = {};
      for (int e = of_bar.begin; e < of_bar.end; ++e) {
        add_scaled(inner, adjoint(i) + e * kEntry, p + e * kParts);
      }
      for (int e = of_tangent.begin; e < of_tangent.end; ++e) {
        add_scaled(inner, tangent(i) + e * kEntry, bar(i) + e * kParts);
        add_scaled(adjoint(a) + e * kEntry, tangent(i) + e * kEntry, coefficient(i) + e * kParts);
      }
      for (int e = of_bar.begin; e < of_bar.end; ++e) {
        add_scaled(adjoint(a) + e * kEntry, adjoint(i) + e * kEntry, p + e * kParts);
      }
      for (int e = row.begin; e < row.end; ++e) {
        subtract_scaled(adjoint(a) + e * kEntry, inner, p + e * kParts);
      }
    }
  }

  // TapePointSweep::set_row_coefficients(). Sums over k < j and k > j are added apart, so that nothing
  // is taken off again.
  void reverse_log_sum(int i) {
    const Node& n = node(i);
    if (!has_adjoint(n.a)) return;
    const auto cols = static_cast<int>(node(n.a).cols);
    const auto all = static_cast<int>(node(n.a).size());
    const Lane* const p = coefficient(i);
    const Lane* const variance = p + all * kParts;
    const Lane* const scale = variance + all * kParts;
    const Lane* const slope =
        n.op == Op::kCrossEntropyRows ? scale + static_cast<int>(n.rows) * kParts : p;
    const Interval bars = plan(i).adjoint;
    for (int e = bars.begin * cols; e < bars.end * cols; ++e) {
      add_scaled(adjoint(n.a) + e * kEntry, adjoint(i) + e / cols * kEntry, slope + e * kParts);
    }
    const Interval live = plan(n.a).tangent;
    if (live.is_empty()) return;
    const Interval rows = rows_of(live, cols);
    for (int r = rows.begin; r < rows.end; ++r) {
      const Interval own = common_part(live, {r * cols, (r + 1) * cols});
      Lane before[kEntry] = {};
      Lane after[kEntry] = {};
      const auto step = [&](int e, Lane* others, bool is_first) {
        Lane change[kEntry] = {};
        subtract_scaled(change, others, p + e * kParts);
        if (e >= own.begin && e < own.end) {
          const Lane* const x = tangent(n.a) + e * kEntry;
          if (is_first) add_scaled(change, x, variance + e * kParts);
          add_scaled(others, x, p + e * kParts);
        }
        add_scaled(adjoint(n.a) + e * kEntry, change, scale + r * kParts);
      };
      for (int e = r * cols; e < (r + 1) * cols; ++e) step(e, before, true);
      for (int e = (r + 1) * cols; e-- > r * cols;) step(e, after, false);
    }
  }

  // visit(e, entry of a, entry of b) for D_e = sum_c (a_ic - b_jc)^2 and each c.
  template <typename F>
  void for_differences(int i, Interval out, F visit) const {
    const Node& n = node(i);
    const auto cols = static_cast<int>(n.cols);
    const auto size = static_cast<int>(node(n.a).cols);
    for (int e = out.begin; e < out.end; ++e) {
      for (int c = 0; c < size; ++c) visit(e, e / cols * size + c, e % cols * size + c);
    }
  }

  // da_ic - db_jc, where they are.
  void tangent_difference(int i, int x, int y, Lane* difference) const {
    const Node& n = node(i);
    const auto is_in = [](Interval live, int e) { return e >= live.begin && e < live.end; };
    const bool has_x = is_in(plan(n.a).tangent, x);
    const bool has_y = is_in(plan(n.b).tangent, y);
    for (int d = 0; d < kEntry; ++d) difference[d] = has_x ? tangent(n.a)[x * kEntry + d] : Lane{};
    if (!has_y) return;
    for (int d = 0; d < kEntry; ++d) difference[d] -= tangent(n.b)[y * kEntry + d];
  }

  void value_difference(int i, int x, int y, Lane* twice) const {
    for (int part = 0; part < kParts; ++part) {
      twice[part] =
          2.0 * (value(node(i).a)[x * kParts + part] - value(node(i).b)[y * kParts + part]);
    }
  }

  void forward_distances(int i, Interval out) {
    for_differences(i, out, [&](int e, int x, int y) {
      Lane twice[kParts];
      Lane difference[kEntry];
      value_difference(i, x, y, twice);
      tangent_difference(i, x, y, difference);
      add_scaled(tangent(i) + e * kEntry, difference, twice);
    });
  }

  // dabar_ic += 2 (dDbar_ij (a_ic - b_jc) + Dbar_ij (da_ic - db_jc)), dbbar_jc the same with a minus
  void reverse_distances(int i) {
    const Node& n = node(i);
    const Interval bars = plan(i).adjoint;
    const bool has_tangents = has_tangent(n.a) || has_tangent(n.b);
    for_differences(i, {0, static_cast<int>(n.size())}, [&](int e, int x, int y) {
      const bool has_bar = e >= bars.begin && e < bars.end;
      if (!has_bar && !has_tangents) return;
      Lane change[kEntry] = {};
      if (has_bar) {
        Lane twice[kParts];
        value_difference(i, x, y, twice);
        add_scaled(change, adjoint(i) + e * kEntry, twice);
      }
      if (has_tangents) {
        Lane difference[kEntry];
        tangent_difference(i, x, y, difference);
        for (int d = 0; d < kEntry; ++d) difference[d] *= 2.0;
        add_scaled(change, difference, bar(i) + e * kParts);
      }
      if (has_adjoint(n.a)) add(adjoint(n.a) + x * kEntry, change);
      if (has_adjoint(n.b)) add_times(adjoint(n.b) + y * kEntry, change, -1);
    });
  }
};

}  // namespace
}  // namespace hesscope::HESSCOPE_ISA
