// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/dataset/export_registry.h>
#include <hesscope/dataset/internal/landscape_grid.h>
#include <hesscope/dataset/result_file.h>

#include "dataset/vtk_bytes.h"
#include "support/files.h"

namespace hesscope::io {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

namespace fs = std::filesystem;

class Export : public testing::Test {
 protected:
  // A grid of 3 x 2 points with the loss 10 a + b at (alpha, beta) = (a, b). In one corner, the
  // loss is not finite and there is no index. With a trajectory: three checkpoints, of which the
  // second has no position and the first no finite loss.
  fs::path landscape(std::size_t num_beta = 2,
                     bool has_trajectory = false,
                     const std::vector<std::int64_t>& runs = {}) const {
    const fs::path path = folder_ / "landscape.h5";
    ResultFile file(path, {.existing = Existing::kReplace});
    file.set_attribute("", {"hesscope_schema_version", std::string("1.0.0")});
    file.define_dimension("landscape", "alpha", 3);
    file.define_dimension("landscape", "beta", num_beta);
    const auto define = [&](const std::string& name, const std::vector<std::string>& dimensions) {
      file.define_variable(
          "landscape",
          {.name = name, .dimensions = dimensions, .long_name = name, .definition = name});
    };
    define("alpha", {"alpha"});
    define("beta", {"beta"});
    define("gradient_norm", {"beta", "alpha"});
    define("loss", {"beta", "alpha"});
    file.define_variable("landscape",
                         {.name = "index",
                          .type = VariableType::kInt64,
                          .dimensions = {"beta", "alpha"},
                          .long_name = "index",
                          .definition = "index"});
    const std::vector<double> alpha = {-1, 0, 0.1};
    const std::vector<double> all_beta = {0, 0.5};
    const std::vector<double> beta(all_beta.begin(), all_beta.begin() + num_beta);
    std::vector<double> loss;
    for (const double b : beta) {
      for (const double a : alpha) loss.push_back(10 * a + b);
    }
    std::vector<double> norm(loss.size(), 2.0);
    loss.back() = num_beta > 1 ? kNaN : loss.back();
    std::vector<std::int64_t> index(loss.size(), 7);
    index.back() = kMissingCount;
    file.write("landscape", "index", index);
    file.write("landscape", "alpha", alpha);
    file.write("landscape", "beta", beta);
    file.write("landscape", "loss", loss);
    file.write("landscape", "gradient_norm", norm);
    if (has_trajectory) add_trajectory(file, runs);
    file.commit();
    return path;
  }

  static void add_trajectory(ResultFile& file, const std::vector<std::int64_t>& runs) {
    file.define_dimension("landscape", "step", 3);
    const auto write_integers = [&](const char* name, const std::vector<std::int64_t>& values) {
      file.define_variable("landscape",
                           {.name = name,
                            .type = VariableType::kInt64,
                            .dimensions = {"step"},
                            .long_name = name,
                            .definition = name});
      file.write("landscape", name, values);
    };
    write_integers("trajectory_step", {0, 5, 10});
    if (!runs.empty()) write_integers("trajectory_run", runs);
    const auto write = [&file](const std::string& name, const std::vector<double>& values) {
      file.define_variable(
          "landscape",
          {.name = name, .dimensions = {"step"}, .long_name = name, .definition = name});
      file.write("landscape", name, values);
    };
    write("trajectory_alpha", {-0.75, kNaN, 0});
    write("trajectory_beta", {0.5, kNaN, 0});
    write("trajectory_residual", {2.5, kNaN, 0});
    write("trajectory_loss", {kNaN, 3, 0.125});
    for (const char* name : {"explained_1", "explained_2"}) {
      file.define_variable("landscape",
                           {.name = name, .dimensions = {}, .long_name = name, .definition = name});
      file.write("landscape", name, std::vector<double>{name[10] == '1' ? 0.75 : 0.25});
    }
  }

  std::string exported(const fs::path& result, const std::string& format) const {
    files_ =
        find_export_kind(format).write(ResultReader(result), folder_ / "out", Existing::kReplace);
    EXPECT_EQ(files_.front(), folder_ / "out");
    return test::read_bytes(folder_ / "out");
  }

