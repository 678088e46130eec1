// SPDX-License-Identifier: BSD-3-Clause
//
// Operations that turn each row of a matrix into a number or another row: forward and backward, on
// the scalars of kernels.h.
#pragma once

#include <vector>

#include <hesscope/autodiff/internal/kernels.h>

namespace hesscope::detail {

// -------------------------------------------------------------------------------------------------
// p_ij = exp(x_ij - m_i) / sum_k exp(x_ik - m_i), where m_i = max_k x_ik includes its derivatives:
// those of x_ij - m_i are 0 where p_ij is near 1, so that nothing has to cancel. xbar_ij += p_ij
// ((pbar_ij - c_i) - sum_k p_ik (pbar_ik - c_i)) for any c_i; for the same reason, c_i is the
// adjoint of the entry with more than half of the sum 1.

// Used for entries in sequence: selects the first largest, or the first NaN.
template <typename B>
auto replaces(const B& candidate, const B& best) {
  const B if_number = select(candidate > best, B(1), B(0));
  // NOLINTBEGIN(misc-redundant-expression): NaN
  const B is_first = select(best != best, B(0), B(1));
  return select(candidate != candidate, is_first, if_number) > B(0);
  // NOLINTEND(misc-redundant-expression)
}

template <typename T>
BaseOf<T> row_maximum(View<const T> x, Eigen::Index i) {
  BaseOf<T> maximum = base_value(x(i, 0));
  for (Eigen::Index j = 1; j < x.cols; ++j) {
    const auto& value = base_value(x(i, j));
    maximum = select(value > maximum, value, maximum);
  }
  return maximum;
}

// The first largest entry, or the first NaN.
template <typename T>
T row_largest(View<const T> x, Eigen::Index i) {
  T largest = x(i, 0);
  for (Eigen::Index j = 1; j < x.cols; ++j) {
    largest = choose(replaces(base_value(x(i, j)), base_value(largest)), T(x(i, j)), largest);
  }
  return largest;
}

template <typename T>
void softmax_rows_forward(View<T> p, View<const T> x) {
  for (Eigen::Index i = 0; i < x.rows; ++i) {
    const T largest = row_largest(x, i);
    T total{};
    for (Eigen::Index j = 0; j < x.cols; ++j) {
      p(i, j) = exponential(T(x(i, j) - largest));
      total += p(i, j);
    }
    const T scale = T(BaseOf<T>(1)) / total;
    for (Eigen::Index j = 0; j < x.cols; ++j) p(i, j) = p(i, j) * scale;
  }
}

// The adjoint of the entry with more than half of the sum of p; 0 if there is none.
template <typename Bar, typename T>
Bar bar_of_most(View<const Bar> p_bar, View<const T> p, Eigen::Index i) {
  Bar found{};
  for (Eigen::Index j = 0; j < p.cols; ++j) {
    found = choose(base_value(p(i, j)) > BaseOf<T>(0.5), Bar(p_bar(i, j)), found);
  }
  return found;
}

template <typename Bar, typename T>
void softmax_rows_reverse(View<Bar> x_bar, View<const Bar> p_bar, View<const T> p) {
  for (Eigen::Index i = 0; i < p.rows; ++i) {
    const Bar common = bar_of_most(p_bar, p, i);
    Bar inner{};
    for (Eigen::Index j = 0; j < p.cols; ++j) {
      multiply_add(inner, Bar(p_bar(i, j) - common), p(i, j));
    }
    for (Eigen::Index j = 0; j < p.cols; ++j) {
      multiply_add(x_bar(i, j), Bar(Bar(p_bar(i, j) - common) - inner), p(i, j));
    }
  }
}

// -------------------------------------------------------------------------------------------------
// y_ij = r_i (x_ij - m_i), m_i = mean_j x_ij, r_i = 1 / sqrt(mean_j (x_ij - m_i)^2 + epsilon).
// xbar_ij += r_i (ybar_ij - mean_k ybar_ik - y_ij mean_k (ybar_ik y_ik)).
// If not centred, m_i and mean_k ybar_ik are 0.

template <typename T>
struct RowStatistics {
  T mean;
  T inverse_deviation;
};

template <typename T>
RowStatistics<T> row_statistics(View<const T> x, Eigen::Index i, const Graph::Node& node) {
  using B = BaseOf<T>;
  const B share = B(1) / B(static_cast<double>(x.cols));
  const B epsilon(node.factor);
  T sum{};
  for (Eigen::Index j = 0; node.is_centred && j < x.cols; ++j) sum += x(i, j);
  const T mean = sum * share;
  T squares{};
  for (Eigen::Index j = 0; j < x.cols; ++j) {
    const T rest = x(i, j) - mean;
    multiply_add(squares, rest, rest);
  }
  const T deviation = Lifted<T>::apply(T(squares * share + epsilon), SqrtFunction{});
  return {mean, T(B(1)) / deviation};
}

template <typename T>
void standardize_rows_forward(View<T> y, View<const T> x, const Graph::Node& node) {
  for (Eigen::Index i = 0; i < x.rows; ++i) {
    const RowStatistics<T> row = row_statistics(x, i, node);
    for (Eigen::Index j = 0; j < x.cols; ++j) {
      y(i, j) = T(x(i, j) - row.mean) * row.inverse_deviation;
    }
  }
}

template <typename Bar, typename T>
void standardize_rows_reverse(View<Bar> x_bar,
                              View<const Bar> y_bar,
                              View<const T> x,
                              const Graph::Node& node) {
  using B = BaseOf<T>;
  const B share = B(1) / B(static_cast<double>(x.cols));
  for (Eigen::Index i = 0; i < x.rows; ++i) {
    const RowStatistics<T> row = row_statistics(x, i, node);
    const auto y = [&](Eigen::Index j) { return T(T(x(i, j) - row.mean) * row.inverse_deviation); };
    Bar sum{};
    Bar inner{};
    for (Eigen::Index j = 0; j < x.cols; ++j) {
      if (node.is_centred) sum += y_bar(i, j);
      multiply_add(inner, y_bar(i, j), y(j));
    }
    const Bar mean = sum * share;
    const Bar minus_inner = inner * B(-share);
    for (Eigen::Index j = 0; j < x.cols; ++j) {
      Bar slope = y_bar(i, j) - mean;
      multiply_add(slope, minus_inner, y(j));
      multiply_add(x_bar(i, j), slope, row.inverse_deviation);
    }
  }
}

// -------------------------------------------------------------------------------------------------
// y_i = m_i + log sum_j exp(x_ij - m_i), where m_i = max_j x_ij includes its derivatives, as above;
// xbar_ij += ybar_i exp(x_ij - m_i) / sum.

template <typename T>
T sum_of_exponentials(View<const T> x, Eigen::Index i, const T& shift) {
  T total{};
  for (Eigen::Index j = 0; j < x.cols; ++j) total += exponential(T(x(i, j) - shift));
  return total;
}

template <typename T>
void log_sum_exp_rows_forward(View<T> y, View<const T> x) {
  for (Eigen::Index i = 0; i < x.rows; ++i) {
    const T largest = row_largest(x, i);
    y(i, 0) = logarithm(sum_of_exponentials(x, i, largest)) + largest;
  }
}

template <typename Bar, typename T>
void log_sum_exp_rows_reverse(View<Bar> x_bar, View<const Bar> y_bar, View<const T> x) {
  for (Eigen::Index i = 0; i < x.rows; ++i) {
    const T largest = row_largest(x, i);
    const T inverse_total = T(BaseOf<T>(1)) / sum_of_exponentials(x, i, largest);
    Bar scale{};
    multiply_add(scale, y_bar(i, 0), inverse_total);
    for (Eigen::Index j = 0; j < x.cols; ++j) {
      multiply_add(x_bar(i, j), scale, exponential(T(x(i, j) - largest)));
    }
  }
}

// -------------------------------------------------------------------------------------------------
// For each row z with its targets t: y = sum_j t_j (log sum_k exp(z_k) - z_j). With r the (first)
// largest logit, r_j = 1 at j = r and 0 elsewhere, e_j = (1 - r_j) exp(z_j - z_r), s = sum_j e_j, D
// = 1 + s and A = sum_j t_j,
//   y = A log1p(s) + sum_j t_j (z_r - z_j),   zbar_j += ybar (A p_j - t_j),
//   A p_j - t_j = (A e_j + (A r_j - t_j) - t_j s) / D.
// If the target is one class, with t_j = 1 there and 0 elsewhere, nothing here is a difference of
// numbers near 1: loss, gradient and curvature keep their relative accuracy if the model is
// confident, rightly or wrongly.

template <typename T>
class CrossEntropyTerms {
 public:
  using B = BaseOf<T>;

