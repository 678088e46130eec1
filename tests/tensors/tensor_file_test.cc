// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/storage/sha256.h>
#include <hesscope/tensors/format_registry.h>
#include <hesscope/tensors/tensor_file.h>

#include "support/files.h"
#include "support/refusal.h"
#include "tensors/reader_fixtures.h"

namespace {

using hesscope::InputError;
using hesscope::PreconditionError;
using hesscope::shape_text;
using hesscope::io::open_tensor_file;
using hesscope::io::TensorFile;
using hesscope::io::TensorInfo;
using hesscope::test::expect_refusal;
using hesscope::test::expect_refused;
using hesscope::test::fixtures;
using hesscope::test::ScratchFolder;
using hesscope::test::write_bytes;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

std::vector<fs::path> files_below(const fs::path& folder, const std::string& extension) {
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == extension) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

/// Compares tensor for tensor and element for element; returns the number of tensors.
std::size_t expect_same(const TensorFile& a, const TensorFile& b) {
  EXPECT_EQ(a.tensors().size(), b.tensors().size());
  for (const TensorInfo& tensor : a.tensors()) {
    SCOPED_TRACE(tensor.name);
    const TensorInfo* const other = b.find(tensor.name);
    if (other == nullptr) {
      ADD_FAILURE() << "missing from " << b.path();
      continue;
    }
    EXPECT_EQ(tensor.shape, other->shape);
    EXPECT_EQ(tensor.type, other->type);
    EXPECT_EQ(a.read(tensor.name), b.read(tensor.name));
  }
  return a.tensors().size();
}

TEST(TensorInfo, CountsElementsOrSaysThatItCannot) {
  const auto count = [](std::vector<std::int64_t> shape) {
    return TensorInfo{"w", std::move(shape)}.num_elements();
  };
  EXPECT_EQ(count({}), 1);
  EXPECT_EQ(count({2, 3}), 6);
  EXPECT_EQ(count({2, 0}), 0);
  EXPECT_EQ(count({2, -3}), -1);
  EXPECT_EQ(count({std::int64_t{1} << 40, std::int64_t{1} << 40}), -1);
}

TEST(TensorFile, ReadsTheSameNumbersFromNpzAndHdf5Checkpoints) {
  std::size_t num_pairs = 0;
  for (const fs::path& hdf5 : files_below(fixtures(), ".h5")) {
    SCOPED_TRACE(hdf5);
    if (!hdf5.filename().string().starts_with("step-")) continue;  // a result
    fs::path npz = fs::path(hdf5).replace_extension(".npz");
    const std::string folder = hdf5.parent_path().filename();
    if (const std::string prefix = "linear-attention-s1-"; folder.starts_with(prefix)) {
      npz = fs::path(HESSCOPE_TEST_DATA) / "linear-attention" / folder.substr(prefix.size()) /
            npz.filename();
    }
    EXPECT_GT(expect_same(open_tensor_file(npz), open_tensor_file(hdf5)), 0U);
    ++num_pairs;
  }
  EXPECT_GE(num_pairs, 22U);
}

TEST(TensorFile, ReadsEveryCommittedArchive) {
  std::size_t num_files = 0;
  for (const fs::path& folder : {fixtures(), fs::path(HESSCOPE_TEST_DATA)}) {
    for (const fs::path& path : files_below(folder, ".npz")) {
      SCOPED_TRACE(path);
      const TensorFile file = open_tensor_file(path);
      for (const TensorInfo& tensor : file.tensors()) {
        EXPECT_EQ(file.read(tensor.name).size(), static_cast<std::size_t>(tensor.num_elements()));
      }
      ++num_files;
    }
  }
  EXPECT_GE(num_files, 40U);
}

TEST(TensorFile, IsToldByContentNotByName) {
  const ScratchFolder scratch;
  fs::copy(fixtures() / "attention-softmax/step-000000.h5", scratch / "hdf5.npz");
  fs::copy(fixtures() / "attention-softmax/step-000000.npz", scratch / "npz.h5");
  const TensorFile hdf5 = open_tensor_file(scratch / "hdf5.npz");
  const TensorFile npz = open_tensor_file(scratch / "npz.h5");
  EXPECT_EQ(hdf5.format(), "hdf5");
  EXPECT_EQ(npz.format(), "npz");
  EXPECT_EQ(expect_same(npz, hdf5), 4U);
}

TEST(TensorFile, SuggestsTheNearestNameForAMissingTensor) {
  const TensorFile file = open_tensor_file(fixtures() / "linear-attention-full-s3/step-000000.npz");
  try {
    file.read("layer.0.P");
    FAIL() << "it was found";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("step-000000.npz: there is no tensor 'layer.0.P'"));
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'layers.0.P'?"));
    EXPECT_THAT(error.what(), HasSubstr("the file holds layers.0.P, layers.0.Q, layers.1.P"));
  }
}

