// SPDX-License-Identifier: BSD-3-Clause
//
// PyTorch checkpoints made to harm: pickles written instruction by instruction, and every damage of
// small good ones.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/tensors/tensor_file.h>

#include "support/files.h"
#include "tensors/pickle_bytes.h"
#include "tensors/reader_fixtures.h"

namespace {

using hesscope::InputError;
using hesscope::io::open_tensor_file;
using hesscope::io::ReadLimits;
using hesscope::io::TensorFile;
using hesscope::test::all_values;
using hesscope::test::bytes_of;
using hesscope::test::dict;
using hesscope::test::expect_refused;
using hesscope::test::fixtures;
using hesscope::test::pickle;
using hesscope::test::read_bytes;
using hesscope::test::ScratchFolder;
using hesscope::test::storage;
using hesscope::test::tensor;
using hesscope::test::text;
using hesscope::test::two_doubles;
using hesscope::test::write_bytes;
using hesscope::test::write_torch;
using hesscope::test::zip_bytes;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

std::string repeated(const std::string& part, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += part;
  return all;
}

class HostileTorch : public ::testing::Test {
 protected:
  void refused(const std::string& instructions,
               std::initializer_list<std::string> parts,
               const ReadLimits& limits = {}) const {
    write_torch(path_, pickle(instructions));
    expect_refused(path_, parts, limits);
  }

  TensorFile opened(const std::string& instructions) const {
    write_torch(path_, pickle(instructions));
    return open_tensor_file(path_);
  }

  // Refuses the tensor w, whose storage really has two doubles.
  void refused_tensor(const std::vector<std::int64_t>& shape,
                      const std::vector<std::int64_t>& strides,
                      std::int64_t offset,
                      std::initializer_list<std::string> parts) const {
    refused(dict({{"w", tensor(storage("0", 2), shape, strides, offset)}}), parts);
  }

  ScratchFolder scratch_;
  std::filesystem::path path_ = scratch_ / "hostile.pt";
};

TEST_F(HostileTorch, RunsNothing) {
  const std::string command = "touch '" + (scratch_ / "run").string() + "'";
  const std::string evil = "cos\nsystem\n(" + text(command) + "tR";
  const std::string builtin = "cbuiltins\nexec\n(" + text("raise SystemExit") + "tR";
  const TensorFile file =
      opened(dict({{"evil", evil}, {"w", two_doubles()}, {"worse", evil + "}b"}, {"e", builtin}}));
  ASSERT_EQ(file.tensors().size(), 1U);
  EXPECT_THAT(file.read("w"), ElementsAre(1, 2));
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "run"));
  // Nor where a storage or a tensor is expected.
  refused(dict({{"w", tensor(evil, {2}, {1})}}), {"argument 1 is an object"});
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "run"));
}

TEST_F(HostileTorch, MayNestDeeply) {
  constexpr int kDeep = 200'000;
  refused(repeated("]", kDeep) + repeated("a", kDeep - 1), {"nests deeper than 1000 levels"});
  refused(repeated("]", kDeep) + two_doubles() + repeated("a", kDeep), {"nests deeper than 1000"});
  refused(")" + repeated("\x85", kDeep), {"nests deeper than 1000 levels"});
  refused(repeated("(", kDeep), {"is damaged: its stack has nothing to take"});
  const std::string fine = repeated("]", 999) + two_doubles() + repeated("a", 999);
  EXPECT_EQ(opened(fine).tensors().size(), 1U);
}

TEST_F(HostileTorch, MayBeCircular) {
  // d = {"w": tensor, "d": d}, and a list that contains itself.
  const std::string loop = std::string("]q\1h\1a", 6);
  const TensorFile file = opened(std::string("}q\0", 3) + text("w") + two_doubles() + "s" +
                                 text("d") + std::string("h\0s", 3) + text("l") + loop + "s");
  ASSERT_EQ(file.tensors().size(), 1U);
  EXPECT_THAT(file.read("w"), ElementsAre(1, 2));
  // a = [b, tensor], b = [a]: an object that is still open when b is met counts elsewhere.
  const TensorFile both = opened(std::string("]q\0]q\1h\0a", 9) + "a" + two_doubles() + "a");
  ASSERT_EQ(both.tensors().size(), 1U);
  EXPECT_EQ(both.tensors()[0].name, "1");
}

