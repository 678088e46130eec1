// SPDX-License-Identifier: BSD-3-Clause
//
// The operation of each node: forward (value) and backward (adjoint), on strided views.
//
// The scalars: B is the base scalar (lanes or 50 digits), for nodes that do not depend on the
// seeded parameters. J is used for those that do: ceres::Jet<B, N> in a second-order sweep,
// PairJet<B, N> (pair_jet.h) in a third-order one, LineJet<B, N> (line_jet.h) along lines. Kernels
// are templates over the views they are given, so the product of a constant and a ceres::Jet takes
// N + 1 multiplications, and that of two Jets 2 N + 1. `Bar` is the scalar of adjoints: B in a
// gradient sweep, J in a second-order sweep.
#pragma once

#include <type_traits>

#include <Eigen/Core>
#include <ceres/jet.h>

#include <hesscope/autodiff/internal/elementary.h>

namespace hesscope::detail {

/// A matrix in memory: entry (i, j) at data[i * row_stride + j * col_stride].
template <typename T>
struct View {
  T* data;
  Eigen::Index rows;
  Eigen::Index cols;
  Eigen::Index row_stride;
  Eigen::Index col_stride;

  T& operator()(Eigen::Index i, Eigen::Index j) const {
    return data[i * row_stride + j * col_stride];
  }

  View transposed() const { return {data, cols, rows, col_stride, row_stride}; }

  View transposed_if(bool yes) const { return yes ? transposed() : *this; }

  View part(Eigen::Index row,
            Eigen::Index col,
            Eigen::Index part_rows,
            Eigen::Index part_cols) const {
    return {&(*this)(row, col), part_rows, part_cols, row_stride, col_stride};
  }

  // Repeats a single row or column as required by the other operand of an elementwise operation.
  View spread(Eigen::Index all_rows, Eigen::Index all_cols) const {
    return {data, all_rows, all_cols, rows == 1 ? 0 : row_stride, cols == 1 ? 0 : col_stride};
  }

  Eigen::Index size() const { return rows * cols; }
};

template <typename T>
struct BaseScalar {
  using Type = T;
};

template <typename B, int N>
struct BaseScalar<ceres::Jet<B, N>> {
  using Type = B;
};

/// The base scalar of a base scalar or a Jet.
template <typename T>
using BaseOf = typename BaseScalar<T>::Type;

// select() for Jets, by the mask of a comparison of base scalars.
template <typename M, typename B>
B choose(const M& mask, const B& yes, const B& no) {
  return select(mask, yes, no);
}

template <typename M, typename B, int N>
ceres::Jet<B, N> choose(const M& mask, const ceres::Jet<B, N>& yes, const ceres::Jet<B, N>& no) {
  ceres::Jet<B, N> chosen;
  chosen.a = select(mask, yes.a, no.a);
  for (int k = 0; k < N; ++k) chosen.v[k] = select(mask, yes.v[k], no.v[k]);
  return chosen;
}

// acc += a * b, for all combinations of base scalars and Jets: (a + u)(b + v) = a b + a v + b u.
template <typename B>
void multiply_add(B& acc, const B& a, const B& b) {
  acc += a * b;
}

template <typename B, int N>
void multiply_add(ceres::Jet<B, N>& acc, const ceres::Jet<B, N>& a, const B& b) {
  acc.a += a.a * b;
  for (int k = 0; k < N; ++k) acc.v[k] += a.v[k] * b;
}

template <typename B, int N>
void multiply_add(ceres::Jet<B, N>& acc, const B& a, const ceres::Jet<B, N>& b) {
  multiply_add(acc, b, a);
}

template <typename B, int N>
void multiply_add(ceres::Jet<B, N>& acc, const ceres::Jet<B, N>& a, const ceres::Jet<B, N>& b) {
  acc.a += a.a * b.a;
  for (int k = 0; k < N; ++k) acc.v[k] += a.a * b.v[k] + b.a * a.v[k];
}

// x -> phi(x) for a function object phi: phi(a + u) = phi(a) + phi'(a) u.
template <typename B>
struct Lifted {
  template <typename Phi>
  static B apply(const B& x, const Phi& phi) {
    return phi.f(x);
  }
};

template <typename B, int N>
struct Lifted<ceres::Jet<B, N>> {
  template <typename Phi>
  static ceres::Jet<B, N> apply(const ceres::Jet<B, N>& x, const Phi& phi) {
    return {phi.f(x.a), phi.df(x.a) * x.v};
  }
};

// phi' as a function object.
template <typename Phi>
struct SlopeOf {
  const Phi& phi;

