// SPDX-License-Identifier: BSD-3-Clause
//
// What one node does to its operands: forward (value) and backward (adjoint), on strided views.
//
// The scalars: B is the base scalar (lanes or 50 digits) of nodes that do not depend on the seeded
// parameters; J = ceres::Jet<B, N> of those that do. Kernels are templates over the views they are
// given, so a product of a constant with a Jet costs N + 1 multiplications and of two Jets 2 N + 1.
// `Bar` is the scalar of adjoints: B in a gradient sweep, J in a second-order sweep.
#pragma once

#include <type_traits>
#include <vector>

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
};

// acc += a * b, in each mixture of base scalars and Jets: (a + u)(b + v) = a b + a v + b u.
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

// x -> phi(x) given phi and phi' at the value part: phi(a + u) = phi(a) + phi'(a) u.
template <typename B>
struct Lifted {
  template <typename F, typename D>
  static B apply(const B& x, F f, D /*df*/) {
    return f(x);
  }
};

template <typename B, int N>
struct Lifted<ceres::Jet<B, N>> {
  template <typename F, typename D>
  static ceres::Jet<B, N> apply(const ceres::Jet<B, N>& x, F f, D df) {
    return {f(x.a), df(x.a) * x.v};
  }
};

template <typename T>
T exponential(const T& x) {
  const auto f = [](const auto& a) { return ExpFunction::f(a); };
  return Lifted<T>::apply(x, f, f);
}

template <typename T>
T logarithm(const T& x) {
  return Lifted<T>::apply(
      x,
      [](const auto& a) {
        using std::log;
        return log(a);
      },
      [](const auto& a) { return std::decay_t<decltype(a)>(1) / a; });
}

template <typename B>
const B& base_value(const B& x) {
  return x;
}

template <typename B, int N>
const B& base_value(const ceres::Jet<B, N>& x) {
  return x.a;
}

// ---------------------------------------------------------------------------------------------------
// C += A B. Serves the forward product and, with transposed views, both of its adjoints:
// Abar += Cbar B^T, Bbar += A^T Cbar.

