// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/internal/random_numbers.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/spectra/internal/jackknife.h>
#include <hesscope/spectra/sampling_error.h>
#include <hesscope/spectra/spectrum.h>

#include "spectra/sampling_figures.h"
#include "support/decompositions.h"
#include "support/matrices.h"
#include "support/quadratic_objective.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using enum SpectralFigure;
using test::diagonals;
using test::errors_of;
using test::expect_close;
using test::kAllFigures;
using test::lower_middle;
using test::naive_figures;
using test::name_of;
using test::QuadraticObjective;
using test::scattered;
using test::zero_for;

TEST(SamplingErrors, OfMultiplesOfTheIdentityAreThoseOfAMean) {
  for (const Index num_samples : {24, 26}) {  // equal blocks of 4; unequal ones
    const VectorXd a = 3.0 + test::random_matrix(num_samples, 1, 1).array();
    std::vector<VectorXd> entries;
    for (const double x : a) entries.emplace_back(VectorXd::Constant(3, x));
    const SamplingErrorEstimates errors = errors_of(diagonals(entries), 6);
    double variance = 0.0;
    for (const SampleRange block : detail::sample_blocks(num_samples, 6)) {
      const auto size = static_cast<double>(block.size());
      const double deviation = a.segment(block.begin, block.size()).mean() - a.mean();
      variance += size / (static_cast<double>(num_samples) - size) * deviation * deviation / 6.0;
    }
    for (const SamplingErrors* found : {&errors.full, &errors.first_order}) {
      for (const SpectralFigure figure :
           {kLambdaMax, kLambdaMin, kLambdaMedian, kMedianMagnitude}) {
        const SamplingError& error = (*found)[figure];
        EXPECT_EQ(error.status, Status::kOk);
        expect_close(error.value, a.mean(), 1e-14, name_of(figure));
        expect_close(error.standard_error, std::sqrt(variance), 1e-14, name_of(figure));
      }
      for (const SpectralFigure figure : {kRobustEigenvalue, kRobustAbsolute, kRobustDiagonal}) {
        const SamplingError& error = (*found)[figure];
        EXPECT_EQ(error.status, Status::kOk);
        expect_close(error.value, 1.0, 1e-14, name_of(figure));
        expect_close(error.standard_error, 0.0, 1e-14, name_of(figure));
        expect_close(error.lower, 1.0, 1e-13, name_of(figure));
        expect_close(error.upper, 1.0, 1e-13, name_of(figure));
      }
    }
    for (const SpectralFigure figure : kAllFigures) {
      expect_close(errors.full[figure].bias, 0.0, 1e-13, name_of(figure));
      EXPECT_TRUE(std::isnan(errors.first_order[figure].bias));
    }
  }
}

TEST(SamplingErrors, HaveIntervalsByStudentsTOnALogarithmicScaleButForLambdaMin) {
  const MatrixXd base = Eigen::Vector4d(1, 2, 4, 9).asDiagonal();
  const QuadraticObjective objective(scattered(base, 0.5, 30));
  const double t = 0.95 * std::sqrt(2.0 / (1.0 - 0.95 * 0.95));  // of 2 degrees of freedom
  const SamplingErrorEstimates both = errors_of(objective, 3);
  const SamplingError& first = both.first_order[kLambdaMin];
  expect_close(first.lower, first.value - t * first.standard_error, 1e-12, "lambda_min");
  expect_close(first.upper, first.value + t * first.standard_error, 1e-12, "lambda_min");
  const SamplingErrors& errors = both.full;
  EXPECT_GT(std::abs(errors[kLambdaMin].bias), 1e-4);
  for (const SpectralFigure figure : kAllFigures) {
    const SamplingError& error = errors[figure];
    const VectorXd column = errors.leave_one_out.col(static_cast<Index>(index_of(figure)));
    if (figure == kLambdaMin) {
      const double center = error.value - error.bias;
      expect_close(error.lower, center - t * error.standard_error, 1e-12, name_of(figure));
      expect_close(error.upper, center + t * error.standard_error, 1e-12, name_of(figure));
    } else {
      const VectorXd logs = column.array().log();
      const double s = std::sqrt(2.0 / 3.0 * (logs.array() - logs.mean()).square().sum());
      const bool is_at_least_one = figure == kRobustAbsolute || figure == kRobustDiagonal;
      const double lower = error.value * std::exp(-t * s);
      expect_close(
          error.lower, is_at_least_one ? std::max(lower, 1.0) : lower, 1e-12, name_of(figure));
      expect_close(error.upper, error.value * std::exp(t * s), 1e-12, name_of(figure));
    }
  }
  const SamplingErrorOptions wider{.num_blocks = 3, .level = 0.99};
  const SamplingErrors wide = sampling_errors(objective, zero_for(objective), wider).full;
  for (const SpectralFigure figure : kAllFigures) {
    if (errors[figure].lower != 1.0) {
      EXPECT_LT(wide[figure].lower, errors[figure].lower);
    }
    EXPECT_GT(wide[figure].upper, errors[figure].upper);
    EXPECT_EQ(wide[figure].standard_error, errors[figure].standard_error);
  }
}

