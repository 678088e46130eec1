// SPDX-License-Identifier: BSD-3-Clause
//
// Asymmetric on purpose: NumPy writes, hesscope reads. Hostile archives are NumPy's, then damaged
// here.
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/tensors/tensor_file.h>

#include "fuzz/memory_file.h"
#include "support/files.h"
#include "tensors/reader_fixtures.h"

namespace {

using hesscope::InputError;
using hesscope::io::ElementType;
using hesscope::io::open_tensor_file;
using hesscope::io::ReadLimits;
using hesscope::io::TensorFile;
using hesscope::test::all_values;
using hesscope::test::expect_numbers;
using hesscope::test::expect_refused;
using hesscope::test::expect_unreadable;
using hesscope::test::grid;
using hesscope::test::PythonFiles;
using hesscope::test::read_bytes;
using hesscope::test::ScratchFolder;
using hesscope::test::write_bytes;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

/// Overwrites the little-endian field of `size` bytes at `at`.
void put(std::string& bytes, std::size_t at, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes.at(at + i) = static_cast<char>(value >> (8 * i));
}

std::uint32_t get32(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;)
    value = (value << 8) | static_cast<unsigned char>(bytes.at(at + i));
  return value;
}

/// Offset of the n-th central directory entry.
std::size_t central(const std::string& bytes, int n) {
  std::size_t at = bytes.find("PK\x01\x02");
  for (; n > 0; --n) at = bytes.find("PK\x01\x02", at + 1);
  return at;
}

constexpr std::size_t kFlags = 8;  // places of fields within a central directory entry
constexpr std::size_t kMethod = 10;
constexpr std::size_t kStoredBytes = 20;
constexpr std::size_t kDecodedBytes = 24;
constexpr std::size_t kDisk = 34;
constexpr std::size_t kOffset = 42;
constexpr std::size_t kName = 46;

class DamagedNpz : public ::testing::Test {
 protected:
  /// Checks that `bytes` are refused when read as a .npz or .npy file.
  void refused(const std::string& bytes,
               std::initializer_list<std::string> parts,
               const ReadLimits& limits = {}) {
    damaged_.assign(std::as_bytes(std::span(bytes)));
    expect_refused(damaged_.path(), parts, limits);
  }

  std::string original(const std::string& name) const { return read_bytes(files_ / name); }

  PythonFiles files_{"npz"};
  hesscope::fuzz::MemoryFile damaged_;
};

TEST(NpzReader, ReadsEveryTypeOrderAndShapeThatNumpyWrites) {
  const PythonFiles files("npz");
  for (const std::string name : {"stored.npz", "deflated.npz", "streamed.npz", "zip64.npz"}) {
    SCOPED_TRACE(name);
    const TensorFile file = open_tensor_file(files / name);
    EXPECT_EQ(file.format(), "npz");
    expect_numbers(file);
    EXPECT_THAT(file.read("fortran.2"), ElementsAreArray(grid({2, 3})));
    EXPECT_THAT(file.read("fortran.3"), ElementsAreArray(grid({2, 4, 3})));
    EXPECT_THAT(file.read("layer/0/weight"), ElementsAreArray(grid({4, 2})));

    const std::vector<double> wide = file.read("fortran.wide");  // longer than one block
    ASSERT_EQ(wide.size(), 3U * 7001U);
    for (std::size_t i = 0; i < wide.size(); ++i) ASSERT_EQ(wide[i], static_cast<double>(i));
  }
}

TEST(NpzReader, ReadsExtentsThatAreLongsOfPython2) {
  const PythonFiles files("npz");
  const std::string bytes = read_bytes(files / "single.npy");
  const ScratchFolder folder;
  for (const std::string shape : {"(2L, 3L)", "(2L, 3)", "(6L,)"}) {
    std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }";
    header.resize(117, ' ');
    std::string old = bytes;
    old.replace(10, 118, header + "\n");
    write_bytes(folder / "old.npy", old);
    EXPECT_THAT(open_tensor_file(folder / "old.npy").read("old"), ElementsAreArray(grid({2, 3})))
        << shape;
  }
}

