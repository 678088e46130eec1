// SPDX-License-Identifier: BSD-3-Clause
//
// The machine that reads pickles, one instruction at a time, against what Python's pickletools says
// of the same bytes.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/tensors/internal/torch/pickle.h>

#include "tensors/pickle_bytes.h"

namespace {

using hesscope::InputError;
using hesscope::io::ByteStream;
using hesscope::io::kNoNode;
using hesscope::io::PickleDocument;
using hesscope::io::PickleIndex;
using hesscope::io::PickleKind;
using hesscope::io::PickleLimits;
using hesscope::io::read_pickle;
using hesscope::test::pickle;
using hesscope::test::text;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class StringStream final : public ByteStream {
 public:
  explicit StringStream(std::string bytes) : bytes_(std::move(bytes)) {}

  const std::string& where() const override { return where_; }

  std::uint64_t remaining() const override { return bytes_.size() - at_; }

  void read(std::span<std::byte> out) override {
    std::ranges::copy(std::as_bytes(std::span(bytes_)).subspan(at_, out.size()), out.begin());
    at_ += out.size();
  }

  void finish() override {}

 private:
  std::string where_ = "w.pt: member 'w/data.pkl'";
  std::string bytes_;
  std::size_t at_ = 0;
};

PickleDocument parsed(const std::string& bytes, const PickleLimits& limits = {}) {
  StringStream stream(bytes);
  return read_pickle(stream, limits);
}

void expect_refused(const std::string& bytes,
                    const std::string& reason,
                    const PickleLimits& limits = {}) {
  try {
    parsed(bytes, limits);
    ADD_FAILURE() << "accepted; expected: " << reason;
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("w.pt: member 'w/data.pkl' "));
    EXPECT_THAT(error.what(), HasSubstr(reason));
  }
}

std::int64_t integer_of(const std::string& instructions) {
  const PickleDocument document = parsed(pickle(instructions));
  EXPECT_EQ(document.kind(document.root()), PickleKind::kInteger);
  return document.integer(document.root());
}