  explicit CrossEntropyTerms(Eigen::Index num_classes)
      : each(static_cast<std::size_t>(num_classes)),
        is_largest(static_cast<std::size_t>(num_classes)) {}

  // Computes the terms of row i.
  void set(View<const T> z, Eigen::Index i) {
    const B maximum = row_maximum(z, i);
    B none_yet(1);
    largest = T{};
    excess = T{};
    for (Eigen::Index j = 0; j < z.cols; ++j) {
      B& r = is_largest[static_cast<std::size_t>(j)];
      r = select(base_value(z(i, j)) < maximum, B(0), none_yet);  // NaN counts as the largest
      none_yet -= r;
      largest = choose(r > B(0), z(i, j), largest);  // others may be -inf
    }
    for (Eigen::Index j = 0; j < z.cols; ++j) {
      const auto index = static_cast<std::size_t>(j);
      each[index] = exponential(T(z(i, j) - largest)) * (B(1) - is_largest[index]);
      excess += each[index];
    }
  }

  T excess{};                 // s
  std::vector<T> each;        // e_j
  std::vector<B> is_largest;  // r_j
  T largest{};                // z_r
};

template <typename B>
B row_sum(View<const B> t, Eigen::Index i) {
  B total(0);
  for (Eigen::Index j = 0; j < t.cols; ++j) total += t(i, j);
  return total;
}

template <typename T, typename B>
void cross_entropy_rows_forward(View<T> y, View<const T> z, View<const B> t) {
  CrossEntropyTerms<T> terms(z.cols);
  for (Eigen::Index i = 0; i < z.rows; ++i) {
    terms.set(z, i);
    T loss = Lifted<T>::apply(terms.excess, Log1pFunction{});
    loss = loss * row_sum(t, i);
    for (Eigen::Index j = 0; j < z.cols; ++j) {
      // z may be -inf for a class that is not a target.
      const T gap = choose(t(i, j) == B(0), T{}, T(terms.largest - z(i, j)));
      multiply_add(loss, gap, t(i, j));
    }
    y(i, 0) = loss;
  }
}

template <typename Bar, typename T, typename B>
void cross_entropy_rows_reverse(View<Bar> z_bar,
                                View<const Bar> y_bar,
                                View<const T> z,
                                View<const B> t) {
  CrossEntropyTerms<T> terms(z.cols);
  for (Eigen::Index i = 0; i < z.rows; ++i) {
    terms.set(z, i);
    const B all = row_sum(t, i);
    Bar scale{};
    multiply_add(scale, y_bar(i, 0), T(T(B(1)) / (terms.excess + B(1))));
    for (Eigen::Index j = 0; j < z.cols; ++j) {
      const auto index = static_cast<std::size_t>(j);
      const T slope = terms.each[index] * all + (terms.is_largest[index] * all - t(i, j)) -
                      terms.excess * t(i, j);
      multiply_add(z_bar(i, j), scale, slope);
    }
  }
}

// -------------------------------------------------------------------------------------------------
// y_i = sum_j x_ij; xbar_ij += ybar_i.

template <typename T>
void sum_rows_forward(View<T> y, View<const T> x) {
  for (Eigen::Index i = 0; i < x.rows; ++i) {
    T total{};
    for (Eigen::Index j = 0; j < x.cols; ++j) total += x(i, j);
    y(i, 0) = total;
  }
}

// -------------------------------------------------------------------------------------------------
// y_i = x_ik, k the first with x_ik = max_j x_ij, or the first NaN; xbar_ik += ybar_i.

template <typename T>
void max_rows_forward(View<T> y, View<const T> x) {
  for (Eigen::Index i = 0; i < x.rows; ++i) y(i, 0) = row_largest(x, i);
}

template <typename Bar, typename T>
void max_rows_reverse(View<Bar> x_bar, View<const Bar> y_bar, View<const T> x) {
  using B = BaseOf<T>;
  for (Eigen::Index i = 0; i < x.rows; ++i) {
    B best = base_value(x(i, 0));
    B place(0);
    for (Eigen::Index j = 1; j < x.cols; ++j) {
      const B& candidate = base_value(x(i, j));
      const auto mask = replaces(candidate, best);
      best = select(mask, candidate, best);
      place = select(mask, B(static_cast<double>(j)), place);
    }
    for (Eigen::Index j = 0; j < x.cols; ++j) {
      x_bar(i, j) += choose(place == B(static_cast<double>(j)), Bar(y_bar(i, 0)), Bar{});
    }
  }
}

}  // namespace hesscope::detail
