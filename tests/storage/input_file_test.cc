// SPDX-License-Identifier: BSD-3-Clause
//
// The content that is read from a file, and its digest, belong to the same bytes: if the file is
// replaced or overwritten meanwhile, reading fails instead of returning a mixture.
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/storage/sha256.h>
#include <hesscope/tensors/checkpoint_file.h>
#include <hesscope/tensors/format_registry.h>
#include <hesscope/tensors/tensor_file.h>

#include "support/files.h"

namespace {

namespace fs = std::filesystem;

using hesscope::InputError;
using hesscope::Interrupted;
using hesscope::io::InputFile;
using hesscope::io::open_tensor_file;
using hesscope::io::sha256_of;
using hesscope::io::sha256_of_file;
using hesscope::io::sha256_of_text;
using hesscope::io::TensorFile;
using hesscope::test::read_bytes;
using hesscope::test::ScratchFolder;
using hesscope::test::write_bytes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// Long enough for the next change of a file to bear another time.
void pass_a_tick() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

/// A change of "a.*" after it was opened that makes it equal to "b.*".
struct Change {
  std::string name;
  std::function<void(const fs::path& a, const fs::path& b)> make;
};

const std::vector<Change>& changes() {
  static const std::vector<Change> all = {
      {"replaced", [](const fs::path& a, const fs::path& b) { fs::rename(b, a); }},
      {"overwritten", [](const fs::path& a, const fs::path& b) { write_bytes(a, read_bytes(b)); }},
      {"overwritten under its old date",
       [](const fs::path& a, const fs::path& b) {
         const auto date = fs::last_write_time(a);
         write_bytes(a, read_bytes(b));
         fs::last_write_time(a, date);
       }},
  };
  return all;
}

/// In every format that can be written, w = (1, 2, 3) and w = (4, 5, 6).
class ChangedFile : public ::testing::Test {
 protected:
  /// Calls `test` with an open file whose content has become another one, and its old digest.
  void for_each_change(bool is_fresh,
                       const std::function<void(const TensorFile&, const std::string&)>& test) {
    for (const hesscope::io::FormatKind& format : hesscope::io::format_kinds()) {
      if (format.write == nullptr) continue;
      for (const Change& change : changes()) {
        SCOPED_TRACE(std::string(format.name) + ", " + change.name);
        const fs::path a = write(format, "a", {1, 2, 3});
        const fs::path b = write(format, "b", {4, 5, 6});
        const std::string digest = sha256_of_file(a);
        if (!is_fresh) pass_a_tick();
        const TensorFile file = open_tensor_file(a);
        change.make(a, b);
        test(file, digest);
      }
    }
  }

 private:
  fs::path write(const hesscope::io::FormatKind& format,
                 const std::string& name,
                 const std::vector<double>& values) const {
    const fs::path path = scratch_ / (name + std::string(format.extension));
    const std::vector<hesscope::io::CheckpointTensor> tensors = {{"w", {3}, values}};
    format.write(path, tensors, hesscope::io::Existing::kReplace);
    return path;
  }

