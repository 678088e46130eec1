// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/paths/path.h>
#include <hesscope/storage/unit_folder.h>

#include "problem/centred_kind.h"
#include "problem/npz_writer.h"
#include "support/files.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using test::expect_refusal;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

const fs::path kData = fs::path(HESSCOPE_TEST_DATA) / "linear-attention";

// From Adam's last checkpoint to that of SGD with momentum.
class Path : public ::testing::Test {
 protected:
  Path() {
    ::setenv("SOURCE_DATE_EPOCH", "0", 1);
    request_.checkpoints = {{kData / "adam" / "step-001500.npz", 1500},
                            {kData / "sgdm" / "step-001500.npz", 1500}};
    request_.problem = kData / "problem.toml";
    request_.output = folder_ / "result.h5";
    request_.num_images = 7;
    request_.max_steps = 350;
    request_.tolerance = 1e-2;
    request_.num_threads = 2;
    request_.command = "a test";
  }

  ~Path() override { ::unsetenv("SOURCE_DATE_EPOCH"); }

  std::vector<std::string> left_behind() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  std::string uninterrupted() {
    PathRequest other = request_;
    other.output = folder_ / "whole.h5";
    run_path(other);
    std::string bytes = test::read_bytes(other.output);
    fs::remove(other.output);
    return bytes;
  }

  void interrupt_at(double fraction) {
    EXPECT_THROW(run_path(request_, [=](double done) { return done < fraction; }), Interrupted);
  }

  test::ScratchFolder folder_;
  PathRequest request_;
};

TEST_F(Path, LeadsFromTheOneToTheOther) {
  const PathResult result = run_path(request_);
  const io::ResultReader file(request_.output);
  const auto read = [&](const char* name) { return file.read_doubles("path", name); };
  const std::vector<double> losses = read("loss");
  ASSERT_EQ(losses.size(), 7U);
  EXPECT_EQ(losses.front(), result.checkpoints[0].loss);
  EXPECT_NEAR(losses.back(), result.checkpoints[1].loss, 1e-12 * losses.back());
  EXPECT_EQ(read("straight_loss").size(), 25U);
  EXPECT_EQ(read("straight_loss").front(), losses.front());
  EXPECT_NEAR(read("straight_loss").back(), losses.back(), 1e-12 * losses.back());
  EXPECT_EQ(read("unaligned_loss").back(), result.checkpoints[1].loss);
  const std::vector<double> arc = read("arc_length");
  EXPECT_EQ(arc.front(), 0);
  EXPECT_NEAR(arc.back(), read("length").front(), 1e-12);
  EXPECT_GE(arc.back(), read("distance").front() * (1 - 1e-12));
  EXPECT_LE(read("distance").front(), read("unaligned_distance").front());
  // The eigenvalues agree with the ends of the spectrum.
  const std::vector<double> eigenvalues = read("eigenvalues");
  ASSERT_EQ(eigenvalues.size(), 7U * 150U);
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(eigenvalues[i * 150], read("lambda_min")[i]);
    EXPECT_EQ(eigenvalues[i * 150 + 149], read("lambda_max")[i]);
    EXPECT_LE(read("tangent_curvature")[i], read("lambda_max")[i] * (1 + 1e-12));
    EXPECT_GE(read("tangent_curvature")[i], read("lambda_min")[i] - 1e-12);
    EXPECT_LE(read("force")[i], read("gradient_norm")[i] * (1 + 1e-12));
  }
}

TEST_F(Path, EndsWithTheSameBytesAfterInterruptions) {
  const std::string whole = uninterrupted();
  interrupt_at(-1);  // at once
  EXPECT_THAT(left_behind(), IsEmpty());
  interrupt_at(0.02);
  interrupt_at(0.3);  // within the band
  EXPECT_TRUE(io::has_units(request_.output));
  interrupt_at(0.7);  // within the spectra
  interrupt_at(0.95);
  request_.num_threads = 1;
  run_path(request_);
  EXPECT_EQ(test::read_bytes(request_.output), whole);
  EXPECT_THAT(left_behind(), ElementsAre("result.h5"));
}

TEST_F(Path, InPartsHasTheSameBytes) {
  const std::string whole = uninterrupted();
  for (int part = 0; part < 2; ++part) {
    PathRequest own = request_;
    own.share.part = io::Part{.count = 2, .index = part};
    const PathResult result = run_path(own);
    ASSERT_TRUE(result.part.has_value());
    EXPECT_EQ(result.part->num_units, 11U);  // two roots, the straight path, the pass, 7 images
    if (part > 0) continue;
    PathRequest merge = request_;
    merge.share.merge_only = true;
    expect_refusal<io::MissingPartsError>([&] { run_path(merge); },
                                          "sgdm/step-001500.npz and 4 more");
  }
  request_.share.merge_only = true;
  run_path(request_);
  EXPECT_EQ(test::read_bytes(request_.output), whole);
  EXPECT_THAT(left_behind(), ElementsAre("result.h5"));
}

