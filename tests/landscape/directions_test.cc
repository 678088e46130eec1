// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <Eigen/LU>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/landscape/directions.h>
#include <hesscope/landscape/internal/direction_tools.h>
#include <hesscope/landscape/plane.h>

#include "landscape/indefinite_quadratic.h"
#include "problem/npz_writer.h"
#include "support/decompositions.h"
#include "support/files.h"
#include "support/maxima.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using test::expect_refusal;

constexpr Eigen::Index kSize = test::IndefiniteQuadratic::kSize;

class DirectionsTest : public ::testing::Test {
 protected:
  DirectionsTest() {
    theta_ = test::uniform(kSize, 1, 11);
    theta_.segment(4, 4).setZero();  // a row of the matrix
    set_checkpoints({theta_});
  }

  void set_checkpoints(std::vector<Eigen::VectorXd> points) {
    points_ = std::move(points);
    files_.assign(points_.size(), {"point.npz", std::nullopt});
    centre_.emplace(objective_, points_.back());
  }

  DirectionContext context() {
    return {.centre = *centre_, .checkpoints = points_, .files = files_, .seed = 5};
  }

  static Directions make(const std::string& text, const DirectionContext& context) {
    const NamedDirections named = find_direction_kind(text);
    return named.kind->prepare(named.argument, context).make();
  }

  Directions make(const std::string& text) { return make(text, context()); }

  static double number(const Directions& directions, const std::string& name) {
    return directions.facts[name].number();
  }

  const test::IndefiniteQuadratic objective_;
  Eigen::VectorXd theta_;
  std::vector<Eigen::VectorXd> points_;
  std::vector<CheckpointFile> files_;
  std::optional<PointAnalysis> centre_;
};

// Slices that filter normalisation scales: first entry and size.
const std::pair<Eigen::Index, Eigen::Index> kFilters[] = {
    {0, 4}, {4, 4}, {8, 4}, {12, 3}, {15, 1}, {16, 4}, {20, 4}};
const std::pair<Eigen::Index, Eigen::Index> kLayers[] = {{0, 12}, {12, 3}, {15, 1}, {16, 8}};

double norm_of(const Eigen::VectorXd& v, std::pair<Eigen::Index, Eigen::Index> part) {
  double squares = 0;
  for (Eigen::Index i = part.first; i < part.first + part.second; ++i) squares += v[i] * v[i];
  return std::sqrt(squares);
}

TEST(NormalizedDirections, OfATensorWithoutEntriesAreNone) {
  const Eigen::VectorXd theta = Eigen::VectorXd::Ones(2);
  for (const Normalization kind : {Normalization::kFilter, Normalization::kLayer}) {
    Eigen::VectorXd direction = Eigen::Vector2d(3, 4);
    detail::normalize({"empty", {0, 3}, 1, 0}, theta, kind, false, direction);
    EXPECT_EQ(direction, Eigen::Vector2d(3, 4));
  }
}

TEST_F(DirectionsTest, RandomHasTheNormOfEveryFilter) {
  const Directions directions = make("random");
  ASSERT_EQ(directions.columns.cols(), 2);
  for (const Eigen::VectorXd d : directions.columns.colwise()) {
    for (const auto& filter : kFilters) {
      EXPECT_NEAR(norm_of(d, filter), norm_of(theta_, filter), 1e-15);
    }
  }
  EXPECT_EQ(norm_of(directions.columns.col(0), {4, 4}), 0);  // a dead filter stays dead
  EXPECT_TRUE(std::abs(cosine(directions.columns.col(0), directions.columns.col(1))) < 0.9);
}

TEST_F(DirectionsTest, RandomPointsWhereTheNumbersPointed) {
  DirectionContext plain = context();
  plain.normalization = Normalization::kNone;
  const Eigen::MatrixXd drawn = make("random", plain).columns;
  const Eigen::MatrixXd scaled = make("random").columns;
  for (const auto& [first, size] : kFilters) {
    if (first == 4) continue;  // zero
    const Eigen::VectorXd a = drawn.block(first, 0, size, 1);
    const Eigen::VectorXd b = scaled.block(first, 0, size, 1);
    EXPECT_NEAR(cosine(a, b), 1, 1e-15);
  }
  // 48 standard normal numbers.
  EXPECT_TRUE(drawn.squaredNorm() > 20 && drawn.squaredNorm() < 90);
}

TEST_F(DirectionsTest, RandomHasTheNormOfEveryLayer) {
  DirectionContext by_layers = context();
  by_layers.normalization = Normalization::kLayer;
  const Eigen::MatrixXd columns = make("random", by_layers).columns;
  for (const auto& layer : kLayers) {
    EXPECT_NEAR(norm_of(columns.col(1), layer), norm_of(theta_, layer), 1e-15);
  }
  EXPECT_TRUE(norm_of(columns.col(1), {4, 4}) > 0);
}

