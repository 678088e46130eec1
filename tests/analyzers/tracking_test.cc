// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/analysis/analyze.h>
#include <hesscope/analyzers/internal/eigenpair_matching.h>
#include <hesscope/core/constants.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/models/model.h>

#include "support/closed_form_objectives.h"
#include "support/decompositions.h"
#include "support/matrices.h"
#include "support/maxima.h"
#include "support/random_objective.h"

namespace hesscope {
namespace {

using detail::ClusteredEnd;
using detail::EigenpairMatching;
using detail::TrackedPairs;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// f = sign (5 (x^2 + y^2) + a (x^2 - y^2) / 2 + b x y + (a^2 + b^2) / 2): at x = y = 0 and sign = 1
// H is [10 + a, b; b, 10 - a] and the identity, with the eigenvalues 10 + r and 10 - r,
// r = |(a, b)| = r |(cos 2 phi, sin 2 phi)|; the eigenvector of 10 + r is (cos phi, sin phi).
GraphObjective rotating(double sign = 1) {
  ModelBuilder builder("formula");
  const Var all = builder.parameter("x", {4});
  builder.array("none", {});
  const auto entry = [&](Index i) { return slice(all, i, 0, 1, 1); };
  const Var x = entry(0);
  const Var y = entry(1);
  const Var a = entry(2);
  const Var b = entry(3);
  Model model = builder.finish(
      sign * (5.0 * (square(x) + square(y)) + 0.5 * hadamard(a, square(x) - square(y)) +
              hadamard(b, hadamard(x, y)) + 0.5 * (square(a) + square(b))));
  return {std::move(model), SampleTable::Zero(1, 1)};
}

std::vector<NamedPoint> path(const std::vector<std::pair<double, double>>& places) {
  std::vector<NamedPoint> points;
  for (const auto& [a, b] : places) {
    points.push_back({std::to_string(points.size()), Eigen::Vector4d(0, 0, a, b)});
  }
  return points;
}

Analysis tracking(const std::vector<std::pair<double, double>>& places,
                  std::int64_t count = 2,
                  double sign = 1) {
  const GraphObjective objective = rotating(sign);
  return analyze(objective, path(places), {"tracking"}, {.options = {{"tracking", count}}});
}

std::pair<double, double> at_angle(double phi, double r = 2) {
  return {r * std::cos(2 * phi), r * std::sin(2 * phi)};
}

using Numbers = std::vector<double>;

Numbers numbers(const Answers& answers, const std::string& name) {
  const VectorXd values = answers.values("tracking", name);
  return {values.begin(), values.end()};
}

void expect_near(const Numbers& found, const Numbers& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << i;
}

TEST(TrackingAnalyzer, OfARotationHasTheCosinesOfItsAngle) {
  const std::vector<double> angles = {0.1, 0.4, 1.0, -0.2};  // turns by 0.3, 0.6 and -1.2
  std::vector<std::pair<double, double>> places;
  for (const double angle : angles) places.push_back(at_angle(angle));
  const Analysis analysis = tracking(places);
  for (std::size_t i = 1; i < angles.size(); ++i) {
    const double c = std::abs(std::cos(angles[i] - angles[i - 1]));
    const double s = std::abs(std::sin(angles[i] - angles[i - 1]));
    expect_near(numbers(analysis[i], "eigenvalues_largest"), {12, 8}, 1e-13);
    expect_near(numbers(analysis[i], "overlaps_largest"), {c, s, s, c}, 1e-14);
    // Beyond 45 degrees each lies closer to the other.
    const bool is_swapped = s > c;
    EXPECT_EQ(numbers(analysis[i], "continued_largest"),
              is_swapped ? Numbers({1, 0}) : Numbers({0, 1}));
    expect_near(numbers(analysis[i], "overlap_largest"), {std::max(c, s), std::max(c, s)}, 1e-14);
  }
  EXPECT_EQ(numbers(analysis.run(), "track_largest"), Numbers({0, 1, 0, 1, 0, 1, 1, 0}));
}

// With b = 0 the eigenvectors stand still and the eigenvalues change their order.
TEST(TrackingAnalyzer, FollowsEigenvaluesThroughACrossing) {
  const Analysis analysis = tracking({{-2, 0}, {-0.5, 0}, {0.5, 0}, {2, 0}});
  expect_near(numbers(analysis[2], "eigenvalues_largest"), {10.5, 9.5}, 1e-14);
  EXPECT_EQ(numbers(analysis[1], "continued_largest"), Numbers({0, 1}));
  EXPECT_EQ(numbers(analysis[2], "continued_largest"), Numbers({1, 0}));
  EXPECT_EQ(numbers(analysis[3], "continued_largest"), Numbers({0, 1}));
  for (std::size_t i = 1; i < 4; ++i) {
    expect_near(numbers(analysis[i], "overlap_largest"), {1, 1}, 1e-14);
  }
  EXPECT_EQ(numbers(analysis.run(), "track_largest"), Numbers({0, 1, 0, 1, 1, 0, 1, 0}));
}

// With b > 0 they come no closer than 2 b, and the eigenvectors turn by 90 degrees: in small steps
// each stays what it is by rank, in one step from one side to the other it changes.
TEST(TrackingAnalyzer, OfAnAvoidedCrossingSeesWhatTheCheckpointsShow) {
  std::vector<std::pair<double, double>> places;
  for (int i = -20; i <= 20; ++i) places.emplace_back(0.1 * i, 0.3);
  const Analysis fine = tracking(places);
  const Numbers tracks = numbers(fine.run(), "track_largest");
  ASSERT_EQ(tracks.size(), 2 * places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(tracks[2 * i], 0);
    EXPECT_EQ(tracks[2 * i + 1], 1);
  }
  const Analysis coarse = tracking({{-2, 0.3}, {2, 0.3}});
  EXPECT_EQ(numbers(coarse[1], "continued_largest"), Numbers({1, 0}));
  // The angle is 90 degrees less twice that of the first eigenvector with the axis.
  const double angle = std::numbers::pi / 2 - std::atan2(0.3, 2);
  expect_near(numbers(coarse[1], "overlap_largest"), {std::sin(angle), std::sin(angle)}, 1e-14);
  EXPECT_EQ(numbers(coarse.run(), "track_largest"), Numbers({0, 1, 1, 0}));
}

// At the crossing itself the two are one space. Both go into it; which comes out where, nobody can
// say.
TEST(TrackingAnalyzer, AtACrossingComparesSpaces) {
  const Analysis analysis = tracking({{-1, 0.5}, {0, 0}, {0, 0}, {1, -3}});
  EXPECT_EQ(numbers(analysis[0], "cluster_largest"), Numbers({0, 1}));
  EXPECT_EQ(numbers(analysis[1], "cluster_largest"), Numbers({0, 0}));
  for (std::size_t i = 1; i < 4; ++i) {
    expect_near(numbers(analysis[i], "overlaps_largest"), {1, 1, 1, 1}, 1e-14);
    EXPECT_EQ(numbers(analysis[i], "continued_largest"), Numbers({0, 1}));
  }
  EXPECT_EQ(numbers(analysis.run(), "track_largest"), Numbers({0, 1, 0, 1, 0, 1, 2, 3}));
}

TEST(TrackingAnalyzer, OfHalfAClusterSaysNothing) {
  const Analysis analysis = tracking({{-1, 0}, {0, 0}, {1, 0}}, 1);
  EXPECT_EQ(analysis[1].status("tracking", "eigenvalues_largest"), Status::kOk);
  for (const char* name : {"cluster_largest", "overlaps_largest", "continued_largest"}) {
    EXPECT_EQ(analysis[1].status("tracking", name), Status::kNotComputed) << name;
  }
  EXPECT_EQ(analysis[2].status("tracking", "cluster_largest"), Status::kOk);
  EXPECT_EQ(analysis[2].status("tracking", "overlap_largest"), Status::kNotComputed);
  const Numbers tracks = numbers(analysis.run(), "track_largest");
  ASSERT_EQ(tracks.size(), 3u);
  EXPECT_EQ(tracks[0], 0);
  EXPECT_TRUE(std::isnan(tracks[1]));
  EXPECT_EQ(tracks[2], 1);
}

TEST(TrackingAnalyzer, OfTheOtherSignIsTheSameAtTheOtherEnd) {
  const std::vector<std::pair<double, double>> places = {{-2, 0.1}, {-0.5, 1}, {0.5, 1}, {1, -2}};
  const Analysis plus = tracking(places);
  const Analysis minus = tracking(places, 2, -1);
  for (std::size_t i = 1; i < places.size(); ++i) {
    for (const std::string name : {"cluster", "continued"}) {
      EXPECT_EQ(numbers(minus[i], name + "_smallest"), numbers(plus[i], name + "_largest")) << name;
    }
    expect_near(
        numbers(minus[i], "overlaps_smallest"), numbers(plus[i], "overlaps_largest"), 1e-14);
  }
  EXPECT_EQ(numbers(minus.run(), "track_smallest"), numbers(plus.run(), "track_largest"));
}

TEST(TrackingAnalyzer, BeforeTheFirstAndBesideNaNHasNothingToContinue) {
  const Analysis analysis = tracking({{-1, 0}, {kNaN, 0}, {1, 0}, {1, 0}});
  EXPECT_EQ(analysis[0].status("tracking", "overlap_largest"), Status::kNotComputed);
  EXPECT_EQ(analysis[1].status("tracking", "eigenvalues_largest"), Status::kNonFinite);
  EXPECT_EQ(analysis[1].status("tracking", "overlap_largest"), Status::kNonFinite);
  EXPECT_EQ(analysis[2].status("tracking", "overlap_largest"), Status::kNonFinite);
  EXPECT_EQ(analysis[3].status("tracking", "overlap_largest"), Status::kOk);
  const Numbers tracks = numbers(analysis.run(), "track_largest");
  ASSERT_EQ(tracks.size(), 8u);
  EXPECT_EQ(Numbers(tracks.begin(), tracks.begin() + 2), Numbers({0, 1}));
  EXPECT_TRUE(std::isnan(tracks[2]) && std::isnan(tracks[3]));
  EXPECT_EQ(Numbers(tracks.begin() + 4, tracks.end()), Numbers({2, 3, 2, 3}));
}

// Searches for other numbers of eigenpairs, before or after, leave the last bits as they are.
TEST(TrackingAnalyzer, HasTheSameBitsWhateverElseRuns) {
  const GraphObjective objective =
      test::random_objective(linear_attention({.layers = 2, .dimension = 3, .context = 5}));
  std::vector<NamedPoint> points;
  for (const double scale : {0.5, 0.51, 0.6}) {
    VectorXd theta(objective.num_parameters());
    for (Index i = 0; i < theta.size(); ++i)
      theta[i] = scale * std::cos(static_cast<double>(i * i));
    points.push_back({std::to_string(points.size()), theta});
  }
  const AnalyzeOptions options = {.options = {{"tracking", std::int64_t{4}}}};
  AnalyzeOptions more = options;
  more.options["eigenpairs"] = std::int64_t{2};
  more.options["sharpening"] = std::int64_t{9};
  const Analysis alone = analyze(objective, points, {"tracking"}, options);
  const Analysis beside =
      analyze(objective, points, {"eigenpairs", "sharpening", "tracking"}, more);
  const Analysis eigenpairs =
      analyze(objective, points, {"eigenpairs"}, {.options = {{"eigenpairs", std::int64_t{2}}}});
  for (std::size_t i = 1; i < points.size(); ++i) {
    for (const std::string end : {"_largest", "_smallest"}) {
      EXPECT_EQ(numbers(alone[i], "eigenvalues" + end), numbers(beside[i], "eigenvalues" + end));
      EXPECT_EQ(numbers(alone[i], "overlaps" + end), numbers(beside[i], "overlaps" + end));
      EXPECT_EQ(eigenpairs[i].values("eigenpairs", "overlap" + end),
                beside[i].values("eigenpairs", "overlap" + end));
    }
  }
}

// Eigenpairs with these sizes of clusters.
ClusteredEnd end_of(MatrixXd vectors, const std::vector<Index>& sizes, bool is_whole = true) {
  ClusteredEnd end{.status = Status::kOk};
  end.values = VectorXd::LinSpaced(vectors.cols(), 1, 2);
  end.vectors = std::move(vectors);
  for (const Index size : sizes) {
    const Index first =
        end.clusters.empty() ? 0 : end.clusters.back().first + end.clusters.back().size;
    end.clusters.push_back({.first = first, .size = size, .is_whole = true});
  }
  end.clusters.back().is_whole = is_whole;
  return end;
}

TEST(MatchEigenpairs, FindsTheBestOfAllPermutations) {
  constexpr Index kCount = 5;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const MatrixXd u = test::random_orthogonal(9, 2 * seed).leftCols(kCount);
    const MatrixXd v = test::random_orthogonal(9, 2 * seed + 1).leftCols(kCount);
    const std::vector<Index> simple(kCount, 1);
    const EigenpairMatching matching =
        detail::match_eigenpairs(end_of(u, simple), end_of(v, simple));
    const MatrixXd squares = (u.transpose() * v).array().square();
    EXPECT_TRUE(test::largest_difference(matching.overlaps.cwiseAbs2(), squares) <= 1e-15);
    const auto sum_of = [&](const std::vector<Index>& order) {
      double sum = 0;
      for (Index i = 0; i < kCount; ++i) sum += squares(i, order[static_cast<std::size_t>(i)]);
      return sum;
    };
    std::vector<Index> order(kCount);
    std::iota(order.begin(), order.end(), Index{0});
    double best = 0;
    do {
      best = std::max(best, sum_of(order));
    } while (std::ranges::next_permutation(order).found);
    EXPECT_NEAR(sum_of(matching.continued), best, 1e-14);
  }
}

TEST(MatchEigenpairs, DoesNotDependOnTheBasisOfACluster) {
  const MatrixXd u = test::random_orthogonal(8, 1).leftCols(5);
  const MatrixXd v = test::random_orthogonal(8, 2).leftCols(5);
  MatrixXd turned_u = u;
  turned_u.middleCols(1, 3) = u.middleCols(1, 3) * test::random_orthogonal(3, 3);
  MatrixXd turned_v = v;
  turned_v.leftCols(2) = v.leftCols(2) * test::random_orthogonal(2, 4);
  const EigenpairMatching plain =
      detail::match_eigenpairs(end_of(u, {1, 3, 1}), end_of(v, {2, 1, 1, 1}));
  const EigenpairMatching turned =
      detail::match_eigenpairs(end_of(turned_u, {1, 3, 1}), end_of(turned_v, {2, 1, 1, 1}));
  EXPECT_TRUE(test::largest_difference(plain.overlaps, turned.overlaps) <= 1e-15);
  EXPECT_EQ(plain.continued, turned.continued);
  // By the definition: singular values of U' V.
  const VectorXd cosines = test::singular_values(u.middleCols(1, 3).transpose() * v.leftCols(2));
  EXPECT_NEAR(plain.overlaps(2, 1), std::sqrt(cosines.squaredNorm() / 2), 1e-15);
}

TEST(MatchEigenpairs, LeavesOutClustersThatAreCut) {
  const MatrixXd u = test::random_orthogonal(6, 1).leftCols(3);
  const EigenpairMatching matching =
      detail::match_eigenpairs(end_of(u, {1, 2}, false), end_of(u, {1, 1, 1}));
  EXPECT_EQ(matching.continued, std::vector<Index>({0, -1, -1}));
  EXPECT_NEAR(matching.overlaps(0, 0), 1, 1e-15);
  EXPECT_TRUE(matching.overlaps.bottomRows(2).array().isNaN().all());
}

// Turned by 60 degrees about (1, 1, 1) each has the overlaps 2/3, 2/3 and 1/3: a best one there is,
// but it is no fact.
TEST(TrackNumbers, EndWhereAMatchIsWeak) {
  MatrixXd turn(3, 3);
  turn << 2, -1, 2, 2, 2, -1, -1, 2, 2;
  turn /= 3;
  const EigenpairMatching matching = detail::match_eigenpairs(
      end_of(MatrixXd::Identity(3, 3), {1, 1, 1}), end_of(turn, {1, 1, 1}));
  TrackedPairs before{
      .cluster = {0, 1, 2}, .continued = Numbers(3, kNaN), .overlap = before.continued};
  TrackedPairs now{.cluster = {0, 1, 2}, .continued = {}, .overlap = {}};
  for (Index i = 0; i < 3; ++i) {
    const Index j = matching.continued[static_cast<std::size_t>(i)];
    EXPECT_NEAR(matching.overlaps(i, j), 2.0 / 3, 1e-15);
    now.continued.push_back(static_cast<double>(j));
    now.overlap.push_back(matching.overlaps(i, j));
  }
  const std::vector<TrackedPairs> both = {before, now};
  EXPECT_EQ(detail::track_numbers(both)[1], Numbers({3, 4, 5}));
}

// Both of {0, 1} go into one cluster; one of {2, 3} goes elsewhere, so both begin anew.
TEST(TrackNumbers, GoOnWhereAClusterStaysWhole) {
  const TrackedPairs before{
      .cluster = {0, 0, 1, 1}, .continued = Numbers(4, kNaN), .overlap = Numbers(4, kNaN)};
  const TrackedPairs now{
      .cluster = {0, 1, 1, 1}, .continued = {3, 0, 1, 2}, .overlap = {1, 1, 1, 1}};
  EXPECT_EQ(detail::track_numbers(std::vector{before, now})[1], Numbers({4, 0, 1, 5}));
}

}  // namespace
}  // namespace hesscope
