// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/landscape/landscape.h>
#include <hesscope/storage/unit_folder.h>

#include "problem/centred_kind.h"
#include "problem/npz_writer.h"
#include "support/files.h"
#include "support/refusal.h"
#include "support/units.h"

namespace hesscope {
namespace {

using test::expect_refusal;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

namespace fs = std::filesystem;

const fs::path kData = fs::path(HESSCOPE_TEST_DATA) / "linear-attention";

class Landscape : public ::testing::Test {
 protected:
  Landscape() {
    ::setenv("SOURCE_DATE_EPOCH", "0", 1);
    request_.checkpoints = expand_checkpoints({kData / "adam"});
    request_.problem = kData / "problem.toml";
    request_.output = folder_ / "result.h5";
    request_.directions = "random";
    request_.grid = parse_grid("41x31", "-0.1:0.1");  // two tiles
    request_.num_threads = 2;
    request_.command = "a test";
  }

  ~Landscape() override { ::unsetenv("SOURCE_DATE_EPOCH"); }

  std::vector<std::string> left_behind() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  std::string uninterrupted() {
    LandscapeRequest other = request_;
    other.output = folder_ / "whole.h5";
    run_landscape(other);
    std::string bytes = test::read_bytes(other.output);
    fs::remove(other.output);
    return bytes;
  }

  void interrupt_at(double fraction) {
    EXPECT_THROW(run_landscape(request_, [=](double done) { return done < fraction; }),
                 Interrupted);
  }

