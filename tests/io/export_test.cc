// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/io/export_registry.h>
#include <hesscope/io/result_file.h>

#include "support/files.h"

namespace hesscope::io {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

namespace fs = std::filesystem;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class Export : public testing::Test {
 protected:
  // Of 3 x 2 points, the loss at (alpha, beta) = (a, b) being 10 a + b; not finite in a corner.
  fs::path landscape(std::size_t num_beta = 2) const {
    const fs::path path = folder_ / "landscape.h5";
    ResultFile file(path, {.overwrite = true});
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
    const std::vector<double> alpha = {-1, 0, 0.1};
    const std::vector<double> all_beta = {0, 0.5};
    const std::vector<double> beta(all_beta.begin(), all_beta.begin() + num_beta);
    std::vector<double> loss;
    for (const double b : beta) {
      for (const double a : alpha) loss.push_back(10 * a + b);
    }
    std::vector<double> norm(loss.size(), 2.0);
    loss.back() = num_beta > 1 ? kNan : loss.back();
    file.write("landscape", "alpha", alpha);
    file.write("landscape", "beta", beta);
    file.write("landscape", "loss", loss);
    file.write("landscape", "gradient_norm", norm);
    file.commit();
    return path;
  }

  std::string exported(const fs::path& result, const std::string& format) const {
    find_export_format(format).write(ResultReader(result), folder_ / "out", true);
    return test::read_bytes(folder_ / "out");
  }

  const test::ScratchFolder folder_;
};

TEST_F(Export, AGridAsCsvHasOneLineAPoint) {
  EXPECT_EQ(exported(landscape(), "csv"),
            "alpha,beta,loss,gradient_norm\n"
            "-1,0,-10,2\n0,0,0,2\n0.1,0,1,2\n"
            "-1,0.5,-9.5,2\n0,0.5,0.5,2\n0.1,0.5,nan,2\n");
}

TEST_F(Export, AGridAsVtkIsASurface) {
  EXPECT_EQ(exported(landscape(), "vtk"),
            "# vtk DataFile Version 3.0\nhesscope landscape\nASCII\nDATASET STRUCTURED_GRID\n"
            "DIMENSIONS 3 2 1\nPOINTS 6 double\n"
            "-1 0 -10\n0 0 0\n0.1 0 1\n-1 0.5 -9.5\n0 0.5 0.5\n0.1 0.5 1\n"
            "POINT_DATA 6\n"
            "SCALARS loss double 1\nLOOKUP_TABLE default\n-10\n0\n1\n-9.5\n0.5\nnan\n"
            "SCALARS gradient_norm double 1\nLOOKUP_TABLE default\n2\n2\n2\n2\n2\n2\n");
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
  file.write("spectrum", "lambda_max", std::vector<double>{0.1, kNan});
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

TEST_F(Export, LeavesAnExistingFileUnlessAsked) {
  const ResultReader result(landscape());
  test::write_bytes(folder_ / "out", "precious");
  for (const ExportFormat& format : export_formats()) {
    EXPECT_THROW(format.write(result, folder_ / "out", false), OutputError) << format.name;
    EXPECT_EQ(test::read_bytes(folder_ / "out"), "precious");
  }
}

TEST_F(Export, SuggestsTheNearestFormat) {
  EXPECT_THAT([] { find_export_format("vkt"); },
              ThrowsMessage<ConfigError>(HasSubstr("did you mean 'vtk'")));
}

}  // namespace
}  // namespace hesscope::io