template <typename C, typename A, typename B>
void accumulate_product(View<C> c, View<const A> a, View<const B> b) {
  for (Eigen::Index i = 0; i < c.rows; ++i) {
    for (Eigen::Index j = 0; j < c.cols; ++j) {
      C acc = c(i, j);
      for (Eigen::Index k = 0; k < a.cols; ++k) multiply_add(acc, a(i, k), b(k, j));
      c(i, j) = acc;
    }
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

// c_ij = a_ij b_ij: abar += cbar b.
template <typename Bar, typename T>
void hadamard_reverse(View<Bar> a_bar, View<const Bar> c_bar, View<const T> b) {
  for (Eigen::Index i = 0; i < b.rows; ++i) {
    for (Eigen::Index j = 0; j < b.cols; ++j) multiply_add(a_bar(i, j), c_bar(i, j), b(i, j));
  }
}

// ---------------------------------------------------------------------------------------------------
// y = phi(x); xbar += ybar phi'(x), where phi' of a Jet carries phi''.

template <typename T>
void elementary_forward(Elementary function, View<T> y, View<const T> x) {
  visit_elementary(function, [&](auto phi) {
    fill(y, [&](Eigen::Index i, Eigen::Index j) {
      return Lifted<T>::apply(
          x(i, j),
          [&](const auto& a) { return phi.f(a); },
          [&](const auto& a) { return phi.df(a); });
    });
  });
}

template <typename Bar, typename T>
void elementary_reverse(Elementary function,
                        View<Bar> x_bar,
                        View<const Bar> y_bar,
                        View<const T> x) {
  visit_elementary(function, [&](auto phi) {
    for (Eigen::Index i = 0; i < x.rows; ++i) {
      for (Eigen::Index j = 0; j < x.cols; ++j) {
        const T slope = Lifted<T>::apply(
            x(i, j),
            [&](const auto& a) { return phi.df(a); },
            [&](const auto& a) { return phi.ddf(a); });
        multiply_add(x_bar(i, j), y_bar(i, j), slope);
      }
    }
  });
}

// ---------------------------------------------------------------------------------------------------
// p_ij = exp(x_ij - m_i) / sum_k exp(x_ik - m_i), m_i = max_k x_ik (a constant: p does not depend
// on it). xbar_ij += p_ij (pbar_ij - sum_k pbar_ik p_ik).

template <typename T>
auto row_maximum(View<const T> x, Eigen::Index i) {
  auto maximum = base_value(x(i, 0));
  for (Eigen::Index j = 1; j < x.cols; ++j) {
    const auto& value = base_value(x(i, j));
    maximum = select(value > maximum, value, maximum);
  }
  return maximum;
}

template <typename T>
void softmax_rows_forward(View<T> p, View<const T> x) {
  for (Eigen::Index i = 0; i < x.rows; ++i) {
    const auto maximum = row_maximum(x, i);
    T total{};
    for (Eigen::Index j = 0; j < x.cols; ++j) {
      p(i, j) = exponential(T(x(i, j) - maximum));
      total += p(i, j);
    }
    const T scale = T(decltype(maximum)(1)) / total;
    for (Eigen::Index j = 0; j < x.cols; ++j) p(i, j) = p(i, j) * scale;
  }
}

template <typename Bar, typename T>
void softmax_rows_reverse(View<Bar> x_bar, View<const Bar> p_bar, View<const T> p) {
  for (Eigen::Index i = 0; i < p.rows; ++i) {
    Bar inner{};
    for (Eigen::Index j = 0; j < p.cols; ++j) multiply_add(inner, p_bar(i, j), p(i, j));
    for (Eigen::Index j = 0; j < p.cols; ++j) {
      multiply_add(x_bar(i, j), Bar(p_bar(i, j) - inner), p(i, j));
    }
  }
}

// ---------------------------------------------------------------------------------------------------
// y = m + log sum_ij exp(x_ij - m), m = max x; xbar_ij += ybar exp(x_ij - m) / sum.

template <typename T>
auto maximum_of(View<const T> x) {
  auto maximum = row_maximum(x, 0);
  for (Eigen::Index i = 1; i < x.rows; ++i) {
    const auto of_row = row_maximum(x, i);
    maximum = select(of_row > maximum, of_row, maximum);
  }
  return maximum;
}

template <typename T, typename M>
T sum_of_exponentials(View<const T> x, const M& shift) {
  T total{};
  for (Eigen::Index i = 0; i < x.rows; ++i) {
    for (Eigen::Index j = 0; j < x.cols; ++j) total += exponential(T(x(i, j) - shift));
  }
  return total;
}

template <typename T>
void log_sum_exp_forward(View<T> y, View<const T> x) {
  const auto maximum = maximum_of(x);
  y(0, 0) = logarithm(sum_of_exponentials(x, maximum)) + maximum;
}

template <typename Bar, typename T>
void log_sum_exp_reverse(View<Bar> x_bar, const Bar& y_bar, View<const T> x) {
  const auto maximum = maximum_of(x);
  const T inverse_total = T(std::decay_t<decltype(maximum)>(1)) / sum_of_exponentials(x, maximum);
  Bar scale{};
  multiply_add(scale, y_bar, inverse_total);
  for (Eigen::Index i = 0; i < x.rows; ++i) {
    for (Eigen::Index j = 0; j < x.cols; ++j) {
      multiply_add(x_bar(i, j), scale, exponential(T(x(i, j) - maximum)));
    }
  }
}

// ---------------------------------------------------------------------------------------------------
// y = log sum_j exp(z_j) - z_t for the one t with c_t = 1. With r the (first) largest logit, r_j =
// 1 at j = r and 0 elsewhere, e_j = (1 - r_j) exp(z_j - z_r), s = sum_j e_j and D = 1 + s,
//   y = log1p(s) - (z_t - z_r),   zbar_j += ybar (p_j - c_j),   p_j - c_j = (e_j + (r_j - c_j) -
//   c_j s) / D.
// Nothing here is a difference of numbers near 1, so that loss, gradient and curvature keep their
// relative accuracy when the model is sure, be it right or wrong.

template <typename T, typename B>
struct CrossEntropyTerms {
  T excess{};                 // s
  std::vector<T> each;        // e_j
  std::vector<B> is_largest;  // r_j
  T largest{};                // z_r

  explicit CrossEntropyTerms(View<const T> z)
      : each(static_cast<std::size_t>(z.rows)), is_largest(static_cast<std::size_t>(z.rows)) {
    const B maximum = maximum_of(z);
    B none_yet(1);
    for (Eigen::Index j = 0; j < z.rows; ++j) {
      B& r = is_largest[static_cast<std::size_t>(j)];
      r = select(base_value(z(j, 0)) < maximum, B(0), none_yet);  // NaN counts as the largest
      none_yet -= r;
      multiply_add(largest, z(j, 0), r);
    }
    for (Eigen::Index j = 0; j < z.rows; ++j) {
      const auto index = static_cast<std::size_t>(j);
      each[index] = exponential(T(z(j, 0) - largest)) * (B(1) - is_largest[index]);
      excess += each[index];
    }
  }
};

template <typename T, typename B>
void cross_entropy_forward(View<T> y, View<const T> z, View<const B> c) {
  const CrossEntropyTerms<T, B> terms(z);
  T loss = Lifted<T>::apply(
      terms.excess,
      [](const auto& a) {
        using std::log1p;
        return log1p(a);
      },
      [](const auto& a) { return B(1) / (B(1) + a); });
  for (Eigen::Index j = 0; j < z.rows; ++j) {
    multiply_add(loss, T(terms.largest - z(j, 0)), c(j, 0));
  }
  y(0, 0) = loss;
}

template <typename Bar, typename T, typename B>
void cross_entropy_reverse(View<Bar> z_bar, const Bar& y_bar, View<const T> z, View<const B> c) {
  const CrossEntropyTerms<T, B> terms(z);
  Bar scale{};
  multiply_add(scale, y_bar, T(T(B(1)) / (terms.excess + B(1))));
  for (Eigen::Index j = 0; j < z.rows; ++j) {
    const auto index = static_cast<std::size_t>(j);
    const T slope =
        terms.each[index] + (terms.is_largest[index] - c(j, 0)) - terms.excess * c(j, 0);
    multiply_add(z_bar(j, 0), scale, slope);
  }
}

// ---------------------------------------------------------------------------------------------------
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
