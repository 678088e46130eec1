// SPDX-License-Identifier: BSD-3-Clause
//
// Linear attention as its paper writes it, of any scalar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <Eigen/Core>

#include <hesscope/models/linear_attention.h>

#include "models/model_oracle.h"

namespace hesscope::test {

template <typename T>
Dense<T> product(const Dense<T>& a, const Dense<T>& b) {
  Dense<T> c = Dense<T>::Constant(a.rows(), b.cols(), T(0.0));
  for (Eigen::Index i = 0; i < c.rows(); ++i) {
    for (Eigen::Index j = 0; j < c.cols(); ++j) {
      for (Eigen::Index k = 0; k < a.cols(); ++k) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}

/// Z <- Z + (1/n) P Z M Z^T Q Z, all of Z with the mask; with several heads, each adds its own;
/// with softmax, each column of Z^T Q Z goes through it first; with a perceptron, unit by unit and
/// token by token.
struct LinearAttentionRecursion {
  LinearAttentionOptions options;

  template <typename T>
  Column<T> prediction(const Column<T>& theta, const double* record) const {
    const Eigen::Index e = options.dimension + 1;
    const Eigen::Index n = options.context;
    Dense<T> z(e, n + 1);
    for (Eigen::Index i = 0; i < e; ++i) {
      for (Eigen::Index j = 0; j <= n; ++j) z(i, j) = T(record[i * (n + 1) + j]);
    }
    Eigen::Index next = 0;
    if (options.mlp_hidden > 0) next = apply_perceptron(theta, z);
    const auto read = [&](Eigen::Index rows) {
      Dense<T> m = Dense<T>::Constant(e, e, T(0.0));
      for (Eigen::Index i = 0; i < rows; ++i) {
        for (Eigen::Index j = 0; j < rows; ++j) m(i, j) = theta(next++);
      }
      return m;
    };
    Dense<T> before = z;  // the layer
    for (std::int64_t k = 0; k < options.layers * options.heads; ++k) {
      if (k % options.heads == 0) before = z;
      Dense<T> p;
      Dense<T> q;
      switch (options.parametrization) {
        case LinearAttentionParametrization::kSparse:
          p = read(e - 1);
          p(e - 1, e - 1) = T(1.0);
          q = read(e - 1);
          break;
        case LinearAttentionParametrization::kFull:
          p = read(e);
          q = read(e);
          break;
        case LinearAttentionParametrization::kSplitQk:
        case LinearAttentionParametrization::kSparseSplitQk: {
          const bool is_sparse =
              options.parametrization == LinearAttentionParametrization::kSparseSplitQk;
          const Eigen::Index rows = is_sparse ? e - 1 : e;
          p = read(rows);
          if (is_sparse) p(e - 1, e - 1) = T(1.0);
          const Dense<T> wq = read(rows);
          const Dense<T> wk = read(rows);
          q = product(Dense<T>(wk.transpose()), wq);
          break;
        }
      }
      Dense<T> masked = before;
      for (Eigen::Index i = 0; i < e; ++i) masked(i, n) = T(0.0);
      Dense<T> scores = product(Dense<T>(before.transpose()), product(q, before));
      if (options.activation == LinearAttentionActivation::kSoftmax) {
        for (Eigen::Index j = 0; j <= n; ++j) {
          const std::vector<T> of_query(scores.col(j).begin(), scores.col(j).end());
          const std::vector<T> weights = softmax(of_query);
          for (Eigen::Index i = 0; i <= n; ++i) scores(i, j) = weights[static_cast<std::size_t>(i)];
        }
      }
      const Dense<T> update = product(p, product(masked, scores));
      const T inverse_n = T(1.0) / T(static_cast<double>(n));
      for (Eigen::Index i = 0; i < z.size(); ++i) z.data()[i] += inverse_n * update.data()[i];
    }
    return Column<T>::Constant(1, -z(e - 1, n));
  }

  /// Replaces the covariates; returns the first parameter after the perceptron's.
  template <typename T>
  Eigen::Index apply_perceptron(const Column<T>& theta, Dense<T>& z) const {
    const Eigen::Index d = options.dimension;
    const Eigen::Index h = options.mlp_hidden;
    const Eigen::Index w2 = h * d + h;
    for (Eigen::Index j = 0; j < z.cols(); ++j) {
      std::vector<T> hidden;
      for (Eigen::Index u = 0; u < h; ++u) {
        T unit = theta(h * d + u);
        for (Eigen::Index i = 0; i < d; ++i) unit += theta(u * d + i) * z(i, j);
        hidden.push_back(unit > T(0.0) ? unit : T(0.0));
      }
      for (Eigen::Index i = 0; i < d; ++i) {
        z(i, j) = theta(w2 + d * h + i);
        for (Eigen::Index u = 0; u < h; ++u) {
          z(i, j) += theta(w2 + i * h + u) * hidden[static_cast<std::size_t>(u)];
        }
      }
    }
    return w2 + d * h + d;
  }

  template <typename T>
  T loss(const Column<T>& prediction, const double* record) const {
    const T residual = prediction(0) - T(record[(options.dimension + 1) * (options.context + 1)]);
    return residual * residual;
  }
};

}  // namespace hesscope::test
