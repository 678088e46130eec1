// SPDX-License-Identifier: BSD-3-Clause
//
// Asymmetric on purpose: h5py writes, hesscope reads.
#include <cstdlib>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/tensors/tensor_file.h>

#include "support/files.h"
#include "tensors/reader_fixtures.h"

namespace {

using hesscope::InputError;
using hesscope::io::open_tensor_file;
using hesscope::io::TensorFile;
using hesscope::io::TensorInfo;
using hesscope::io::UnreadableTensor;
using hesscope::test::expect_numbers;
using hesscope::test::expect_refused;
using hesscope::test::expect_unreadable;
using hesscope::test::grid;
using hesscope::test::PythonFiles;
using hesscope::test::read_bytes;
using hesscope::test::ScratchFolder;
using hesscope::test::write_bytes;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

std::vector<std::string> names(const TensorFile& file) {
  std::vector<std::string> out;
  for (const TensorInfo& tensor : file.tensors()) out.push_back(tensor.name);
  return out;
}

TEST(Hdf5Reader, ReadsEveryTypeThatH5pyWrites) {
  const PythonFiles files("hdf5");
  const TensorFile file = open_tensor_file(files / "numbers.h5");
  EXPECT_EQ(file.format(), "hdf5");
  expect_numbers(file);
  EXPECT_EQ(file.find("type"), nullptr);
}

TEST(Hdf5Reader, NamesDatasetsInGroupsByTheirPath) {
  const PythonFiles files("hdf5");
  const TensorFile file = open_tensor_file(files / "numbers.h5");
  EXPECT_THAT(names(file), Contains("layers/0/P"));
  EXPECT_THAT(file.read("layers/0/P"), ElementsAreArray(grid({4, 2})));
  EXPECT_THAT(file.read("layers/0/Q"), ElementsAreArray(grid({3, 2})));
}

TEST(Hdf5Reader, KeepsTheOrderOfCreationWhereTheFileTracksIt) {
  const PythonFiles files("hdf5");
  EXPECT_THAT(names(open_tensor_file(files / "ordered.h5")), ElementsAre("zeta", "alpha", "mid"));
}

TEST(Hdf5Reader, ReadsChunkedShuffledDeflatedChecksummedData) {
  const PythonFiles files("hdf5");
  const TensorFile file = open_tensor_file(files / "packed.h5");
  EXPECT_THAT(file.read("packed"), ElementsAreArray(grid({30, 40})));
  EXPECT_EQ(file.read("zeros"), std::vector<double>(1'000'000));
  if (file.find("szip") != nullptr) {
    EXPECT_THAT(file.read("szip"), ElementsAreArray(grid({30, 40})));
  }
}

TEST(Hdf5Reader, ReadsTensorsOfManyBlocks) {
  const PythonFiles files("hdf5");
  const TensorFile file = open_tensor_file(files / "large.h5");
  EXPECT_EQ(file.tensors().size(), 8);
  for (const TensorInfo& tensor : file.tensors()) {
    SCOPED_TRACE(tensor.name);
    std::vector<double> expected(static_cast<std::size_t>(tensor.num_elements()));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i] = static_cast<double>(tensor.name == "bool" ? i % 3 == 0 : i % 1999);
    }
    EXPECT_TRUE(file.read(tensor.name) == expected);
  }
}

TEST(Hdf5Reader, ReadsFilesThatBeginWithAUserBlock) {
  const PythonFiles files("hdf5");
  EXPECT_THAT(open_tensor_file(files / "user-block.h5").read("w"), ElementsAreArray(grid({2, 3})));
}

TEST(Hdf5Reader, RefusesIntegersThatADoubleCannotHold) {
  const PythonFiles files("hdf5");
  const TensorFile file = open_tensor_file(files / "integers.h5");
  EXPECT_THAT(file.read("fits"), ElementsAre(0x1p53, -0x1p53));
  EXPECT_THROW(file.read("beyond"), InputError);
  EXPECT_THROW(file.read("beyond_unsigned"), InputError);
}

TEST(Hdf5Reader, RefusesEverythingThatReachesOutsideTheFile) {
  const PythonFiles files("hdf5");
  expect_refused(files / "soft-link.h5", {"'alias'", "soft or external link"});
  expect_refused(files / "external-link.h5", {"'alias'", "soft or external link"});
  expect_refused(files / "external-storage.h5", {"'stolen'", "external storage"});
  expect_refused(files / "virtual.h5", {"'virtual'", "virtual dataset"});
}

TEST(Hdf5Reader, RefusesGroupsThatAreReachedTwice) {
  const PythonFiles files("hdf5");
  expect_refused(files / "cycle.h5", {"'a/again' (at byte ", "it is the group 'a' once more"});
  expect_refused(files / "alias.h5", {"'b' (at byte ", "it is the group 'a' once more"});
}

TEST(Hdf5Reader, ReadsADatasetUnderEachOfItsNames) {
  const PythonFiles files("hdf5");
  const TensorFile file = open_tensor_file(files / "shared.h5");
  EXPECT_THAT(names(file), ElementsAre("good", "head/w", "w"));
  EXPECT_THAT(file.read("head/w"), ElementsAreArray(grid({2, 3})));
  EXPECT_THAT(file.read("w"), ElementsAreArray(grid({2, 3})));
}

