// SPDX-License-Identifier: BSD-3-Clause
//
// Safetensors files put together byte by byte, sound and hostile.
#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/tensors/tensor_file.h>

#include "support/files.h"
#include "tensors/reader_fixtures.h"

namespace {

using hesscope::InputError;
using hesscope::kInfinity;
using hesscope::io::ElementType;
using hesscope::io::open_tensor_file;
using hesscope::io::ReadLimits;
using hesscope::io::TensorFile;
using hesscope::test::all_values;
using hesscope::test::expect_refused;
using hesscope::test::expect_unreadable;
using hesscope::test::fixtures;
using hesscope::test::ScratchFolder;
using hesscope::test::write_bytes;
using ::testing::ElementsAre;

std::string little(std::uint64_t value, std::size_t size = 8) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

std::string whole(const std::string& header, const std::string& data) {
  return little(header.size()) + header + data;
}

class Safetensors : public ::testing::Test {
 protected:
  TensorFile open(const std::string& header, const std::string& data) const {
    write_bytes(path_, whole(header, data));
    return open_tensor_file(path_);
  }

  void refused_bytes(const std::string& bytes,
                     std::initializer_list<std::string> parts,
                     const ReadLimits& limits = {}) const {
    write_bytes(path_, bytes);
    expect_refused(path_, parts, limits);
  }

  void refused(const std::string& header,
               const std::string& data,
               std::initializer_list<std::string> parts,
               const ReadLimits& limits = {}) const {
    SCOPED_TRACE(header);
    refused_bytes(whole(header, data), parts, limits);
  }

  ScratchFolder scratch_;
  std::filesystem::path path_ = scratch_ / "m.safetensors";
};

std::string entry(const std::string& name,
                  const std::string& type,
                  const std::string& shape,
                  const std::string& offsets) {
  return fmt::format(
      R"("{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{}]}})", name, type, shape, offsets);
}

const std::string kWeight = entry("w", "U8", "2", "0,2");

TEST_F(Safetensors, AreReadInEveryTypeThatIsARealNumber) {
  const double infinity = kInfinity;

  struct Case {
    std::string name;
    ElementType type;
    std::string bytes;
    std::vector<double> values;
  };

  const std::vector<Case> cases = {
      {"F64",
       ElementType::kFloat64,
       little(std::bit_cast<std::uint64_t>(-2.5)) + little(1),
       {-2.5, 5e-324}},
      {"F32",
       ElementType::kFloat32,
       little(std::bit_cast<std::uint32_t>(0.1F), 4) + little(0xFF800000, 4),
       {static_cast<double>(0.1F), -infinity}},
      {"F16",
       ElementType::kFloat16,
       little(0x3C01, 2) + little(0x8001, 2),
       {1 + 0x1p-10, -0x1p-24}},
      {"BF16", ElementType::kBFloat16, little(0x4049, 2) + little(0xC000, 2), {3.140625, -2}},
      {"I64", ElementType::kInt64, little(std::uint64_t(-3)) + little(1ULL << 53), {-3, 0x1p53}},
      {"I32", ElementType::kInt32, little(0xFFFFFFFE, 4) + little(7, 4), {-2, 7}},
      {"I16", ElementType::kInt16, little(0x8000, 2) + little(7, 2), {-32768, 7}},
      {"I8", ElementType::kInt8, "\x80\x7f", {-128, 127}},
      {"U64", ElementType::kUInt64, little(5) + little(6), {5, 6}},
      {"U32", ElementType::kUInt32, little(0xFFFFFFFE, 4) + little(7, 4), {4294967294, 7}},
      {"U16", ElementType::kUInt16, little(0x8000, 2) + little(7, 2), {32768, 7}},
      {"U8", ElementType::kUInt8, "\x80\x7f", {128, 127}},
      {"BOOL", ElementType::kBool, std::string("\x01\x00", 2), {1, 0}},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.name);
    const TensorFile file = open(
        "{" + entry("w", each.name, "2", fmt::format("0,{}", each.bytes.size())) + "}", each.bytes);
    EXPECT_EQ(file.format(), "safetensors");
    ASSERT_EQ(file.tensors().size(), 1U);
    EXPECT_EQ(file.tensors()[0].type, each.type);
    EXPECT_EQ(file.read("w"), each.values);
  }
}

