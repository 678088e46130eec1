// SPDX-License-Identifier: BSD-3-Clause
//
// For kernel sources only: tangents of softmax, standardised rows, log-sum-exp, cross-entropy and
// distances.
#pragma once

#include <hesscope/structured/internal/graph/tangent_products.h>

namespace hesscope::HESSCOPE_ISA {
namespace {

class RowSweep : protected ProductSweep {
 protected:
  using ProductSweep::ProductSweep;

  // For a row p with sum 1, and x that is 0 outside `own`: sets inner to sum_k p_k (x_k - c) and
  // common to c, so that x_j - sum_k p_k x_k is (x_j - c) - inner. c is 0 or, if some p_k is near
  // 1, the x of the p_k that exceeds one half: the difference 1 - p_k then keeps its digits.
  static void weigh(
      const Lane* p, const Lane* x, Interval row, Interval own, Lane* common, Lane* inner) {
    if (!is_saturated(p, row)) {
      for (int e = own.begin; e < own.end; ++e) add_scaled(inner, x + e * kEntry, p[e * kParts]);
      return;
    }
    for (int e = own.begin; e < own.end; ++e) {
      add_where(common, x + e * kEntry, p[e * kParts] > 0.5);
    }
    for (int e = row.begin; e < row.end; ++e) {
      Lane difference[kDirections] = {};
      if (is_in(own, e)) assign(difference, x + e * kEntry);
      subtract_scaled(difference, common, Lane{} + 1.0);
      add_scaled(inner, difference, p[e * kParts]);
    }
  }

  // Whether an entry of the row is so near to 1, for any sample, that digits of 1 - p are lost.
  static bool is_saturated(const Lane* p, Interval row) {
    constexpr double kNear = 0.9;
    Lane most = {};
    for (int e = row.begin; e < row.end; ++e) {
      most = p[e * kParts] > most ? p[e * kParts] : most;
    }
    bool is_near = false;
    for (int lane = 0; lane < kLanes; ++lane) is_near |= most[lane] > kNear;
    return is_near;
  }

  // dp_j = p_j (dx_j - sum_k p_k dx_k)
  void forward_softmax(int i, Interval rows) {
    const auto cols = static_cast<int>(node(i).cols);
    const Interval live = plan(node(i).a).tangent;
    const Lane* const p = value(i);
    for (int r = rows.begin; r < rows.end; ++r) {
      const Interval row{r * cols, (r + 1) * cols};
      Lane common[kDirections] = {};
      Lane inner[kDirections] = {};
      weigh(p, tangent(node(i).a), row, common_part(live, row), common, inner);
      for (int e = row.begin; e < row.end; ++e) {
        Lane difference[kDirections];
        const bool is_live = is_in(live, e);
        const Lane* x = tangent(node(i).a) + e * kEntry;
        for (int d = 0; d < kDirections; ++d) {
          difference[d] = (is_live ? x[d] - common[d] : -common[d]) - inner[d];
        }
        assign_scaled(tangent(i) + e * kEntry, difference, p[e * kParts]);
      }
    }
  }

  // dxbar_j += dp_j y_j + p_j (dybar_j - sum_k (dp_k y_k + p_k dybar_k)), y_j = ybar_j - sum_k p_k
  // ybar_k
  void reverse_softmax(int i) {
    const int a = node(i).a;
    const Interval bars = plan(i).adjoint;
    const Interval live = plan(i).tangent;
    const auto cols = static_cast<int>(node(i).cols);
    const Interval rows = rows_of(hull(bars, live), cols);
    if (!has_adjoint(a) || rows.is_empty()) return;
    const bool assigns = is_to_assign(a, {rows.begin * cols, rows.end * cols});
    const Lane* const p = value(i);
    for (int r = rows.begin; r < rows.end; ++r) {
      const Interval row{r * cols, (r + 1) * cols};
      const Interval of_bar = common_part(bars, row);
      const Interval of_tangent = common_part(live, row);
      Lane common[kDirections] = {};
      Lane inner[kDirections] = {};
      weigh(p, adjoint(i), row, of_bar, common, inner);
      for (int e = of_tangent.begin; e < of_tangent.end; ++e) {
        add_scaled(inner, tangent(i) + e * kEntry, coefficient(i)[e * kParts]);
      }
      for (int e = row.begin; e < row.end; ++e) {
        Lane change[kDirections] = {};
        if (is_in(of_bar, e)) add(change, adjoint(i) + e * kEntry);
        for (int d = 0; d < kDirections; ++d) {
          change[d] = p[e * kParts] * ((change[d] - common[d]) - inner[d]);
        }
        if (is_in(of_tangent, e)) {
          add_scaled(change, tangent(i) + e * kEntry, coefficient(i)[e * kParts]);
        }
        Lane* const to = adjoint(a) + e * kEntry;
        if (assigns) {
          assign(to, change);
        } else {
          add(to, change);
        }
      }
    }
  }