// A million entries that the pickle holds once, and twenty objects that all have them.
TEST_F(HostileTorch, MayShareWhatIsLarge) {
  std::string objects = "(" + std::string(1'000'000, 'N') + "t" + std::string("q\0", 2) + "0](";
  for (int i = 0; i < 20; ++i) objects += "cmodule\nKind\n" + std::string("h\0", 2) + "R";
  refused(objects + "e", {"it holds the same things in too many places (more than 16000000"});
}

TEST_F(HostileTorch, MayShareWithoutEnd) {
  // Each list holds the one before twice: 2^99 paths.
  const auto laughs = [](const std::string& innermost) {
    std::string list = "]" + innermost;
    for (char i = 0; i < 99; ++i) list += std::string("q") + i + "0](h" + i + "h" + i + "e";
    return list;
  };
  refused(laughs(""), {"holds no tensor"});
  refused(laughs(two_doubles() + "a"), {"there are more than 100000 tensors"});
  refused(laughs(two_doubles() + "a"), {"more than 9 tensors"}, {.max_tensors = 9});
  // The same where every list also leads back to the first.
  std::string circular(":q\xC8", 3);
  circular[0] = ']';
  for (char i = 0; i < 99; ++i) {
    circular += std::string("]q") + i + "(h\xC8";
    if (i > 0)
      circular += std::string("h") + static_cast<char>(i - 1) + "h" + static_cast<char>(i - 1);
    circular += "e0";
  }
  circular +=
      "(h\x62h\x62"
      "e";
  refused(circular, {"too many paths lead to what it holds (more than 500000 steps)"});
}

TEST_F(HostileTorch, MayClaimElementsWithoutEnd) {
  refused_tensor({1'000'000'000'000}, {0}, 0, {"tensor 'w'", "shape (1000000000000,) is beyond"});
  refused_tensor({1 << 20, 1 << 20, 1 << 20, 1 << 20}, {0, 0, 0, 0}, 0, {"is beyond the limit"});
  refused_tensor({kHuge, kHuge}, {1, 1}, 0, {"is beyond the limit"});
  refused_tensor({0, kHuge, kHuge}, {1, 1, 1}, 0, {"is beyond the limit"});
  refused_tensor({2, 2}, {kHuge, kHuge}, 0, {"reaches beyond its storage of 2 elements"});
  refused_tensor({2}, {1}, kHuge, {"reaches beyond its storage"});
  refused_tensor({3}, {1}, 0, {"shape (3,) with strides (1,) from element 0 on reaches beyond"});
  refused_tensor({2}, {1}, 1, {"from element 1 on reaches beyond"});
  refused_tensor({2}, {2}, 0, {"with strides (2,)"});
  refused_tensor(std::vector<std::int64_t>(33, 1),
                 std::vector<std::int64_t>(33, 1),
                 0,
                 {"has 33 dimensions; at most 32 are read"});
  for (const std::int64_t claimed : {kHuge, kHuge / 8 + 1, std::int64_t{1} << 61}) {
    refused(dict({{"w", tensor(storage("0", claimed), {2}, {1})}}), {"its storage claims"});
  }
  refused(dict({{"w", tensor(storage("0", 3), {2}, {1})}}),
          {"its storage must have 24 bytes, but member 'archive/data/0' has 16"});
  refused(dict({{"w", tensor(storage("0", 2, "torch\nFloatStorage"), {2}, {1})}}),
          {"its storage must have 8 bytes"});
  refused(dict({{"w", tensor(storage("1", 2), {2}, {1})}}),
          {"its storage, member 'archive/data/1', is missing"});
  refused(dict({{"w", tensor(storage("../data/0", 2), {2}, {1})}}), {"is missing"});
  refused(dict({{"w", tensor(storage("\x1b[2J", 2), {2}, {1})}}), {"'archive/data/\\x1b[2J'"});
  // Expanded within the limits it is what it says.
  EXPECT_EQ(opened(dict({{"w", tensor(storage("0", 2), {1000, 2}, {0, 1})}})).read("w").size(),
            2000U);
}