TEST_F(Safetensors, HoldScalarsEmptyTensorsMetadataAndDataInAnyOrder) {
  const TensorFile file =
      open("{" + entry("b", "U8", "2,2", "1,5") + R"(,"__metadata__":{"format":"pt","x":""},)" +
               entry("none", "F64", "3,0,9999", "1,1") + "," + entry("s", "I8", "", "0,1") + "}",
           "\x07\x01\x02\x03\x04");
  ASSERT_EQ(file.tensors().size(), 3U);
  EXPECT_EQ(file.tensors()[0].name, "b");
  EXPECT_THAT(file.read("b"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(file.read("s"), ElementsAre(7));
  EXPECT_TRUE(file.find("s")->shape.empty());
  EXPECT_TRUE(file.read("none").empty());
  EXPECT_TRUE(open("{}", "").tensors().empty());
  EXPECT_THAT(
      open("{" + entry(R"(a\u00e9\"\\/b)", "U8", "1", "0,1") + "}", "\x05").read("aé\"\\/b"),
      ElementsAre(5));
}

TEST_F(Safetensors, MayHaveWhiteSpaceAroundTheirHeader) {
  for (const auto& [before, after] : {std::pair{"", "       "}, {" \t\r\n", ""}, {"  ", "\n"}}) {
    EXPECT_THAT(open(before + ("{" + kWeight + "}") + after, "\x01\x02").read("w"),
                ElementsAre(1, 2));
  }
}

TEST_F(Safetensors, AreReadInMoreThanOneBlock) {
  std::string data;
  for (std::uint64_t i = 0; i < 20000; ++i) data += little(i, 4);
  const std::vector<double> values =
      open("{" + entry("w", "U32", "20000", "0,80000") + "}", data).read("w");
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], static_cast<double>(i));
}

TEST_F(Safetensors, AreRefusedWhereTheHeadersLengthCannotBe) {
  refused_bytes(little(~0ULL) + "{}", {"header claims 18446744073709551615 bytes", "byte 0"});
  refused_bytes(little((16 << 20) + 1) + "{}", {"header claims 16777217 bytes"});
  refused("{" + kWeight + "}", "\x01\x02", {"at most 10 are read"}, {.max_header_bytes = 10});
  refused_bytes(little(100) + "{}", {"truncated", "100 bytes expected at byte 8"});
}

TEST_F(Safetensors, AreRefusedWhereverTheyAreCutOff) {
  const std::string bytes =
      whole("{" + kWeight + "," + entry("v", "F64", "1", "2,10") + "}", "\x01\x02" + little(7));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    SCOPED_TRACE(size);
    refused_bytes(bytes.substr(0, size), {});
  }
  refused_bytes(bytes + "x", {"1 bytes that belong to no tensor follow"});
}

