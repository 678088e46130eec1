// SPDX-License-Identifier: BSD-3-Clause
//
// Interrupted analyses continue where they stopped, and end with the same bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/analysis/analysis.h>
#include <hesscope/core/error.h>

#include "analysis/analysis_of_files.h"
#include "support/files.h"
#include "support/units.h"

namespace hesscope {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using ::testing::UnorderedElementsAre;

using test::kRuns;

namespace fs = std::filesystem;

class Resumption : public test::AnalysisOfFiles {
 protected:
  Resumption() {
    ::setenv("SOURCE_DATE_EPOCH", "0", 1);
    request_.also = {"eigenpairs"};  // looks at the checkpoint before
  }

  ~Resumption() override { ::unsetenv("SOURCE_DATE_EPOCH"); }

  std::string uninterrupted() {
    AnalysisRequest other = request_;
    other.output = folder_ / "whole.h5";
    run_analysis(other);
    return test::read_bytes(other.output);
  }

  void interrupt_at(std::size_t checkpoint) {
    EXPECT_THROW(
        run_analysis(request_, [&](std::size_t index, auto, auto) { return index < checkpoint; }),
        Interrupted);
  }

  const fs::path units_ = folder_ / "result.h5.units";
};

TEST_F(Resumption, EndsWithTheSameBytesAndTheSameSummary) {
  const std::string whole = uninterrupted();
  for (const std::size_t checkpoint : {1U, 3U, 4U}) interrupt_at(checkpoint);
  const AnalysisResult result = run_analysis(request_);
  EXPECT_EQ(test::read_bytes(request_.output), whole);
  EXPECT_FALSE(fs::exists(units_));
  request_.overwrite = io::Overwrite::kOwnKind;
  const AnalysisResult again = run_analysis(request_);
  EXPECT_FALSE(again.is_done_already);
  ASSERT_EQ(result.checkpoints.size(), again.checkpoints.size());
  for (std::size_t i = 0; i < result.checkpoints.size(); ++i) {
    EXPECT_EQ(result.checkpoints[i].loss, again.checkpoints[i].loss);
    ASSERT_EQ(result.checkpoints[i].numbers.size(), again.checkpoints[i].numbers.size());
    for (std::size_t k = 0; k < result.checkpoints[i].numbers.size(); ++k) {
      EXPECT_EQ(result.checkpoints[i].numbers[k].status, again.checkpoints[i].numbers[k].status);
    }
  }
}

// Its answers at a checkpoint follow from all checkpoints before it; two runs are in one file.
TEST_F(Resumption, FollowsATrajectoryFromItsStartWhereverItGoesOn) {
  request_.checkpoints = expand_checkpoints({kRuns / "adam", kRuns / "sgdm"});
  request_.only = {"smoothness"};
  request_.also.clear();
  const std::string whole = uninterrupted();
  for (const std::size_t checkpoint : {1U, 3U, 4U, 7U, 8U}) interrupt_at(checkpoint);
  test::split_units(units_);
  fs::remove(units_ / "000001-smoothness.unit");  // known of a later one, and then not of this
  fs::remove(units_ / "000006-smoothness.unit");
  run_analysis(request_);
  EXPECT_EQ(test::read_bytes(request_.output), whole);
}

TEST_F(Resumption, ComputesNothingTwice) {
  interrupt_at(3);
  EXPECT_EQ(test::split_units(units_), 3 * 6U);  // root and five analyzers
  std::map<std::string, fs::file_time_type> kept;
  for (const auto& entry : fs::directory_iterator(units_)) {
    kept[entry.path().filename().string()] = entry.last_write_time();
  }
  interrupt_at(4);
  for (const auto& [name, time] : kept) EXPECT_EQ(fs::last_write_time(units_ / name), time) << name;
}

TEST_F(Resumption, ComputesADamagedUnitAgainAndSaysSo) {
  const std::string whole = uninterrupted();
  interrupt_at(2);
  test::split_units(units_);
  const fs::path unit = units_ / "000001-spectrum.unit";
  std::string bytes = test::read_bytes(unit);
  bytes[bytes.size() / 2] ^= 1;
  test::write_bytes(unit, bytes);
  test::write_bytes(units_ / "000000-condition.unit", "");
  fs::remove(units_ / "000000-root.unit");
  const AnalysisResult result = run_analysis(request_);
  EXPECT_EQ(test::read_bytes(request_.output), whole);
  EXPECT_THAT(result.warnings,
              UnorderedElementsAre(HasSubstr("'000001-spectrum' is damaged"),
                                   HasSubstr("000000-condition.unit: is damaged")));
  EXPECT_TRUE(result.is_conclusive);
}

// Whole units with right checksums: one of another checkpoint, one of the same checkpoint and
// analyzer in a run over other data.
TEST_F(Resumption, ComputesAMisplacedUnitAgainAndSaysSo) {
  const std::string whole = uninterrupted();
  interrupt_at(2);
  test::split_units(units_);
  const auto replace = fs::copy_options::overwrite_existing;
  fs::copy_file(units_ / "000000-spectrum.unit", units_ / "000001-spectrum.unit", replace);
  const test::ScratchFolder other;
  const fs::path problem = other / "problem.toml";
  std::string text = test::read_bytes(kRuns / "problem.toml");
  const auto place = text.find("file = ");
  text.replace(place,
               std::string::npos,
               "kind = \"linear-regression\"\ndimension = 5\n"
               "context = 20\nsamples = 256\nseed = 99\n");
  test::write_bytes(problem, text);
  AnalysisRequest elsewhere = request_;
  elsewhere.problem = problem;
  elsewhere.output = other / "result.h5";
  EXPECT_THROW(run_analysis(elsewhere, [](std::size_t index, auto, auto) { return index < 1; }),
               Interrupted);
  test::split_units(other / "result.h5.units");
  fs::copy_file(
      other / "result.h5.units" / "000000-root.unit", units_ / "000000-root.unit", replace);
  const AnalysisResult result = run_analysis(request_);
  EXPECT_EQ(test::read_bytes(request_.output), whole);
  EXPECT_THAT(result.warnings,
              UnorderedElementsAre(AllOf(HasSubstr("000001-spectrum.unit"),
                                         HasSubstr("another unit, '000000-spectrum'")),
                                   AllOf(HasSubstr("000000-root.unit"), HasSubstr("another run"))));
}

TEST_F(Resumption, RefusesUnitsOfAnotherRunAndNamesTheDifference) {
  interrupt_at(1);
  const auto refused = [](AnalysisRequest request, const std::string& key) {
    EXPECT_THAT([&] { run_analysis(request); },
                ThrowsMessage<ConfigError>(AllOf(HasSubstr("result.h5.units"), HasSubstr(key))));
  };
  AnalysisRequest changed = request_;
  changed.seed = 1;
  refused(changed, "'seed'");
  changed = request_;
  changed.options["eigenpairs"] = std::int64_t{7};
  refused(changed, "'eigenpairs'");
  changed = request_;
  changed.method = SpectrumMethod::kIterative;
  refused(changed, "'method'");
  changed = request_;
  changed.checkpoints.pop_back();
  refused(changed, "'checkpoints'");
  changed = request_;
  changed.also.clear();
  refused(changed, "'analyzers'");
  // To overwrite is to discard them; more threads are no other run.
  changed = request_;
  changed.num_threads = 3;
  run_analysis(changed);
  fs::remove(request_.output);
  interrupt_at(1);
  changed.seed = 1;
  changed.overwrite = io::Overwrite::kOwnKind;
  run_analysis(changed);
  EXPECT_THAT(left_behind(), ElementsAre("result.h5"));
}

TEST_F(Resumption, KnowsAnOutputThatWasPublishedButNotCleanedUpAfter) {
  interrupt_at(4);
  const fs::path copy = folder_ / "copy";
  fs::copy(units_, copy);
  run_analysis(request_);
  const std::string whole = test::read_bytes(request_.output);
  fs::rename(copy, units_);
  const AnalysisResult result = run_analysis(request_);  // without overwrite
  EXPECT_TRUE(result.is_done_already);
  EXPECT_EQ(result.checkpoints.size(), 5U);
  EXPECT_EQ(test::read_bytes(request_.output), whole);
  EXPECT_THAT(left_behind(), ElementsAre("result.h5"));
}

TEST_F(Resumption, RemovesWhatKilledRunsLeftHalfWritten) {
  interrupt_at(1);
  test::write_bytes(folder_ / ".result.h5.tmp-12345", "half");
  test::write_bytes(units_ / ".000001-root.unit.tmp-12345", "half");
  run_analysis(request_);
  EXPECT_THAT(left_behind(), ElementsAre("result.h5"));
}

}  // namespace
}  // namespace hesscope
