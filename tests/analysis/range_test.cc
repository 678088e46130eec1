// SPDX-License-Identifier: BSD-3-Clause
//
// Every number that analyzers store, of losses from 1e-300 to 1e300. A loss multiplied by 2^k has a
// Hessian, a gradient, norms of both multiplied by 2^k, and the same ratios: each quantity is
// homogeneous of a degree that is written down here, and its digits stay.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/analysis/internal/checkpoint_result.h>
#include <hesscope/analyzers/analyzer_registry.h>
#include <hesscope/analyzers/trajectory.h>
#include <hesscope/objective/functor_objective.h>

#include "support/matrices.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index kParameters = 6;
constexpr Index kNumSamples = 48;
constexpr std::size_t kPoints = 12;

// 2^k (theta^T A_i theta / 2 + b_i^T theta + |theta|_4^4 / 8) of sample i, with A_i near a positive
// definite A.
struct Loss {
  double scale;
  std::vector<MatrixXd> a;
  MatrixXd b;

  explicit Loss(int k)
      : scale(std::ldexp(1.0, k)), b(test::random_matrix(kParameters, kNumSamples, 5)) {
    const MatrixXd root = test::random_matrix(kParameters, kParameters, 3);
    for (Index i = 0; i < kNumSamples; ++i) {
      a.push_back(root * root.transpose() +
                  0.1 * test::random_symmetric(kParameters, 100 + static_cast<std::uint64_t>(i)));
    }
  }

  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& theta, Index i) const {
    T sum(0.0);
    const MatrixXd& of_sample = a[static_cast<std::size_t>(i)];
    for (Index r = 0; r < kParameters; ++r) {
      for (Index c = 0; c < kParameters; ++c) {
        sum += theta(r) * theta(c) * (0.5 * of_sample(r, c) * scale);
      }
      sum += theta(r) * (b(r, i) * scale);
      sum += theta(r) * theta(r) * theta(r) * theta(r) * (0.125 * scale);
    }
    return sum;
  }
};

const std::vector<ParameterBlock> kBlocks = {{"first", {2, 2}, 0, 4}, {"second", {2}, 4, 2}};

std::vector<VectorXd> make_path() {
  std::vector<VectorXd> points;
  const VectorXd start = test::random_matrix(kParameters, 1, 11);
  const VectorXd bend = test::random_matrix(kParameters, 1, 12);
  for (std::size_t t = 0; t < kPoints; ++t) {
    const double x = static_cast<double>(t) / kPoints;
    points.push_back((1 - x) * start + 0.3 * x * x * bend);
  }
  return points;
}

const std::vector<VectorXd> kPath = make_path();

// An analyzer, its options, and the degrees of its numbers that are not 1. Residuals, which are
// only rounding, are left out.
struct RangeCase {
  std::string name;
  std::map<std::string, SettingValue> settings;
  std::map<std::string, int> degrees;
  std::vector<std::string> left_out = {};
};

// Degree 0 for all of them.
std::map<std::string, int> ratios(const std::vector<std::string>& names) {
  std::map<std::string, int> degrees;
  for (const std::string& name : names) degrees[name] = 0;
  return degrees;
}

void append(std::map<std::string, int>& degrees, const std::map<std::string, int>& more) {
  degrees.insert(more.begin(), more.end());
}