  template <typename B>
  B f(const B& x) const {
    return phi.df(x);
  }

  template <typename B>
  B df(const B& x) const {
    return phi.ddf(x);
  }

  template <typename B>
  B ddf(const B& x) const {
    return phi.dddf(x);
  }
};

template <typename T>
T exponential(const T& x) {
  return Lifted<T>::apply(x, ExpFunction{});
}

template <typename T>
T logarithm(const T& x) {
  return Lifted<T>::apply(x, LogFunction{});
}

template <typename T>
T inverse(const T& x) {
  return Lifted<T>::apply(x, ReciprocalFunction{});
}

// x / y, whose value is bit-identical to that of plain numbers, since the result of a subsequent
// step must not depend on the sweep. For Jets, q = x / y with q' = (x' - q y') / y; ceres
// multiplies by 1 / y instead.
template <typename X, typename Y>
auto quotient(const X& x, const Y& y) {
  return x / y;
}

template <typename B, int N>
ceres::Jet<B, N> quotient(const ceres::Jet<B, N>& x, const B& y) {
  return {x.a / y, x.v * (B(1) / y)};
}

template <typename B, int N>
ceres::Jet<B, N> quotient(const B& x, const ceres::Jet<B, N>& y) {
  const B q = x / y.a;
  return {q, y.v * -(q * (B(1) / y.a))};
}

template <typename B, int N>
ceres::Jet<B, N> quotient(const ceres::Jet<B, N>& x, const ceres::Jet<B, N>& y) {
  const B q = x.a / y.a;
  return {q, (x.v - q * y.v) * (B(1) / y.a)};
}

template <typename B>
const B& base_value(const B& x) {
  return x;
}

template <typename B, int N>
const B& base_value(const ceres::Jet<B, N>& x) {
  return x.a;
}

// -------------------------------------------------------------------------------------------------
// C += A B. Serves the forward product and, with transposed views, both of its adjoints:
// Abar += Cbar B^T, Bbar += A^T Cbar.

template <int kRows, int kCols, typename C, typename A, typename B>
void accumulate_product_tile(
    View<C> c, View<const A> a, View<const B> b, Eigen::Index i, Eigen::Index j) {
  C acc[kRows][kCols];
  for (int r = 0; r < kRows; ++r) {
    for (int s = 0; s < kCols; ++s) acc[r][s] = c(i + r, j + s);
  }
  for (Eigen::Index k = 0; k < a.cols; ++k) {
    for (int r = 0; r < kRows; ++r) {
      for (int s = 0; s < kCols; ++s) multiply_add(acc[r][s], a(i + r, k), b(k, j + s));
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int s = 0; s < kCols; ++s) c(i + r, j + s) = acc[r][s];
  }
}

// A single Jet fills the registers; for plain numbers a tile does.
template <typename C, typename A, typename B>
void accumulate_product(View<C> c, View<const A> a, View<const B> b) {
  constexpr bool kIsPlain = std::is_same_v<C, BaseOf<C>>;
  constexpr int kRows = kIsPlain ? 4 : 1;
  constexpr int kCols = kIsPlain ? 2 : 1;
  Eigen::Index i = 0;
  for (; i + kRows <= c.rows; i += kRows) {
    Eigen::Index j = 0;
    for (; j + kCols <= c.cols; j += kCols) accumulate_product_tile<kRows, kCols>(c, a, b, i, j);
    for (; j < c.cols; ++j) accumulate_product_tile<kRows, 1>(c, a, b, i, j);
  }
  for (; i < c.rows; ++i) {
    for (Eigen::Index j = 0; j < c.cols; ++j) accumulate_product_tile<1, 1>(c, a, b, i, j);
  }
}

template <typename T, typename F>
void fill(View<T> out, F entry) {
  for (Eigen::Index i = 0; i < out.rows; ++i) {
    for (Eigen::Index j = 0; j < out.cols; ++j) out(i, j) = entry(i, j);
  }
}

template <typename T, typename F>
void accumulate(View<T> out, F entry) {
  for (Eigen::Index i = 0; i < out.rows; ++i) {
    for (Eigen::Index j = 0; j < out.cols; ++j) out(i, j) += entry(i, j);
  }
}

// c_ij = a_ij b_ij: abar += cbar b. All are spread to c's shape.
template <typename Bar, typename T>
void hadamard_reverse(View<Bar> a_bar, View<const Bar> c_bar, View<const T> b) {
  for (Eigen::Index i = 0; i < c_bar.rows; ++i) {
    for (Eigen::Index j = 0; j < c_bar.cols; ++j) {
      multiply_add(a_bar(i, j), c_bar(i, j), b(i, j));
    }
  }
}

// c_ij = a_ij / b_ij: abar += cbar / b, bbar -= cbar c / b. All are spread to c's shape.
template <typename Bar, typename B>
void quotient_reverse_numerator(View<Bar> a_bar, View<const Bar> c_bar, View<const B> b) {
  for (Eigen::Index i = 0; i < c_bar.rows; ++i) {
    for (Eigen::Index j = 0; j < c_bar.cols; ++j) {
      multiply_add(a_bar(i, j), c_bar(i, j), inverse(b(i, j)));
    }
  }
}

template <typename Bar, typename C, typename B>
void quotient_reverse_denominator(View<Bar> b_bar,
                                  View<const Bar> c_bar,
                                  View<const C> c,
                                  View<const B> b) {
  for (Eigen::Index i = 0; i < c_bar.rows; ++i) {
    for (Eigen::Index j = 0; j < c_bar.cols; ++j) {
      multiply_add(b_bar(i, j), c_bar(i, j), -(c(i, j) * inverse(b(i, j))));
    }
  }
}

// -------------------------------------------------------------------------------------------------
// y = phi(x); xbar += ybar phi'(x), where phi' of a Jet carries phi'' (and phi''').

template <typename T>
void elementary_forward(const Graph::Node& node, View<T> y, View<const T> x) {
  visit_elementary(node.function, node.factor, node.beta, [&](auto phi) {
    fill(y, [&](Eigen::Index i, Eigen::Index j) { return Lifted<T>::apply(x(i, j), phi); });
  });
}

template <typename Bar, typename T>
void elementary_reverse(const Graph::Node& node,
                        View<Bar> x_bar,
                        View<const Bar> y_bar,
                        View<const T> x) {
  visit_elementary(node.function, node.factor, node.beta, [&](auto phi) {
    for (Eigen::Index i = 0; i < x.rows; ++i) {
      for (Eigen::Index j = 0; j < x.cols; ++j) {
        const T slope = Lifted<T>::apply(x(i, j), SlopeOf<decltype(phi)>{phi});
        multiply_add(x_bar(i, j), y_bar(i, j), slope);
      }
    }
  });
}

// -------------------------------------------------------------------------------------------------
// D_ij = sum_c (a_ic - b_jc)^2; abar_ic += 2 sum_j Dbar_ij (a_ic - b_jc), bbar_jc -= the same over
// i.

template <typename T, typename A, typename B>
void squared_distances_forward(View<T> d, View<const A> a, View<const B> b) {
  fill(d, [&](Eigen::Index i, Eigen::Index j) {
    T total{};
    for (Eigen::Index c = 0; c < a.cols; ++c) {
      const T difference = T(a(i, c) - b(j, c));
      multiply_add(total, difference, difference);
    }
    return total;
  });
}

template <typename Bar, typename A, typename B>
void squared_distances_reverse(
    View<Bar>* a_bar, View<Bar>* b_bar, View<const Bar> d_bar, View<const A> a, View<const B> b) {
  for (Eigen::Index i = 0; i < a.rows; ++i) {
    for (Eigen::Index j = 0; j < b.rows; ++j) {
      const Bar twice = d_bar(i, j) + d_bar(i, j);
      for (Eigen::Index c = 0; c < a.cols; ++c) {
        Bar term{};
        multiply_add(term, twice, a(i, c) - b(j, c));
        if (a_bar != nullptr) (*a_bar)(i, c) += term;
        if (b_bar != nullptr) (*b_bar)(j, c) -= term;
      }
    }
  }
}

}  // namespace hesscope::detail
