// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <Eigen/Core>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/executor.h>
#include <hesscope/landscape/surface.h>

#include "landscape/indefinite_quadratic.h"
#include "support/decompositions.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using test::expect_refusal;

class SurfaceOfAQuadratic : public ::testing::Test {
 protected:
  const test::IndefiniteQuadratic objective;
  const Plane plane{test::uniform(24, 1, 7), test::uniform(24, 2, 8)};

  // All tiles of a quantity, one after the other.
  static std::vector<double> all(const Surface& surface, const std::string& name) {
    std::vector<double> values;
    for (Eigen::Index tile = 0; tile < surface.num_tiles(); ++tile) {
      const Group record = surface.tile(tile, [](double) {});
      const Variable& part = record[name];
      EXPECT_EQ(part.statuses.size(), static_cast<std::size_t>(surface.size_of(tile)));
      if (const auto* counts = std::get_if<std::vector<std::int64_t>>(&part.values)) {
        for (const std::int64_t count : *counts) {
          values.push_back(count == kMissingCount ? std::nan("") : static_cast<double>(count));
        }
      } else {
        values.insert(values.end(), part.reals().begin(), part.reals().end());
      }
    }
    return values;
  }

  static std::vector<Status> statuses(const Surface& surface, const std::string& name) {
    std::vector<Status> all;
    for (Eigen::Index tile = 0; tile < surface.num_tiles(); ++tile) {
      const Group record = surface.tile(tile, [](double) {});
      const std::vector<Status>& part = record[name].statuses;
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }
};

TEST_F(SurfaceOfAQuadratic, HasTheModelsLossAtEveryPoint) {
  const Grid grid = parse_grid("41x57", "-2:1,-1:3");
  const Surface surface(objective, plane, grid, {.num_threads = 2});
  ASSERT_GT(surface.num_tiles(), 1);
  const std::vector<double> losses = all(surface, "loss");
  ASSERT_EQ(losses.size(), 41U * 57U);
  const Eigen::VectorXd g = objective.b + objective.A * plane.centre;
  const double f = objective.value(plane.centre);
  for (Eigen::Index j = 0; j < 57; ++j) {
    for (Eigen::Index i = 0; i < 41; ++i) {
      const Eigen::VectorXd d =
          grid.alpha[i] * plane.directions.col(0) + grid.beta[j] * plane.directions.col(1);
      const double expected = f + g.dot(d) + d.dot(objective.A * d) / 2;
      EXPECT_NEAR(losses[static_cast<std::size_t>(j * 41 + i)], expected, 1e-11);
    }
  }
}

TEST_F(SurfaceOfAQuadratic, HasTheCentresLossToTheLastBitInTheMiddle) {
  for (const char* size : {"1x1", "5x1", "1x7", "3x3", "33x41"}) {
    const Grid grid = parse_grid(size, "-0.7:0.7");
    for (const bool curvature : {false, true}) {
      const Surface surface(objective, plane, grid, {.curvature = curvature});
      const std::vector<double> losses = all(surface, "loss");
      EXPECT_EQ(losses[losses.size() / 2], objective.value(plane.centre)) << size;
    }
  }
}

TEST_F(SurfaceOfAQuadratic, HasItsCurvatureEverywhere) {
  const Surface surface(objective, plane, parse_grid("5x4", "-1:1"), {.curvature = true});
  const Eigen::VectorXd eigenvalues = test::eigenvalues(objective.A);
  const Eigen::MatrixXd in_plane = plane.directions.transpose() * objective.A * plane.directions;
  const auto expect_everywhere = [&](const std::string& name, double expected) {
    for (const double value : all(surface, name)) EXPECT_NEAR(value, expected, 1e-12) << name;
    for (const Status status : statuses(surface, name)) EXPECT_EQ(status, Status::kOk) << name;
  };
  expect_everywhere("lambda_min", eigenvalues[0]);
  expect_everywhere("lambda_max", eigenvalues[23]);
  expect_everywhere("index", static_cast<double>((eigenvalues.array() < 0).count()));
  expect_everywhere("plane_hessian_11", in_plane(0, 0));
  expect_everywhere("plane_hessian_12", in_plane(0, 1));
  expect_everywhere("plane_hessian_22", in_plane(1, 1));
  const std::vector<double> norms = all(surface, "gradient_norm");
  for (Eigen::Index i = 0; i < 20; ++i) {
    const Eigen::VectorXd theta = plane.at(surface.grid().alpha_of(i), surface.grid().beta_of(i));
    EXPECT_NEAR(
        norms[static_cast<std::size_t>(i)], (objective.b + objective.A * theta).norm(), 1e-12);
  }
}

TEST_F(SurfaceOfAQuadratic, OnALineHasNoSecondDirection) {
  const Plane line{plane.centre, plane.directions.leftCols(1)};
  const Surface surface(objective, line, parse_grid("5x1", "-1:1"), {.curvature = true});
  for (const char* name : {"plane_hessian_12", "plane_hessian_22"}) {
    for (const double value : all(surface, name)) EXPECT_TRUE(std::isnan(value));
    for (const Status status : statuses(surface, name)) EXPECT_EQ(status, Status::kNotComputed);
  }
  expect_refusal([&] { Surface(objective, line, parse_grid("5x2", "-1:1"), {}); }, "Surface");
  expect_refusal([&] { Surface(objective, line, parse_grid("5x1", "-1:1,1:1"), {}); }, "Surface");
}

TEST_F(SurfaceOfAQuadratic, SaysWhereItOverflows) {
  const Plane far{plane.centre, 1e100 * plane.directions};
  const Surface surface(objective, far, parse_grid("3x3", "-1e80:1e80"), {.curvature = true});
  for (const Variable& quantity : surface.quantities()) {
    const std::vector<double> values = all(surface, quantity.name);
    const std::vector<Status> reasons = statuses(surface, quantity.name);
    for (std::size_t i = 0; i < 9; ++i) {
      const bool is_centre = i == 4;
      EXPECT_EQ(std::isnan(values[i]), !is_centre) << quantity.name;
      EXPECT_EQ(reasons[i], is_centre ? Status::kOk : Status::kNonFinite);
    }
  }
}

TEST_F(SurfaceOfAQuadratic, IsTheSameForAnyNumberOfThreads) {
  const Grid grid = parse_grid("23x19", "-1:1");
  const Surface one(objective, plane, grid, {.curvature = true, .num_threads = 1});
  const Surface many(objective, plane, grid, {.curvature = true, .num_threads = 3});
  ASSERT_EQ(one.num_tiles(), many.num_tiles());
  for (const Variable& quantity : one.quantities()) {
    EXPECT_EQ(all(one, quantity.name), all(many, quantity.name)) << quantity.name;
  }
}

TEST_F(SurfaceOfAQuadratic, CountsItsPointsAndStopsWhenTold) {
  struct Stop : std::exception {};

  const Surface surface(objective, plane, parse_grid("9x9", "-1:1"), {.curvature = true});
  double done = 0;
  surface.tile(0, [&done](double points) {
    EXPECT_GE(points, 0);
    done += points;
  });
  EXPECT_NEAR(done, static_cast<double>(surface.size_of(0)), 1e-9);
  done = 0;
  const auto stop = [&done](double points) {
    done += points;
    if (done > 2.5) throw Stop();
  };
  EXPECT_THROW(surface.tile(0, stop), Stop);
  EXPECT_LT(done, 2.5 + Executor().num_threads());
}

TEST_F(SurfaceOfAQuadratic, HasTheTilesThatThereAre) {
  const Surface surface(objective, plane, parse_grid("3x3", "-1:1"), {});
  ASSERT_EQ(surface.num_tiles(), 1);
  EXPECT_EQ(surface.size_of(0), 9);
  for (const Eigen::Index tile : {-1, 1, 7}) {
    expect_refusal([&] { surface.size_of(tile); }, fmt::format("no tile {} of 1", tile));
    expect_refusal([&] { surface.tile(tile, {}); }, fmt::format("no tile {} of 1", tile));
  }
}

TEST_F(SurfaceOfAQuadratic, NeedsNobodyWhoFollows) {
  for (const bool curvature : {false, true}) {
    const Surface surface(objective, plane, parse_grid("3x3", "-1:1"), {.curvature = curvature});
    EXPECT_EQ(surface.tile(0, {})["loss"].reals(), all(surface, "loss"));
  }
}

TEST_F(SurfaceOfAQuadratic, RefusesAGridThatDescends) {
  Grid grid = parse_grid("3x3", "-1:1");
  std::swap(grid.alpha[1], grid.alpha[2]);
  expect_refusal(
      [&] { Surface(objective, plane, grid, {}); },
      "Surface: the points of alpha must be finite and ascend, but point 2 is 0, after 1");
}

}  // namespace
}  // namespace hesscope
