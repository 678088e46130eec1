// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "optim/rules.h"

namespace hesscope {
namespace {

using Eigen::VectorXd;
using test::distance;
using test::numbers;
using test::vector;

const std::vector<ParameterBlock> kMatrix = {
    {.name = "W", .shape = {2, 3}, .offset = 0, .size = 6}};

// Squares of an outer product are one, and its row and column sums have all of it.
TEST(Adafactor, IsExactOnOuterProducts) {
  const VectorXd g = vector({1 * 2, 1 * -3, 1 * 5, -4 * 2, -4 * -3, -4 * 5});
  const auto rule = make_update_rule("adafactor", {{"scale-by-parameters", false}}, kMatrix);
  EXPECT_LE(distance(rule->step(g, g), vector({-1, 1, -1, 1, -1, 1})), 1e-14);
}

// The product of a row's and a column's mean of 1e-170 is 0.
TEST(Adafactor, BearsTheSmallestEpsilon) {
  const std::vector<ParameterBlock> blocks = {
      {.name = "W", .shape = {2, 2}, .offset = 0, .size = 4}};
  const VectorXd g = vector({1, 0, 0, 0});
  const auto rule =
      make_update_rule("adafactor", {{"scale-by-parameters", false}, {"epsilon1", 1e-170}}, blocks);
  const VectorXd u = rule->step(g, g);
  EXPECT_TRUE(u.allFinite());
  EXPECT_NEAR(u[0], -1, 1e-15);
}

TEST(Adafactor, ScalesAnUpdateByItsParameters) {
  const VectorXd g = vector({1, 1, 1, 1, 1, 1});
  const auto size_of_update = [&](double theta, double epsilon2) {
    const auto rule = make_update_rule("adafactor", {{"epsilon2", epsilon2}}, kMatrix);
    return -rule->step(theta * g, g)[0];
  };
  EXPECT_NEAR(size_of_update(-7, 1e-3), 7, 1e-14);
  EXPECT_NEAR(size_of_update(0, 1e-3), 1e-3, 1e-17);
  EXPECT_NEAR(size_of_update(0.5, 2), 2, 1e-15);
}

// A gradient that grows tenfold at t = 2, b = 1 - 2^-0.8: v = b + 100 (1 - b), U = 10 / sqrt(v).
TEST(Adafactor, ClipsTheRootMeanSquareOfAnUpdate) {
  const double b = 1 - std::pow(2, -0.8);
  const double unclipped = 10 / std::sqrt(b + 100 * (1 - b));
  ASSERT_GT(unclipped, 1.1);
  for (const double threshold : {1.0, 1.1, 100.0}) {
    const auto rule = make_update_rule(
        "adafactor", {{"clip-threshold", threshold}, {"scale-by-parameters", false}}, kMatrix);
    const VectorXd one = VectorXd::Ones(6);
    rule->step(one, one);
    EXPECT_NEAR(rule->step(one, 10 * one)[0], -std::min(unclipped, threshold), 1e-14);
  }
}

// The same with means instead of sums and a loop for everything, as in PyTorch's optim.Adafactor:
// V = row mean * column mean / mean of the row means.
class ByPlainLoops {
 public:
  explicit ByPlainLoops(const ParameterBlock& block) : block_(block) {
    const std::size_t dims = block.shape.size();
    rows_ = dims < 2 ? 1 : block.shape[dims - 2];
    cols_ = dims < 1 ? 1 : block.shape[dims - 1];
    is_factored_ = dims >= 2;
    row_.assign(static_cast<std::size_t>(block.size), 0);
    col_.assign(static_cast<std::size_t>(block.size), 0);
    full_.assign(static_cast<std::size_t>(block.size), 0);
  }

  // Entries of the update of this block, from all of theta and the gradient.
  std::vector<double> step(const VectorXd& theta, const VectorXd& gradient) {
    ++t_;
    const double b = 1 - std::pow(t_, -0.8);
    std::vector<double> u;
    const Eigen::Index matrix = rows_ * cols_;
    for (Eigen::Index first = 0; first < block_.size; first += matrix) {
      const auto square = [&](Eigen::Index r, Eigen::Index c) {
        const double g = gradient[block_.offset + first + r * cols_ + c];
        return g * g + 1e-30;
      };
      double mean_of_rows = 0;
      for (Eigen::Index r = 0; r < rows_; ++r) {
        double mean = 0;
        for (Eigen::Index c = 0; c < cols_; ++c) mean += square(r, c) / double(cols_);
        double& average = row_[std::size_t(first + r)];
        average = b * average + (1 - b) * mean;
        mean_of_rows += average / double(rows_);
      }
      for (Eigen::Index c = 0; c < cols_; ++c) {
        double mean = 0;
        for (Eigen::Index r = 0; r < rows_; ++r) mean += square(r, c) / double(rows_);
        double& average = col_[std::size_t(first + c)];
        average = b * average + (1 - b) * mean;
      }
      for (Eigen::Index r = 0; r < rows_; ++r) {
        for (Eigen::Index c = 0; c < cols_; ++c) {
          const Eigen::Index i = first + r * cols_ + c;
          double& average = full_[std::size_t(i)];
          average = b * average + (1 - b) * square(r, c);
          const double v = is_factored_ ? row_[std::size_t(first + r)] *
                                              col_[std::size_t(first + c)] / mean_of_rows
                                        : average;
          u.push_back(gradient[block_.offset + i] / std::sqrt(v));
        }
      }
    }
    double squares = 0;
    double theta_squares = 0;
    for (Eigen::Index i = 0; i < block_.size; ++i) {
      squares += u[std::size_t(i)] * u[std::size_t(i)];
      theta_squares += std::pow(theta[block_.offset + i], 2);
    }
    const double rms = std::sqrt(squares / double(block_.size));
    const double scale = std::max(1e-3, std::sqrt(theta_squares / double(block_.size)));
    for (double& entry : u) entry *= -scale / std::max(1.0, rms);
    return u;
  }

 private:
  ParameterBlock block_;
  Eigen::Index rows_;
  Eigen::Index cols_;
  bool is_factored_;
  int t_ = 0;
  std::vector<double> row_, col_, full_;
};

TEST(Adafactor, AgreesWithPlainLoopsOnMatricesVectorsStacksAndNumbers) {
  const auto blocks = test::mixed_blocks();
  const auto rule = make_update_rule("adafactor", {}, blocks);
  std::vector<ByPlainLoops> loops(blocks.begin(), blocks.end());
  VectorXd x = numbers(23, 5);
  for (std::uint64_t t = 1; t <= 5; ++t) {
    const VectorXd g = numbers(23, 100 + t);
    const VectorXd u = rule->step(x, g);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const std::vector<double> expected = loops[b].step(x, g);
      for (Eigen::Index i = 0; i < blocks[b].size; ++i) {
        EXPECT_NEAR(u[blocks[b].offset + i], expected[std::size_t(i)], 1e-14) << blocks[b].name;
      }
    }
    x += 0.1 * u;
  }
}

}  // namespace
}  // namespace hesscope