/// Where the header of an object begins: version 1, its number of messages, one reference.
void expect_object_header(const std::string& bytes, const std::string& message) {
  const std::size_t begin = message.find("(at byte ") + 9;
  const std::size_t byte = std::stoul(message.substr(begin));
  SCOPED_TRACE(message);
  ASSERT_LT(byte + 8, bytes.size());
  EXPECT_EQ(bytes.substr(byte, 2), std::string("\1\0", 2));
  EXPECT_EQ(bytes.substr(byte + 4, 4), std::string("\1\0\0\0", 4));
}

TEST(Hdf5Reader, NamesTheByteOfTheObjectInTheFile) {
  const PythonFiles files("hdf5");
  for (const std::string name : {"only-compound.h5", "user-block-compound.h5"}) {
    try {
      open_tensor_file(files / name);
      ADD_FAILURE() << name << " was read";
    } catch (const InputError& error) {
      expect_object_header(read_bytes(files / name), error.what());
    }
  }
  const ScratchFolder scratch;
  const std::string bytes = read_bytes(files / "user-block-compound.h5");
  write_bytes(scratch / "cut.h5", bytes.substr(0, bytes.size() - 100));
  expect_refused(scratch / "cut.h5", {"superblock (at byte 2048)"});
}

TEST(Hdf5Reader, RefusesSizesThatAreNotBackedByStoredBytes) {
  const PythonFiles files("hdf5");
  expect_refused(files / "never-written.h5",
                 {"'huge'", "declares 8388608000 bytes but stores only 0"});
  expect_refused(files / "beyond-limit.h5", {"'huge'", "beyond the limit"});
  expect_refused(files / "huge-chunk.h5",
                 {"'chunked'", "its chunk", "declares 4194304 bytes"},
                 {.max_expansion = 500});
  expect_refused(files / "packed.h5", {"'zeros'", "decompression bomb"}, {.max_expansion = 50});
  expect_refused(files / "packed.h5", {"links"}, {.max_tensors = 1});
}

TEST(Hdf5Reader, NamesDatasetsOfOtherTypesWithoutRefusingTheRest) {
  const PythonFiles files("hdf5");
  const TensorFile odd = open_tensor_file(files / "odd.h5");
  EXPECT_THAT(names(odd), ElementsAre("good"));
  EXPECT_THAT(odd.read("good"), ElementsAreArray(grid({2, 3})));
  expect_unreadable(odd,
                    {{"array", "is arrays"},
                     {"bits", "is bit fields; floats of 16, 32 or 64 bits"},
                     {"compound", "is a compound (complex or structured) type"},
                     {"opaque", "is opaque bytes"},
                     {"reference", "is references"},
                     {"sequences", "is sequences of variable length"},
                     {"text/again", "is strings"},
                     {"text/any", "is strings"},
                     {"text/fixed", "is strings"}});
  EXPECT_FALSE(odd.unreadable()[0].is_no_parameter);
  const TensorFile texts = odd.part("text");
  expect_unreadable(texts, {{"again", "strings"}, {"any", "strings"}, {"fixed", "strings"}});
  for (const UnreadableTensor& tensor : texts.unreadable()) EXPECT_TRUE(tensor.is_no_parameter);
  for (const auto& [name, reason] : {std::pair{"string.h5", std::pair{"text", "strings"}},
                                     {"compound.h5", {"complex", "compound"}},
                                     {"enumeration.h5", {"state", "an enumeration"}},
                                     {"longdouble.h5", {"wide", "extended precision"}}}) {
    SCOPED_TRACE(name);
    const TensorFile file = open_tensor_file(files / name);
    EXPECT_THAT(file.read("good"), ElementsAreArray(grid({2, 3})));
    expect_unreadable(file, {reason});
  }
}

TEST(Hdf5Reader, RefusesAllOfAFileThatReachesOutsideWhateverTheType) {
  const PythonFiles files("hdf5");
  expect_refused(files / "odd-and-virtual.h5", {"'virtual'", "virtual dataset"});
  expect_refused(files / "odd-and-lzf.h5", {"'lzf'", "filter 32000", "compression='gzip'"});
  expect_refused(files / "odd-external.h5", {"'stolen'", "external storage"});
  expect_refused(files / "null.h5", {"'null'", "null dataspace"});
  expect_refused(files / "lzf.h5", {"'lzf'", "filter 32000", "compression='gzip'"});
}

TEST(Hdf5Reader, RefusesDataWhoseChecksumDoesNotMatchQuotingHdf5) {
  const PythonFiles files("hdf5");
  const ScratchFolder scratch;
  std::string bytes = read_bytes(files / "packed.h5");
  // Deflated chunks of one dataset; the offset of one is found by its zlib header.
  const std::size_t chunk = bytes.rfind("\x78\x5e");
  ASSERT_NE(chunk, std::string::npos);
  bytes.at(chunk + 20) = static_cast<char>(bytes.at(chunk + 20) ^ 0x10);
  write_bytes(scratch / "damaged.h5", bytes);
  expect_refused(scratch / "damaged.h5", {"reading it failed", "HDF5: H5Z"});
}

TEST(Hdf5Reader, RefusesTruncatedFiles) {
  const std::string bytes =
      read_bytes(hesscope::test::fixtures() / "attention-softmax/step-000000.h5");
  const ScratchFolder scratch;
  for (std::size_t size = 8; size < bytes.size(); size += 61) {
    SCOPED_TRACE(size);
    write_bytes(scratch / "cut.h5", bytes.substr(0, size));
    expect_refused(scratch / "cut.h5", {"HDF5"});
  }
}

}  // namespace
