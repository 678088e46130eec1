// SPDX-License-Identifier: BSD-3-Clause
//
// Operations that move numbers without computing any: forward and backward, on the scalars of
// kernels.h.
#pragma once

#include <cstdint>
#include <limits>

#include <hesscope/autodiff/internal/kernels.h>

namespace hesscope::detail {

// -------------------------------------------------------------------------------------------------
// y_e = (a, b)_index(e), 0 if that is -1; backward, each operand's adjoint gathers the entries that
// were taken from it.

template <typename T, typename A, typename B>
void gather_forward(View<T> y, const std::int32_t* index, View<const A> a, View<const B> b) {
  const Eigen::Index first_b = a.size();
  for (Eigen::Index e = 0; e < y.size(); ++e) {
    const std::int32_t k = index[e];
    if (k < 0) {
      y.data[e] = T{};
    } else if (k < first_b) {
      y.data[e] = T(a.data[k]);
    } else {
      y.data[e] = T(b.data[k - first_b]);
    }
  }
}

// @param first  index of the operand's first entry.
template <typename Bar>
void gather_reverse(View<Bar> bar,
                    const std::int32_t* index,
                    Eigen::Index first,
                    View<const Bar> y_bar) {
  for (Eigen::Index e = 0; e < y_bar.size(); ++e) {
    const Eigen::Index k = index[e] - first;
    if (k >= 0 && k < bar.size() && index[e] >= 0) bar.data[k] += y_bar.data[e];
  }
}

// -------------------------------------------------------------------------------------------------
// y_e = a_e if c_e is not 0, else b_e.

template <typename T, typename A, typename B, typename C>
void select_forward(View<T> y, View<const C> c, View<const A> a, View<const B> b) {
  for (Eigen::Index e = 0; e < y.size(); ++e) {
    y.data[e] = choose(c.data[e] != C(0), T(a.data[e]), T(b.data[e]));
  }
}

template <typename Bar, typename C>
void select_reverse(View<Bar>* a_bar, View<Bar>* b_bar, View<const C> c, View<const Bar> y_bar) {
  for (Eigen::Index e = 0; e < y_bar.size(); ++e) {
    const auto is_a = c.data[e] != C(0);
    if (a_bar != nullptr) a_bar->data[e] += choose(is_a, y_bar.data[e], Bar{});
    if (b_bar != nullptr) b_bar->data[e] += choose(is_a, Bar{}, y_bar.data[e]);
  }
}

// -------------------------------------------------------------------------------------------------
// Row i of y is row k_i of the table, by lane.

template <typename B>
struct LanesOf {
  static constexpr int kCount = 1;

  static double get(const B& x, int /*lane*/) { return static_cast<double>(x); }

  static void copy(B& to, const B& from, int /*lane*/) { to = from; }

  static void add(B& to, const B& from, int /*lane*/) { to += from; }
};

template <int W, InstructionSet kSet>
struct LanesOf<Lanes<W, kSet>> {
  static constexpr int kCount = W;

  static double get(const Lanes<W, kSet>& x, int lane) { return x[lane]; }

  static void copy(Lanes<W, kSet>& to, const Lanes<W, kSet>& from, int lane) {
    to.set(lane, from[lane]);
  }

  static void add(Lanes<W, kSet>& to, const Lanes<W, kSet>& from, int lane) {
    to.set(lane, to[lane] + from[lane]);
  }
};

template <typename B, int N>
struct LanesOf<ceres::Jet<B, N>> {
  static constexpr int kCount = LanesOf<B>::kCount;

  static void copy(ceres::Jet<B, N>& to, const ceres::Jet<B, N>& from, int lane) {
    LanesOf<B>::copy(to.a, from.a, lane);
    for (int k = 0; k < N; ++k) LanesOf<B>::copy(to.v[k], from.v[k], lane);
  }

  static void add(ceres::Jet<B, N>& to, const ceres::Jet<B, N>& from, int lane) {
    LanesOf<B>::add(to.a, from.a, lane);
    for (int k = 0; k < N; ++k) LanesOf<B>::add(to.v[k], from.v[k], lane);
  }
};

// Calls visit(i, lane, k_i) for all existing rows; k_i = -1 for those that the table lacks.
template <typename C, typename F>
void for_each_row(View<const C> rows, Eigen::Index table_rows, F visit) {
  for (Eigen::Index i = 0; i < rows.size(); ++i) {
    for (int lane = 0; lane < LanesOf<C>::kCount; ++lane) {
      const double k = LanesOf<C>::get(rows.data[i], lane);
      const bool is_there = k >= 0 && k < static_cast<double>(table_rows);
      visit(i, lane, is_there ? static_cast<Eigen::Index>(k) : Eigen::Index{-1});
    }
  }
}

template <typename T, typename C>
void lookup_forward(View<T> y, View<const T> table, View<const C> rows) {
  const auto none = T(C(std::numeric_limits<double>::quiet_NaN()));
  for_each_row(rows, table.rows, [&](Eigen::Index i, int lane, Eigen::Index k) {
    for (Eigen::Index j = 0; j < y.cols; ++j) {
      LanesOf<T>::copy(y(i, j), k < 0 ? none : table(k, j), lane);
    }
  });
}

template <typename Bar, typename C>
void lookup_reverse(View<Bar> table_bar, View<const Bar> y_bar, View<const C> rows) {
  for_each_row(rows, table_bar.rows, [&](Eigen::Index i, int lane, Eigen::Index k) {
    if (k < 0) return;
    for (Eigen::Index j = 0; j < y_bar.cols; ++j) {
      LanesOf<Bar>::add(table_bar(k, j), y_bar(i, j), lane);
    }
  });
}

}  // namespace hesscope::detail