TEST(TensorFile, RefusesWhatIsNotAReadableFile) {
  const ScratchFolder scratch;
  expect_refused(scratch / "missing.npz", {"cannot be opened: No such file or directory"});
  expect_refused(scratch.path(), {"is a directory"});
  write_bytes(scratch / "empty.npz", "");
  expect_refused(scratch / "empty.npz", {"the file is empty"});
  ASSERT_EQ(::mkfifo((scratch / "pipe.npz").c_str(), 0600), 0);
  expect_refused(scratch / "pipe.npz", {"is not a regular file"});
}

TEST(TensorFile, ListsTheKnownFormatsForAFileOfNone) {
  const ScratchFolder scratch;
  write_bytes(scratch / "junk.npz", "hello, world\n");
  expect_refused(scratch / "junk.npz",
                 {"no known format",
                  "begins with 'hello, w'",
                  "npz (NumPy archive, .npz)",
                  "hdf5 (HDF5 file, .h5)",
                  "numpy.savez"});
  for (const hesscope::io::FormatKind& format : hesscope::io::format_kinds()) {
    EXPECT_FALSE(format.recognises(hesscope::io::InputFile(scratch / "junk.npz"))) << format.name;
  }
}

TEST(FormatRegistry, TakesAFormatOfOnesOwnOnce) {
  using hesscope::io::FormatKind;
  const FormatKind zero = {
      .name = "zero",
      .extension = ".zero",
      .summary = "nothing but zeros",
      .recognises =
          [](const hesscope::io::InputFile& file) {
            return file.text_at(0, file.size()) == std::string(file.size(), '\0');
          },
      .open = [](std::shared_ptr<const hesscope::io::InputFile> file,
                 const hesscope::io::ReadLimits&) -> std::unique_ptr<hesscope::io::TensorSource> {
        throw hesscope::InputError(file->path().string() + ": is opened");
      }};
  FormatKind other = zero;
  other.name = "npz";
  EXPECT_THROW(hesscope::io::register_format_kind(other), hesscope::PreconditionError);
  other = zero;
  other.open = nullptr;
  EXPECT_THROW(hesscope::io::register_format_kind(other), hesscope::PreconditionError);
  const ScratchFolder scratch;
  write_bytes(scratch / "a.npz", std::string(64, '\0'));
  expect_refused(scratch / "a.npz", {"no known format"});

  hesscope::io::register_format_kind(zero);
  expect_refused(scratch / "a.npz", {"a.npz: is opened"});
  EXPECT_EQ(hesscope::io::find_format_kind("zero").summary, "nothing but zeros");
  EXPECT_THROW(hesscope::io::register_format_kind(zero), hesscope::PreconditionError);
}

