// SPDX-License-Identifier: BSD-3-Clause
#include <cerrno>
#include <filesystem>
#include <string>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/storage/atomic_file.h>
#include <hesscope/storage/overwrite.h>

#include "support/files.h"
#include "support/refusal.h"

namespace {

// What syncing a file, or a folder, ends with; 0 = as the system says.
int error_of_files = 0;
int error_of_folders = 0;

}  // namespace

/// In place of the C library's, in this program.
extern "C" int fsync(int descriptor) {
  struct stat status {};

  const bool is_folder = ::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode);
  const int error = is_folder ? error_of_folders : error_of_files;
  if (error == 0) return static_cast<int>(::syscall(SYS_fsync, descriptor));
  errno = error;
  return -1;
}

namespace hesscope::io {
namespace {

class Synced : public testing::Test {
 protected:
  ~Synced() override { error_of_files = error_of_folders = 0; }

  bool is_empty() const { return std::filesystem::is_empty(folder_.path()); }

  const test::ScratchFolder folder_;
};

TEST_F(Synced, AFileThatCannotBeIsNotThere) {
  error_of_files = EIO;
  test::expect_refusal<OutputError>(
      [&] { write_whole(folder_ / "out", "bytes", Existing::kRefuse); },
      (folder_ / "out").string() + ": cannot be synced to disk; nothing was written: Input/output");
  EXPECT_TRUE(is_empty());
}

TEST_F(Synced, AFileWhoseFolderCannotBeIsThere) {
  error_of_folders = EIO;
  test::expect_refusal<OutputError>(
      [&] { write_whole(folder_ / "out", "bytes", Existing::kRefuse); },
      (folder_ / "out").string() + ": is written, but its folder cannot be synced to disk");
  EXPECT_EQ(test::read_bytes(folder_ / "out"), "bytes");
}

TEST(Existing, IsReplacedWhereAnythingMayBe) {
  EXPECT_EQ(existing_of(Overwrite::kNothing), Existing::kRefuse);
  EXPECT_EQ(existing_of(Overwrite::kOwnKind), Existing::kReplace);
  EXPECT_EQ(existing_of(Overwrite::kAnything), Existing::kReplace);
  const test::ScratchFolder folder;
  write_whole(folder / "out", "first", Existing::kRefuse);
  test::expect_refusal<OutputError>(
      [&] { write_whole(folder / "out", "second", Existing::kRefuse); },
      "exists already; choose another output, or replace it by `Existing::kReplace`");
  EXPECT_EQ(test::read_bytes(folder / "out"), "first");
  write_whole(folder / "out", "second", Existing::kReplace);
  EXPECT_EQ(test::read_bytes(folder / "out"), "second");
}

TEST_F(Synced, AFolderThatKnowsNoSyncIsFine) {
  error_of_folders = EINVAL;
  write_whole(folder_ / "out", "bytes", Existing::kRefuse);
  EXPECT_EQ(test::read_bytes(folder_ / "out"), "bytes");
}

}  // namespace
}  // namespace hesscope::io
