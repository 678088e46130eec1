// SPDX-License-Identifier: BSD-3-Clause
//
// A file that the system does not let be read, now at least: what is in it must stay.
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <vector>

#include <sys/syscall.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/storage/internal/state_journal.h>
#include <hesscope/storage/unit_folder.h>

#include "support/files.h"
#include "support/refusal.h"

namespace {

int error_of_reading = 0;  // 0 = as the system says

}  // namespace

/// In place of the C library's, in this program.
extern "C" ssize_t pread(int descriptor, void* buffer, size_t count, off_t offset) {
  if (error_of_reading == 0) return ::syscall(SYS_pread64, descriptor, buffer, count, offset);
  errno = error_of_reading;
  return -1;
}

namespace hesscope::io {
namespace {

using testing::ElementsAre;

class Unreadable : public testing::Test {
 protected:
  ~Unreadable() override { error_of_reading = 0; }

  const test::ScratchFolder folder_;
  const std::filesystem::path output_ = folder_ / "out.h5";
};

TEST_F(Unreadable, AFileIsSaidToBe) {
  test::write_bytes(folder_ / "file", "text");
  error_of_reading = EIO;
  test::expect_refusal<UnreadableFileError>([&] { InputFile(folder_ / "file"); },
                                            "reading byte 0 failed: Input/output error");
}

TEST_F(Unreadable, UnitsAreKept) {
  const RunConfiguration configuration = {{"seed", "1"}};
  UnitFolder(output_, configuration, UnitFolder::Others::kRefuse).write("a", "bytes");
  for (const auto others : {UnitFolder::Others::kRefuse, UnitFolder::Others::kDiscard}) {
    error_of_reading = EIO;
    EXPECT_THROW(UnitFolder(output_, configuration, others), UnreadableFileError);
    error_of_reading = 0;
    EXPECT_EQ(UnitFolder(output_, configuration, others).read("a"), "bytes");
  }
  UnitFolder units(output_, configuration, UnitFolder::Others::kRefuse);
  error_of_reading = EIO;
  EXPECT_THROW(units.read("a"), UnreadableFileError);
  error_of_reading = 0;
  EXPECT_EQ(units.read("a"), "bytes");
}

TEST_F(Unreadable, RowsAndStatesAreKept) {
  constexpr std::uint64_t kRun = 7;
  RowLog(folder_ / "rows", 1, kRun).append(std::vector<double>{1});
  StateJournal(folder_ / "states", 1, kRun).write(std::vector<double>{2});
  error_of_reading = EIO;
  test::expect_refusal<OutputError>([&] { RowLog(folder_ / "rows", 1, kRun); },
                                    "cannot read it: Input/output error");
  EXPECT_THROW(StateJournal(folder_ / "states", 1, kRun), OutputError);
  error_of_reading = 0;
  EXPECT_THAT(RowLog(folder_ / "rows", 1, kRun).rows(), ElementsAre(1));
  EXPECT_THAT(StateJournal(folder_ / "states", 1, kRun).states(), ElementsAre(ElementsAre(2)));
}

}  // namespace
}  // namespace hesscope::io