TEST(NpzReader, ReadsAllHeaderVersionsFoldersAndComments) {
  const PythonFiles files("npz");
  const TensorFile versions = open_tensor_file(files / "versions.npz");
  for (const std::string name : {"v1", "v2", "v3"}) {
    EXPECT_THAT(versions.read(name), ElementsAreArray(grid({2, 3})));
  }
  const TensorFile folders = open_tensor_file(files / "folders-and-comment.npz");
  ASSERT_EQ(folders.tensors().size(), 1U);
  EXPECT_THAT(folders.read("a/w"), ElementsAreArray(grid({2, 3})));
  EXPECT_TRUE(open_tensor_file(files / "no-arrays.npz").tensors().empty());
}

TEST(NpzReader, ReadsASingleArrayFile) {
  const PythonFiles files("npz");
  const TensorFile file = open_tensor_file(files / "single.npy");
  EXPECT_EQ(file.format(), "npy");
  EXPECT_THAT(file.read("single"), ElementsAreArray(grid({2, 3})));
  expect_refused(files / "single-tail.npy", {"shape (2, 3)", "49 bytes"});
}

TEST(NpzReader, NamesArraysOfOtherTypesWithoutRefusingTheRest) {
  const PythonFiles files("npz");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"structured", "a structured type, which is not supported; save each of its fields"},
      {"fields", "a structured type, which is not supported"},
      {"complex", "'<c16' (complex numbers)"},
      {"none", "'<c8' (complex numbers)"},
      {"string", "'<U2' (strings), which is not supported; arrays of text are not read"},
      {"bytes", "'|S2' (strings), which is not supported; arrays of text are not read"},
      {"longdouble", "'<f16' (extended precision)"},
      {"raw",
       "'|V2' (raw bytes; bfloat16 is saved so), which is not supported; if they are "
       "bfloat16, widen them"},
      {"void", "'|V3' (raw bytes"},
      {"date", "'<M8[s]' (dates)"},
      {"span", "'<m8' (dates)"},
  };
  for (const auto& [name, dtype] : cases) {
    SCOPED_TRACE(name);
    const TensorFile file = open_tensor_file(files / ("odd-" + name + ".npz"));
    EXPECT_THAT(file.read("good"), ElementsAre(0));
    expect_unreadable(file, {{name, dtype}});
    EXPECT_THAT(file.unreadable()[0].reason, HasSubstr("(at byte 20 of the .npy)"));
    EXPECT_EQ(file.unreadable()[0].is_no_parameter, name == "string" || name == "bytes");
    expect_refused(files / ("only-" + name + ".npz"), {"tensor '" + name + "'", dtype});
  }
}

TEST(NpzReader, RefusesAllOfAFileWithObjectsOrForeignMembers) {
  const PythonFiles files("npz");
  const std::string advice = ", which is not supported; objects could run code";
  expect_refused(files / "odd-object.npz",
                 {"member 'object.npy'", "'|O' (Python objects)" + advice});
  expect_refused(files / "odd-objects.npz",
                 {"member 'objects.npy'", "a structured type with Python objects" + advice});
  expect_refused(files / "foreign-member.npz", {"member 'README' is not a NumPy array"});
  expect_refused(files / "bzip2.npz", {"member 'w.npy' uses zip compression method 12"});
}

TEST_F(DamagedNpz, IsRefusedWhereAnArrayOfAnotherTypeIsDamaged) {
  const std::string bytes = original("odd-string.npz");
  const std::size_t descr = bytes.find("<U2");
  ASSERT_NE(descr, std::string::npos);
  std::string other_type = bytes;
  other_type.at(descr + 1) = 'S';
  refused(other_type, {"member 'string.npy'", "shape (2,) of '<S2' (strings) needs 4 bytes"});
  other_type.at(descr + 1) = 'T';  // NumPy has none
  refused(other_type, {"member 'string.npy'", "'<T2', which is not supported"});
  // A number's type that became another one by damage.
  std::string flipped = original("small.npz");
  flipped.at(flipped.find("<f8") + 1) = 'M';
  refused(flipped, {"member 'w.npy'", "CRC"});
}

TEST(NpzReader, RefusesIntegersThatADoubleCannotHold) {
  const PythonFiles files("npz");
  const TensorFile file = open_tensor_file(files / "integers.npz");
  EXPECT_THAT(file.read("fits"), ElementsAre(0x1p53, -0x1p53));
  for (const auto& [name, value] :
       {std::pair{"beyond", "element 1 (in stored order) is 9007199254740993"},
        std::pair{"beyond_negative", "is -9007199254740993"},
        std::pair{"beyond_unsigned", "is 9223372036854775808"}}) {
    try {
      file.read(name);
      ADD_FAILURE() << name << " was read";
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(std::string("member '") + name + ".npy'"));
      EXPECT_THAT(error.what(), HasSubstr(value));
    }
  }
}