TEST_F(HostileTorch, MayMakeMuchOfLittle) {
  // 8 GiB of doubles, just within the limit for one tensor, out of two.
  refused_tensor({1 << 20, 1000},
                 {0, 0},
                 0,
                 {"tensor 'w'", "at byte 187", "declares 8388608000 bytes but stores only 16"});
  // Each of them small enough.
  refused("](" + tensor(storage("0", 2), {1 << 17}, {0}) + "q" + std::string(1, '\0') +
              repeated(std::string("h\0", 2), 1000) + "e",
          {"all its tensors together", "declares 1049624576 bytes"});
}

TEST_F(HostileTorch, MayCountBackwards) {
  refused_tensor({2}, {-1}, 1, {"tensor 'w'", "its stride -1 is negative"});
  refused_tensor({-2}, {1}, 0, {"its extent -2 is negative"});
  refused_tensor({2}, {1}, -1, {"its offset -1 is negative"});
  refused(dict({{"w", tensor(storage("0", -2), {2}, {1})}}), {"number of elements -2 is negative"});
  refused_tensor({2}, {1, 1}, 0, {"it has 1 extents and 2 strides"});
}

TEST_F(HostileTorch, MayLackWhatATensorNeeds) {
  const std::string rebuild = "ctorch._utils\n_rebuild_tensor_v2\n";
  refused(dict({{"w", rebuild + ")R"}}), {"tensor 'w'", "argument 1 is missing"});
  refused(dict({{"w", rebuild + "(NK\1" + "tR"}}), {"argument 1 is None, a storage is expected"});
  refused(dict({{"w", rebuild + "(NQtR"}}), {"a storage is identified by None"});
  refused(dict({{"w", rebuild + "(" + text("storage") + "\x85QtR"}}), {"a storage has 1 fields"});
  refused(dict({{"w", rebuild + "(" + storage("0", 2) + "tR"}}), {"argument"});
  refused(dict({{"w", rebuild + "(" + storage("0", 2) + "K" + std::string(1, '\0') + "K\1K\1tR"}}),
          {"its extent is an integer"});
  refused(dict({{"p", "ctorch._utils\n_rebuild_parameter\n(NtR"}}),
          {"a parameter holds no tensor"});
}

TEST_F(HostileTorch, MayConfuseNames) {
  refused(dict({{"w", two_doubles()}, {"w", two_doubles()}}), {"the key 'w' occurs twice"});
  refused(dict({{"a.b", two_doubles()}, {"a", dict({{"b", two_doubles()}})}}),
          {"two tensors are named 'a.b'"});
  refused(dict({{"a\x1b[2J", two_doubles()}}),
          {"not UTF-8 text without control characters: 'a\\x1b[2J'"});
  refused(dict({{"\xff", two_doubles()}}), {"not UTF-8 text without control characters: '\\xff'"});
  refused(dict({{std::string(5000, 'x'), two_doubles()}}), {"longer than 4096 bytes"});
  const TensorFile fine = opened(dict({{std::string(5000, 'x'), "]"}, {"w", two_doubles()}}));
  EXPECT_EQ(fine.tensors().size(), 1U);
}

