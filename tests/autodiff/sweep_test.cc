// SPDX-License-Identifier: BSD-3-Clause
//
// A Sweep of every instruction set, against 50 digits.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/autodiff/sweep.h>
#include <hesscope/core/constants.h>

#include "autodiff/sweep_models.h"
#include "support/graph_oracle.h"
#include "support/instruction_sets.h"
#include "support/numbers.h"
#include "support/sweep_derivatives.h"

namespace hesscope {
namespace {

constexpr double kSweepTolerance = 1e-13;

using SweepOf = testing::TestWithParam<InstructionSet>;

INSTANTIATE_TEST_SUITE_P(InstructionSets,
                         SweepOf,
                         test::instruction_sets(),
                         test::instruction_set_name);

// One sample, one less and one more than fill the lanes, and several packs.
TEST_P(SweepOf, EveryDerivativeIsThatOfFiftyDigits) {
  for (const Model& model : test::sweep_models()) {
    const std::unique_ptr<Sweep> sweep = Sweep::create(*model.graph, GetParam());
    const Eigen::Index n = model.num_parameters();
    const Eigen::VectorXd theta = test::Numbers(5).vector(n);
    for (const Eigen::Index count : {1, 3, 4, 5, 7, 8, 9, 17}) {
      SCOPED_TRACE(model.kind + ", samples: " + std::to_string(count));
      const SampleTable samples = test::Numbers(6).table(count, model.record_size());
      const Records records = test::records_of(samples);
      const auto exact = multiprecision_derivatives(*model.graph, test::span_of(theta), records);
      const double scale = 1.0 / static_cast<double>(count);

      EXPECT_NEAR(scale * sweep->value(test::span_of(theta), records),
                  exact.value,
                  kSweepTolerance * std::abs(exact.value));
      Eigen::VectorXd gradient = Eigen::VectorXd::Zero(n);
      const auto size = static_cast<std::size_t>(n);
      sweep->value_and_gradient(test::span_of(theta), records, {gradient.data(), size});
      const double gradient_error = (scale * gradient - exact.gradient).norm();
      EXPECT_LE(gradient_error, kSweepTolerance * exact.gradient.norm());

      Eigen::MatrixXd gradients(n, count);
      sweep->per_sample_gradients(test::span_of(theta),
                                  records,
                                  {gradients.data(), static_cast<std::size_t>(gradients.size())});
      const double sum_error = (scale * gradients.rowwise().sum() - exact.gradient).norm();
      EXPECT_LE(sum_error, kSweepTolerance * exact.gradient.norm());

      using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
      const RowMajor v = test::Numbers(7).table(n, Sweep::kMaxDirections);
      RowMajor product = RowMajor::Zero(n, Sweep::kMaxDirections);
      const auto product_size = static_cast<std::size_t>(product.size());
      sweep->hessian_times(test::span_of(theta),
                           records,
                           {v.data(), product_size},
                           Sweep::kMaxDirections,
                           {product.data(), product_size});
      const double product_error = (scale * product - exact.hessian * v).norm();
      EXPECT_LE(product_error, kSweepTolerance * exact.hessian.norm() * v.norm());
    }
  }
}

// Each sample alone, with a direction of its own: full packs, padded ones, and more than one.
TEST_P(SweepOf, TheProductOfEverySampleIsThatOfFiftyDigits) {
  for (const Model& model : test::sweep_models()) {
    const std::unique_ptr<Sweep> sweep = Sweep::create(*model.graph, GetParam());
    const Eigen::Index n = model.num_parameters();
    const Eigen::VectorXd theta = test::Numbers(5).vector(n);
    for (const Eigen::Index count : {1, 3, 8, 9}) {
      SCOPED_TRACE(model.kind + ", samples: " + std::to_string(count));
      const SampleTable samples = test::Numbers(6).table(count, model.record_size());
      const Eigen::MatrixXd v = test::Numbers(17).table(n, count);
      Eigen::MatrixXd products = Eigen::MatrixXd::Constant(n, count, kNaN);  // overwritten
      const auto size = static_cast<std::size_t>(products.size());
      sweep->per_sample_hessian_times(test::span_of(theta),
                                      test::records_of(samples),
                                      {v.data(), size},
                                      {products.data(), size});
      for (Eigen::Index i = 0; i < count; ++i) {
        const SampleTable one = samples.row(i);
        const auto exact =
            multiprecision_derivatives(*model.graph, test::span_of(theta), test::records_of(one));
        const double error = (products.col(i) - exact.hessian * v.col(i)).norm();
        EXPECT_LE(error, kSweepTolerance * exact.hessian.norm() * v.col(i).norm()) << i;
      }
    }
  }
}

TEST_P(SweepOf, EveryThirdDerivativeIsThatOfFiftyDigits) {
  constexpr Eigen::Index kPairs = ThirdOrderSweep::kMaxPairs;
  for (const Model& model : test::sweep_models()) {
    const Eigen::Index n = model.num_parameters();
    const Eigen::VectorXd theta = test::Numbers(5).vector(n);
    const Eigen::MatrixXd u = test::Numbers(14).table(n, kPairs);
    const Eigen::MatrixXd v = test::Numbers(15).table(n, kPairs);
    for (const Eigen::Index count : {1, 3, 8, 9}) {
      SCOPED_TRACE(model.kind + ", samples: " + std::to_string(count));
      const SampleTable samples = test::Numbers(6).table(count, model.record_size());
      const auto third = [&](const Eigen::MatrixXd& left, const Eigen::MatrixXd& right) {
        return test::third_derivatives_from_sweep(
            *model.graph, theta, samples, left, right, kPairs, GetParam());
      };
      const Eigen::MatrixXd T = third(u, v);
      EXPECT_GT(T.norm(), 1e-3);
      test::expect_near_columns(
          T,
          multiprecision_third_derivative_times(
              *model.graph, test::span_of(theta), test::records_of(samples), u, v),
          1e-12,
          "50 digits");
      // Symmetric in all three arguments, and linear.
      test::expect_near_columns(third(v, u), T, 1e-13, "T[v, u]");
      const Eigen::MatrixXd w = test::Numbers(16).table(n, kPairs);
      const Eigen::MatrixXd along_w = third(u, w);
      for (Eigen::Index k = 0; k < kPairs; ++k) {
        EXPECT_NEAR(w.col(k).dot(T.col(k)),
                    v.col(k).dot(along_w.col(k)),
                    1e-12 * T.col(k).norm() * w.col(k).norm());
      }
      test::expect_near_columns(
          third(u, 2 * v - 3 * w), 2 * T - 3 * along_w, 1e-12, "2 T[u, v] - 3 T[u, w]");
    }
  }
}

// Several batches, the last of them not full, compared with sweeps that take one sample each.
TEST_P(SweepOf, TheGradientOfManySamplesIsTheSumOfTheirs) {
  constexpr Eigen::Index kCount = 150;
  for (const Model& model : test::sweep_models()) {
    SCOPED_TRACE(model.kind);
    const std::unique_ptr<Sweep> sweep = Sweep::create(*model.graph, GetParam());
    const Eigen::Index n = model.num_parameters();
    const auto size = static_cast<std::size_t>(n);
    const Eigen::VectorXd theta = test::Numbers(12).vector(n);
    const SampleTable samples = test::Numbers(13).table(kCount, model.record_size());
    const Records records = test::records_of(samples);
    Eigen::MatrixXd gradients(n, kCount);
    sweep->per_sample_gradients(test::span_of(theta), records, {gradients.data(), size * kCount});
    Eigen::VectorXd gradient = Eigen::VectorXd::Ones(n);  // which is added to
    const double value =
        sweep->value_and_gradient(test::span_of(theta), records, {gradient.data(), size});
    EXPECT_LE((gradient - Eigen::VectorXd::Ones(n) - gradients.rowwise().sum()).norm(),
              kSweepTolerance * gradients.colwise().norm().sum());
    EXPECT_EQ(value, sweep->value(test::span_of(theta), records));
  }
}

// Nothing of it differs between samples.
TEST_P(SweepOf, ALossWithoutSamplesCountsOnceForEach) {
  Graph graph;
  const Var theta = graph.parameter(0, 2, 2);
  const Var squared = matmul(theta, theta);
  graph.set_prediction(squared);
  graph.set_output(sum(square(squared)));
  const std::unique_ptr<Sweep> sweep = Sweep::create(graph, GetParam());
  const std::vector<double> at = {1, 2, 0, 1};  // squared: 1, 4, 0, 1
  const Records records{at.data(), 70, 0};
  EXPECT_EQ(sweep->value(at, records), 70 * 18.0);
  std::vector<double> gradient(4);
  EXPECT_EQ(sweep->value_and_gradient(at, records, gradient), 70 * 18.0);
  // 2 (M theta' + theta' M), M = theta^2
  EXPECT_EQ(gradient, (std::vector<double>{70 * 20.0, 70 * 16.0, 70 * 8.0, 70 * 20.0}));
  std::vector<double> predictions(70 * 4);
  sweep->predictions(at, records, predictions);
  EXPECT_EQ((std::vector<double>(predictions.end() - 4, predictions.end())),
            (std::vector<double>{1, 4, 0, 1}));
}

TEST_P(SweepOf, EveryGaussNewtonMatrixIsThatOfFiftyDigits) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  for (const Model& model : test::sweep_models()) {
    const std::unique_ptr<Sweep> sweep = Sweep::create(*model.graph, GetParam());
    const Eigen::Index n = model.num_parameters();
    const Eigen::VectorXd theta = test::Numbers(8).vector(n);
    for (const Eigen::Index count : {1, 4, 9}) {
      SCOPED_TRACE(model.kind + ", samples: " + std::to_string(count));
      const SampleTable samples = test::Numbers(9).table(count, model.record_size());
      const Records records = test::records_of(samples);
      const Eigen::MatrixXd exact =
          static_cast<double>(count) *
          multiprecision_derivatives(
              *model.graph, test::span_of(theta), records, Curvature::kGaussNewton)
              .hessian;
      for (const Eigen::Index first : {Eigen::Index{0}, n / 2, n - 3}) {
        RowMajor columns = RowMajor::Zero(n - first, 3);
        sweep->curvature_columns(Curvature::kGaussNewton,
                                 test::span_of(theta),
                                 records,
                                 first,
                                 3,
                                 {columns.data(), static_cast<std::size_t>(columns.size())});
        EXPECT_LE((columns - exact.block(first, first, n - first, 3)).norm(),
                  kSweepTolerance * exact.norm());
      }
      // Hessian products before and after leave no trace in it.
      const RowMajor v = test::Numbers(7).table(n, Sweep::kMaxDirections);
      const auto size = static_cast<std::size_t>(v.size());
      RowMajor product = RowMajor::Zero(n, Sweep::kMaxDirections);
      RowMajor ignored = product;
      for (const Curvature curvature :
           {Curvature::kHessian, Curvature::kGaussNewton, Curvature::kHessian}) {
        RowMajor& out = curvature == Curvature::kGaussNewton ? product : ignored;
        sweep->curvature_times(curvature,
                               test::span_of(theta),
                               records,
                               {v.data(), size},
                               Sweep::kMaxDirections,
                               {out.data(), size});
      }
      EXPECT_LE((product - exact * v).norm(), kSweepTolerance * exact.norm() * v.norm());
      EXPECT_GT((ignored - 2 * product).norm(), 1e-3 * product.norm());
    }
  }
}

TEST_P(SweepOf, TheFactorsOfTheGaussNewtonMatrixMultiplyToIt) {
  constexpr Eigen::Index kPack = Sweep::kPackSamples;
  for (const Model& model : test::sweep_models()) {
    const std::unique_ptr<Sweep> sweep = Sweep::create(*model.graph, GetParam());
    const Eigen::Index n = model.num_parameters();
    const Eigen::Index m =
        model.graph->nodes()[static_cast<std::size_t>(model.graph->prediction())].size();
    const Eigen::VectorXd theta = test::Numbers(10).vector(n);
    for (const Eigen::Index count : {1, 5, 8, 11}) {
      SCOPED_TRACE(model.kind + ", samples: " + std::to_string(count));
      const SampleTable samples = test::Numbers(11).table(count, model.record_size());
      const Eigen::Index num_packs = (count + kPack - 1) / kPack;
      const auto size = static_cast<std::size_t>(num_packs * m * n * kPack);
      std::vector<double> jacobian(size, 1e300);
      std::vector<double> weighted(size, 1e300);
      sweep->gauss_newton_factors(
          test::span_of(theta), test::records_of(samples), {jacobian, weighted});
      for (Eigen::Index i = 0; i < num_packs * kPack; ++i) {
        const auto matrix_of = [&](const std::vector<double>& factor) {
          return Eigen::MatrixXd::NullaryExpr(m, n, [&](Eigen::Index k, Eigen::Index j) {
            return factor[static_cast<std::size_t>((((i / kPack) * m + k) * n + j) * kPack +
                                                   i % kPack)];
          });
        };
        const Eigen::MatrixXd J = matrix_of(jacobian);
        const Eigen::MatrixXd LJ = matrix_of(weighted);
        if (i >= count) {
          EXPECT_EQ(J, Eigen::MatrixXd::Zero(m, n));
          EXPECT_EQ(LJ, Eigen::MatrixXd::Zero(m, n));
          continue;
        }
        const Records record{samples.row(i).data(), 1, samples.cols()};
        const Eigen::MatrixXd exact =
            multiprecision_derivatives(
                *model.graph, test::span_of(theta), record, Curvature::kGaussNewton)
                .hessian;
        EXPECT_GT(exact.norm(), 1e-6);
        EXPECT_LE((J.transpose() * LJ - exact).norm(), kSweepTolerance * exact.norm());
      }
    }
  }
}

TEST_P(SweepOf, WorkspaceIsCountedForItsLanes) {
  const Model model = test::sweep_models().front();
  EXPECT_GT(Sweep::workspace_bytes(*model.graph, GetParam()), 0.0);
  EXPECT_LE(Sweep::workspace_bytes(*model.graph, InstructionSet::kBaseline),
            Sweep::workspace_bytes(*model.graph, GetParam()));
  EXPECT_GT(ThirdOrderSweep::workspace_bytes(*model.graph, GetParam()),
            ThirdOrderSweep::kMaxPairs * 6 * sizeof(double));
}

}  // namespace
}  // namespace hesscope
