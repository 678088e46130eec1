// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/models/signal_noise.h>

#include "models/model_oracle.h"

namespace hesscope {
namespace {

using test::Column;

// log(1 + exp(-y f)), f = (1/m_v) sum_l sum_m (WV.pos - WV.neg)_m . X^T softmax(X WK^T WQ x_l).
struct SignalNoiseLoops {
  SignalNoiseOptions options;

  template <typename T>
  Column<T> prediction(const Column<T>& theta, const double* record) const {
    const auto [d, mk, mv] = options;
    const auto along = [&, d = d](std::int64_t row, std::int64_t token) {  // theta's row . x_token
      T total(0.0);
      for (std::int64_t i = 0; i < d; ++i) total += theta(row * d + i) * T(record[token * d + i]);
      return total;
    };
    T f(0.0);
    for (std::int64_t l = 0; l < 2; ++l) {
      std::vector<T> scores;
      for (std::int64_t t = 0; t < 2; ++t) {
        T score(0.0);
        for (std::int64_t s = 0; s < mk; ++s) score += along(s, l) * along(mk + s, t);
        scores.push_back(score);
      }
      const std::vector<T> weights = test::softmax(scores);
      for (std::int64_t t = 0; t < 2; ++t) {
        for (std::int64_t m = 0; m < mv; ++m) {
          f += weights[static_cast<std::size_t>(t)] *
               (along(2 * mk + m, t) - along(2 * mk + mv + m, t));
        }
      }
    }
    return Column<T>::Constant(1, f / T(static_cast<double>(mv)));
  }

  template <typename T>
  T loss(const Column<T>& f, const double* record) const {
    using std::exp;
    using std::log1p;
    return log1p(exp(T(-record[2 * options.dimension]) * f(0)));
  }
};

SampleTable labelled(const Model& model, Eigen::Index count, std::uint64_t seed) {
  SampleTable table = test::Numbers(seed).table(count, model.record_size());
  for (Eigen::Index i = 0; i < count; ++i) table(i, table.cols() - 1) = i % 2 == 0 ? 1 : -1;
  return table;
}

constexpr SignalNoiseOptions kSmallPatches{3, 2, 2};

TEST(SignalNoise, EqualsPlainLoopsAtRandomWeights) {
  const Model model = signal_noise(kSmallPatches);
  const Eigen::VectorXd theta = 2 * test::Numbers(31).vector(24);
  test::expect_exact(model, SignalNoiseLoops{kSmallPatches}, theta, labelled(model, 6, 32));
}

TEST(SignalNoise, EqualsPlainLoopsAtZeroWeights) {
  const Model model = signal_noise(kSmallPatches);
  test::expect_exact(
      model, SignalNoiseLoops{kSmallPatches}, Eigen::VectorXd::Zero(24), labelled(model, 6, 33));
}

TEST(SignalNoise, IsLogisticRegressionWithoutKeysAndQueries) {
  // WQ = WK = 0 makes every softmax uniform: f = (sum of tokens) . sum_m (pos_m - neg_m) / m_v.
  const Model model = signal_noise(kSmallPatches);
  const SampleTable samples = labelled(model, 6, 34);
  Eigen::VectorXd theta = test::Numbers(35).vector(24);
  theta.head(12).setZero();
  Eigen::MatrixXd H = Eigen::MatrixXd::Zero(12, 12);
  for (Eigen::Index i = 0; i < samples.rows(); ++i) {
    const Eigen::Vector3d x =
        (samples.row(i).segment(0, 3) + samples.row(i).segment(3, 3)).transpose();
    Eigen::VectorXd feature(12);  // df / d(WV.pos, WV.neg)
    feature << x / 2, x / 2, -x / 2, -x / 2;
    const double f = feature.dot(theta.tail(12));
    H += feature * feature.transpose() / (2 + 2 * std::cosh(f)) / 6;
  }
  const Eigen::MatrixXd actual = test::objective_of(model, samples).hessian(theta);
  EXPECT_TRUE((actual.bottomRightCorner(12, 12) - H).norm() <= test::kDoubleTolerance * H.norm());
}

TEST(SignalNoise, DoesNotDependOnTheOrderOfTokensOrNeurons) {
  const SignalNoiseOptions options{4, 3, 2};
  const Model model = signal_noise(options);
  const SampleTable samples = labelled(model, 6, 36);
  const Eigen::VectorXd theta = test::Numbers(37).vector(model.num_parameters());
  SampleTable swapped = samples;
  swapped.leftCols(4) = samples.middleCols(4, 4);
  swapped.middleCols(4, 4) = samples.leftCols(4);
  // Rows 0, 1, 2 of WQ and WK alike become 1, 2, 0; those of WV.pos are swapped.
  Eigen::VectorXi from(theta.size());
  for (int i = 0; i < from.size(); ++i) from(i) = i;
  for (int i = 0; i < 12; ++i) {
    from(i) = (i + 4) % 12;
    from(12 + i) = 12 + (i + 4) % 12;
  }
  for (int i = 0; i < 8; ++i) from(24 + i) = 24 + (i + 4) % 8;
  const auto plain = test::from_objective(test::objective_of(model, samples), theta);
  test::expect_near(test::from_objective(test::objective_of(model, swapped), theta(from)),
                    {plain.value, plain.gradient(from), plain.hessian(from, from)},
                    test::kDoubleTolerance,
                    "tokens and neurons in order");
}

TEST(SignalNoise, KeepsItsPrecisionFarFromTheBoundary) {
  // Margins of hundreds either way: the loss is linear or exponentially small, never infinite.
  const Model model = signal_noise(kSmallPatches);
  const SampleTable samples = labelled(model, 6, 38);
  Eigen::VectorXd theta = test::Numbers(39).vector(24);
  theta.tail(12) *= 400;
  test::expect_near(test::from_objective(test::objective_of(model, samples), theta),
                    test::fifty_digit_tape(model, theta, samples),
                    1e-11,  // exp(-f) turns f's rounding of eps |f| into a relative one
                    "the 50-digit tape");
}

TEST(SignalNoise, RefusesEmptySizes) {
  EXPECT_THROW(signal_noise({.dimension = 0}), PreconditionError);
  EXPECT_THROW(signal_noise({.key_neurons = 0}), PreconditionError);
  EXPECT_THROW(signal_noise({.value_neurons = 0}), PreconditionError);
}

}  // namespace
}  // namespace hesscope