  ScratchFolder scratch_;
};

TEST_F(ChangedFile, IsNeitherReadNorHashed) {
  for_each_change(false, [](const TensorFile& file, const std::string&) {
    const std::string name = file.tensors().front().name;
    EXPECT_THAT([&] { file.read(name); },
                ThrowsMessage<InputError>(HasSubstr("it changed since it was opened")));
    EXPECT_THAT([&] { sha256_of(file); },
                ThrowsMessage<InputError>(HasSubstr("it changed since it was opened")));
  });
}

/// Where both changes bear one time, the second is not seen; but it is not read either.
TEST_F(ChangedFile, IsNoMixtureWithinOneTickOfTheClock) {
  for_each_change(true, [](const TensorFile& file, const std::string& digest) {
    const std::string name = file.tensors().front().name;
    try {
      EXPECT_EQ(sha256_of(file), digest);
    } catch (const InputError&) {  // seen
    }
    try {
      EXPECT_THAT(file.read(name), ElementsAre(1, 2, 3));
    } catch (const InputError&) {  // seen
    }
  });
}

TEST_F(ChangedFile, CannotChangeBetweenTheDigestAndTheNumbers) {
  const ScratchFolder scratch;
  write_bytes(scratch / "a", "content");
  pass_a_tick();
  const InputFile file(scratch / "a");
  EXPECT_EQ(sha256_of(file), sha256_of_text("content"));
  write_bytes(scratch / "a", "CONTENT");
  EXPECT_THAT([&] { file.require_unchanged(); },
              ThrowsMessage<InputError>(HasSubstr("run again once nothing writes to it")));
}

/// For every format, a file that is open when its reader is asked to stop.
TEST(InputFile, IsNotReadOnceStopIsRequested) {
  const ScratchFolder scratch;
  const std::vector<double> values = {1, 2, 3};
  const std::vector<hesscope::io::CheckpointTensor> tensors = {{"w", {3}, values}};
  for (const hesscope::io::FormatKind& format : hesscope::io::format_kinds()) {
    if (format.write == nullptr) continue;
    SCOPED_TRACE(format.name);
    const fs::path path = scratch / ("w" + std::string(format.extension));
    format.write(path, tensors, hesscope::io::Existing::kReplace);
    std::stop_source stop;
    const TensorFile file = open_tensor_file(
        std::make_shared<InputFile>(path, InputFile::kCheckpoint, stop.get_token()));
    EXPECT_EQ(file.read(file.tensors().front().name), values);
    stop.request_stop();
    EXPECT_THROW(sha256_of(file), Interrupted);
    EXPECT_THROW(file.read(file.tensors().front().name), Interrupted);
  }
}

TEST(InputFile, IsReadThoughItHasLostItsStandardStreams) {
  const ScratchFolder scratch;
  const std::vector<double> values = {1, 2, 3};
  const std::vector<hesscope::io::CheckpointTensor> tensors = {{"w", {3}, values}};
  hesscope::io::write_checkpoint(scratch / "w.h5", tensors, hesscope::io::Existing::kRefuse);
  const int kept = ::dup(STDIN_FILENO);
  ::close(STDIN_FILENO);
  const InputFile file(scratch / "w.h5");
  EXPECT_GT(file.descriptor(), STDERR_FILENO);
  EXPECT_EQ(open_tensor_file(scratch / "w.h5").read("w"), values);
  ::dup2(kept, STDIN_FILENO);
  ::close(kept);
}

TEST(InputFile, RefusesWhatWouldNeverEnd) {
  const ScratchFolder scratch;
  ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", scratch / "zeros");
  for (const fs::path& path : {scratch / "pipe", scratch / "zeros"}) {
    EXPECT_THAT([&] { InputFile(path, "a problem file"); },
                ThrowsMessage<InputError>(HasSubstr(
                    path.string() + ": is not a regular file; a problem file is expected")));
  }
  write_bytes(scratch / "sparse", "");
  fs::resize_file(scratch / "sparse", std::uintmax_t{1} << 40);
  EXPECT_THAT(
      [&] { whole_text(InputFile(scratch / "sparse"), 1000); },
      ThrowsMessage<InputError>(HasSubstr("has 1099511627776 bytes; at most 1000 are read")));
}

TEST(InputFileBeside, OpensAFileOfTheSameFolder) {
  const ScratchFolder folder;
  write_bytes(folder / "model", "model");
  write_bytes(folder / "model.data", "numbers");
  const InputFile model(folder / "model");
  const auto data = InputFile::beside(model, "model.data");
  EXPECT_EQ(data->path(), folder / "model.data");
  EXPECT_EQ(data->text_at(0, 100), "numbers");
}

TEST(InputFileBeside, RefusesWhatDoesNotStandThereItself) {
  const ScratchFolder folder;
  write_bytes(folder / "model", "model");
  write_bytes(folder / "other", "other");
  fs::create_directory(folder / "folder");
  fs::create_symlink("other", folder / "link");
  fs::create_symlink("/etc/passwd", folder / "far");
  const InputFile model(folder / "model");
  const auto expect_refusal = [&](const std::string& name, const std::string& reason) {
    EXPECT_THAT([&] { InputFile::beside(model, name); },
                ThrowsMessage<InputError>(HasSubstr(reason)))
        << name;
  };
  for (const std::string name :
       {"", ".", "..", "../other", "/etc/passwd", "./other", "folder/../other", "a\nb"}) {
    expect_refusal(name, "is not the name of a file next to it");
  }
  expect_refusal("missing", "cannot be opened");
  expect_refusal("folder", "is a directory");
  expect_refusal("link", "is a symbolic link");
  expect_refusal("far", "is a symbolic link");
  EXPECT_NO_THROW(InputFile::beside(model, "other"));
  fs::create_hard_link(folder / "other", folder / "second");
  expect_refusal("other", "has 2 names");
}

}  // namespace