  // dy_j = r (dx_j - mean(dx) - y_j mean(y dx)); here and below, without centring there is no
  // mean(dx).
  void forward_standardize(int i, Interval rows) {
    const auto cols = static_cast<int>(node(i).cols);
    const Interval live = plan(node(i).a).tangent;
    const Lane* const r = coefficient(i) + node(i).size() * kParts;
    const double share = 1.0 / cols;
    for (int row = rows.begin; row < rows.end; ++row) {
      Lane mean[kDirections] = {};
      Lane inner[kDirections] = {};
      const Interval own = common_part(live, {row * cols, (row + 1) * cols});
      for (int e = own.begin; e < own.end; ++e) {
        const Lane* const x = tangent(node(i).a) + e * kEntry;
        if (node(i).is_centred) add(mean, x);
        add_scaled(inner, x, value(i)[e * kParts]);
      }
      const Lane scale = r[row * kParts];
      scale_by(mean, -share * scale);
      scale_by(inner, -share * scale);
      for (int e = row * cols; e < (row + 1) * cols; ++e) {
        Lane change[kDirections];
        assign(change, mean);
        add_scaled(change, inner, value(i)[e * kParts]);
        if (is_in(live, e)) add_scaled(change, tangent(node(i).a) + e * kEntry, scale);
        assign(tangent(i) + e * kEntry, change);
      }
    }
  }

  // With the coefficients g_j, r, A = r^2 mean(ybar), B = r^2 mean(ybar y) of a row, and
  // M = mean(dx), Y = mean(y dx), Z = mean(ybar dx),
  //   dxbar_j += r (dybar_j - mean(dybar) - y_j mean(y dybar))
  //              - g_j Y - B (dx_j - M) + y_j (2 B Y + A M - r^2 Z).
  void reverse_standardize(int i) {
    const int a = node(i).a;
    const Interval bars = plan(i).adjoint;
    const Interval live = plan(a).tangent;
    const auto cols = static_cast<int>(node(i).cols);
    const Interval rows = rows_of(hull(bars, live), cols);
    if (!has_adjoint(a) || rows.is_empty()) return;
    const bool assigns = is_to_assign(a, {rows.begin * cols, rows.end * cols});
    const Lane* const y = value(i);
    const Lane* const g = coefficient(i);
    const Lane* const of_rows = g + node(i).size() * kParts;
    const auto num_rows = static_cast<int>(node(i).rows);
    const bool is_centred = node(i).is_centred;
    const double share = 1.0 / cols;
    for (int row = rows.begin; row < rows.end; ++row) {
      const Interval all{row * cols, (row + 1) * cols};
      const Interval of_bar = common_part(bars, all);
      const Interval of_tangent = common_part(live, all);
      const Lane r = of_rows[row * kParts];
      const Lane mean_bar = of_rows[(num_rows + row) * kParts];
      const Lane inner_bar = of_rows[(2 * num_rows + row) * kParts];
      Lane same[kDirections] = {};    // for all entries
      Lane along[kDirections] = {};   // times y_j
      Lane across[kDirections] = {};  // Y, times g_j
      if (!of_bar.is_empty()) {
        for (int e = of_bar.begin; e < of_bar.end; ++e) {
          if (is_centred) add(same, adjoint(i) + e * kEntry);
          add_scaled(along, adjoint(i) + e * kEntry, y[e * kParts]);
        }
        scale_by(same, -share * r);
        scale_by(along, -share * r);
      }
      if (!of_tangent.is_empty()) {
        Lane mean[kDirections] = {};
        Lane of_bars[kDirections] = {};
        for (int e = of_tangent.begin; e < of_tangent.end; ++e) {
          const Lane* const x = tangent(a) + e * kEntry;
          if (is_centred) add(mean, x);
          add_scaled(across, x, y[e * kParts]);
          add_scaled(of_bars, x, bar(i)[e * kParts]);
        }
        scale_by(across, Lane{} + share);
        add_scaled(same, mean, share * inner_bar);
        add_scaled(along, across, 2.0 * inner_bar);
        add_scaled(along, mean, share * mean_bar);
        subtract_scaled(along, of_bars, share * r * r);
      }
      for (int e = all.begin; e < all.end; ++e) {
        Lane change[kDirections];
        assign(change, same);
        add_scaled(change, along, y[e * kParts]);
        if (is_in(of_bar, e)) add_scaled(change, adjoint(i) + e * kEntry, r);
        if (!of_tangent.is_empty()) subtract_scaled(change, across, g[e * kParts]);
        if (is_in(of_tangent, e)) subtract_scaled(change, tangent(a) + e * kEntry, inner_bar);
        Lane* const to = adjoint(a) + e * kEntry;
        if (assigns) {
          assign(to, change);
        } else {
          add(to, change);
        }
      }
    }
  }

