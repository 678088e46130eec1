// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/landscape/landscape.h>
#include <hesscope/landscape/map_landscape.h>
#include <hesscope/problem/problem.h>
#include <hesscope/tensors/tensor_file.h>

#include "landscape/indefinite_quadratic.h"
#include "support/decompositions.h"
#include "support/files.h"
#include "support/quadratic_objective.h"

namespace hesscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::NanSensitiveDoubleEq;
using ::testing::Pointwise;
using ::testing::ThrowsMessage;

namespace fs = std::filesystem;

const fs::path kProblemFolder = fs::path(HESSCOPE_TEST_DATA) / "linear-attention";

LandscapeOptions options_of(const std::string& directions,
                            const std::string& size,
                            const std::string& span) {
  LandscapeOptions options;
  options.directions = directions;
  options.grid = parse_grid(size, span);
  return options;
}

// Along unit eigenvectors a quadratic is f + alpha g1 + beta g2 + (l1 alpha^2 + l2 beta^2) / 2.
TEST(MapLandscape, OfAQuadraticAlongEigenvectorsIsItsOwnModel) {
  const test::IndefiniteQuadratic objective;
  const Eigen::VectorXd theta = test::uniform(24, 1, 3);
  LandscapeOptions options = options_of("eigen:0,-1", "5x3", "-2:2,-1:1");
  options.curvature = true;
  const LandscapeMap map = map_landscape(objective, {{"start", -theta}, {"end", theta}}, options);
  EXPECT_TRUE(map.is_conclusive());
  EXPECT_THAT(map.warnings(), IsEmpty());
  ASSERT_EQ(map.loss().rows(), 3);
  ASSERT_EQ(map.loss().cols(), 5);
  const test::Eigenpairs pairs = test::eigenpairs(objective.A);
  const Eigen::VectorXd slopes = pairs.vectors.transpose() * (objective.b + objective.A * theta);
  const Eigen::VectorXd& lambda = pairs.values;
  const auto sign = [&](const char* name, Eigen::Index k) {
    const std::vector<double> found = map.group()[name].reals();
    return Eigen::Map<const Eigen::VectorXd>(found.data(), 24).dot(pairs.vectors.col(k));
  };
  const double slope_1 = slopes[23] * sign("direction_1", 23);
  const double slope_2 = slopes[0] * sign("direction_2", 0);
  for (Eigen::Index i = 0; i < 3; ++i) {
    for (Eigen::Index j = 0; j < 5; ++j) {
      const double a = map.grid().alpha[j];
      const double b = map.grid().beta[i];
      const double expected = objective.value(theta) + slope_1 * a + slope_2 * b +
                              (lambda[23] * a * a + lambda[0] * b * b) / 2;
      EXPECT_NEAR(map.loss()(i, j), expected, 1e-12) << a << " " << b;
    }
  }
  EXPECT_EQ(map.loss()(1, 2), objective.value(theta));
  for (const double largest : map.group()["lambda_max"].reals()) {
    EXPECT_NEAR(largest, lambda[23], 1e-12);
  }
  EXPECT_NEAR(map.group()["trajectory_alpha"].reals()[0],
              -2 * theta.dot(pairs.vectors.col(23)) * sign("direction_1", 23),
              1e-12);
}

TEST(MapLandscape, WarnsOfEigenvectorsThatAreAnyOfASpace) {
  Eigen::VectorXd eigenvalues = Eigen::VectorXd::LinSpaced(24, -3, 4);
  eigenvalues[1] = eigenvalues[0];
  const test::QuadraticObjective objective(
      {eigenvalues.asDiagonal()}, Eigen::VectorXd::Zero(24), 0.0, {{"weight", {24}, 0, 24}});
  const auto warnings = [&](const std::string& directions) {
    const LandscapeOptions options = options_of(directions, "3x3", "-1:1");
    const LandscapeMap map =
        map_landscape(objective, {{"here", Eigen::VectorXd::Ones(24)}}, options);
    EXPECT_TRUE(map.is_conclusive());
    return std::vector<std::string>(map.warnings().begin(), map.warnings().end());
  };
  EXPECT_THAT(warnings("eigen:0,1"), IsEmpty());
  EXPECT_THAT(warnings("eigen:0,-3"), IsEmpty());
  EXPECT_THAT(warnings("eigen:0,-2"), ElementsAre(HasSubstr("direction_2: its eigenvalue")));
  EXPECT_THAT(warnings("eigen:-1,0"), ElementsAre(HasSubstr("direction_1: its eigenvalue")));
}