std::vector<RangeCase> range_cases() {
  std::vector<RangeCase> all = {
      {"hessian", {{"save-hessian", true}}, {}},
      {"spectrum", {}, {}, {"residual_min", "residual_median", "residual_max"}},
      {"condition",
       {},
       ratios({"robust_diagonal", "robust_eigenvalue", "robust_absolute", "classical"})},
      {"structure",
       {},
       ratios({"dead",
               "num_generators",
               "explained",
               "robust_eigenvalue_without_explained",
               "robust_absolute_without_explained"})},
      {"blocks", {}, ratios({"js_distance", "mean_js_distance"})},
  };
  RangeCase eigenpairs = {"eigenpairs", {{"eigenpairs", std::int64_t{2}}}, {}};
  for (const std::string end : {"_smallest", "_largest"}) {
    append(eigenpairs.degrees,
           ratios({"eigenvectors" + end,
                   "participation" + end,
                   "block_weight" + end,
                   "overlap" + end,
                   "gradient_fraction" + end}));
    eigenpairs.left_out.push_back("residuals" + end);
  }
  all.push_back(eigenpairs);
  RangeCase density = {
      "density",
      {{"probes", std::int64_t{4}}},
      ratios({"weights", "calibrated_weights", "zero_mass", "relative_wasserstein_distance"}),
      // Grids of logarithms move along.
      {"log10_magnitude", "log_density_negative", "log_density_positive"}};
  append(density.degrees,
         {{"squared_frobenius_norm_estimate", 2},
          {"squared_frobenius_norm_standard_error", 2},
          {"density", -1},
          {"exact_density", -1}});
  all.push_back(density);
  RangeCase sampling = {"sampling", {{"jackknife-blocks", std::int64_t{8}}}, {}};
  for (const std::string figure : {"robust_diagonal", "robust_eigenvalue", "robust_absolute"}) {
    for (const std::string part : {"",
                                   "_bias",
                                   "_standard_error",
                                   "_lower",
                                   "_upper",
                                   "_standard_error_first_order",
                                   "_lower_first_order",
                                   "_upper_first_order"}) {
      sampling.degrees[figure + part] = 0;
    }
  }
  all.push_back(sampling);
  RangeCase noise = {"noise",
                     {{"noise-draws", std::int64_t{64}},
                      {"noise-batch-size", std::int64_t{8}},
                      {"noise-ladder", std::string("4,16")}},
                     ratios({"max_over_median",
                             "skewness",
                             "excess_kurtosis",
                             "hill_index",
                             "hill_index_standard_error",
                             "hill_plot",
                             "histogram_counts",
                             "qq_theoretical",
                             "qq_correlation",
                             "qq_theoretical_standardized",
                             "qq_sample_standardized",
                             "noise_scale_simple",
                             "noise_scale_simple_bias",
                             "noise_scale_simple_standard_error",
                             "noise_scale_hessian",
                             "noise_scale_hessian_bias",
                             "noise_scale_hessian_standard_error",
                             "alignment_cosine",
                             "commutator",
                             "noise_exponent",
                             "noise_exponent_standard_error",
                             "ladder_max_over_median",
                             "ladder_skewness",
                             "ladder_excess_kurtosis",
                             "ladder_hill_index",
                             "ladder_qq_correlation"})};
  append(noise.degrees,
         {{"histogram_density", -1}, {"covariance_trace", 2}, {"eigendirection_noise", 2}});
  all.push_back(noise);
  all.push_back({"edge", {}, {}});
  all.push_back({"smoothness",
                 {},
                 ratios({"step_norm", "directional_sharpness_relative"}),
                 // Adam's epsilon knows the scale.
                 {"directional_sharpness", "directional_sharpness_relative", "directional_slope"}});
  all.push_back(
      {"stability",
       {{"learning-rate", 1e-3}, {"batch-sharpness", std::string("1,8,48")}},
       ratios(
           {"gd_threshold", "momentum_threshold", "learning_rate", "momentum", "weight_decay"})});
  return all;
}

int degree_of(const RangeCase& which, const std::string& name) {
  const auto found = which.degrees.find(name);
  return found == which.degrees.end() ? 1 : found->second;
}

class Range : public testing::TestWithParam<int> {
 protected:
  // The answers at the fourth point, and for the run of all points.
  struct Found {
    Group at_point;
    Group of_run;
  };

  static Found analyze(const RangeCase& which, int k, SpectrumMethod method) {
    const auto objective = make_objective(
        Loss(k), kParameters, kNumSamples, {.num_threads = 1, .parameter_blocks = kBlocks});
    const AnalyzerKind& entry = find_analyzer_kind(which.name);
    const auto analyzer = entry.create(Settings::checked(which.settings, entry.options, "a test"));
    const auto trajectory = std::make_shared<Trajectory>(kPath);
    std::vector<Group> records;
    std::shared_ptr<PointAnalysis> previous;
    for (std::size_t t = 0; t < kPoints; ++t) {
      const auto point = std::make_shared<PointAnalysis>(
          objective, trajectory->point(t), PointAnalysis::Options{.method = method, .seed = 7});
      point->set_trajectory(trajectory, t);
      point->set_previous(previous);
      records.push_back(analyzer->analyze(*point));
      point->set_previous(nullptr);
      previous = point;
      if (which.name != "smoothness" && t == 3) break;
    }
    return {records[3], analyzer->summarize(records, 3)};
  }

