// SPDX-License-Identifier: BSD-3-Clause
//
// The losses of single samples written for any scalar, as a user of ADOL-C or Ceres would: the same
// formulas as in models/linear_attention.h and models/mlp.h.
#pragma once

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <hesscope/models/linear_attention.h>
#include <hesscope/models/mlp.h>

#include "constant_of.h"
#include "works.h"

namespace hesscope::bench {

template <typename T>
using VectorOf = Eigen::Matrix<T, Eigen::Dynamic, 1>;

/// Linear attention by its states S = Z M Z^T and q, which saves the peers a factor of the
/// context's length.
struct LinearAttentionLoss {
  LinearAttentionOptions options;

  template <typename T>
  T operator()(const VectorOf<T>& theta, const double* record) const {
    using Constant = typename ConstantOf<T>::Type;
    using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
    const bool is_sparse = options.parametrization == LinearAttentionParametrization::kSparse;
    const Eigen::Index e = options.dimension + 1;
    const Eigen::Index n = options.context;
    const Eigen::Index m = is_sparse ? e - 1 : e;  // P and Q hold m x m parameters
    const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>
        z(record, e, n + 1);
    const Eigen::MatrixXd context = z.leftCols(n) * z.leftCols(n).transpose();
    Matrix s(e, e);
    VectorOf<T> q(e);
    for (Eigen::Index i = 0; i < e; ++i) {
      q(i) = T(Constant(z(i, n)));
      for (Eigen::Index j = 0; j < e; ++j) s(i, j) = T(Constant(context(i, j)));
    }
    const Constant inverse_n(1.0 / static_cast<double>(n));
    for (std::int64_t l = 0; l < options.layers; ++l) {
      const T* p = theta.data() + 2 * l * m * m;
      const T* w = p + m * m;  // Q
      // PS = P S / n, with e' as P's last row if it is sparse
      Matrix ps(e, e);
      for (Eigen::Index i = 0; i < e; ++i) {
        for (Eigen::Index j = 0; j < e; ++j) {
          T sum = i < m ? T(p[i * m] * s(0, j)) : s(i, j);
          for (Eigen::Index k = 1; i < m && k < m; ++k) sum += p[i * m + k] * s(k, j);
          ps(i, j) = sum * inverse_n;
        }
      }
      // A = I + PS Q
      Matrix a(e, e);
      for (Eigen::Index i = 0; i < e; ++i) {
        for (Eigen::Index j = 0; j < e; ++j) {
          T sum = T(Constant(i == j ? 1.0 : 0.0));
          for (Eigen::Index k = 0; j < m && k < m; ++k) sum += ps(i, k) * w[k * m + j];
          a(i, j) = sum;
        }
      }
      q = times(a, q);
      if (l + 1 < options.layers) s = times(times(a, s), Matrix(a.transpose()));
    }
    const T residual = -q(e - 1) - Constant(record[e * (n + 1)]);
    return residual * residual;
  }

 private:
  template <typename A, typename B>
  static B times(const A& a, const B& b) {
    B product(a.rows(), b.cols());
    for (Eigen::Index i = 0; i < a.rows(); ++i) {
      for (Eigen::Index j = 0; j < b.cols(); ++j) {
        auto sum = typename B::Scalar(a(i, 0) * b(0, j));
        for (Eigen::Index k = 1; k < a.cols(); ++k) sum += a(i, k) * b(k, j);
        product(i, j) = sum;
      }
    }
    return product;
  }
};

/// tanh and cross-entropy only.
struct MlpPeerLoss {
  MlpOptions options;

  template <typename T>
  T operator()(const VectorOf<T>& theta, const double* record) const {
    using std::exp, std::log, std::tanh;
    using Constant = typename ConstantOf<T>::Type;
    std::vector<T> z;
    for (std::int64_t k = 0; k < options.widths.front(); ++k) z.push_back(T(Constant(record[k])));
    const T* weight = theta.data();
    for (std::size_t layer = 1; layer < options.widths.size(); ++layer) {
      const std::int64_t num_outputs = options.widths[layer];
      const auto num_inputs = static_cast<std::int64_t>(z.size());
      const T* bias = weight + num_outputs * num_inputs;
      std::vector<T> next;
      for (std::int64_t i = 0; i < num_outputs; ++i) {
        T sum = bias[i];
        for (std::int64_t k = 0; k < num_inputs; ++k) {
          sum += weight[i * num_inputs + k] * z[static_cast<std::size_t>(k)];
        }
        next.push_back(layer + 1 < options.widths.size() ? T(tanh(sum)) : sum);
      }
      z = next;
      weight = bias + num_outputs;
    }
    const double* one_hot = record + options.widths.front();
    T sum = exp(z[0]);
    for (std::size_t c = 1; c < z.size(); ++c) sum += exp(z[c]);
    T loss = log(sum);
    for (std::size_t c = 0; c < z.size(); ++c) {
      if (one_hot[c] != 0) loss -= z[c];
    }
    return loss;
  }
};

/// Models that only PyTorch implements: hesscope's attention, and the modules of
/// models/make_models.py.
struct TorchLoss {
  std::string module;
  Problem (*problem)(Eigen::Index num_samples);

  template <typename T>
  T operator()(const VectorOf<T>& /*theta*/, const double* /*record*/) const {
    throw std::invalid_argument(module + ": this peer has no such loss");
  }
};

}  // namespace hesscope::bench