// Every H_(-b) is summed again from the samples outside the block; pseudo-values as published.
TEST(SamplingErrors, InFullAreThoseOfANaiveLoop) {
  VectorXd eigenvalues(6);
  eigenvalues << -4.0, -1.5, 1.0, 2.5, 5.0, 9.0;
  const std::vector<MatrixXd> matrices = scattered(test::with_eigenvalues(eigenvalues, 7), 0.3, 23);
  const auto mean_outside = [&](SampleRange block) {
    MatrixXd sum = MatrixXd::Zero(6, 6);
    for (Index i = 0; i < 23; ++i) {
      if (i < block.begin || i >= block.end) sum += matrices[static_cast<std::size_t>(i)];
    }
    return MatrixXd(sum / static_cast<double>(23 - block.size()));
  };
  const VectorXd theta = naive_figures(mean_outside({0, 0}));
  for (const Index num_blocks : {2, 5, 23}) {
    const SamplingErrors errors = errors_of(QuadraticObjective(matrices), num_blocks).full;
    const std::vector<SampleRange> blocks = detail::sample_blocks(23, num_blocks);
    MatrixXd leave_one_out(num_blocks, 7);
    MatrixXd pseudo_values(num_blocks, 7);
    VectorXd h(num_blocks);
    for (Index b = 0; b < num_blocks; ++b) {
      const SampleRange block = blocks[static_cast<std::size_t>(b)];
      h[b] = 23.0 / static_cast<double>(block.size());
      leave_one_out.row(b) = naive_figures(mean_outside(block));
      pseudo_values.row(b) = h[b] * theta.transpose() - (h[b] - 1.0) * leave_one_out.row(b);
    }
    for (const SpectralFigure figure : kAllFigures) {
      const auto f = static_cast<Index>(index_of(figure));
      const SamplingError& error = errors[figure];
      const std::string what = name_of(figure) + ", " + std::to_string(num_blocks) + " blocks";
      const double scale = 1e-11 * (1.0 + std::abs(theta[f]));
      ASSERT_EQ(error.status, Status::kOk) << what;
      expect_close(error.value, theta[f], scale, what);
      EXPECT_TRUE((errors.leave_one_out.col(f) - leave_one_out.col(f)).norm() <= scale) << what;
      const double theta_j = (pseudo_values.col(f).array() / h.array()).sum();
      const double variance =
          ((pseudo_values.col(f).array() - theta_j).square() / (h.array() - 1.0)).mean();
      EXPECT_GT(variance, 0.0);
      expect_close(error.bias, theta[f] - theta_j, 23.0 * scale, what);
      expect_close(error.standard_error, std::sqrt(variance), 23.0 * scale, what);
    }
  }
}

