// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/landscape/faithfulness.h>

#include "landscape/indefinite_quadratic.h"
#include "support/decompositions.h"

namespace hesscope {
namespace {

class Faithfulness : public ::testing::Test {
 protected:
  const test::IndefiniteQuadratic objective;
  const Plane plane{test::uniform(24, 1, 7), test::uniform(24, 2, 8)};
  PointAnalysis centre{objective, plane.centre};

  static double number(const Group& record, const std::string& name) {
    return record[name].number();
  }

  static Status status(const Group& record, const std::string& name) {
    return record[name].status();
  }

  // A grid's losses by the model itself, plus what `extra` says.
  template <typename F>
  std::vector<double> losses(const Grid& grid, F extra) const {
    std::vector<double> all;
    for (Eigen::Index i = 0; i < grid.num_points(); ++i) {
      const double a = grid.alpha_of(i);
      const double b = grid.beta_of(i);
      all.push_back(objective.value(plane.at(a, b)) + extra(a, b));
    }
    return all;
  }
};

TEST_F(Faithfulness, SetsTheCurvatureInThePlaneBesideThatOfAllDirections) {
  const Group record = measure_centre(centre, plane, true);
  const Eigen::VectorXd g = objective.b + objective.A * plane.centre;
  for (int i = 0; i < 2; ++i) {
    // Naive loops.
    double slope = 0;
    double curvature = 0;
    double squares = 0;
    for (Eigen::Index p = 0; p < 24; ++p) {
      slope += g[p] * plane.directions(p, i);
      squares += plane.directions(p, i) * plane.directions(p, i);
      for (Eigen::Index q = 0; q < 24; ++q) {
        curvature += plane.directions(p, i) * objective.A(p, q) * plane.directions(q, i);
      }
    }
    const std::string index = std::to_string(i + 1);
    EXPECT_NEAR(number(record, "slope_" + index), slope, 1e-13);
    EXPECT_NEAR(number(record, "curvature_" + index + index), curvature, 1e-12);
    EXPECT_NEAR(number(record, "rayleigh_" + index), curvature / squares, 1e-13);
  }
  const Eigen::Matrix2d metric = plane.directions.transpose() * plane.directions;
  const Eigen::Matrix2d form = plane.directions.transpose() * objective.A * plane.directions;
  EXPECT_NEAR(number(record, "curvature_12"), form(0, 1), 1e-12);
  const Eigen::VectorXd ends = test::generalized_eigenvalues(form, metric);
  EXPECT_NEAR(number(record, "plane_lambda_min"), ends[0], 1e-13);
  EXPECT_NEAR(number(record, "plane_lambda_max"), ends[1], 1e-13);
  const Eigen::VectorXd whole = test::eigenvalues(objective.A);
  EXPECT_NEAR(number(record, "centre_lambda_min"), whole[0], 1e-12);
  EXPECT_NEAR(number(record, "centre_lambda_max"), whole[23], 1e-12);
}

TEST_F(Faithfulness, LeavesOutWhatWasNotAskedForOrIsNotThere) {
  const Plane line{plane.centre, plane.directions.leftCols(1)};
  const Group record = measure_centre(centre, line, false);
  for (const char* name :
       {"slope_2", "curvature_12", "curvature_22", "rayleigh_2", "centre_lambda_min"}) {
    EXPECT_EQ(status(record, name), Status::kNotComputed) << name;
  }
  EXPECT_EQ(number(record, "plane_lambda_min"), number(record, "plane_lambda_max"));
  PointAnalysis far(objective, Eigen::VectorXd::Constant(24, 1e300));
  for (const Variable& quantity : centre_quantities()) {
    EXPECT_EQ(status(measure_centre(far, plane, true), quantity.name), Status::kNonFinite);
  }
}

TEST_F(Faithfulness, OfAQuadraticIsComplete) {
  const Grid grid = parse_grid("7x5", "-1:1");
  const Group record = measure_quadratic_model(measure_centre(centre, plane, false),
                                               objective.value(plane.centre),
                                               grid,
                                               losses(grid, [](double, double) { return 0.0; }));
  EXPECT_TRUE(number(record, "quadratic_error_max") <= 1e-12);
  EXPECT_TRUE(number(record, "quadratic_error_rms") <= 1e-12);
}

TEST_F(Faithfulness, MeasuresWhatTheQuadraticModelMisses) {
  const Grid grid = parse_grid("7x5", "-1:1");
  const auto extra = [](double a, double b) { return a * a * a + 2 * b; };
  std::vector<double> seen = losses(grid, extra);
  double squares = 0;
  for (Eigen::Index i = 0; i < 35; ++i) {
    squares += std::pow(extra(grid.alpha_of(i), grid.beta_of(i)), 2);
  }
  const Group at_centre = measure_centre(centre, plane, false);
  const double loss = objective.value(plane.centre);
  Group record = measure_quadratic_model(at_centre, loss, grid, seen);
  EXPECT_NEAR(number(record, "quadratic_error_max"), 3, 1e-12);
  EXPECT_NEAR(number(record, "quadratic_error_rms"), std::sqrt(squares / 35), 1e-12);
  // Points without a loss are passed over.
  seen[0] = seen[34] = std::nan("");
  squares -= 2 * 9;
  record = measure_quadratic_model(at_centre, loss, grid, seen);
  EXPECT_NEAR(number(record, "quadratic_error_rms"), std::sqrt(squares / 33), 1e-12);
  seen.assign(35, std::nan(""));
  record = measure_quadratic_model(at_centre, loss, grid, seen);
  EXPECT_EQ(status(record, "quadratic_error_max"), Status::kNonFinite);
}

// Not that of a line, either.
TEST_F(Faithfulness, HasNoQuadraticModelOfAPlaneWhereASlopeIsNotFinite) {
  const Grid grid = parse_grid("7x5", "-1:1");
  Group at_centre = measure_centre(centre, plane, false);
  at_centre["slope_2"].set(std::numeric_limits<double>::infinity());
  const Group record = measure_quadratic_model(at_centre,
                                               objective.value(plane.centre),
                                               grid,
                                               losses(grid, [](double, double) { return 0.0; }));
  for (const char* name : {"quadratic_error_max", "quadratic_error_rms"}) {
    EXPECT_EQ(status(record, name), Status::kNonFinite) << name;
  }
}

TEST(Barrier, IsWhatStandsAboveTheStraightLine) {
  const Eigen::VectorXd alpha = make_axis(21, {-0.5, 1.5});
  std::vector<double> seen;
  for (const double t : alpha) seen.push_back(2 + 3 * t + 8 * t * (1 - t) + (t > 1 ? 100 : 0));
  const Group record = measure_barrier(alpha, seen, 2, 5);
  const auto value = [&record](const char* name) { return record[name].number(); };
  EXPECT_NEAR(value("barrier_height"), 2, 1e-13);
  EXPECT_EQ(value("barrier_alpha"), alpha[10]);
  EXPECT_EQ(alpha[10], 0.5);
}

TEST(Barrier, IsMissingWhereThereIsNone) {
  const auto status_of = [](const Group& record) { return record["barrier_height"].status(); };
  const std::vector<double> seen = {1, std::nan(""), 1};
  const double nan = std::nan("");
  EXPECT_EQ(status_of(measure_barrier(Eigen::Vector3d(2, 3, 4), seen, 1, 1)), Status::kNotComputed);
  EXPECT_EQ(status_of(measure_barrier(Eigen::Vector3d(0, 0.5, 1), seen, 1, 1)), Status::kNonFinite);
  EXPECT_EQ(status_of(measure_barrier(Eigen::Vector3d(0, 2, 1), seen, 1, nan)), Status::kNonFinite);
  EXPECT_EQ(status_of(measure_barrier(Eigen::Vector3d(0, 2, 1), seen, 1, 1)), Status::kOk);
}

}  // namespace
}  // namespace hesscope