TEST_F(DamagedNpz, IsRefusedWhereverItIsCutOff) {
  for (const std::string name : {"small.npz", "small-deflated.npz", "zip64.npz"}) {
    const std::string bytes = original(name);
    const std::size_t step = bytes.size() < 1000 ? 1 : 997;
    for (std::size_t size = 0; size < bytes.size(); size += step) {
      SCOPED_TRACE(name + " cut to " + std::to_string(size));
      refused(bytes.substr(0, size), {});
    }
    for (std::size_t size = bytes.size() - 120; size < bytes.size(); ++size) {
      refused(bytes.substr(0, size), {});
    }
  }
}

TEST_F(DamagedNpz, NeverYieldsOtherValuesAfterAnySingleBitFlip) {
  for (const std::string name : {"small.npz", "small-deflated.npz"}) {
    const std::string bytes = original(name);
    auto values = all_values(open_tensor_file(files_ / name));
    std::size_t num_refused = 0;
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      std::string damaged = bytes;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      damaged_.assign(std::as_bytes(std::span(damaged)));
      try {
        ASSERT_EQ(all_values(open_tensor_file(damaged_.path())), values) << name << " bit " << bit;
      } catch (const InputError&) {
        ++num_refused;
      }
    }
    EXPECT_GT(num_refused, 4 * bytes.size())
        << name;  // the rest is in dates, versions, local sizes
  }
}

TEST_F(DamagedNpz, IsRefusedWhenItDeclaresMoreThanTheLimitsAllow) {
  std::string bytes = original("small-deflated.npz");
  put(bytes, central(bytes, 0) + kDecodedBytes, 0xFFFFFFF0, 4);
  refused(bytes,
          {"member 'w.npy': declares 4294967280 bytes but stores only", "decompression bomb"});
  refused(bytes,
          {"member 'w.npy' declares 4294967280 bytes, beyond the limit"},
          {.max_tensor_bytes = 1 << 20, .max_header_bytes = 1 << 20});
  refused(original("zeros.npz"), {"member 'z.npy'", "decompression bomb"}, {.max_expansion = 100});
  refused(original("zeros.npz"),
          {"shape (524288,) is beyond the limit"},
          {.max_tensor_bytes = (1 << 22) - 1});
  refused(original("small.npz"), {"lists 2 members"}, {.max_tensors = 1});
  refused(original("stored.npz"), {"has 3 dimensions"}, {.max_rank = 2});
}

TEST_F(DamagedNpz, IsRefusedWhenTheStreamIsLongerOrShorterThanDeclared) {
  const std::string bytes = original("small-deflated.npz");
  const std::size_t entry = central(bytes, 0);
  for (const int change : {-1, 1}) {
    std::string damaged = bytes;
    put(damaged,
        entry + kDecodedBytes,
        get32(bytes, entry + kDecodedBytes) + static_cast<unsigned>(change),
        4);
    refused(damaged, {"member 'w.npy'", "shape (8, 9) of float64 needs 576 bytes"});
  }
  std::string shorter = bytes;
  put(shorter, entry + kStoredBytes, get32(bytes, entry + kStoredBytes) - 1, 4);
  refused(shorter, {"member 'w.npy' is damaged: its compressed data is cut short"});
}

TEST_F(DamagedNpz, IsRefusedWhenMembersShareNamesOrBytes) {
  const std::string bytes = original("small.npz");
  std::string twice = bytes;
  twice.at(central(bytes, 1) + kName) = 'w';
  refused(twice, {"two members are named 'w.npy'"});

  std::string same_place = bytes;
  put(same_place, central(bytes, 1) + kOffset, 0, 4);
  refused(same_place, {"local header at byte 0 and the directory disagree on member 'b.npy'"});

  std::string overlapping = bytes;  // the first member claims the bytes of the second
  put(overlapping, central(bytes, 0) + kStoredBytes, 300, 4);
  put(overlapping, central(bytes, 0) + kDecodedBytes, 300, 4);
  refused(overlapping, {"members 'w.npy' and 'b.npy' overlap"});

  std::string into_directory = bytes;
  put(into_directory, central(bytes, 1) + kStoredBytes, 400, 4);
  put(into_directory, central(bytes, 1) + kDecodedBytes, 400, 4);
  refused(into_directory, {"member 'b.npy'", "runs into the directory"});
}