TEST(SamplingErrors, OfFirstOrderDifferFromFullOnesToSecondOrder) {
  VectorXd values(7);
  values << -5.0, -2.0, -0.5, 1.0, 3.0, 6.0, 11.0;
  const MatrixXd base = test::with_eigenvalues(values, 3);
  const auto difference = [&](double spread) {
    const SamplingErrorEstimates errors =
        errors_of(QuadraticObjective(scattered(base, spread, 40)), 8);
    for (const SpectralFigure figure : kAllFigures) {
      EXPECT_EQ(errors.full[figure].status, Status::kOk) << name_of(figure);
      EXPECT_EQ(errors.first_order[figure].status, Status::kOk) << name_of(figure);
      EXPECT_EQ(errors.full[figure].value, errors.first_order[figure].value) << name_of(figure);
    }
    const MatrixXd& full = errors.full.leave_one_out;
    const MatrixXd& first = errors.first_order.leave_one_out;
    const VectorXd moves = (full.rowwise() - full.colwise().mean()).colwise().norm().transpose();
    // What is compared is not nothing.
    EXPECT_GT(moves.minCoeff<Eigen::PropagateNaN>(), 1e-3 * spread);
    return VectorXd((full - first).colwise().norm().transpose());
  };
  const VectorXd coarse = difference(1e-2);
  const VectorXd fine = difference(1e-3);
  for (const SpectralFigure figure : kAllFigures) {
    const auto f = static_cast<Index>(index_of(figure));
    if (figure == kRobustDiagonal) {  // the numerator and the denominator are linear in H
      EXPECT_TRUE(coarse[f] <= 1e-12) << coarse[f];
    } else {
      EXPECT_TRUE(fine[f] <= 0.015 * coarse[f])
          << name_of(figure) << ": " << fine[f] << " after " << coarse[f];
    }
  }
}

SpectralEigenpairs eigenpairs_by_eigen(const MatrixXd& h) {
  const auto [values, vectors] = test::eigenpairs(h);
  const Index n = values.size();
  const auto pair = [&values = values, &vectors = vectors](Index rank) {
    return Eigenpair{values[rank], vectors.col(rank)};
  };
  Index of_magnitude = 0;
  (values.cwiseAbs().array() - lower_middle(values.cwiseAbs())).abs().minCoeff(&of_magnitude);
  return {pair(n - 1), pair(0), pair((n - 1) / 2), pair(of_magnitude)};
}

TEST(FirstOrderSamplingErrors, ByProductsAreThoseByMatrices) {
  const QuadraticObjective objective(scattered(test::random_symmetric(9, 5), 0.3, 50));
  const VectorXd theta = zero_for(objective);
  const SamplingErrorOptions options{.num_blocks = 7};
  const SamplingErrors expected = sampling_errors(objective, theta, options).first_order;
  const SamplingErrors found = first_order_sampling_errors(
      objective, theta, eigenpairs_by_eigen(objective.hessian(theta)), options);
  for (const SpectralFigure figure : kAllFigures) {
    if (figure == kRobustDiagonal) continue;
    EXPECT_EQ(found[figure].status, expected[figure].status) << name_of(figure);
    if (expected[figure].status != Status::kOk) continue;
    const double scale = 1e-11 * (1.0 + std::abs(expected[figure].value));
    expect_close(found[figure].value, expected[figure].value, scale, name_of(figure));
    expect_close(
        found[figure].standard_error, expected[figure].standard_error, scale, name_of(figure));
    expect_close(found[figure].lower, expected[figure].lower, 10 * scale, name_of(figure));
    expect_close(found[figure].upper, expected[figure].upper, 10 * scale, name_of(figure));
  }
  EXPECT_EQ(found[kLambdaMax].status, Status::kOk);
  EXPECT_EQ(found[kRobustAbsolute].status, Status::kOk);
  EXPECT_EQ(found[kRobustDiagonal].status, Status::kNotComputed);
}

TEST(FirstOrderSamplingErrors, AreComputedOfTheEigenpairsGiven) {
  const QuadraticObjective objective(scattered(test::random_symmetric(9, 5), 0.3, 50));
  const VectorXd theta = zero_for(objective);
  SpectralEigenpairs pairs = eigenpairs_by_eigen(objective.hessian(theta));
  pairs.smallest = {};
  pairs.median = {};
  const SamplingErrors found = first_order_sampling_errors(objective, theta, pairs);
  EXPECT_EQ(found[kLambdaMax].status, Status::kOk);
  EXPECT_EQ(found[kMedianMagnitude].status, Status::kOk);
  for (const SpectralFigure figure :
       {kLambdaMin, kLambdaMedian, kRobustEigenvalue, kRobustAbsolute}) {
    EXPECT_EQ(found[figure].status, Status::kNotComputed) << name_of(figure);
    EXPECT_TRUE(std::isnan(found[figure].value));
    EXPECT_TRUE(std::isnan(found[figure].standard_error));
  }
  const SamplingErrors none = first_order_sampling_errors(objective, theta, {});
  for (const SpectralFigure figure : kAllFigures)
    EXPECT_EQ(none[figure].status, Status::kNotComputed);
}

