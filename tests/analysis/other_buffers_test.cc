// SPDX-License-Identifier: BSD-3-Clause
//
// Checkpoints of one run with buffers of their own, as running statistics are.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/analysis/analysis.h>
#include <hesscope/dataset/result_reader.h>

#include "problem/centred_kind.h"
#include "support/files.h"

namespace hesscope {
namespace {

using test::CentredFiles;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OtherBuffers : public ::testing::Test {
 protected:
  OtherBuffers() { ::setenv("SOURCE_DATE_EPOCH", "0", 1); }

  ~OtherBuffers() override { ::unsetenv("SOURCE_DATE_EPOCH"); }

  AnalysisRequest request(const std::vector<std::vector<double>>& means) const {
    AnalysisRequest request;
    for (std::size_t i = 0; i < means.size(); ++i) {
      const std::string name = "step-" + std::to_string(i) + ".h5";
      request.checkpoints.push_back(
          {files_.checkpoint(name, means[i], weights_[i]), static_cast<std::int64_t>(i)});
    }
    request.problem = files_.problem();
    request.output = files_.folder() / "result.h5";
    request.only = {"smoothness", "sharpening"};
    request.command = "a test";
    return request;
  }

  const CentredFiles files_;
  const std::vector<std::vector<double>> weights_ = {{1, 2}, {1.5, 2}, {0.5, 1}, {2, -1}};
  const std::vector<std::vector<double>> means_ = {{-1, 2}, {0.5, 1}, {0.5, 1}, {3, 0}};
};

TEST_F(OtherBuffers, AreThoseOfTheCheckpointWhereAStepBeginsAndThatIsSaid) {
  const AnalysisRequest request = this->request(means_);
  const AnalysisResult result = run_analysis(request);
  EXPECT_THAT(
      result.warnings,
      ElementsAre(
          AllOf(HasSubstr("step-1.h5 and 1 more: other buffers"), HasSubstr("in /sharpening")),
          AllOf(HasSubstr("step-1.h5 and 1 more: other buffers"),
                HasSubstr("in /smoothness step_loss_change and secant_smoothness"))));
  const io::ResultReader file(request.output);
  const std::vector<double> changes = file.read_doubles("smoothness", "step_loss_change");
  const std::vector<double> losses = file.read_doubles("", "loss");
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(losses[i], CentredFiles::loss(means_[i], weights_[i]));
    EXPECT_NEAR(changes[i], CentredFiles::loss(means_[i], weights_[i + 1]) - losses[i], 1e-14);
  }
}

TEST_F(OtherBuffers, ThatAreEqualAreNotWarnedOf) {
  const std::vector<double> mean = {-1, 2};
  EXPECT_THAT(run_analysis(request({mean, mean, mean, mean})).warnings, IsEmpty());
}

// Rules with a memory follow the gradients of the checkpoints before, each with its own buffers,
// whether these are analyzed here or passed over.
TEST_F(OtherBuffers, OfCheckpointsThatAreAnotherPartsCountAllTheSame) {
  AnalysisRequest whole = request(means_);
  run_analysis(whole);
  const std::string bytes = test::read_bytes(whole.output);
  AnalysisRequest part = whole;
  part.output = files_.folder() / "parts.h5";
  for (int index = 0; index < 2; ++index) {
    part.share.part = io::Part{.count = 2, .index = index};
    run_analysis(part);
  }
  part.share = {.merge_only = true};
  run_analysis(part);
  EXPECT_EQ(test::read_bytes(part.output), bytes);
}

}  // namespace
}  // namespace hesscope