TEST_F(DirectionsTest, RandomLeavesOutVectorsIfTold) {
  for (const Normalization normalization :
       {Normalization::kFilter, Normalization::kLayer, Normalization::kNone}) {
    DirectionContext matrices = context();
    matrices.normalization = normalization;
    const Eigen::MatrixXd with = make("random", matrices).columns;
    matrices.leaves_out_vectors = true;
    const Eigen::MatrixXd without = make("random", matrices).columns;
    EXPECT_EQ(without.middleRows(12, 4), Eigen::MatrixXd::Zero(4, 2));
    EXPECT_EQ(without.topRows(12), with.topRows(12));
    EXPECT_EQ(without.bottomRows(8), with.bottomRows(8));
  }
}

TEST_F(DirectionsTest, RandomFollowsTheSeedAlone) {
  const Eigen::MatrixXd columns = make("random").columns;
  EXPECT_EQ(make("random").columns, columns);
  DirectionContext line = context();
  line.needs_second = false;
  EXPECT_EQ(make("random", line).columns, columns.leftCols(1));
  DirectionContext other = context();
  other.seed = 6;
  EXPECT_NE(make("random", other).columns, columns);
}

TEST_F(DirectionsTest, EigenAreEigenvectorsOfTheRanksAskedFor) {
  const test::Eigenpairs oracle = test::eigenpairs(objective_.A);
  const auto expect = [&](const std::string& text, Eigen::Index first, Eigen::Index second) {
    const Directions directions = make(text);
    ASSERT_EQ(directions.status, Status::kOk) << text;
    const Eigen::Index ranks[] = {first, second};
    for (Eigen::Index k = 0; k < 2; ++k) {
      const Eigen::VectorXd v = directions.columns.col(k);
      const double value = oracle.values[ranks[k]];
      EXPECT_TRUE((objective_.A * v - value * v).norm() <= 1e-12) << text;
      EXPECT_NEAR(v.norm(), 1, 1e-14) << text;
      EXPECT_NEAR(std::abs(v.dot(oracle.vectors.col(ranks[k]))), 1, 1e-12) << text;
      EXPECT_EQ(v.maxCoeff<Eigen::PropagateNaN>(), test::largest_magnitude(v)) << text;
      EXPECT_NEAR(number(directions, "eigenvalue_" + std::to_string(k + 1)), value, 1e-12) << text;
      Eigen::VectorXd distances = (oracle.values.array() - value).abs();
      distances[ranks[k]] = kInfinity;
      const double gap =
          distances.minCoeff<Eigen::PropagateNaN>() / test::largest_magnitude(oracle.values);
      EXPECT_NEAR(number(directions, "gap_" + std::to_string(k + 1)), gap, 1e-12) << text;
    }
  };
  expect("eigen", kSize - 1, kSize - 2);
  expect("eigen:0,-1", kSize - 1, 0);
  expect("eigen:-2,3", 1, kSize - 4);
  expect("eigen:11,-24", kSize - 12, kSize - 1);
}

TEST_F(DirectionsTest, EigenRefusesWhatIsNoRank) {
  for (const char* argument : {"0,24", "0,-25", "0,x", "0,1.5", "0,"}) {
    expect_refusal<ConfigError>([&] { make(std::string("eigen:") + argument); }, "a rank must be");
  }
  expect_refusal<ConfigError>([&] { make("eigen:0"); }, "two ranks");
  expect_refusal<ConfigError>([&] { make("eigen:0,1,2"); }, "two ranks");
  expect_refusal<ConfigError>([&] { make("eigen:1,1"); }, "twice");
  expect_refusal<ConfigError>([&] { make("eigen:0,-24"); }, "twice");
}

TEST_F(DirectionsTest, PcaAreTheLeadingEigenvectorsOfTheScatterOfTheSteps) {
  const Eigen::MatrixXd few = test::uniform(kSize, 5, 21);
  std::vector<Eigen::VectorXd> points;
  for (Eigen::Index t = 0; t < 5; ++t) points.push_back(few.col(t) * static_cast<double>(5 - t));
  set_checkpoints(points);
  Eigen::MatrixXd scatter = Eigen::MatrixXd::Zero(kSize, kSize);
  for (const Eigen::VectorXd& point : points) {
    const Eigen::VectorXd step = point - points.back();
    scatter += step * step.transpose();
  }
  const test::Eigenpairs oracle = test::eigenpairs(scatter);
  const Directions directions = make("pca");
  for (Eigen::Index k = 0; k < 2; ++k) {
    const Eigen::VectorXd v = directions.columns.col(k);
    const Eigen::Index rank = kSize - 1 - k;
    EXPECT_NEAR(v.norm(), 1, 1e-14);
    EXPECT_NEAR(std::abs(v.dot(oracle.vectors.col(rank))), 1, 1e-12);
    EXPECT_EQ(v.maxCoeff<Eigen::PropagateNaN>(), test::largest_magnitude(v));
    EXPECT_NEAR(number(directions, "explained_" + std::to_string(k + 1)),
                oracle.values[rank] / scatter.trace(),
                1e-13);
  }
}