TEST(SamplingErrors, OfANegativeRatioHaveANegativeInterval) {
  const MatrixXd base = Eigen::Vector3d(-2, -1, 6).asDiagonal();
  const SamplingErrorEstimates errors = errors_of(QuadraticObjective(scattered(base, 0.1, 20)), 5);
  for (const SamplingErrors* found : {&errors.full, &errors.first_order}) {
    const SamplingError& ratio = (*found)[kRobustEigenvalue];
    ASSERT_EQ(ratio.status, Status::kOk);
    EXPECT_LT(ratio.lower, ratio.value);
    EXPECT_LT(ratio.value, ratio.upper);
    EXPECT_LT(ratio.upper, 0.0);
  }
}

TEST(SamplingErrors, OfAHessianAtHandAreTheSame) {
  const QuadraticObjective objective(scattered(test::random_symmetric(5, 2), 0.2, 20));
  const VectorXd theta = zero_for(objective);
  const MatrixXd hessian = objective.hessian(theta);
  const SamplingErrorOptions options{.num_blocks = 6};
  const SamplingErrors expected = sampling_errors(objective, theta, options).full;
  const SamplingErrors found = sampling_errors(objective, theta, hessian, options).full;
  EXPECT_EQ(found.leave_one_out, expected.leave_one_out);
}

// Opposite entries differ by rounding, which is more than all that is left without one sample.
TEST(SamplingErrors, TakeAnyHessianThatIsSymmetricToRounding) {
  std::vector<MatrixXd> hessians = scattered(1e-9 * test::random_symmetric(3, 2), 1e-10, 8);
  hessians[0] = 1e9 * test::random_symmetric(3, 3);
  hessians[0](0, 1) = std::nextafter(hessians[0](0, 1), 1e300);
  const QuadraticObjective objective(std::move(hessians));
  const VectorXd theta = zero_for(objective);
  ASSERT_NE(objective.hessian(theta)(0, 1), objective.hessian(theta)(1, 0));
  const SamplingErrors found = sampling_errors(objective, theta, {.num_blocks = 8}).full;
  EXPECT_EQ(found[kLambdaMax].status, Status::kOk);
}

TEST(SamplingErrors, OfBlocksTakeWhatCancelsButForRounding) {
  const MatrixXd a = test::random_symmetric(3, 5);
  std::vector<MatrixXd> blocks = {a, -a};
  blocks[0](0, 1) = std::nextafter(a(0, 1), 2);
  const BlockSamplingErrors found = sampling_errors_of_blocks(blocks, 0.95);
  EXPECT_EQ(found.spectrum.status, Status::kOk);
  EXPECT_EQ(found.spectrum.num_zero, 3);  // rounding has no sign
}