TEST(TensorFile, HashesFilesAndTextWithSha256) {
  const ScratchFolder scratch;  // expected values: FIPS 180-4 examples
  const std::string abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  write_bytes(scratch / "abc", "abc");
  EXPECT_EQ(hesscope::io::sha256_of_text("abc"), abc);
  EXPECT_EQ(hesscope::io::sha256_of_file(scratch / "abc"), abc);
  EXPECT_EQ(hesscope::io::sha256_of_text(""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  const std::string million(1'000'000, 'a');  // several blocks of the file reader
  write_bytes(scratch / "million", million);
  const std::string digest = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
  EXPECT_EQ(hesscope::io::sha256_of_text(million), digest);
  EXPECT_EQ(hesscope::io::sha256_of_file(scratch / "million"), digest);
  EXPECT_THROW(hesscope::io::sha256_of_file(scratch / "missing"), InputError);
}

TEST(TensorFile, PrintsShapesAsNumpyDoes) {
  EXPECT_EQ(shape_text(std::vector<std::int64_t>{}), "()");
  EXPECT_EQ(shape_text(std::vector<std::int64_t>{5}), "(5,)");
  EXPECT_EQ(shape_text(std::vector<std::int64_t>{2, 4, 3}), "(2, 4, 3)");
}

TEST(TensorFile, RefusesANullSource) {
  EXPECT_THROW(TensorFile("x.npz", "npz", nullptr), PreconditionError);
  EXPECT_THROW(open_tensor_file(std::shared_ptr<const hesscope::io::InputFile>()),
               PreconditionError);
}

// What a program's own format may do.
class OwnSource final : public hesscope::io::TensorSource {
 public:
  explicit OwnSource(std::vector<TensorInfo> tensors, std::size_t num_values = 0)
      : tensors_(std::move(tensors)), num_values_(num_values) {}

  std::span<const TensorInfo> tensors() const override { return tensors_; }

  std::vector<double> read(std::size_t /*index*/) const override {
    return std::vector<double>(num_values_);
  }

  std::span<const std::shared_ptr<const hesscope::io::InputFile>> files() const override {
    return {};
  }

 private:
  std::vector<TensorInfo> tensors_;
  std::size_t num_values_;
};

TEST(TensorFile, RefusesANumberOfElementsThatIsNotThatOfTheShape) {
  for (const std::size_t found : {0U, 5U, 7U}) {
    const TensorFile file(
        "x.own", "own", std::make_shared<OwnSource>(std::vector<TensorInfo>{{"w", {2, 3}}}, found));
    expect_refusal<InputError>(
        [&] { file.read("w"); },
        fmt::format("x.own: tensor 'w': its shape is (2, 3), but the reader of the format own "
                    "gives {} numbers",
                    found));
  }
}

TEST(FormatRegistry, RefusesAReaderThatOpensNothingOrNamesNoFiles) {
  using hesscope::io::FormatKind;
  const FormatKind nothing = {
      .name = "nothing",
      .extension = ".nothing",
      .summary = "of no source",
      .recognises =
          [](const hesscope::io::InputFile& file) { return file.text_at(0, 8) == "#nothing"; },
      .open = [](std::shared_ptr<const hesscope::io::InputFile>, const hesscope::io::ReadLimits&)
          -> std::unique_ptr<hesscope::io::TensorSource> { return nullptr; }};
  const FormatKind nowhere = {
      .name = "nowhere",
      .extension = ".nowhere",
      .summary = "of no files",
      .recognises =
          [](const hesscope::io::InputFile& file) { return file.text_at(0, 8) == "#nowhere"; },
      .open = [](std::shared_ptr<const hesscope::io::InputFile>,
                 const hesscope::io::ReadLimits&) -> std::unique_ptr<hesscope::io::TensorSource> {
        return std::make_unique<OwnSource>(std::vector<TensorInfo>{{"w", {1}}}, 1);
      }};
  hesscope::io::register_format_kind(nothing);
  hesscope::io::register_format_kind(nowhere);
  const ScratchFolder scratch;
  write_bytes(scratch / "a", "#nothing");
  expect_refusal([&] { open_tensor_file(scratch / "a"); },
                 "open_tensor_file: the format nothing opens nothing");
  write_bytes(scratch / "b", "#nowhere");
  expect_refusal([&] { open_tensor_file(scratch / "b"); },
                 "open_tensor_file: the format nowhere does not say which files");
}

TEST(TensorFile, RefusesTensorsThatCannotBe) {
  const auto refused = [](std::vector<TensorInfo> tensors, const std::string& message) {
    expect_refusal<InputError>(
        [&] { TensorFile("x.own", "own", std::make_shared<OwnSource>(tensors)); }, message);
  };
  const std::int64_t large = std::int64_t{1} << 32;
  refused({{"w", {-1, -6}}}, "x.own: tensor 'w' cannot have the shape (-1, -6)");
  refused({{"w", {large, large}}}, "x.own: tensor 'w' cannot have the shape");
  refused({{"w", {0, large, large}}}, "x.own: tensor 'w' cannot have the shape");
  refused({{"w", {1}}, {"b", {1}}, {"w", {2}}}, "x.own: two tensors are named 'w'");
  refused({{"", {1}}}, "x.own: a tensor has no name");
}

TEST(TensorFile, OfNoNameIsRefused) {
  expect_refusal<InputError>([] { open_tensor_file(fs::path()); },
                             "the name of a file is empty; a checkpoint or data file is expected");
}

}  // namespace