  test::ScratchFolder folder_;
  LandscapeRequest request_;
  const fs::path units_ = folder_ / "result.h5.units";
};

TEST_F(Landscape, HasTheCheckpointsLossInItsMiddleToTheLastBit) {
  for (const bool curvature : {false, true}) {
    request_.grid = parse_grid("3x5", "-0.1:0.1");
    request_.curvature = curvature;
    request_.overwrite = io::Overwrite::kOwnKind;
    const LandscapeResult result = run_landscape(request_);
    EXPECT_TRUE(result.is_conclusive);
    EXPECT_THAT(result.warnings, IsEmpty());
    EXPECT_EQ(result.centre, 4U);
    const io::ResultReader file(request_.output);
    const std::vector<double> losses = file.read_doubles("landscape", "loss");
    ASSERT_EQ(losses.size(), 15U);
    EXPECT_EQ(losses[7], file.read_doubles("", "loss")[4]);
    EXPECT_EQ(losses[7], file.read_doubles("landscape", "trajectory_loss")[4]);
    EXPECT_EQ(losses[7], result.checkpoints[4].loss);
    EXPECT_EQ(file.read_doubles("landscape", "trajectory_residual")[4], 0);
  }
}

TEST_F(Landscape, EndsWithTheSameBytesAfterInterruptions) {
  const std::string whole = uninterrupted();
  interrupt_at(-1);  // at once
  EXPECT_THAT(left_behind(), IsEmpty());
  interrupt_at(0.4);
  EXPECT_TRUE(io::has_units(request_.output));
  interrupt_at(0.9);
  test::split_units(units_);
  EXPECT_TRUE(fs::exists(units_ / "tile-000000.unit"));
  EXPECT_FALSE(fs::exists(units_ / "tile-000001.unit"));
  const fs::file_time_type before = fs::last_write_time(units_ / "directions.unit");
  interrupt_at(1);
  EXPECT_EQ(fs::last_write_time(units_ / "directions.unit"), before);
  run_landscape(request_);
  EXPECT_EQ(test::read_bytes(request_.output), whole);
  EXPECT_THAT(left_behind(), ElementsAre("result.h5"));
}

TEST_F(Landscape, FramedByTheTrajectoryEndsWithTheSameBytesAfterInterruptions) {
  request_.directions = "pca";
  request_.has_default_span = true;
  const std::string whole = uninterrupted();
  interrupt_at(0.9);
  test::split_units(units_);
  EXPECT_TRUE(fs::exists(units_ / "tile-000000.unit"));
  const LandscapeResult first = run_landscape(request_);
  EXPECT_EQ(test::read_bytes(request_.output), whole);
  const LandscapeResult again = run_landscape(request_);
  EXPECT_TRUE(again.is_done_already);
  EXPECT_EQ(again.grid.alpha, first.grid.alpha);
  EXPECT_EQ(again.grid.beta, first.grid.beta);
  EXPECT_EQ(again.warnings, first.warnings);
  const io::ResultReader file(request_.output);
  const std::vector<double> axis = file.read_doubles("landscape", "alpha");
  for (const double alpha : file.read_doubles("landscape", "trajectory_alpha")) {
    EXPECT_GT(alpha, axis.front());
    EXPECT_LT(alpha, axis.back());
  }
}

TEST_F(Landscape, RefusesUnitsOfAnotherSpan) {
  request_.directions = "pca";
  interrupt_at(0.5);
  request_.has_default_span = true;
  expect_refusal<ConfigError>([&] { run_landscape(request_); }, "'span.alpha'");
}

TEST_F(Landscape, ComputesDamagedAndMisplacedUnitsAgainAndSaysSo) {
  const std::string whole = uninterrupted();
  interrupt_at(0.9);
  test::split_units(units_);
  std::string bytes = test::read_bytes(units_ / "tile-000000.unit");
  bytes[bytes.size() / 2] ^= 1;
  test::write_bytes(units_ / "tile-000000.unit", bytes);
  test::write_bytes(units_ / "directions.unit", "");
  fs::remove(units_ / "centre.unit");
  fs::copy_file(units_ / "000001-root.unit",
                units_ / "000000-root.unit",
                fs::copy_options::overwrite_existing);
  const LandscapeResult result = run_landscape(request_);
  EXPECT_EQ(test::read_bytes(request_.output), whole);
  EXPECT_THAT(
      result.warnings,
      UnorderedElementsAre(HasSubstr("'tile-000000' is damaged"),
                           HasSubstr("directions.unit: is damaged"),
                           AllOf(HasSubstr("000000-root.unit"), HasSubstr("'000001-root'"))));
}

TEST_F(Landscape, RefusesUnitsOfAnotherRunAndNamesTheDifference) {
  interrupt_at(0.5);
  const auto refused = [](const LandscapeRequest& request, const std::string& key) {
    expect_refusal<ConfigError>([&] { run_landscape(request); }, "'" + key + "'");
  };
  LandscapeRequest changed = request_;
  changed.seed = 1;
  refused(changed, "seed");
  changed = request_;
  changed.curvature = true;
  refused(changed, "curvature");
  changed = request_;
  changed.grid = parse_grid("41x33", "-0.1:0.1");
  refused(changed, "grid.beta");
  changed = request_;
  changed.grid = parse_grid("41x31", "-0.1:0.2,-0.1:0.1");
  refused(changed, "span.alpha");
  changed = request_;
  changed.normalization = Normalization::kLayer;
  refused(changed, "normalization");
  changed = request_;
  changed.leaves_out_vectors = true;
  refused(changed, "leave-out-vectors");
  changed = request_;
  changed.directions = "eigen";
  refused(changed, "directions");
  changed = request_;
  changed.checkpoints.pop_back();
  refused(changed, "checkpoints");
  // More threads are no other run.
  changed = request_;
  changed.num_threads = 1;
  run_landscape(changed);
  EXPECT_THAT(left_behind(), ElementsAre("result.h5"));
}

TEST_F(Landscape, DependsOnTheFileThatHoldsItsDirections) {
  const fs::path directions = folder_ / "directions.npz";
  test::write_npz(directions, {{"direction_1", {{150}, {1}}}, {"direction_2", {{150}, {0, 1}}}});
  request_.directions = "file:" + directions.string();
  interrupt_at(0.5);
  test::write_npz(directions, {{"direction_1", {{150}, {1}}}, {"direction_2", {{150}, {0, 2}}}});
  expect_refusal<ConfigError>([&] { run_landscape(request_); }, "sha256 of " + directions.string());
}

TEST_F(Landscape, KnowsAnOutputThatWasPublishedButNotCleanedUpAfter) {
  interrupt_at(1);
  fs::copy(units_, folder_ / "copy");
  const LandscapeResult first = run_landscape(request_);
  const std::string whole = test::read_bytes(request_.output);
  fs::rename(folder_ / "copy", units_);  // as a run leaves them that is killed in between
  const LandscapeResult again = run_landscape(request_);  // without overwrite
  EXPECT_FALSE(first.is_done_already);
  EXPECT_TRUE(again.is_done_already);
  ASSERT_EQ(first.numbers.size(), again.numbers.size());
  for (std::size_t i = 0; i < first.numbers.size(); ++i) {
    EXPECT_EQ(first.numbers[i].name, again.numbers[i].name);
    EXPECT_EQ(first.numbers[i].status, again.numbers[i].status) << first.numbers[i].name;
    EXPECT_EQ(first.numbers[i].value, again.numbers[i].value) << first.numbers[i].name;
  }
  ASSERT_EQ(first.checkpoints.size(), again.checkpoints.size());
  for (std::size_t i = 0; i < first.checkpoints.size(); ++i) {
    EXPECT_EQ(first.checkpoints[i].loss, again.checkpoints[i].loss);
    ASSERT_EQ(first.checkpoints[i].numbers.size(), again.checkpoints[i].numbers.size());
    for (std::size_t k = 0; k < first.checkpoints[i].numbers.size(); ++k) {
      EXPECT_EQ(first.checkpoints[i].numbers[k].value, again.checkpoints[i].numbers[k].value);
    }
  }
  EXPECT_EQ(first.num_points, again.num_points);
  EXPECT_EQ(first.num_non_finite, again.num_non_finite);
  EXPECT_EQ(test::read_bytes(request_.output), whole);
  EXPECT_THAT(left_behind(), UnorderedElementsAre("result.h5"));
}

TEST_F(Landscape, ProgressGoesForwardToTheEnd) {
  double last = 0;
  run_landscape(request_, [&last](double done) {
    EXPECT_GE(done, last);
    last = done;
    return true;
  });
  EXPECT_EQ(last, 1);
}

TEST_F(Landscape, RefusesDirectionsThatSpanNoPlane) {
  const fs::path directions = folder_ / "directions.npz";
  request_.directions = "file:" + directions.string();
  test::write_npz(directions, {{"direction_1", {{150}, {1, 2}}}, {"direction_2", {{150}, {}}}});
  expect_refusal<InputError>([&] { run_landscape(request_); }, "direction_2");
  test::write_npz(directions,
                  {{"direction_1", {{150}, {1, 2}}}, {"direction_2", {{150}, {-2, -4}}}});
  expect_refusal<InputError>([&] { run_landscape(request_); }, "parallel");
  request_.grid = parse_grid("5x1", "-1:1");
  run_landscape(request_);
  request_.directions = "between";
  request_.checkpoints = {request_.checkpoints[1], request_.checkpoints[1]};
  request_.overwrite = io::Overwrite::kOwnKind;
  expect_refusal<InputError>([&] { run_landscape(request_); }, "is zero");
}

TEST_F(Landscape, RefusesWhatDoesNotFitTheKind) {
  const auto refused = [this](const std::string& message) {
    expect_refusal<ConfigError>([&] { run_landscape(request_); }, message);
    expect_refusal<ConfigError>([&] { plan_landscape(request_); }, message);
  };
  request_.directions = "between";
  refused("exactly 2 checkpoints, got 5");
  request_.directions = "pca";
  request_.checkpoints.resize(2);
  refused("at least 3 checkpoints, got 2");
  request_.directions = "eigen";
  request_.normalization = Normalization::kFilter;
  refused("`normalization`");
  request_.normalization.reset();
  request_.leaves_out_vectors = true;
  refused("`leaves_out_vectors`");
  request_.checkpoints.clear();
  expect_refusal([&] { run_landscape(request_); }, "no checkpoints");
  EXPECT_THAT(left_behind(), IsEmpty());
}

TEST_F(Landscape, RefusesGridsAndPartsThatCannotBe) {
  LandscapeRequest request = request_;
  request.share.part = io::Part{.count = 0, .index = 0};
  expect_refusal([&] { run_landscape(request); }, "there is no part 0 of 0");
  request = request_;
  request.grid.beta[1] = kNaN;
  expect_refusal([&] { run_landscape(request); },
                 "run_landscape: the points of beta must be finite and ascend");
  expect_refusal([&] { plan_landscape(request); }, "the points of beta");
  request.grid = Grid();
  expect_refusal([&] { run_landscape(request); }, "run_landscape: an empty grid");
  EXPECT_THAT(left_behind(), IsEmpty());
}

TEST_F(Landscape, NeverReplacesAnInput) {
  const fs::path directions = folder_ / "directions.npz";
  test::write_npz(directions, {{"direction_1", {{150}, {1}}}, {"direction_2", {{150}, {0, 1}}}});
  request_.directions = "file:" + directions.string();
  request_.output = directions;
  request_.overwrite = io::Overwrite::kOwnKind;
  expect_refusal<ConfigError>([&] { run_landscape(request_); }, "input");
}

TEST_F(Landscape, APlanForeseesSizesAndWritesNothing) {
  request_.directions = "pca";
  LandscapePlan plan = plan_landscape(request_);
  EXPECT_EQ(plan.num_points, 41 * 31);
  EXPECT_EQ(plan.num_parameters, 150);
  EXPECT_EQ(plan.num_samples, 256);
  EXPECT_EQ(plan.num_checkpoints, 5U);
  EXPECT_EQ(plan.centre.filename(), "step-001500.npz");
  EXPECT_THAT(plan.directions, ElementsAre(HasSubstr("first"), HasSubstr("second")));
  EXPECT_TRUE(plan.seconds > 0 && plan.seconds < 600);
  // Both are measured, on a machine that may be doing other things: the least of several counts.
  const auto least_seconds = [this] {
    double least = kInfinity;
    for (int k = 0; k < 5; ++k) least = std::min(least, plan_landscape(request_).seconds);
    return least;
  };
  const double seconds = least_seconds();
  request_.curvature = true;
  EXPECT_GT(least_seconds(), seconds);
  EXPECT_THAT(left_behind(), IsEmpty());
}

TEST(LandscapeOfBuffers, IsThatOfTheCentreAndSaysSo) {
  const test::CentredFiles files;
  LandscapeRequest request;
  request.checkpoints = {{files.checkpoint("step-0.h5", {-1, 2}, {1.5, 2}), {}},
                         {files.checkpoint("step-1.h5", {0.5, 1}), {}}};
  request.problem = files.problem();
  request.output = files.folder() / "out.h5";
  request.directions = "random";
  request.grid = parse_grid("3x3", "-0.1:0.1");
  const LandscapeResult result = run_landscape(request);
  EXPECT_THAT(
      result.warnings,
      testing::Contains(AllOf(HasSubstr("step-1.h5: the surface is that of the model with this"),
                              HasSubstr("1 of the 1 other checkpoints holds others"))));
  const io::ResultReader file(request.output);
  EXPECT_EQ(file.read_doubles("landscape", "loss")[4], test::CentredFiles::loss({0.5, 1}));
  EXPECT_EQ(file.read_doubles("", "loss")[0], test::CentredFiles::loss({-1, 2}, {1.5, 2}));
  EXPECT_EQ(file.read_doubles("", "loss")[1], test::CentredFiles::loss({0.5, 1}));
}

}  // namespace
}  // namespace hesscope