  const test::ScratchFolder folder_;
  mutable std::vector<fs::path> files_;  // that the last export wrote
};

TEST_F(Export, OfOneCheckpointIsOneFile) {
  for (const char* format : {"csv", "vtk", "losslandscape"}) {
    exported(landscape(), format);
    EXPECT_THAT(files_, ElementsAre(folder_ / "out"));
  }
}

TEST_F(Export, ATrajectoryAsCsvHasOneLineACheckpoint) {
  exported(landscape(2, true), "csv");
  ASSERT_THAT(files_, ElementsAre(folder_ / "out", folder_ / "out-trajectory"));
  EXPECT_EQ(test::read_bytes(files_[1]),
            "step,alpha,beta,residual,loss,run\n"
            "0,-0.75,0.5,2.5,nan,0\n5,nan,nan,nan,3,0\n10,0,0,0,0.125,0\n");
}

// Numbers of runs, with one whose order is not known.
TEST(LandscapeTrajectory, IsAPathForEachRun) {
  LandscapeTrajectory trajectory;
  trajectory.runs = {0, 0, 1, 1, 1, kMissingCount, kMissingCount, 3};
  trajectory.alpha = {0, 1, 0, kNaN, 2, 3, 4, 5};
  trajectory.beta = {0, 1, 0, 1, 2, 3, 4, 5};
  EXPECT_THAT(
      trajectory.paths(),
      ElementsAre(
          ElementsAre(0, 1), ElementsAre(2, 4), ElementsAre(5), ElementsAre(6), ElementsAre(7)));
}

TEST_F(Export, TrajectoriesOfSeveralRunsAreNotJoined) {
  const auto cells = [&](const std::vector<std::int64_t>& runs) {
    const std::string text =
        (exported(landscape(2, true, runs), "vtk"), test::read_bytes(files_[1]));
    const std::string last_point = test::doubles({0, 0, 0.125}) + "\n";
    const std::size_t begin = text.find(last_point) + last_point.size();
    return text.substr(begin, text.find("POINT_DATA") - begin);
  };
  EXPECT_EQ(cells({0, 0, 0}), "LINES 1 3\n" + test::integers({2, 0, 1}) + "\n");
  const std::string apart = "VERTICES 2 4\n" + test::integers({1, 0, 1, 1}) + "\n";
  EXPECT_EQ(cells({0, 1, 1}), apart);
  const std::int64_t none = kMissingCount;
  EXPECT_EQ(cells({none, none, none}), apart);
}

TEST_F(Export, ATrajectoryAsVtkIsAPolylineThroughThePlacesThereAre) {
  exported(landscape(2, true), "vtk");
  ASSERT_THAT(files_, ElementsAre(folder_ / "out", folder_ / "out-trajectory"));
  EXPECT_EQ(test::read_bytes(files_[1]),
            "# vtk DataFile Version 3.0\nhesscope trajectory\nBINARY\nDATASET POLYDATA\n"
            "POINTS 2 double\n" +
                test::doubles({-0.75, 0.5, 1, 0, 0, 0.125}) + "\nLINES 1 3\n" +
                test::integers({2, 0, 1}) + "\nPOINT_DATA 2\n" + test::scalars("step", {0, 10}) +
                test::scalars("loss", {kNaN, 0.125}) + test::scalars("residual", {2.5, 0}));
}

TEST_F(Export, ATrajectoryAsLosslandscapeIsAProjectionFile) {
  const fs::path result = landscape(2, true);
  const auto files = find_export_kind("losslandscape")
                         .write(ResultReader(result), folder_ / "s.h5", Existing::kRefuse);
  ASSERT_THAT(files, ElementsAre(folder_ / "s.h5", folder_ / "s_proj_lstsq.h5"));
  const ResultReader out(files[1]);
  const std::vector<double> x = out.read_doubles("", "proj_xcoord");
  const std::vector<double> y = out.read_doubles("", "proj_ycoord");
  ASSERT_EQ(x.size(), 3U);
  ASSERT_EQ(y.size(), 3U);
  EXPECT_EQ(x[0], -0.75);
  EXPECT_EQ(y[0], 0.5);
  EXPECT_TRUE(std::isnan(x[1]) && std::isnan(y[1]));
  EXPECT_EQ(x[2], 0);
  EXPECT_THAT(out.read_doubles("", "explained_variance_ratio_"), ElementsAre(0.75, 0.25));
}

TEST_F(Export, LeavesBothFilesAsTheyAreWhereOneIsInTheWay) {
  const ResultReader result(landscape(2, true));
  for (const auto& [format, second] : {std::pair{"csv", "grid-trajectory.h5"},
                                       {"vtk", "grid-trajectory.h5"},
                                       {"losslandscape", "grid_proj_lstsq.h5"}}) {
    test::write_bytes(folder_ / second, "in the way");
    const ExportKind& chosen = find_export_kind(format);
    EXPECT_THAT([&] { chosen.write(result, folder_ / "grid.h5", Existing::kRefuse); },
                ThrowsMessage<OutputError>(HasSubstr(second)));
    EXPECT_EQ(test::read_bytes(folder_ / second), "in the way");
    EXPECT_FALSE(fs::exists(folder_ / "grid.h5"));
    fs::remove(folder_ / second);
  }
}

TEST_F(Export, DoesNotReplaceTheResultByItsTrajectory) {
  const fs::path result = folder_ / "plane-trajectory.h5";
  fs::rename(landscape(2, true), result);
  const std::string before = test::read_bytes(result);
  EXPECT_THAT(
      [&] {
        find_export_kind("csv").write(
            ResultReader(result), folder_ / "plane.h5", Existing::kReplace);
      },
      ThrowsMessage<ConfigError>(HasSubstr("plane-trajectory.h5")));
  EXPECT_EQ(test::read_bytes(result), before);
  EXPECT_FALSE(fs::exists(folder_ / "plane.h5"));
}

TEST_F(Export, AGridAsCsvHasOneLineAPoint) {
  EXPECT_EQ(exported(landscape(), "csv"),
            "alpha,beta,loss,gradient_norm,index\n"
            "-1,0,-10,2,7\n0,0,0,2,7\n0.1,0,1,2,7\n"
            "-1,0.5,-9.5,2,7\n0,0.5,0.5,2,7\n0.1,0.5,nan,2,nan\n");
}

TEST_F(Export, AGridAsVtkIsASurface) {
  EXPECT_EQ(
      exported(landscape(), "vtk"),
      "# vtk DataFile Version 3.0\nhesscope landscape\nBINARY\nDATASET STRUCTURED_GRID\n"
      "DIMENSIONS 3 2 1\nPOINTS 6 double\n" +
          test::doubles({-1, 0, -10, 0, 0, 0, 0.1, 0, 1, -1, 0.5, -9.5, 0, 0.5, 0.5, 0.1, 0.5, 1}) +
          "\nPOINT_DATA 6\n" + test::scalars("loss", {-10, 0, 1, -9.5, 0.5, kNaN}) +
          test::scalars("gradient_norm", {2, 2, 2, 2, 2, 2}) +
          test::scalars("index", {7, 7, 7, 7, 7, kNaN}));
}

TEST_F(Export, AGridAsLosslandscapeHasRowsAlongY) {
  exported(landscape(), "losslandscape");
  const ResultReader out(folder_ / "out");
  EXPECT_THAT(out.read_doubles("", "xcoordinates"), ElementsAre(-1, 0, 0.1));
  EXPECT_THAT(out.read_doubles("", "ycoordinates"), ElementsAre(0, 0.5));
  ASSERT_NE(out.find("", "train_loss"), nullptr);
  EXPECT_THAT(out.find("", "train_loss")->shape, ElementsAre(2, 3));
  const std::vector<double> loss = out.read_doubles("", "train_loss");
  EXPECT_EQ(std::vector<double>(loss.begin(), loss.begin() + 5),
            (std::vector<double>{-10, 0, 1, -9.5, 0.5}));
  EXPECT_TRUE(std::isnan(loss[5]));
}

TEST_F(Export, ALineAsLosslandscapeHasNoY) {
  exported(landscape(1), "losslandscape");
  const ResultReader out(folder_ / "out");
  EXPECT_EQ(out.find("", "ycoordinates"), nullptr);
  EXPECT_THAT(out.read_doubles("", "train_loss"), ElementsAre(-10, 0, 1));
}

TEST_F(Export, AnAnalysisAsCsvHasTheCoordinatesOfItsGroupsOnce) {
  const fs::path path = folder_ / "analysis.h5";
  ResultFile file(path);
  file.set_attribute("", {"hesscope_schema_version", std::string("2.0.0")});
  file.define_dimension("", "checkpoint", 2);
  for (const char* group : {"", "condition"}) {
    file.define_variable(group,
                         {.name = "step",
                          .type = VariableType::kInt64,
                          .dimensions = {"checkpoint"},
                          .long_name = "step",
                          .definition = "step"});
    file.write(group, "step", std::vector<std::int64_t>{0, 5});
    file.define_variable(group,
                         {.name = "number",
                          .dimensions = {"checkpoint"},
                          .long_name = "number",
                          .definition = "number",
                          .coordinates = {"step"}});
    file.write(group, "number", std::vector<double>{1.5, 2});
  }
  file.commit();
  EXPECT_EQ(exported(path, "csv"), "step,number,condition/number\n0,1.5,1.5\n5,2,2\n");
}

TEST_F(Export, AnAnalysisAsCsvHasOneLineACheckpoint) {
  const fs::path path = folder_ / "analysis.h5";
  ResultFile file(path);
  file.set_attribute("", {"hesscope_schema_version", std::string("1.0.0")});
  file.define_dimension("", "checkpoint", 2);
  file.define_dimension("spectrum", "rank", 3);
  const auto define = [&](const std::string& group,
                          const std::string& name,
                          VariableType type,
                          const std::vector<std::string>& dimensions,
                          const std::string& status) {
    file.define_variable(group,
                         {.name = name,
                          .type = type,
                          .dimensions = dimensions,
                          .long_name = name,
                          .definition = name,
                          .ancillary_variables = status});
  };
  define("", "checkpoint_file", VariableType::kText, {"checkpoint"}, "");
  define("", "step", VariableType::kInt64, {"checkpoint"}, "");
  define("spectrum", "eigenvalues", VariableType::kDouble, {"checkpoint", "rank"}, "e_status");
  define("spectrum", "e_status", VariableType::kInt8, {"checkpoint"}, "");
  define("spectrum", "lambda_max", VariableType::kDouble, {"checkpoint"}, "l_status");
  define("spectrum", "l_status", VariableType::kInt8, {"checkpoint"}, "");
  file.write("", "checkpoint_file", std::vector<std::string>{"a,\"b\".npz", "c.npz"});
  file.write_slice("", "step", 1, std::vector<std::int64_t>{7});
  file.write("spectrum", "lambda_max", std::vector<double>{0.1, kNaN});
  file.write("spectrum", "l_status", std::vector<std::int8_t>{0, 2});
  file.commit();
  EXPECT_EQ(exported(path, "csv"),
            "checkpoint_file,step,spectrum/lambda_max,spectrum/l_status\n"
            "\"a,\"\"b\"\".npz\",,0.1,0\nc.npz,7,nan,2\n");
  for (const char* format : {"vtk", "losslandscape"}) {
    EXPECT_THAT([&] { exported(path, format); },
                ThrowsMessage<InputError>(
                    AllOf(StartsWith(path.string()), HasSubstr("holds no landscape"))));
  }
}

TEST_F(Export, RefusesColumnsThatAreNotEquallyLong) {
  for (const std::size_t size : {1, 9}) {  // of what the group calls a checkpoint
    const fs::path path = folder_ / "analysis.h5";
    ResultFile file(path, {.existing = Existing::kReplace});
    file.set_attribute("", {"hesscope_schema_version", std::string("2.0.0")});
    const auto add = [&file](const std::string& group, std::size_t count) {
      file.define_dimension(group, "checkpoint", count);
      file.define_variable(group,
                           {.name = "number",
                            .dimensions = {"checkpoint"},
                            .long_name = "number",
                            .definition = "number"});
      file.write(group, "number", std::vector<double>(count, 1.5));
    };
    add("", 3);
    add("other", size);
    file.commit();
    EXPECT_THAT([&] { exported(path, "csv"); },
                ThrowsMessage<InputError>(AllOf(StartsWith(path.string()),
                                                HasSubstr("variable 'other/number': "),
                                                HasSubstr("others of a checkpoint have 3"))));
  }
}

TEST_F(Export, RefusesAGridThatIsNotOfItsAxes) {
  const fs::path path = folder_ / "landscape.h5";
  ResultFile file(path);
  file.set_attribute("", {"hesscope_schema_version", std::string("2.0.0")});
  file.define_dimension("", "alpha", 3);
  file.define_dimension("", "beta", 2);
  file.define_dimension("landscape", "longer", 70'000);
  const auto add = [&file](const std::string& name,
                           const std::vector<std::string>& dimensions,
                           std::size_t count) {
    file.define_variable(
        "landscape",
        {.name = name, .dimensions = dimensions, .long_name = name, .definition = name});
    file.write("landscape", name, std::vector<double>(count, 1.5));
  };
  add("alpha", {"longer"}, 70'000);
  add("beta", {"beta"}, 2);
  add("loss", {"beta", "alpha"}, 6);
  file.commit();
  for (const char* format : {"csv", "vtk", "losslandscape"}) {
    EXPECT_THAT([&] { exported(path, format); },
                ThrowsMessage<InputError>(HasSubstr(
                    "variable 'landscape/loss': 6 values where alpha and beta have 70000 and 2")));
  }
}

TEST_F(Export, LeavesAnExistingFileUnlessAsked) {
  const ResultReader result(landscape());
  test::write_bytes(folder_ / "out", "precious");
  for (const ExportKind& format : export_kinds()) {
    EXPECT_THROW(format.write(result, folder_ / "out", Existing::kRefuse), OutputError)
        << format.name;
    EXPECT_EQ(test::read_bytes(folder_ / "out"), "precious");
  }
}

TEST_F(Export, SuggestsTheNearestFormat) {
  EXPECT_THAT([] { find_export_kind("vkt"); },
              ThrowsMessage<ConfigError>(HasSubstr("did you mean 'vtk'")));
}

}  // namespace
}  // namespace hesscope::io