TEST_F(DirectionsTest, PcaOfThreePointsHoldsThemAll) {
  const Eigen::MatrixXd three = test::uniform(kSize, 3, 22);
  set_checkpoints({three.col(0), three.col(1), three.col(2)});
  const Plane plane{points_[2], make("pca").columns};
  for (const Eigen::VectorXd& point : points_) {
    EXPECT_TRUE(plane.project(point).residual <= 1e-14);
  }
}

TEST_F(DirectionsTest, PcaNeedsASecondComponent) {
  const Eigen::VectorXd step = test::uniform(kSize, 1, 23);
  set_checkpoints({theta_, theta_ + step, theta_ + 3 * step});
  expect_refusal<InputError>([&] { make("pca"); }, "on a line");
  DirectionContext line = context();
  line.needs_second = false;
  EXPECT_NEAR(std::abs(cosine(make("pca", line).columns, step)), 1, 1e-14);
  set_checkpoints({theta_, theta_, theta_});
  expect_refusal<InputError>([&] { make("pca"); }, "the same");
  set_checkpoints({theta_, theta_ + step * NAN, theta_});
  expect_refusal<InputError>([&] { make("pca"); }, "NaN");
}

TEST_F(DirectionsTest, BetweenIsTheDifferenceAndAnOrthogonalOneOfItsNorm) {
  const Eigen::VectorXd other = test::uniform(kSize, 1, 24);
  set_checkpoints({theta_, other});
  const Eigen::MatrixXd columns = make("between").columns;
  EXPECT_EQ(columns.col(0), other - theta_);
  EXPECT_NEAR(columns.col(1).norm(), columns.col(0).norm(), 1e-14);
  EXPECT_TRUE(std::abs(cosine(columns.col(0), columns.col(1))) <= 1e-15);
  EXPECT_EQ(find_direction_kind("between").kind->prepare("", context()).path_end, 1U);
}

TEST_F(DirectionsTest, UpdateGoesDownTheGradientOrItsSigns) {
  const Eigen::VectorXd g = objective_.b + objective_.A * theta_;
  Eigen::MatrixXd columns = make("update:gradient").columns;
  EXPECT_TRUE((columns.col(0) + g / g.norm()).norm() <= 1e-15);
  EXPECT_NEAR(columns.col(1).norm(), 1, 1e-14);
  EXPECT_TRUE(std::abs(columns.col(0).dot(columns.col(1))) <= 1e-15);
  columns = make("update:sign").columns;
  for (Eigen::Index i = 0; i < kSize; ++i) {
    EXPECT_NEAR(columns(i, 0), (g[i] > 0 ? -1 : 1) / std::sqrt(24.0), 1e-15);
  }
  expect_refusal<ConfigError>([&] { make("update:sgin"); }, "did you mean 'sign'");
  set_checkpoints({Eigen::VectorXd::Constant(kSize, 1e300)});
  EXPECT_EQ(make("update:gradient").status, Status::kNonFinite);
}

// What rounding leaves of the gradient there points nowhere; a direction of zero is refused.
TEST_F(DirectionsTest, UpdateIsZeroAtACriticalPoint) {
  const Eigen::PartialPivLU<Eigen::MatrixXd> solver(objective_.A);
  Eigen::VectorXd theta = -solver.solve(objective_.b);
  theta -= solver.solve(objective_.b + objective_.A * theta);
  set_checkpoints({theta});
  ASSERT_TRUE(centre_->gradient().norm() > 0);
  for (const char* rule : {"update:gradient", "update:sign"}) {
    const Directions directions = make(rule);
    EXPECT_EQ(directions.status, Status::kOk) << rule;
    EXPECT_EQ(directions.columns, Eigen::MatrixXd(Eigen::VectorXd::Zero(kSize))) << rule;
  }
}

TEST_F(DirectionsTest, TensorsStayInsideTheTensorsNamed) {
  DirectionContext by_layers = context();
  by_layers.normalization = Normalization::kLayer;
  const Eigen::MatrixXd columns = make("tensors:cube,weight", by_layers).columns;
  EXPECT_NEAR(columns.col(0).norm(), theta_.segment(16, 8).norm(), 1e-15);
  EXPECT_EQ(columns.col(0).head(16), Eigen::VectorXd::Zero(16));
  EXPECT_NEAR(columns.col(1).norm(), theta_.head(12).norm(), 1e-15);
  EXPECT_EQ(columns.col(1).tail(12), Eigen::VectorXd::Zero(12));
  const Eigen::MatrixXd twice = make("tensors:cube,cube", by_layers).columns;
  EXPECT_TRUE(std::abs(cosine(twice.col(0), twice.col(1))) < 0.99);
  expect_refusal<ConfigError>([&] { make("tensors:weight,bais"); }, "did you mean 'bias'");
  expect_refusal<ConfigError>([&] { make("tensors:weight"); }, "two tensors");
  expect_refusal<ConfigError>([&] { make("tensors:scale,scale"); }, "one entry");
}