TEST_F(Safetensors, AreRefusedWhereTheHeaderIsNoObjectOfTensors) {
  const std::string entry_end = R"("shape":[2],"data_offsets":[0,2]})";
  refused("{" + kWeight, "\x01\x02", {"it is not JSON", "byte 60"});
  refused("{" + kWeight + ",}", "\x01\x02", {"it is not JSON"});
  refused("{" + kWeight + "}{}", "\x01\x02", {"it is not JSON"});
  refused("{" + kWeight + "} x", "\x01\x02", {"it is not JSON"});
  refused("{\"\xff\":{}}", "", {"it is not JSON"});  // no UTF-8
  refused("{" + kWeight + "}" + std::string(2, '\0'), "\x01\x02", {"JSON object", "byte 61"});
  refused(R"({"w":null})", "", {"tensor 'w': null is there, where an object"});
  refused(R"({"w":[1]})", "", {"tensor 'w': an array is there"});
  refused(R"({"w":{"dtype":{}}})", "", {"'w': an object is there, where a text for 'dtype'"});
  refused(R"({"w":{"dtype":["F64"]}})", "", {"'w': an array is there"});
  refused(R"({"w":{"dtype":8}})", "", {"'w': the number 8 is there"});
  refused(R"({"w":{"shape":2}})", "", {"'w': the number 2 is there, where an array"});
  refused(R"({"w":{"shape":[[2]]}})", "", {"'w': an array is there, where whole numbers"});
  refused(R"({"w":{"shape":["2"]}})", "", {"'w': the text '2' is there"});
  refused(R"({"w":{"shape":[2.0]}})", "", {"'w': the number 2.0 is there"});
  refused(R"({"w":{"shape":[true]}})", "", {"'w': true or false is there"});
  refused(R"({"w":{"data_offsets":[1]}})", "", {"'w': 'data_offsets' needs two numbers"});
  refused(R"({"w":{"data_offsets":[1,2,3]}})", "", {"'w': 'data_offsets' holds more than two"});
  refused(R"({"w":{"dtype":"U8","shape":[2]}})", "", {"'w': has no 'data_offsets'"});
  refused(
      R"({"w":{"dtype":"U8","strides":[1],)" + entry_end + "}", "", {"unknown field 'strides'"});
  refused(R"({"__metadata__":{"a":1}})", "", {"the number 1 is there", "'__metadata__'"});
  refused(R"({"__metadata__":{"a":{}}})", "", {"an object is there", "'__metadata__'"});
  refused(R"({"a\u0000b":{}})", "", {"its name is not UTF-8 text without control characters"});
  // However deep: no level below a tensor's fields is ever entered.
  refused(R"({"w":)" + std::string(1 << 20, '{'), "", {"it is not JSON"});
  refused(R"({"w":{"shape":)" + std::string(1 << 20, '['), "", {"'w': an array is there"});
}

TEST_F(Safetensors, AreRefusedWhereAKeyOccursTwice) {
  refused("{" + kWeight + "," + entry("w", "U8", "2", "2,4") + "}",
          "\x01\x02\x03\x04",
          {"tensor 'w': the name occurs twice"});
  refused(R"({"w":{"dtype":"U8","dtype":"I8"}})", "", {"tensor 'w': has 'dtype' twice"});
  refused(R"({"__metadata__":{"a":"1","a":"2"}})", "", {"key 'a' of its metadata occurs twice"});
  refused(R"({"__metadata__":{},"__metadata__":{}})", "", {"the name occurs twice"});
}

TEST_F(Safetensors, AreRefusedWhereOffsetsLeaveHolesOrOverlap) {
  const std::string data = "\x01\x02\x03\x04\x05";
  refused("{" + entry("a", "U8", "2", "0,2") + "," + entry("b", "U8", "2", "3,5") + "}",
          data,
          {"tensor 'b'", "belong to no tensor"});
  refused("{" + entry("a", "U8", "2", "1,3") + "}", "\x01\x02\x03", {"tensor 'a'", "to no tensor"});
  refused("{" + entry("a", "U8", "3", "0,3") + "," + entry("b", "U8", "3", "2,5") + "}",
          data,
          {"tensor 'b'", "overlap"});
  refused("{" + entry("a", "U8", "5", "0,5") + "," + entry("b", "U8", "5", "0,5") + "}",
          data,
          {"tensor 'b'", "overlap"});
  refused("{" + kWeight + "," + entry("b", "U8", "0", "1,1") + "}", "\x01\x02", {"overlap"});
  refused("{" + kWeight + "}", data, {"3 bytes that belong to no tensor follow byte"});
  refused("{" + kWeight + "}", "\x01", {"tensor 'w': truncated"});
  refused("{}", "x", {"1 bytes that belong to no tensor"});
}