TEST_F(HostileTorch, MayBeAnArchiveOfSomethingElse) {
  const auto refused_members = [&](const std::vector<std::pair<std::string, std::string>>& members,
                                   const std::string& reason) {
    write_bytes(path_, zip_bytes(members));
    expect_refused(path_, {reason});
  };
  const std::string good = pickle(dict({{"w", two_doubles()}}));
  const std::string data = bytes_of({1, 2});
  refused_members({{"a/version", "3"}, {"a/data/0", data}}, "it has no member data.pkl");
  refused_members({{"a/data.pkl", good}, {"b/data.pkl", good}, {"a/data/0", data}},
                  "it has two members data.pkl");
  refused_members({{"a/data.pkl", good}, {"b/data/0", data}}, "'a/data/0', is missing");
  refused_members({{"a/data.pkl", good}, {"a/data/0", data}, {"a/byteorder", "middle"}},
                  "says neither little nor big");
  refused_members({{"a/data.pkl", good}, {"a/data/0", data}, {"a/code/x.py", ""}}, "TorchScript");
  refused_members({{"a/data.pkl", "hello"}, {"a/data/0", data}},
                  "member 'a/data.pkl' is no pickle of protocol 2 to 5");
  // In another order, as a tool that re-packs archives would write it.
  write_bytes(path_, zip_bytes({{"a/data/0", data}, {"a/data.pkl", good}}));
  EXPECT_THAT(open_tensor_file(path_).read("w"), ElementsAre(1, 2));
}

TEST_F(HostileTorch, DamagedDataIsFoundAtTheFirstTensorOfAStorageAndAtEveryOther) {
  const std::string half = tensor(storage("0", 2), {1}, {1});
  const std::string other = tensor(storage("0", 2), {1}, {1}, 1);
  write_torch(path_, pickle(dict({{"a", half}, {"b", other}})));
  std::string bytes = read_bytes(path_);
  const std::size_t second = bytes.find(bytes_of({1, 2})) + sizeof(double);
  bytes[second] = '\1';
  write_bytes(path_, bytes);
  const TensorFile file = open_tensor_file(path_);
  for (const std::string name : {"a", "b", "a"}) {
    EXPECT_THAT([&] { file.read(name); },
                testing::ThrowsMessage<InputError>(
                    testing::HasSubstr("member 'archive/data/0' is damaged: its CRC-32 is")));
  }
}

class DamagedTorch : public ::testing::TestWithParam<const char*> {
 protected:
  std::filesystem::path original() const {
    return fixtures().parent_path() / "tensors" / "torch" / GetParam();
  }

  ScratchFolder scratch_;
  std::filesystem::path path_ = scratch_ / GetParam();  // a lone tensor has the file's name
};

TEST_P(DamagedTorch, IsRefusedWhereverItIsCutOff) {
  write_bytes(path_, read_bytes(original()));
  for (std::size_t size = std::filesystem::file_size(path_); size-- > 0;) {
    SCOPED_TRACE(size);
    std::filesystem::resize_file(path_, size);
    expect_refused(path_, {});
  }
}

TEST_P(DamagedTorch, NeverYieldsOtherValuesAfterAnySingleBitFlip) {
  const std::string bytes = read_bytes(original());
  const auto values = all_values(open_tensor_file(original()));
  ASSERT_FALSE(values.empty());
  write_bytes(path_, bytes);
  const auto put = [&](std::size_t at, char byte) {  // in place: a new file costs much more
    std::fstream(path_, std::ios::in | std::ios::out | std::ios::binary)
        .seekp(static_cast<std::streamoff>(at))
        .put(byte);
  };
  std::size_t num_refused = 0;
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    const char byte = bytes[bit / 8];
    put(bit / 8, static_cast<char>(byte ^ (1 << (bit % 8))));
    try {
      ASSERT_EQ(all_values(open_tensor_file(path_)), values) << "bit " << bit;
    } catch (const InputError&) {
      ++num_refused;
    }
    put(bit / 8, byte);
  }
  ASSERT_EQ(all_values(open_tensor_file(path_)), values);
  EXPECT_GT(num_refused, 3 * bytes.size());  // the rest is in padding, dates, versions, local sizes
}

INSTANTIATE_TEST_SUITE_P(Fixtures,
                         DamagedTorch,
                         ::testing::Values("tensor.pt", "protocol4.pt"),
                         [](const auto& instance) {
                           const std::string name = instance.param;
                           return name.substr(0, name.find('.'));
                         });

}  // namespace