TEST_F(DirectionsTest, FileHoldsThemInOneOfThreeWays) {
  const test::ScratchFolder folder;
  const Eigen::MatrixXd d = test::uniform(kSize, 2, 25);
  const auto values = [&d](Eigen::Index k, Eigen::Index first, Eigen::Index size) {
    const double* begin = d.col(k).data() + first;
    return std::vector<double>(begin, begin + size);
  };
  const std::filesystem::path path = folder / "directions.npz";
  const std::string text = "file:" + path.string();
  test::write_npz(
      path, {{"direction_1", {{24}, values(0, 0, 24)}}, {"direction_2", {{24}, values(1, 0, 24)}}});
  EXPECT_EQ(make(text).columns, d);
  std::map<std::string, test::Tensor> tensors;
  for (const ParameterBlock& block : objective_.parameter_blocks()) {
    tensors[block.name] = {block.shape, values(0, block.offset, block.size)};
  }
  test::write_npz(path, tensors);
  DirectionContext line = context();
  line.needs_second = false;
  EXPECT_EQ(make(text, line).columns, d.col(0));
  expect_refusal<InputError>([&] { make(text); }, "direction_1");
  for (const Eigen::Index k : {0, 1}) {
    for (const ParameterBlock& block : objective_.parameter_blocks()) {
      tensors["direction_" + std::to_string(k + 1) + "." + block.name] = {
          block.shape, values(k, block.offset, block.size)};
    }
  }
  test::write_npz(path, tensors);
  EXPECT_EQ(make(text).columns, d);
  tensors["direction_2.cube"].shape = {8};
  test::write_npz(path, tensors);
  expect_refusal<InputError>([&] { make(text); }, "'direction_2.cube': expected shape (2, 2, 2)");
  tensors.erase("direction_2.cube");
  test::write_npz(path, tensors);
  expect_refusal<InputError>([&] { make(text); }, "direction_2.cube");
  test::write_npz(path, {{"direction_1", {{23}, values(0, 0, 23)}}});
  expect_refusal<InputError>([&] { make(text, line); }, "expected shape (24,)");
  test::write_npz(path, {{"direction_1", {{24}, std::vector<double>(24, NAN)}}});
  expect_refusal<InputError>([&] { make(text, line); }, "NaN");
  expect_refusal<InputError>([&] { make("file:" + (folder / "nothere.npz").string()); }, "nothere");
}

TEST_F(DirectionsTest, FileHasTheNamesOfTheCheckpoints) {
  const test::ScratchFolder folder;
  const Eigen::VectorXd d = test::uniform(kSize, 1, 26);
  const io::TensorMap map{
      .rules = {{.name = "*", .source = "net.*"}, {.name = "running", .source = "buffers.running"}},
      .ignored = {"epoch"},
      .key = "model"};
  DirectionContext line = context();
  line.needs_second = false;
  line.map = &map;
  for (const std::string prefix : {"direction_1.net.", "direction_1.module.net.", "net."}) {
    std::map<std::string, test::Tensor> tensors;
    for (const ParameterBlock& block : objective_.parameter_blocks()) {
      const double* const begin = d.data() + block.offset;
      tensors[prefix + block.name] = {block.shape, std::vector(begin, begin + block.size)};
    }
    const std::filesystem::path path = folder / (prefix + "npz");
    test::write_npz(path, tensors);
    EXPECT_EQ(make("file:" + path.string(), line).columns, d) << prefix;
  }
}

TEST(DirectionRegistry, FindsKindsAndSaysWhatIsWrong) {
  EXPECT_EQ(find_direction_kind("eigen:1,2").argument, "1,2");
  EXPECT_EQ(find_direction_kind("file:a:b").argument, "a:b");
  expect_refusal<ConfigError>([] { find_direction_kind(""); },
                              "`directions` must be given; there are random, eigen");
  expect_refusal<ConfigError>([] { find_direction_kind("egien"); }, "did you mean 'eigen'");
  expect_refusal<ConfigError>([] { find_direction_kind("random:3"); }, "takes no argument");
  expect_refusal<ConfigError>([] { find_direction_kind("update"); }, "update:gradient|sign");
  expect_refusal<ConfigError>([] { find_direction_kind("file:"); }, "file:PATH");
}

}  // namespace
}  // namespace hesscope