  static void compare(const RangeCase& which, int k, const Group& found, const Group& wanted) {
    for (const Variable& variable : wanted.variables) {
      const std::string& name = variable.name;
      if (!variable.is_said() ||
          std::find(which.left_out.begin(), which.left_out.end(), name) != which.left_out.end()) {
        continue;
      }
      SCOPED_TRACE(which.name + "/" + name);
      if (variable.type != VariableType::kDouble) {
        EXPECT_EQ(found[name].values, variable.values);
        continue;
      }
      ASSERT_EQ(found[name].reals().size(), variable.reals().size());
      compare(k * degree_of(which, name), found[name], variable);
    }
  }

  static void compare(int exponent, const Variable& found, const Variable& wanted) {
    double largest = 0;
    for (const double value : wanted.reals()) {
      if (std::isfinite(value)) largest = std::fmax(largest, std::abs(value));
    }
    // What doubles can hold, but for the last digits of the smallest.
    if (exponent > 1000 || exponent < -1000) {
      if (std::isinf(std::ldexp(largest, exponent))) {
        EXPECT_EQ(found.status(), Status::kNonFinite);
      }
      for (const double value : found.reals())
        EXPECT_TRUE(exponent > 0 || std::abs(value) < 1e-300);
      return;
    }
    EXPECT_EQ(found.status(), wanted.status());
    for (std::size_t i = 0; i < wanted.reals().size(); ++i) {
      if (std::isnan(wanted.reals()[i])) {
        EXPECT_TRUE(std::isnan(found.reals()[i]));
      } else {
        EXPECT_NEAR(std::ldexp(found.reals()[i], -exponent), wanted.reals()[i], 1e-10 * largest)
            << i;
      }
    }
  }
};

TEST_P(Range, LeavesTheDigitsOfWhatAnalyzersStore) {
  for (const RangeCase& which : range_cases()) {
    const Found wanted = analyze(which, 0, SpectrumMethod::kDense);
    ASSERT_FALSE(wanted.at_point.variables.empty());
    const Found found = analyze(which, GetParam(), SpectrumMethod::kDense);
    compare(which, GetParam(), found.at_point, wanted.at_point);
    RangeCase of_run = which;
    for (const std::string end : {"", "_lower", "_upper"}) {
      for (const std::string fit : {"", "_envelope"}) of_run.degrees["L1" + fit + end] = 0;
    }
    of_run.degrees["L1_coordinate"] = 0;
    compare(of_run, GetParam(), found.of_run, wanted.of_run);
  }
}

TEST_P(Range, LeavesTheDigitsOfWhatOtherMethodsStore) {
  for (const RangeCase& which : range_cases()) {
    if (which.name == "noise") continue;  // slow, and the same
    for (const SpectrumMethod method : {SpectrumMethod::kIterative, SpectrumMethod::kMatrixFree}) {
      const Found wanted = analyze(which, 0, method);
      const Found found = analyze(which, GetParam(), method);
      compare(which, GetParam(), found.at_point, wanted.at_point);
    }
  }
}

TEST_P(Range, LeavesTheDigitsOfLossAndGradientNorm) {
  const auto root = [](int k) {
    const auto objective = make_objective(Loss(k), kParameters, kNumSamples, {.num_threads = 1});
    PointAnalysis point(objective, kPath[3]);
    return detail::root_record(point);
  };
  compare({"root", {}, {}}, GetParam(), root(GetParam()), root(0));
}

INSTANTIATE_TEST_SUITE_P(Scales,
                         Range,
                         testing::Values(-990, -780, -512, -300, 300, 512, 780, 990));

}  // namespace
}  // namespace hesscope
