// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>

#include "optim/rules.h"
#include "support/decompositions.h"
#include "support/matrices.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::distance;
using test::expect_refusal;
using test::mixed_blocks;
using test::numbers;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::vector<ParameterBlock> matrix_block(Index rows, Index cols) {
  return {{.name = "W", .shape = {rows, cols}, .offset = 0, .size = rows * cols}};
}

// What five iterations make of a singular value.
double iterated(double s, int count = 5) {
  for (int i = 0; i < count; ++i) {
    s = 3.4445 * s - 4.7750 * std::pow(s, 3) + 2.0315 * std::pow(s, 5);
  }
  return s;
}

// The iteration keeps singular vectors and maps singular values, of any shape and of low rank.
TEST(Muon, MapsSingularValuesByTheIteration) {
  const std::vector<std::pair<Index, Index>> shapes = {{4, 4}, {7, 3}, {3, 7}, {1, 5}, {5, 1}};
  for (const auto& [rows, cols] : shapes) {
    const VectorXd g = numbers(rows * cols, 17);
    const Eigen::Map<const RowMajor> matrix(g.data(), rows, cols);
    const test::SingularTriplets svd = test::singular_triplets(matrix);
    const double norm = matrix.norm() + 1e-7;
    const MatrixXd mapped =
        svd.U * svd.values.unaryExpr([&](double s) { return iterated(s / norm); }).asDiagonal() *
        svd.V.transpose();
    const double scale = std::sqrt(std::max(1.0, double(rows) / double(cols)));
    const auto rule = make_update_rule("muon", {{"momentum", 0.0}}, matrix_block(rows, cols));
    const VectorXd u = rule->step(g, g);
    const Eigen::Map<const RowMajor> update(u.data(), rows, cols);
    EXPECT_LE((update + scale * mapped).norm(), 1e-13) << rows << " x " << cols;
  }
}

TEST(Muon, BringsSingularValuesNearOne) {
  VectorXd singular(5);
  singular << 1, 0.3, 0.1, 0.03, 0.0106;
  const MatrixXd q = test::random_orthogonal(5, 3);
  const RowMajor g = q * singular.asDiagonal() * q.transpose() / singular.norm() * 1e3;
  const VectorXd flat = Eigen::Map<const VectorXd>(g.data(), 25);
  const VectorXd u = make_update_rule("muon", {}, matrix_block(5, 5))->step(flat, flat);
  const VectorXd found = test::singular_values(Eigen::Map<const RowMajor>(u.data(), 5, 5));
  EXPECT_LE(found.maxCoeff<Eigen::PropagateNaN>(), 1.14);
  EXPECT_GE(found.minCoeff<Eigen::PropagateNaN>(), 0.68);
}

// M = G + mu B with B the sum of mu^k times the gradients before; without Nesterov's, B.
TEST(Muon, OrthogonalizesNesterovsMomentum) {
  const VectorXd g1 = numbers(6, 1);
  const VectorXd g2 = numbers(6, 2);
  for (const bool is_nesterov : {true, false}) {
    const auto rule = make_update_rule(
        "muon", {{"momentum", 0.75}, {"nesterov", is_nesterov}}, matrix_block(2, 3));
    rule->step(g1, g1);
    const VectorXd b = 0.75 * g1 + g2;
    const VectorXd m = is_nesterov ? VectorXd(g2 + 0.75 * b) : b;
    const auto plain = make_update_rule("muon", {{"momentum", 0.0}}, matrix_block(2, 3));
    EXPECT_LE(distance(rule->step(g1, g2), plain->step(g1, m)), 1e-14);
  }
}

// Vectors, numbers and named matrices take the steps of AdamW at a rate of their own.
TEST(Muon, LeavesTheRestToAdam) {
  const test::SettingMap adam = {
      {"beta1", 0.8}, {"beta2", 0.9}, {"epsilon", 1e-3}, {"weight-decay", 0.1}};
  test::SettingMap settings = adam;
  settings["adam-rate"] = 0.25;
  settings["adam-blocks"] = std::vector<std::string>{"W*"};
  const auto rule = make_update_rule("muon", settings, mixed_blocks());
  const auto reference = make_update_rule("adamw", adam, mixed_blocks());
  VectorXd x = numbers(23, 5);
  for (std::uint64_t t = 1; t <= 4; ++t) {
    const VectorXd g = numbers(23, 50 + t);
    const VectorXd u = rule->step(x, g);
    const VectorXd expected = 0.25 * reference->step(x, g);
    EXPECT_EQ(u.head(10), expected.head(10));
    EXPECT_EQ(u.tail(1), expected.tail(1));
    EXPECT_GT(distance(u.segment(10, 12), expected.segment(10, 12)), 0.1);
    x += 0.1 * u;
  }
}

// A stack's matrices are apart; a kernel is one matrix.
TEST(Muon, TakesStacksMatrixByMatrixAndKernelsWhole) {
  const VectorXd g = numbers(24, 9);
  const auto of = [&](const std::vector<std::int64_t>& shape, const VectorXd& gradient) {
    const std::vector<ParameterBlock> blocks = {{"H", shape, 0, gradient.size()}};
    return make_update_rule("muon", {}, blocks)->step(gradient, gradient);
  };
  const VectorXd stack = of({2, 4, 3}, g);
  EXPECT_EQ(stack.head(12), of({4, 3}, g.head(12)));
  EXPECT_EQ(stack.tail(12), of({4, 3}, g.tail(12)));
  EXPECT_EQ(of({2, 3, 2, 2}, g), of({2, 12}, g));
  EXPECT_EQ(of({12, 2, 1, 1}, g), of({12, 2}, g));
}

TEST(Muon, ScalesByShapeAndDecaysWeights) {
  const VectorXd g = numbers(8, 4);
  const VectorXd x = numbers(8, 5);
  const auto step = [&](const test::SettingMap& settings) {
    return make_update_rule("muon", settings, matrix_block(4, 2))->step(x, g);
  };
  const VectorXd plain = step({{"scale-by-shape", false}});
  EXPECT_LE(distance(step({}), std::sqrt(2.0) * plain), 1e-15);
  EXPECT_LE(distance(step({{"scale-by-shape", false}, {"weight-decay", 0.5}}), plain - 0.5 * x),
            1e-15);
}

TEST(Muon, TakesGradientsOfAnySize) {
  const VectorXd g = numbers(6, 4);
  const auto step = [&](double scale) {
    return make_update_rule("muon", {}, matrix_block(2, 3))->step(g, scale * g);
  };
  EXPECT_LE(distance(step(1e200), step(1e6)), 1e-12);
  EXPECT_LE(step(1e-200).norm(), 1e-100);  // 1e-7 added to the norm makes it nearly 0
}

TEST(Muon, RefusesNamesThatNoBlockHas) {
  const test::SettingMap settings = {{"adam-blocks", std::vector<std::string>{"V"}}};
  expect_refusal<ConfigError>([&] { make_update_rule("muon", settings, mixed_blocks()); },
                              "no parameter is named 'V'");
  expect_refusal<ConfigError>(
      [] {
        make_update_rule("muon", {{"momentum", 1.0}}, mixed_blocks());
      },
      "'momentum' must be at least 0 and below 1, got 1");
}

}  // namespace
}  // namespace hesscope