TEST(Pickle, ReadsIntegersOfEveryWidth) {
  const auto bytes = [](std::initializer_list<int> values) {
    std::string out;
    for (const int value : values) out += static_cast<char>(value);
    return out;
  };
  EXPECT_EQ(integer_of(bytes({'K', 255})), 255);
  EXPECT_EQ(integer_of(bytes({'M', 0x34, 0xFF})), 0xFF34);
  EXPECT_EQ(integer_of(bytes({'J', 0xFE, 0xFF, 0xFF, 0xFF})), -2);
  EXPECT_EQ(integer_of(bytes({0x8a, 0})), 0);
  EXPECT_EQ(integer_of(bytes({0x8a, 1, 0x80})), -128);
  EXPECT_EQ(integer_of(bytes({0x8a, 2, 0x80, 0})), 128);
  EXPECT_EQ(integer_of(bytes({0x8a, 8, 0, 0, 0, 0, 0, 0, 0, 0x80})),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(integer_of(bytes({0x8b, 3, 0, 0, 0, 0xFF, 0xFF, 0xFF})), -1);
  const PickleDocument wide = parsed(pickle(bytes({0x8a, 9, 0, 0, 0, 0, 0, 0, 0, 0x80, 0})));
  EXPECT_EQ(wide.kind(wide.root()), PickleKind::kWideInteger);
  expect_refused(pickle(bytes({0x8b, 0, 0, 0, 0x80})), "an integer of -2147483648 bytes");
  expect_refused(pickle(bytes({0x8b, 1, 4, 0, 0})), "an integer of 1025 bytes");
}

TEST(Pickle, ReadsConstantsTextsAndFloats) {
  const PickleDocument document = parsed(
      pickle("(N\x88\x89" + std::string("G\x40\x04\0\0\0\0\0\0", 9) + text("\xCE\xBB") + "t"));
  const std::vector<PickleIndex> elements = document.elements(document.root());
  ASSERT_EQ(elements.size(), 5U);
  EXPECT_EQ(document.kind(document.root()), PickleKind::kTuple);
  EXPECT_EQ(document.kind(elements[0]), PickleKind::kNone);
  EXPECT_EQ(document.integer(elements[1]), 1);
  EXPECT_EQ(document.integer(elements[2]), 0);
  EXPECT_EQ(document.real(elements[3]), 2.5);
  EXPECT_EQ(document.text(elements[4]), "\xCE\xBB");
  EXPECT_EQ(document.offset(elements[4]), 15U);
}

TEST(Pickle, KeepsWhatIsSharedAndWhatIsCircular) {
  // a = [1]; [a, a, itself]
  const PickleDocument document = parsed(pickle(std::string("]q\0(]q\1K\1ah\1h\0e", 15)));
  const std::vector<PickleIndex> elements = document.elements(document.root());
  ASSERT_EQ(elements.size(), 3U);
  EXPECT_EQ(elements[0], elements[1]);
  EXPECT_EQ(elements[2], document.root());
  EXPECT_EQ(document.integer(document.elements(elements[0]).at(0)), 1);
}

TEST(Pickle, NeverCallsWhatItNames) {
  const PickleDocument document =
      parsed(pickle("cos\nsystem\n(" + text("true") + "tR}" + text("a") + "K\1sb"));
  ASSERT_EQ(document.kind(document.root()), PickleKind::kObject);
  const auto object = document.object(document.root());
  EXPECT_TRUE(document.is_global(object.callable, "os", "system"));
  EXPECT_FALSE(document.is_global(object.callable, "o", "s\nsystem"));
  EXPECT_EQ(document.text(document.elements(object.arguments).at(0)), "true");
  EXPECT_EQ(object.contents, kNoNode);
  EXPECT_EQ(document.num_elements(object.state), 2U);
}

TEST(Pickle, KnowsOrderedDictsAndSets) {
  const std::string entry = text("k") + "K\1";
  const PickleDocument dict = parsed(pickle("ccollections\nOrderedDict\n)R" + entry + "s}b"));
  EXPECT_EQ(dict.kind(dict.root()), PickleKind::kDict);
  EXPECT_EQ(dict.num_elements(dict.root()), 2U);
  const PickleDocument set = parsed(pickle("c__builtin__\nset\n](" + entry + "e\x85R"));
  EXPECT_EQ(set.kind(set.root()), PickleKind::kSet);
  EXPECT_EQ(set.num_elements(set.root()), 2U);
  // Other classes may be dicts or lists too, but not both.
  const PickleDocument other = parsed(pickle("ccollections\ndefaultdict\n)R" + entry + "s"));
  EXPECT_EQ(other.kind(other.root()), PickleKind::kObject);
  EXPECT_EQ(other.kind(other.object(other.root()).contents), PickleKind::kDict);
  expect_refused(pickle("ca\nb\n)R" + entry + "sK\1a"), "puts elements of a list into a dict");
}

TEST(Pickle, ReadsProtocol4) {
  // pickle.dumps({"a": {1}, "b": frozenset()}, 4) and a global by texts, without its frame.
  constexpr char kBytes[] =
      "\x80\x04}\x94(\x8c\1a\x94\x8f\x94(K\1\x90\x8c\1b\x94(\x91\x94\x8c\1c"
      "\x8c\2os\x94\x8c\6system\x94\x93\x94u.";
  const std::string bytes(kBytes, sizeof(kBytes) - 1);
  const PickleDocument document = parsed(bytes);
  const std::vector<PickleIndex> elements = document.elements(document.root());
  ASSERT_EQ(elements.size(), 6U);
  EXPECT_EQ(document.num_elements(elements[1]), 1U);
  EXPECT_EQ(document.kind(elements[3]), PickleKind::kSet);
  EXPECT_TRUE(document.is_global(elements[5], "os", "system"));
  EXPECT_EQ(document.text(elements[4]), "c");
}

TEST(Pickle, RefusesWhatPythonWouldNotWrite) {
  const std::string entry = text("k") + "K\1";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"]" + entry + "s", "puts elements of a dict into a list (at its byte 11)"},
      {"](" + entry + "u", "puts elements of a dict into a list"},
      {"}K\1a", "puts elements of a list into a dict"},
      {")K\1a", "puts elements of a list into a tuple"},
      {"K\1(K\1e", "puts elements of a list into an integer"},
      {"}(K\1u", "a key of a dict has no value"},
      {"]}b", "sets attributes of a list"},
      {"ca\nb\n}b", "sets attributes of a class or function"},
      {"ca\nb\n)R}b}b", "sets an object's attributes twice"},
      {"K\1)R", "would call an integer with a tuple"},
      {"ca\nb\nNR", "would call a class or function with None"},
      {"ca\nb", "is truncated"},
      {"K\1K\2", "ends with something on its stack"},
      {"(K\1", "ends with something on its stack"},
      {"t", "its stack has no mark"},
      {"\x86", "its stack has too little to take"},
      {"a", "its stack has nothing to take"},
      {"(", "its stack has nothing to take"},
      {"h\5", "entry 5 of its memo is empty"},
      {"K\1K\2\x93", "named by something else than texts"},
      {"i", "instruction 0x69"},
      {"\x97", "instruction 0x97"},
      {"K\1.K\1", "3 bytes follow its end"},
  };
  for (const auto& [instructions, reason] : cases) {
    SCOPED_TRACE(reason);
    expect_refused(pickle(instructions), reason);
  }
  expect_refused("", "is truncated");
  expect_refused("(lp0\n.", "no pickle of protocol 2 to 5");
  expect_refused("\x80\x06N.", "no pickle of protocol 2 to 5");
  expect_refused(std::string("\x80\x04\x95\x09\0\0\0\0\0\0\0N.", 13), "a frame is longer");
}

TEST(Pickle, StaysWithinItsLimits) {
  const PickleLimits few = {.max_bytes = 100, .max_nodes = 10};
  const std::string entry("K\1", 2);
  std::string eleven;
  for (int i = 0; i < 11; ++i) eleven += entry;
  expect_refused(pickle("(" + eleven + "t"), "more than 10 objects", few);
  expect_refused(pickle("]" + entry + "q" + std::string(1, '\0') + "0" + "(h" +
                        std::string(1, '\0') + "2222222222e"),
                 "more than 10 objects",
                 few);
  expect_refused(pickle("((((((((((("), "more than 10 objects", few);
  expect_refused(pickle(std::string("Nr\x0A\0\0\0", 6)), "uses entry 10 of its memo", few);
  expect_refused(pickle(std::string("Nr\xFF\xFF\xFF\xFF", 6)), "uses entry 4294967295 of its memo");
  expect_refused(pickle(text(std::string(100, 'x'))),
                 "has 108 bytes from byte 0 on; at most 100 are read",
                 few);
  // A text that a memo repeats takes no room, but the names of classes made of it do.
  std::string names = text(std::string(1 << 20, 'm')) + std::string("q\0", 2);
  for (int i = 0; i < 40; ++i) names += std::string("h\0h\0\x93", 5);
  expect_refused(pickle(names), "more than 4000000 objects");
}

TEST(Pickle, IsRefusedWhereverItIsCutOff) {
  const std::string whole = pickle(hesscope::test::dict({{"w", hesscope::test::two_doubles()}}));
  EXPECT_NO_THROW(parsed(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(parsed(whole.substr(0, size)), InputError) << size;
  }
}

}  // namespace