TEST(MapLandscape, OfAProblemIsWhatTheProgramFinds) {
  const test::ScratchFolder folder;
  LandscapeRequest request;
  request.checkpoints = expand_checkpoints({kProblemFolder / "adam"});
  request.problem = kProblemFolder / "problem.toml";
  request.output = folder / "program.h5";
  request.directions = "pca";
  request.grid = parse_grid("5x4", "-1:1");
  request.has_default_span = true;
  run_landscape(request);

  const Problem problem(read_problem_file(request.problem),
                        io::open_tensor_file(request.checkpoints.front().path));
  std::vector<NamedPoint> points;
  for (const CheckpointFile& file : request.checkpoints) {
    points.push_back(
        {file.path.string(), problem.read_parameters(io::open_tensor_file(file.path)), file.step});
  }
  double last = -1;
  const LandscapeMap map = map_landscape(problem, points, request, [&](double done) {
    EXPECT_GE(done, last);
    last = done;
    return true;
  });
  EXPECT_EQ(last, 1);
  map.write(folder / "library.h5");
  const io::ResultReader program(folder / "program.h5");
  const io::ResultReader library(folder / "library.h5");
  const Group& expected = *program.find_group("landscape");
  ASSERT_EQ(library.find_group("landscape")->variables.size(), expected.variables.size());
  for (const Variable& variable : expected.variables) {
    if (variable.type != VariableType::kDouble) continue;
    EXPECT_THAT(library.read_doubles("landscape", variable.name),
                Pointwise(NanSensitiveDoubleEq(), program.read_doubles("landscape", variable.name)))
        << variable.name;
  }
  EXPECT_EQ(library.read_doubles("", "loss"), program.read_doubles("", "loss"));
  for (const char* name : {"title", "problem", "data_sha256"}) {
    EXPECT_EQ(*library.find_attribute("", name), *program.find_attribute("", name)) << name;
  }
}

TEST(MapLandscape, IsWrittenForOtherCommandsAndReplacesItsOwnKindAlone) {
  const test::ScratchFolder folder;
  const test::IndefiniteQuadratic objective;
  const LandscapeMap map = map_landscape(
      objective, {{"here", test::uniform(24, 1, 3)}}, options_of("random", "4x4", "-1:1"));
  const fs::path output = folder / "plane.h5";
  map.write(output);
  const io::ResultReader result(output);
  EXPECT_THAT(std::get<std::string>(*result.find_attribute("", "history")),
              HasSubstr("hesscope::map_landscape()"));
  EXPECT_THROW(map.write(output), OutputError);
  map.write(output, {.overwrite = io::Overwrite::kOwnKind});
  analyze(objective, {{"here", test::uniform(24, 1, 3)}}, {"hessian"}).write(folder / "h.h5");
  EXPECT_THROW(map.write(folder / "h.h5", {.overwrite = io::Overwrite::kOwnKind}), OutputError);
}

// The step -g / |g| along an infinite gradient does not exist.
TEST(MapLandscape, WithoutDirectionsSaysWhyNumbersAreMissing) {
  const test::ScratchFolder folder;
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(2, 2);
  const test::QuadraticObjective objective(
      {one}, Eigen::Vector2d(std::numeric_limits<double>::infinity(), 0));
  const LandscapeMap map = map_landscape(
      objective, {{"here", Eigen::Vector2d(1, 1)}}, options_of("update:gradient", "3x1", "-1:1"));
  EXPECT_FALSE(map.is_conclusive());
  EXPECT_TRUE(map.loss().array().isNaN().all());
  EXPECT_EQ(map.group()["slope_1"].status(), Status::kNonFinite);
  EXPECT_NO_THROW(map.write(folder / "line.h5"));
}

TEST(MapLandscape, RefusesWhatDoesNotFitByName) {
  const test::IndefiniteQuadratic objective;
  const NamedPoint here{"here", test::uniform(24, 1, 3)};
  const auto refused = [&](const std::vector<NamedPoint>& points, const LandscapeOptions& options) {
    map_landscape(objective, points, options);
  };
  const LandscapeOptions line = options_of("random", "3x1", "-1:1");
  EXPECT_THAT([&] { refused({}, line); },
              ThrowsMessage<PreconditionError>(HasSubstr("map_landscape: no points")));
  EXPECT_THAT(
      [&] {
        refused({{"short", Eigen::Vector2d(1, 2)}}, line);
      },
      ThrowsMessage<PreconditionError>(HasSubstr("map_landscape: point 'short' must have")));
  EXPECT_THAT([&] { refused({here}, {}); }, ThrowsMessage<ConfigError>(HasSubstr("directions")));
  EXPECT_THAT([&] { refused({here}, options_of("between", "3x1", "-1:1")); },
              ThrowsMessage<ConfigError>(HasSubstr("needs exactly 2")));
  LandscapeOptions no_grid;
  no_grid.directions = "random";
  EXPECT_THAT([&] { refused({here}, no_grid); },
              ThrowsMessage<PreconditionError>(HasSubstr("map_landscape")));
  const auto stopped = [&] {
    map_landscape(objective, {here}, line, [](double) { return false; });
  };
  EXPECT_THROW(stopped(), Interrupted);
}

}  // namespace
}  // namespace hesscope
