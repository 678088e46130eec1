// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/storage/internal/state_journal.h>
#include <hesscope/tensors/checkpoint_file.h>
#include <hesscope/tensors/tensor_file.h>

#include "support/files.h"
#include "support/refusal.h"

namespace hesscope::io {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t kOwner = 0x123456789abcdef0;

class StateJournalTest : public testing::Test {
 protected:
  // The file with a bit of one of its bytes turned.
  void damage(std::size_t at) const {
    std::string bytes = test::read_bytes(path_);
    ASSERT_LT(at, bytes.size());
    bytes[at] = static_cast<char>(bytes[at] ^ 4);
    test::write_bytes(path_, bytes);
  }

  std::vector<std::vector<double>> found() const { return StateJournal(path_, 2, kOwner).states(); }

  const test::ScratchFolder folder_;
  const std::filesystem::path path_ = folder_ / "state";
};

constexpr std::size_t kSlot = 24 + 2 * sizeof(double);

TEST_F(StateJournalTest, KeepsTheTwoNewestAndTheTwoNewestAnchors) {
  EXPECT_TRUE(found().empty());
  StateJournal journal(path_, 2, kOwner);
  for (int i = 0; i < 7; ++i) {
    const std::vector<double> state = {1.0 * i, -0.5 * i};
    if (i == 1 || i == 3) {
      journal.anchor(state);
    } else {
      journal.write(state);
    }
  }
  const auto expected = ElementsAre(
      ElementsAre(6, -3), ElementsAre(5, -2.5), ElementsAre(3, -1.5), ElementsAre(1, -0.5));
  EXPECT_THAT(journal.states(), expected);
  EXPECT_THAT(found(), expected);
  EXPECT_EQ(std::filesystem::file_size(path_), 4 * kSlot);
}

TEST_F(StateJournalTest, IgnoresATornSlotAndWritesItNext) {
  StateJournal(path_, 2, kOwner).write(std::vector<double>{1, 10});
  StateJournal(path_, 2, kOwner).write(std::vector<double>{2, 20});
  EXPECT_THAT(found(), ElementsAre(ElementsAre(2, 20), ElementsAre(1, 10)));
  for (std::size_t at = kSlot; at < 2 * kSlot; ++at) {
    damage(at);
    EXPECT_THAT(found(), ElementsAre(ElementsAre(1, 10))) << at;
    damage(at);
  }
  damage(kSlot + 20);
  StateJournal(path_, 2, kOwner).write(std::vector<double>{3, 30});
  EXPECT_THAT(found(), ElementsAre(ElementsAre(3, 30), ElementsAre(1, 10)));
  std::filesystem::resize_file(path_, 2 * kSlot - 1);
  EXPECT_THAT(found(), ElementsAre(ElementsAre(1, 10)));
  std::filesystem::resize_file(path_, 5);
  EXPECT_TRUE(found().empty());
}

TEST_F(StateJournalTest, GivesBackEveryBit) {
  const std::vector<double> state = {-0.0, std::nan("")};
  StateJournal(path_, 2, kOwner).write(state);
  const std::vector<double> back = found().at(0);
  EXPECT_TRUE(std::signbit(back[0]));
  EXPECT_TRUE(std::isnan(back[1]));
}

TEST_F(StateJournalTest, RefusesAnotherSize) {
  StateJournal journal(path_, 2, kOwner);
  test::expect_refusal([&] { journal.write(std::vector<double>{1}); }, "expected 2 values, got 1");
  test::expect_refusal<OutputError>([&] { StateJournal(folder_ / "no/state", 2, kOwner); },
                                    "no/state");
}

TEST_F(StateJournalTest, RowsAreThoseUpToTheFirstDamagedOne) {
  RowLog log(path_, 2, kOwner);
  for (int i = 0; i < 5; ++i) log.append(std::vector<double>{1.0 * i, 2.0 * i});
  EXPECT_THAT(log.rows(), ElementsAre(0, 0, 1, 2, 2, 4, 3, 6, 4, 8));
  log.truncate(4);
  log.truncate(9);
  EXPECT_EQ(RowLog(path_, 2, kOwner).rows().size(), 8U);
  damage(2 * kSlot + 30);
  RowLog again(path_, 2, kOwner);
  EXPECT_THAT(again.rows(), ElementsAre(0, 0, 1, 2));
  again.append(std::vector<double>{7, 7});
  EXPECT_THAT(RowLog(path_, 2, kOwner).rows(), ElementsAre(0, 0, 1, 2, 7, 7));
}

TEST_F(StateJournalTest, AnothersStatesAndRowsDoNotCount) {
  StateJournal(path_, 2, kOwner + 1).write(std::vector<double>{1, 10});
  {
    StateJournal journal(path_, 2, kOwner);
    EXPECT_TRUE(journal.held_others());
    EXPECT_TRUE(journal.states().empty());
    journal.write(std::vector<double>{2, 20});
    EXPECT_THAT(journal.states(), ElementsAre(ElementsAre(2, 20)));
  }
  EXPECT_FALSE(StateJournal(path_, 2, kOwner).held_others());
  const std::filesystem::path rows = folder_ / "rows";
  RowLog(rows, 2, kOwner).append(std::vector<double>{0, 0});
  EXPECT_FALSE(RowLog(rows, 2, kOwner).held_others());
  RowLog other(rows, 2, kOwner + 1);
  EXPECT_TRUE(other.held_others());
  EXPECT_TRUE(other.rows().empty());
}

TEST_F(StateJournalTest, RefusesWhatIsNoFile) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  const auto refused = [](auto open) {
    test::expect_refusal<OutputError>(open, "no regular file");
  };
  refused([&] { StateJournal(path_, 2, kOwner); });
  refused([&] { RowLog(path_, 2, kOwner); });
}

TEST(CheckpointFile, IsReadBackByTheCheckpointReaders) {
  const test::ScratchFolder folder;
  const std::vector<double> values = {1, 2, 3, 4, 5, 6};
  const std::vector<CheckpointTensor> tensors = {{"layers.0.P", {2, 3}, values},
                                                 {"b", {1}, std::span(values).first(1)},
                                                 {"optimizer.step", {}, std::span(values).last(1)}};
  write_checkpoint(folder / "a.h5", tensors, Existing::kRefuse);
  write_checkpoint(folder / "b.h5", tensors, Existing::kRefuse);
  EXPECT_EQ(test::read_bytes(folder / "a.h5"), test::read_bytes(folder / "b.h5"));
  const TensorFile file = open_tensor_file(folder / "a.h5");
  EXPECT_EQ(file.tensors().size(), 3U);
  EXPECT_THAT(file.find("layers.0.P")->shape, ElementsAre(2, 3));
  EXPECT_EQ(file.read("layers.0.P"), values);
  EXPECT_TRUE(file.find("optimizer.step")->shape.empty());
  EXPECT_THAT(file.read("optimizer.step"), ElementsAre(6));
  test::expect_refusal<OutputError>(
      [&] { write_checkpoint(folder / "a.h5", tensors, Existing::kRefuse); }, "exists already");
  const std::vector<CheckpointTensor> wrong = {{"x", {2}, values}};
  test::expect_refusal([&] { write_checkpoint(folder / "c.h5", wrong, Existing::kReplace); },
                       "'x' of shape (2,)");
  EXPECT_FALSE(std::filesystem::exists(folder / "c.h5"));
}

}  // namespace
}  // namespace hesscope::io