TEST(SamplingErrors, AreBitIdenticalForAnyNumberOfThreads) {
  const Model model = linear_attention({.layers = 2, .dimension = 3, .context = 8});
  std::mt19937_64 engine(1);
  const SampleTable samples = detail::standard_normal(150, model.record_size(), engine);
  const VectorXd theta = 0.3 * detail::standard_normal(model.num_parameters(), 1, engine);
  for (const bool use_structure : {true, false}) {
    const auto errors_with = [&](int num_threads) {
      const GraphObjective objective(
          model, samples, {.num_threads = num_threads, .use_structure = use_structure});
      SpectralEigenpairs pairs = eigenpairs_by_eigen(objective.hessian(theta));
      SamplingErrorEstimates errors = sampling_errors(objective, theta, {.num_blocks = 7});
      SamplingErrors by_products = first_order_sampling_errors(objective, theta, pairs);
      return std::array{errors.full, errors.first_order, by_products};
    };
    const auto one = errors_with(1);
    EXPECT_EQ(one[0][kLambdaMax].status, Status::kOk);
    for (const int num_threads : {2, 3}) {
      const auto many = errors_with(num_threads);
      for (std::size_t k = 0; k < one.size(); ++k) {
        for (const SpectralFigure figure : kAllFigures) {
          const SamplingError& a = one[k][figure];
          const SamplingError& b = many[k][figure];
          EXPECT_EQ(a.status, b.status);
          for (const auto number : {&SamplingError::value,
                                    &SamplingError::bias,
                                    &SamplingError::standard_error,
                                    &SamplingError::lower,
                                    &SamplingError::upper}) {
            EXPECT_EQ(std::bit_cast<std::uint64_t>(a.*number),
                      std::bit_cast<std::uint64_t>(b.*number))
                << name_of(figure);
          }
        }
      }
    }
  }
}

TEST(SamplingErrors, ReportProgressAndStopWhenAsked) {
  const QuadraticObjective objective(scattered(test::random_symmetric(5, 2), 0.2, 20));
  const VectorXd theta = zero_for(objective);
  std::vector<double> fractions;
  const auto record = [&](double fraction) {
    fractions.push_back(fraction);
    return true;
  };
  sampling_errors(objective, theta, {.num_blocks = 6}, record);
  // The Hessian; of each of six blocks the Hessian and the figures, and parts of all of them.
  ASSERT_GE(fractions.size(), 13U);
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  EXPECT_GT(fractions.front(), 0.0);
  EXPECT_EQ(fractions.back(), 1.0);
  for (int last = 1; last <= std::ssize(fractions); ++last) {
    int calls = 0;
    const auto stop = [&](double /*fraction*/) { return ++calls < last; };
    EXPECT_THROW(sampling_errors(objective, theta, {.num_blocks = 6}, stop), Interrupted);
    EXPECT_EQ(calls, last);
  }
}

TEST(SamplingErrors, RefuseWhatBreaksTheirPreconditions) {
  const QuadraticObjective objective(scattered(test::random_symmetric(4, 2), 0.2, 20));
  const VectorXd theta = zero_for(objective);
  const MatrixXd hessian = objective.hessian(theta);
  const auto refused = [&](const SamplingErrorOptions& options, const std::string& message) {
    test::expect_refusal([&] { sampling_errors(objective, theta, options); },
                         "sampling_errors: " + message);
    test::expect_refusal([&] { sampling_errors(objective, theta, hessian, options); },
                         "sampling_errors: " + message);
    test::expect_refusal([&] { first_order_sampling_errors(objective, theta, {}, options); },
                         "first_order_sampling_errors: " + message);
  };
  refused({.num_blocks = 1}, "num_blocks must be in [2, 20], the number of samples, got 1");
  refused({.num_blocks = 21}, "num_blocks must be in [2, 20], the number of samples, got 21");
  refused({.num_blocks = 2, .level = 0.0}, "level must be in (0, 1), got 0");
  refused({.num_blocks = 2, .level = 1.0}, "level must be in (0, 1), got 1");
  refused({.num_blocks = 2, .level = kNaN}, "level must be in (0, 1), got nan");
  test::expect_refusal([&] { sampling_errors(objective, VectorXd::Zero(3), {.num_blocks = 2}); },
                       "sampling_errors: theta must have 4 entries, got 3");
  test::expect_refusal(
      [&] { sampling_errors(objective, theta, MatrixXd(4, 3), {.num_blocks = 2}); },
      "sampling_errors: hessian must be square");
  test::expect_refusal(
      [&] { sampling_errors(objective, theta, MatrixXd::Zero(3, 3), {.num_blocks = 2}); },
      "sampling_errors: hessian must have 4 rows, got 3");
  SpectralEigenpairs pairs;
  pairs.median = {1.0, VectorXd::Ones(5)};
  test::expect_refusal(
      [&] { first_order_sampling_errors(objective, theta, pairs, {.num_blocks = 2}); },
      "first_order_sampling_errors: the eigenvector median must have 4 entries, got 5");
}

}  // namespace
}  // namespace hesscope