  // TapePointSweep::set_row_coefficients(). Sums over k < j and k > j are added separately, so that
  // nothing has to be subtracted again.
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
    prepare_to_add(n.a);
    for (int e = bars.begin * cols; e < bars.end * cols; ++e) {
      add_scaled(adjoint(n.a) + e * kEntry, adjoint(i) + e / cols * kEntry, slope[e * kParts]);
    }
    const Interval live = plan(n.a).tangent;
    if (live.is_empty()) return;
    const Interval rows = rows_of(live, cols);
    for (int r = rows.begin; r < rows.end; ++r) {
      const Interval own = common_part(live, {r * cols, (r + 1) * cols});
      Lane before[kDirections] = {};
      Lane after[kDirections] = {};
      const auto step = [&](int e, Lane* others, bool is_first) {
        Lane change[kDirections] = {};
        subtract_scaled(change, others, p[e * kParts]);
        if (is_in(own, e)) {
          const Lane* const x = tangent(n.a) + e * kEntry;
          if (is_first) add_scaled(change, x, variance[e * kParts]);
          add_scaled(others, x, p[e * kParts]);
        }
        add_scaled(adjoint(n.a) + e * kEntry, change, scale[r * kParts]);
      };
      for (int e = r * cols; e < (r + 1) * cols; ++e) step(e, before, true);
      for (int e = (r + 1) * cols; e-- > r * cols;) step(e, after, false);
    }
  }

  // Calls visit(e, entry of a, entry of b) for D_e = sum_c (a_ic - b_jc)^2 and each c.
  template <typename F>
  void for_differences(int i, Interval out, F visit) const {
    const Node& n = node(i);
    const auto cols = static_cast<int>(n.cols);
    const auto size = static_cast<int>(node(n.a).cols);
    for (int e = out.begin; e < out.end; ++e) {
      for (int c = 0; c < size; ++c) visit(e, e / cols * size + c, e % cols * size + c);
    }
  }

  // da_ic - db_jc, as far as they exist.
  void tangent_difference(int i, int x, int y, Lane* difference) const {
    const Node& n = node(i);
    const bool has_x = is_in(plan(n.a).tangent, x);
    const bool has_y = is_in(plan(n.b).tangent, y);
    for (int d = 0; d < kDirections; ++d) {
      difference[d] = has_x ? tangent(n.a)[x * kEntry + d] : Lane{};
    }
    if (!has_y) return;
    for (int d = 0; d < kDirections; ++d) difference[d] -= tangent(n.b)[y * kEntry + d];
  }

  Lane twice_value_difference(int i, int x, int y) const {
    return 2.0 * (value(node(i).a)[x * kParts] - value(node(i).b)[y * kParts]);
  }

  void forward_distances(int i, Interval out) {
    clear(tangent(i) + out.begin * kEntry, out.end - out.begin);
    for_differences(i, out, [&](int e, int x, int y) {
      Lane difference[kDirections];
      tangent_difference(i, x, y, difference);
      add_scaled(tangent(i) + e * kEntry, difference, twice_value_difference(i, x, y));
    });
  }

  // dabar_ic += 2 (dDbar_ij (a_ic - b_jc) + Dbar_ij (da_ic - db_jc)); dbbar_jc is the same with a
  // minus sign
  void reverse_distances(int i) {
    const Node& n = node(i);
    const Interval bars = plan(i).adjoint;
    const bool has_tangents = has_tangent(n.a) || has_tangent(n.b);
    for (const int operand : {n.a, n.b}) {
      if (has_adjoint(operand)) prepare_to_add(operand);
    }
    for_differences(i, {0, static_cast<int>(n.size())}, [&](int e, int x, int y) {
      const bool has_bar = is_in(bars, e);
      if (!has_bar && !has_tangents) return;
      Lane change[kDirections] = {};
      if (has_bar) {
        add_scaled(change, adjoint(i) + e * kEntry, twice_value_difference(i, x, y));
      }
      if (has_tangents) {
        Lane difference[kDirections];
        tangent_difference(i, x, y, difference);
        add_scaled(change, difference, 2.0 * bar(i)[e * kParts]);
      }
      if (has_adjoint(n.a)) add(adjoint(n.a) + x * kEntry, change);
      if (has_adjoint(n.b)) subtract_scaled(adjoint(n.b) + y * kEntry, change, Lane{} + 1.0);
    });
  }
};

}  // namespace
}  // namespace hesscope::HESSCOPE_ISA