TEST_F(Safetensors, AreRefusedWhereOffsetsAreReversedOrNegative) {
  refused("{" + entry("w", "U8", "2", "2,0") + "}", "\x01\x02", {"tensor 'w'", "are 2 and 0"});
  refused("{" + entry("w", "U8", "2", "0,-2") + "}", "\x01\x02", {"tensor 'w': the number -2"});
  refused("{" + entry("w", "U8", "-2", "0,2") + "}", "\x01\x02", {"tensor 'w': the number -2"});
  refused(
      "{" + entry("w", "U8", "2", "18446744073709551614,0") + "}", "\x01\x02", {"'w'", "needs 2"});
  refused("{" + entry("w", "U8", "2", "18446744073709551614,18446744073709551616") + "}",
          "\x01\x02",
          {"'w': the number 18446744073709551616"});
}

TEST_F(Safetensors, AreRefusedWhereTheShapeIsNotTheDatas) {
  refused("{" + entry("w", "U8", "3", "0,2") + "}",
          "\x01\x02",
          {"tensor 'w': shape (3,) of uint8 needs 3 bytes"});
  // 4194305 * 4194305 * 211106198978564 = 4 modulo 2^64.
  refused("{" + entry("w", "F32", "4194305,4194305,211106198978564", "0,16") + "}",
          std::string(16, 'x'),
          {"tensor 'w'", "beyond the limit"});
  refused(
      "{" + entry("w", "U8", "9223372036854775808", "0,0") + "}", "", {"'w': the extent", "2^63"});
  refused("{" + entry("w", "U8", "1,1,1", "0,1") + "}",
          "x",
          {"'w': has more than 2 dimensions"},
          {.max_rank = 2});
  refused("{" + entry("w", "U8", "2", "0,2") + "}",
          "xx",
          {"beyond the limit of 8"},
          {.max_tensor_bytes = 8});
  // Many tensors over the same bytes, or none at all.
  std::string many = "{";
  for (int i = 0; i < 100; ++i) many += entry(fmt::format("t{}", i), "U8", "0", "0,0") + ",";
  refused(many + kWeight + "}", "xx", {"there are more than 100 tensors"}, {.max_tensors = 100});
}

TEST_F(Safetensors, NameTensorsOfOtherTypesWithoutRefusingTheRest) {
  // By type: elements that fill two bytes, of which 0 for a type of unknown size.
  const std::vector<std::pair<std::string, std::string>> types = {{"C64", "0"},
                                                                  {"F8_E4M3", "2"},
                                                                  {"F8_E4M3FNUZ", "2"},
                                                                  {"F8_E5M2", "2,1"},
                                                                  {"F8_E5M2FNUZ", "2"},
                                                                  {"F8_E8M0", "1,2"},
                                                                  {"F6_E2M3", "4"},
                                                                  {"F6_E3M2", "4"},
                                                                  {"F4", "4"},
                                                                  {"f32", "7"},
                                                                  {"", "9,9"}};
  for (const auto& each : types) {
    const std::string& type = each.first;
    const std::string& shape = each.second;
    SCOPED_TRACE(type);
    const int end = type == "C64" ? 2 : type.starts_with("F6") ? 5 : 4;
    const std::string odd = entry("odd", type, shape, fmt::format("2,{}", end));
    const std::string data = std::string("\1\2\3\4\5").substr(0, static_cast<std::size_t>(end));
    const TensorFile file = open("{" + odd + "," + kWeight + "}", data);
    EXPECT_THAT(file.read("w"), ElementsAre(1, 2));
    expect_unreadable(file, {{"odd", "its dtype is '" + type + "' (header, near byte "}});
    EXPECT_FALSE(file.unreadable()[0].is_no_parameter);
    const std::string alone = entry("odd", type, shape, fmt::format("0,{}", end - 2));
    refused("{" + alone + "}",
            data.substr(2),
            {"tensor 'odd': its dtype is '" + type + "'", "F32", "near byte"});
    // Everything about places holds for them, too.
    const auto refused_at = [&](const std::string& offsets, const std::string& part) {
      refused("{" + entry("odd", type, shape, offsets) + "," + kWeight + "}", data, {"odd", part});
    };
    refused_at(fmt::format("{},2", end + 1), fmt::format("data_offsets are {} and 2", end + 1));
    if (type == "C64") continue;
    refused("{" + odd + "," + kWeight + "}", data + "x", {"1 bytes that belong to no tensor"});
    refused("{" + odd + "," + kWeight + "}", data.substr(0, 3), {"'odd': truncated"});
    refused_at(fmt::format("1,{}", end - 1), "overlap");
    refused_at(fmt::format("3,{}", end + 1), "belong to no tensor");
  }
}

