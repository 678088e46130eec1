// SPDX-License-Identifier: BSD-3-Clause
//
// For kernel sources only: tangents of elementwise functions of one or two operands.
#pragma once

#include <hesscope/structured/internal/graph/tangent_rows.h>

namespace hesscope::HESSCOPE_ISA {
namespace {

// For y = f(a, b), entry by entry. Each tangent is read once and each of their sums is written
// once: the terms are cheap, and otherwise sums would be written and read again for every term.
class FunctionSweep : protected RowSweep {
 protected:
  using RowSweep::RowSweep;

  // dy = f_a da + f_b db
  void forward_function(int i, Interval out) {
    Terms terms;
    for (const int which : {0, 1}) {
      const int o = operand(i, which);
      if (has_tangent(o)) add_term(i, {tangent(o), plan(o).tangent, slope(i, which), o}, terms);
    }
    add_aligned(true, tangent(i), out, terms);
    add_each(i, tangent(i), out, terms.spread, terms.num_spread, in_place);
  }

  // dabar += f_a dybar + ybar (f_aa da + f_ab db), and the same for b.
  void reverse_function(int i) {
    for (const int which : {0, 1}) {
      const int o = operand(i, which);
      if (!has_adjoint(o)) continue;
      Terms terms;
      if (has_adjoint(i)) add_term(i, {adjoint(i), plan(i).adjoint, slope(i, which), i}, terms);
      for (const int other : {0, 1}) {
        const int from = operand(i, other);
        const bool is_there = kept(i).derivatives.has[detail::second_derivative(which, other)];
        if (!is_there || !has_tangent(from)) continue;
        add_term(i, {tangent(from), plan(from).tangent, second(i, which, other), from}, terms);
      }
      if (terms.num_aligned + terms.num_spread > 0) add_to_adjoint(i, o, terms);
    }
  }

 private:
  // factor(e) x, for entry e of a function.
  struct Term {
    const Lane* x;
    Interval live;  // x is zero outside
    Factor factor;
    int node;  // the node to which x belongs
  };

  // Those with the function's shape, and those whose row, column or number is broadcast.
  struct Terms {
    Term aligned[3];
    Term spread[3];
    int num_aligned = 0;
    int num_spread = 0;
  };

  void add_term(int i, const Term& term, Terms& terms) const {
    if (is_same_shape(i, term.node)) {
      terms.aligned[terms.num_aligned++] = term;
    } else {
      terms.spread[terms.num_spread++] = term;
    }
  }

  int operand(int i, int which) const { return which == 0 ? node(i).a : node(i).b; }

  // The derivatives that a function has are stored one after the other.
  Factor derivative(int i, int kind) const {
    const long first = kept(i).derivatives.count_before(kind) * node(i).size();
    return Factor(coefficient(i) + first * kParts);
  }

  // f_a, or f_b.
  Factor slope(int i, int which) const {
    const Node& n = node(i);
    switch (n.op) {
      case Op::kScale:
        return Factor(n.factor);
      case Op::kSubtract:
        return Factor(which == 0 ? 1.0 : -1.0);
      case Op::kHadamard:
        return {value(operand(i, 1 - which)), n, node(operand(i, 1 - which))};
      case Op::kElementary:
      case Op::kDivide:
        return derivative(i, which);
      default:
        return Factor(1.0);
    }
  }

  // ybar f_ab, for operands a and b, or for one of them twice.
  Factor second(int i, int which, int other) const {
    if (node(i).op == Op::kHadamard) return Factor(bar(i));
    return derivative(i, detail::second_derivative(which, other));
  }

  void add_to_adjoint(int i, int o, const Terms& terms) const {
    if (is_same_shape(i, o)) {
      const Interval own = plan(o).adjoint;
      add_aligned(begins(o), adjoint(o), own, terms);
      return add_each(i, adjoint(o), own, terms.spread, terms.num_spread, in_place);
    }
    prepare_to_add(o);
    const auto place = [&](int e) { return spread(i, o, e); };
    add_each(i, adjoint(o), all_of(i), terms.aligned, terms.num_aligned, place);
    add_each(i, adjoint(o), all_of(i), terms.spread, terms.num_spread, place);
  }

  static int in_place(int e) { return e; }

  // y += one term after the other, for the entries of node i in `out`, each to entry place(e) of y.
  template <typename Place>
  void add_each(int i, Lane* y, Interval out, const Term* terms, int num_terms, Place place) const {
    for (const Term* term = terms; term != terms + num_terms; ++term) {
      for_spread(i, term->node, out, term->live, [&](int e, int from) {
        add_scaled(y + place(e) * kEntry, term->x + from * kEntry, term->factor(e));
      });
    }
  }

  // y = the sum of the aligned terms, or += it, in `out`.
  static void add_aligned(bool is_to_assign, Lane* y, Interval out, const Terms& terms) {
    for (int e = out.begin; e < out.end;) {
      const Term* live[3];
      int count = 0;
      int until = out.end;
      for (int k = 0; k < terms.num_aligned; ++k) {
        const Term& term = terms.aligned[k];
        const int next = is_in(term.live, e) ? term.live.end : term.live.begin;
        if (is_in(term.live, e)) live[count++] = &term;
        if (next > e && next < until) until = next;
      }
      if (is_to_assign) {
        add_terms<Store::kAssign>(y, live, count, {e, until});
      } else {
        add_terms<Store::kAdd>(y, live, count, {e, until});
      }
      e = until;
    }
  }

  template <Store kStore>
  static void add_terms(Lane* y, const Term* const* terms, int count, Interval entries) {
    switch (count) {
      case 0:
        if (kStore == Store::kAssign) clear(y + entries.begin * kEntry, length(entries));
        return;
      case 1:
        return add_terms<kStore, 1>(y, terms, entries);
      case 2:
        return add_terms<kStore, 2>(y, terms, entries);
      default:
        return add_terms<kStore, 3>(y, terms, entries);
    }
  }

  template <Store kStore, int kCount>
  [[gnu::noinline]] static void add_terms(Lane* y, const Term* const* terms, Interval entries) {
    for (int e = entries.begin; e < entries.end;) {
      int end = entries.end;
      Factor::Run factors[kCount];
      const Lane* x[kCount];
      for (int k = 0; k < kCount; ++k) {
        factors[k] = terms[k]->factor.run_from(e, end);
        x[k] = terms[k]->x + e * kEntry;
      }
      Lane* to = y + e * kEntry;
      for (; e < end; ++e, to += kEntry) {
        Lane c[kCount];
        for (int k = 0; k < kCount; ++k) c[k] = *factors[k].first;
        for (int d = 0; d < kDirections; ++d) {
          Lane sum = c[0] * x[0][d];
          for (int k = 1; k < kCount; ++k) sum += c[k] * x[k][d];
          if constexpr (kStore == Store::kAdd) {
            to[d] += sum;
          } else {
            to[d] = sum;
          }
        }
        for (int k = 0; k < kCount; ++k) {
          factors[k].first += factors[k].step;
          x[k] += kEntry;
        }
      }
    }
  }
};

}  // namespace
}  // namespace hesscope::HESSCOPE_ISA
