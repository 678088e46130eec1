// SPDX-License-Identifier: BSD-3-Clause
#include "progress_line.h"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hesscope::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

// A console whose clock goes as the test says.
class ProgressLines : public ::testing::Test {
 protected:
  ProgressLine::Console console(bool is_terminal) {
    return {.is_terminal = is_terminal,
            .write = [this](std::string_view text) { written_.emplace_back(text); },
            .now = [this] { return now_; }};
  }

  void pass(double seconds) {
    now_ += std::chrono::duration_cast<ProgressLine::Clock::duration>(
        std::chrono::duration<double>(seconds));
  }

  ProgressLine::Clock::time_point now_{std::chrono::hours(1000)};
  std::vector<std::string> written_;
};

TEST_F(ProgressLines, ABatchLogHasOneEveryThirtySeconds) {
  ProgressLine line("analyze", false, console(false));
  constexpr int kSeconds = 100;
  for (int second = 0; second < kSeconds; ++second, pass(1)) {
    line.show("step-000500.npz", 1, 4, second / 100.0);
    EXPECT_EQ(written_.size(), static_cast<std::size_t>(second / 30)) << second;
  }
  // From 25 to 32.5 % in 30 seconds: the 67.5 % left take 270.
  EXPECT_EQ(written_.front(), "hesscope analyze: [2/4] step-000500.npz  32 %  4 min 30 s left\n");
  line.clear();
  EXPECT_THAT(written_, SizeIs(3));  // nothing to wipe
}

TEST_F(ProgressLines, AShortBatchRunHasNone) {
  ProgressLine line("analyze", false, console(false));
  for (int i = 0; i < 290; ++i, pass(0.1)) line.show("a", 0, 1, i / 290.0);
  EXPECT_THAT(written_, IsEmpty());
}

TEST_F(ProgressLines, QuietSilencesThemEverywhere) {
  for (const bool is_terminal : {false, true}) {
    ProgressLine line("analyze", true, console(is_terminal));
    for (int i = 0; i < 100; ++i, pass(5)) line.show("a", 0, 1, i / 100.0);
  }
  EXPECT_THAT(written_, IsEmpty());
}

TEST_F(ProgressLines, ATerminalHasOneThatIsRedrawnTenTimesASecondAndWiped) {
  {
    ProgressLine line("analyze", false, console(true));
    for (int i = 0; i < 100; ++i, pass(0.02)) line.show("a", 0, 1, i / 100.0);
    EXPECT_THAT(written_, SizeIs(20));
    for (const std::string& text : written_) EXPECT_THAT(text, StartsWith("\r\033[K[1/1] a"));
    EXPECT_THAT(written_.back(), HasSubstr("95 %"));
    EXPECT_THAT(written_.back(), HasSubstr("0.1 s left"));
    written_.clear();
  }
  EXPECT_THAT(written_, ElementsAre("\r\033[K"));
}

// What a resumed run finds done took no time of it.
TEST_F(ProgressLines, TheTimeLeftIsForeseenFromWhatThisRunDid) {
  ProgressLine line("analyze", false, console(true));
  line.show("a", 9, 20, 0);
  pass(10);
  written_.clear();
  line.show("a", 10, 20, 0);  // 5 % in 10 seconds, 50 % left
  EXPECT_THAT(written_, ElementsAre(HasSubstr("50 %  1 min 40 s left")));
}

}  // namespace
}  // namespace hesscope::cli