TEST_F(DamagedNpz, IsRefusedForZipFeaturesThatAreNotRead) {
  const std::string bytes = original("small.npz");
  const std::size_t entry = central(bytes, 0);
  std::string damaged = bytes;
  put(damaged, entry + kFlags, 1, 2);
  refused(damaged, {"member 'w.npy' is encrypted"});
  damaged = bytes;
  put(damaged, entry + kFlags, 1 << 13, 2);
  refused(damaged, {"unsupported zip features"});
  damaged = bytes;
  put(damaged, entry + kDisk, 1, 2);
  refused(damaged, {"several disks"});
  damaged = bytes;
  put(damaged, entry + kMethod, 8, 2);
  refused(damaged, {"local header at byte 0 and the directory disagree"});
  damaged = bytes;
  put(damaged, entry + kOffset, 0xFFFFFFFF, 4);
  refused(damaged, {"zip64 field is missing"});
  damaged = bytes;
  damaged.at(entry + kName) = '\xFF';
  refused(damaged, {"not UTF-8 text without control characters: '\\xff.npy'"});
}

TEST_F(DamagedNpz, IsRefusedForHeadersThatNumpyWouldNotWrite) {
  const std::string bytes = read_bytes(files_ / "single.npy");
  const auto refused_header = [&](const std::string& header, const std::string& reason) {
    std::string damaged = bytes;
    std::string text = header;
    text.resize(117, ' ');
    damaged.replace(10, 118, text + "\n");
    refused(damaged, {reason});
  };
  refused_header("{'descr': '<f8', 'shape': (2, 3)}", "not all are there");
  refused_header("{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}",
                 "'descr' occurs twice");
  refused_header("{'descr': '<f8', 'fortran_order': 0, 'shape': (2, 3)}", "True or False expected");
  refused_header("{'descr': '<f8', 'fortran_order': False, 'shape': (2, -3)}",
                 "non-negative extent");
  refused_header("{'descr': '<f8', 'fortran_order': False, 'shape': (6)}", "(n,) expected");
  refused_header("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3LL)}", "')' expected");
  refused_header("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), 'x': 1}",
                 "unknown key 'x'");
  refused_header("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)} + {}", "text follows");
  refused_header("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)", "'}' expected");
  refused_header("{'descr': '|f8', 'fortran_order': False, 'shape': (2, 3)}", "no byte order");
  refused_header(
      "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296)}",
      "beyond the limit");
  refused_header("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4294967296, 4294967296)}",
                 "beyond the limit");
  refused_header("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}",
                 "extent expected");
  for (const std::string descr : {"('<f8', (2,))",
                                  "[('a', '<f8')",
                                  "[('a', '<f8'])",
                                  "[('a', None)]",
                                  "[('a', 'O')]",
                                  "('|O', (2,))"}) {
    refused_header("{'descr': " + descr + ", 'fortran_order': False, 'shape': (2, 3)}",
                   "a structured type");
  }
  for (const std::string descr : {"",
                                  "O",
                                  "q9",
                                  "<f3",
                                  "<U",
                                  "<U2x",
                                  "<M8s]",
                                  "<c7",
                                  "<S-1",
                                  "<U00000000000000000000000000000000000000002"}) {
    refused_header("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (2, 3)}",
                   "is '" + descr + "'");
  }
  refused_header("{'descr': '<U0', 'fortran_order': False, 'shape': (2, 3)}", "needs 0 bytes");
  refused_header("{'descr': '|V48', 'fortran_order': False, 'shape': (2,)}", "needs 96 bytes");

  std::string long_header = bytes;  // version 2.0 has four bytes for its length
  long_header.at(6) = 2;
  put(long_header, 8, 70000, 4);
  long_header.append(70000, ' ');
  refused(long_header, {"it claims 70000 bytes"});
  expect_refused(files_ / "single.npy", {"it claims 118 bytes"}, {.max_header_bytes = 100});
}

}  // namespace