TEST_F(Path, OfItsOwnResultSaysTheSame) {
  const PathResult first = run_path(request_);
  const std::string whole = test::read_bytes(request_.output);
  const PathResult again = run_path(request_);
  EXPECT_FALSE(first.is_done_already);
  EXPECT_TRUE(again.is_done_already);
  EXPECT_EQ(again.warnings, first.warnings);
  EXPECT_EQ(again.is_conclusive, first.is_conclusive);
  EXPECT_EQ(again.aligned_by, first.aligned_by);
  ASSERT_EQ(first.numbers.size(), again.numbers.size());
  for (std::size_t i = 0; i < first.numbers.size(); ++i) {
    EXPECT_EQ(first.numbers[i].name, again.numbers[i].name);
    EXPECT_EQ(first.numbers[i].status, again.numbers[i].status) << first.numbers[i].name;
    EXPECT_EQ(first.numbers[i].word, again.numbers[i].word) << first.numbers[i].name;
    const bool is_same = first.numbers[i].value == again.numbers[i].value ||
                         (std::isnan(first.numbers[i].value) && std::isnan(again.numbers[i].value));
    EXPECT_TRUE(is_same) << first.numbers[i].name;
  }
  EXPECT_EQ(test::read_bytes(request_.output), whole);
}

TEST_F(Path, RefusesUnitsOfAnotherRunAndNamesTheDifference) {
  interrupt_at(0.5);
  const auto refused = [](const PathRequest& request, const std::string& key) {
    expect_refusal<ConfigError>([&] { run_path(request); }, "'" + key + "'");
  };
  PathRequest changed = request_;
  changed.aligns = false;
  refused(changed, "alignment");
  changed = request_;
  changed.has_spectrum = false;
  refused(changed, "spectrum");
  changed = request_;
  changed.num_images = 9;
  refused(changed, "images");
  changed = request_;
  changed.max_steps = 400;
  refused(changed, "max-steps");
  changed = request_;
  changed.tolerance = 0.02;
  refused(changed, "tolerance");
}

TEST_F(Path, SaysThatABandHasNotComeToRest) {
  request_.max_steps = 3;
  request_.tolerance = 1e-9;
  const PathResult result = run_path(request_);
  EXPECT_FALSE(result.is_conclusive);
  EXPECT_THAT(result.warnings, Contains(HasSubstr("has not come to rest in 3 steps")));
}

TEST_F(Path, WithoutAlignmentTakesTheSecondAsItIs) {
  request_.aligns = false;
  request_.has_spectrum = false;
  const PathResult result = run_path(request_);
  EXPECT_THAT(result.aligned_by, IsEmpty());
  const io::ResultReader file(request_.output);
  EXPECT_EQ(file.read_doubles("path", "loss").back(), result.checkpoints[1].loss);
  EXPECT_EQ(file.find("path", "lambda_max"), nullptr);
  EXPECT_EQ(file.read_doubles("path", "distance"), file.read_doubles("path", "unaligned_distance"));
}

TEST_F(Path, ToItselfIsAPoint) {
  request_.checkpoints[1] = request_.checkpoints[0];
  const PathResult result = run_path(request_);
  EXPECT_TRUE(result.is_conclusive);
  const auto number = [&](const std::string& name) {
    return *std::ranges::find(result.numbers, name, &HeadlineNumber::name);
  };
  EXPECT_EQ(number("barrier").value, 0);
  EXPECT_EQ(number("straight_barrier").value, 0);
  EXPECT_EQ(number("distance").value, 0);
  EXPECT_EQ(number("saddle_index").status, Status::kUndefinedNoPass);
  EXPECT_EQ(number("band_outcome").word, "converged");
}

TEST_F(Path, ProgressGoesForwardToTheEnd) {
  double last = 0;
  run_path(request_, [&last](double done) {
    EXPECT_GE(done, last);
    last = done;
    return true;
  });
  EXPECT_EQ(last, 1);
}

TEST_F(Path, RefusesWhatIsNoPath) {
  const auto refused = [this](const PathRequest& request, const std::string& message) {
    expect_refusal<ConfigError>([&] { run_path(request); }, message);
    expect_refusal<ConfigError>([&] { plan_path(request); }, message);
  };
  PathRequest changed = request_;
  changed.checkpoints.pop_back();
  refused(changed, "expected 2, got 1");
  changed = request_;
  changed.num_images = 2;
  refused(changed, "`images`");
  changed = request_;
  changed.max_steps = -1;
  refused(changed, "`max_steps`");
  for (const double tolerance : {0.0, -1.0, 2.0, std::nan("")}) {
    changed = request_;
    changed.tolerance = tolerance;
    refused(changed, "`tolerance`");
  }
  EXPECT_THAT(left_behind(), IsEmpty());
}

TEST_F(Path, APlanForeseesSizesAndWritesNothing) {
  const PathPlan plan = plan_path(request_);
  EXPECT_EQ(plan.num_parameters, 150);
  EXPECT_EQ(plan.num_samples, 256);
  EXPECT_EQ(plan.num_images, 7);
  EXPECT_GT(plan.seconds, 0);
  EXPECT_GT(plan.peak_memory_bytes, 0);
  EXPECT_FALSE(plan.is_done_already);
  EXPECT_THAT(left_behind(), IsEmpty());
}

TEST(PathOfBuffers, IsThatOfTheFirstAndSaysSo) {
  const test::CentredFiles files;
  PathRequest request;
  request.checkpoints = {{files.checkpoint("step-0.h5", {-1, 2}, {1.5, 2}), {}},
                         {files.checkpoint("step-1.h5", {0.5, 1}), {}}};
  request.problem = files.problem();
  request.output = files.folder() / "out.h5";
  request.num_images = 3;
  const PathResult result = run_path(request);
  EXPECT_THAT(result.warnings,
              Contains(AllOf(HasSubstr("step-1.h5: the path is one of the model with the buffers"),
                             HasSubstr("step-0.h5"))));
}

}  // namespace
}  // namespace hesscope