TEST_F(Safetensors, AreRefusedWhereTensorsOfOtherTypesHaveAnotherSize) {
  for (const std::string type : {"C64", "F8_E4M3", "F6_E2M3", "F4"}) {
    refused("{" + entry("odd", type, "3", "2,4") + "," + kWeight + "}",
            "\1\2\3\4",
            {"tensor 'odd': its dtype is '" + type + "'", "shape (3,) needs", "are 2 and 4"});
  }
  refused("{" + entry("odd", "F4", "4294967296,4294967296", "2,4") + "," + kWeight + "}",
          "\1\2\3\4",
          {"tensor 'odd'", "beyond the limit"});
}

TEST_F(Safetensors, AreRefusedWhereAnElementIsNone) {
  refused(
      "{" + entry("w", "BOOL", "2", "0,2") + "}", "\x01\x02", {"tensor 'w': element 1", "boolean"});
  refused("{" + entry("w", "I64", "1", "0,8") + "}",
          little((1ULL << 53) + 1),
          {"tensor 'w': element 0", "beyond 2^53"});
}

TEST_F(Safetensors, NeverYieldOtherNamesOrShapesUnnoticedAfterABitFlip) {
  // The format has no checksum: a flip in the data goes unnoticed. With a flip in the header, the
  // file must still account for all bytes, or be refused.
  const std::string header = "{" + kWeight + "}";
  const std::string bytes = whole(header, "\x01\x02");
  for (std::size_t bit = 0; bit < 8 * (8 + header.size()); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    write_bytes(path_, damaged);
    try {
      const TensorFile file = open_tensor_file(path_);
      ASSERT_EQ(file.tensors().size(), 1U) << bit;
      ASSERT_EQ(file.tensors()[0].num_elements() *
                    static_cast<std::int64_t>(size_of(file.tensors()[0].type)),
                2)
          << bit;
    } catch (const InputError&) {
    }
  }
}

TEST_F(Safetensors, AreNoPicklesWhateverTheirHeadersLength) {
  const std::string header = "{" + kWeight + "}";
  const TensorFile file = open(header + std::string(0x280 - header.size(), ' '), "\x01\x02");
  EXPECT_EQ(hesscope::test::read_bytes(path_).substr(0, 2), "\x80\x02");
  EXPECT_EQ(file.format(), "safetensors");
}

TEST_F(Safetensors, AreNotWhatIsTextOrAnotherFormat) {
  write_bytes(path_, R"({"meta":{"a":1}})");  // the ninth character is a brace
  expect_refused(path_, {"is JSON without a 'weight_map'"});
}

TEST_F(Safetensors, HoldTheSameNumbersAsTheOtherFormatsOfAFixture) {
  std::size_t num_files = 0;
  for (const auto& item : std::filesystem::recursive_directory_iterator(fixtures())) {
    if (item.path().extension() != ".safetensors") continue;
    SCOPED_TRACE(item.path());
    auto hdf5 =
        all_values(open_tensor_file(std::filesystem::path(item.path()).replace_extension(".h5")));
    auto values = all_values(open_tensor_file(item.path()));
    std::ranges::sort(hdf5);
    std::ranges::sort(values);
    EXPECT_EQ(values, hdf5);
    ++num_files;
  }
  EXPECT_EQ(num_files, 8U);
}

}  // namespace
