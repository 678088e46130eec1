// SPDX-License-Identifier: BSD-3-Clause
//
// Initializers: every type in every place where its elements may lie, and what is refused of them.
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <hesscope/storage/input_file.h>

#include "onnx/onnx_reading.h"

namespace hesscope::test::onnx {
namespace {

using hesscope::onnx::ElementKind;
using hesscope::onnx::OnnxLimits;
using hesscope::onnx::Tensor;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

ModelText with_tensor(const std::string& stored) { return {.initializers = {stored}}; }

Tensor read_tensor(std::int64_t type, const Shape& shape, const std::string& elements) {
  return read(with_tensor(tensor("W", type, shape, elements))).initializers.at(0);
}

void expect_tensor_refused(std::int64_t type,
                           const Shape& shape,
                           const std::string& elements,
                           const std::string& message) {
  expect_refused(with_tensor(tensor("W", type, shape, elements)), "initializer 'W': " + message);
}

struct Stored {
  Type type;
  std::string raw;
  std::string listed;
  std::vector<double> reals = {};
  std::vector<std::int64_t> integers = {};
};

class OnnxTensor : public testing::TestWithParam<Stored> {};

TEST_P(OnnxTensor, IsReadFromBytesAndFromItsList) {
  const Stored& stored = GetParam();
  for (const std::string& elements : {raw_data(stored.raw), stored.listed}) {
    const Tensor tensor = read_tensor(stored.type, {3}, elements);
    EXPECT_EQ(tensor.onnx_type, stored.type);
    EXPECT_EQ(tensor.kind,
              stored.type == kBool      ? ElementKind::kBoolean
              : stored.integers.empty() ? ElementKind::kReal
                                        : ElementKind::kInteger);
    EXPECT_THAT(tensor.reals, ElementsAreArray(stored.reals));
    EXPECT_THAT(tensor.integers, ElementsAreArray(stored.integers));
  }
}

template <typename T>
std::string three(T a, T b, T c) {
  return little(std::vector<T>{a, b, c});
}

constexpr std::int64_t kLeast64 = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost64 = std::numeric_limits<std::int64_t>::max();

INSTANTIATE_TEST_SUITE_P(
    Types,
    OnnxTensor,
    testing::Values(
        Stored{kFloat,
               three(1.5F, -0.1F, 0.0F),
               floats({1.5F, -0.1F, 0.0F}),
               {1.5, double{-0.1F}, 0.0}},
        Stored{kDouble, three(1.5, -0.1, 0.0), doubles({1.5, -0.1, 0.0}), {1.5, -0.1, 0.0}},
        Stored{kFloat16,
               three<std::uint16_t>(0x3C00, 0xC100, 0x7C00),
               int32s({0x3C00, 0xC100, 0x7C00}),
               {1.0, -2.5, std::numeric_limits<double>::infinity()}},
        Stored{kBFloat16,
               three<std::uint16_t>(0x3F80, 0xC020, 0x0001),
               int32s({0x3F80, 0xC020, 0x0001}),
               {1.0, -2.5, 0x1p-133}},
        Stored{kInt8, three<std::int8_t>(1, -128, 127), int32s({1, -128, 127}), {}, {1, -128, 127}},
        Stored{kUInt8, three<std::uint8_t>(1, 0, 255), int32s({1, 0, 255}), {}, {1, 0, 255}},
        Stored{kInt16,
               three<std::int16_t>(1, -32768, 32767),
               int32s({1, -32768, 32767}),
               {},
               {1, -32768, 32767}},
        Stored{
            kUInt16, three<std::uint16_t>(1, 0, 65535), int32s({1, 0, 65535}), {}, {1, 0, 65535}},
        Stored{kInt32,
               three<std::int32_t>(1, -2147483647 - 1, 2147483647),
               int32s({1, -2147483648LL, 2147483647}),
               {},
               {1, -2147483648LL, 2147483647}},
        Stored{kUInt32,
               three<std::uint32_t>(1, 0, 4294967295U),
               uint64s({1, 0, 4294967295}),
               {},
               {1, 0, 4294967295}},
        Stored{kInt64,
               three<std::int64_t>(1, kLeast64, kMost64),
               int64s({1, kLeast64, kMost64}),
               {},
               {1, kLeast64, kMost64}},
        Stored{kUInt64,
               three<std::uint64_t>(1, 0, kMost64),
               uint64s({1, 0, kMost64}),
               {},
               {1, 0, kMost64}},
        Stored{kBool, three<std::uint8_t>(1, 0, 1), int32s({1, 0, 1}), {}, {1, 0, 1}}),
    [](const auto& instance) { return hesscope::onnx::type_name(instance.param.type); });

TEST(OnnxTensor, MayBeAScalarOrEmpty) {
  const Tensor scalar = read_tensor(kFloat, {}, floats({2.5F}));
  EXPECT_THAT(scalar.shape, IsEmpty());
  EXPECT_EQ(scalar.size(), 1);
  EXPECT_THAT(scalar.reals, ElementsAre(2.5));
  const Tensor empty = read_tensor(kInt64, {0, 4}, "");
  EXPECT_EQ(empty.size(), 0);
  EXPECT_THAT(empty.integers, IsEmpty());
  EXPECT_THAT(read_tensor(kInt64, {0}, raw_data("")).integers, IsEmpty());
}

TEST(OnnxTensor, OfAnotherTypeIsThereWithoutItsElements) {
  for (const std::int64_t type :
       {std::int64_t{kString}, std::int64_t{kComplex64}, std::int64_t{20}}) {
    const Tensor tensor = read_tensor(type, {2}, raw_data("abc"));
    EXPECT_EQ(tensor.kind, ElementKind::kOther);
    EXPECT_EQ(tensor.onnx_type, type);
    EXPECT_THAT(tensor.shape, ElementsAre(2));
    EXPECT_THAT(tensor.reals, IsEmpty());
    EXPECT_THAT(tensor.integers, IsEmpty());
  }
}

TEST(OnnxTensorIsRefused, WhenItsDataDoNotFitItsShape) {
  expect_tensor_refused(kFloat,
                        {2},
                        raw_data(std::string(12, '\0')),
                        "shape (2,) of float32 needs 8 bytes, but 12 are stored");
  expect_tensor_refused(
      kInt64, {2}, raw_data("1234567"), "shape (2,) of int64 needs 16 bytes, but 7 are stored");
  expect_tensor_refused(
      kFloat, {3}, floats({1, 2}), "it has 3 elements, but 2 are stored for its type");
  expect_tensor_refused(kFloat, {3}, "", "it has 3 elements, but 0 are stored for its type");
  expect_tensor_refused(
      kFloat, {2}, doubles({1, 2}), "it has 2 elements, but 0 are stored for its type");
  expect_tensor_refused(
      kFloat, {1}, floats({1}) + raw_data("1234"), "its elements are stored twice");
  expect_tensor_refused(
      kFloat, {1}, floats({1}) + part(3, number(1, 0) + number(2, 1)), "it is stored in segments");
}

TEST(OnnxTensorIsRefused, WhenItsShapeCannotBe) {
  const std::int64_t huge = std::int64_t{1} << 30;
  expect_tensor_refused(kFloat,
                        {huge, huge},
                        raw_data("12345678"),
                        "shape (1073741824, 1073741824) is beyond the limit");
  expect_tensor_refused(
      kFloat, {huge, huge, huge, 4}, "", "shape (1073741824, 1073741824, 1073741824, 4) is beyond");
  expect_tensor_refused(
      kFloat, {0, huge, huge}, "", "shape (0, 1073741824, 1073741824) is beyond the limit");
  expect_tensor_refused(kFloat, {-1, 4}, "", "has the negative extent -1");
  expect_tensor_refused(kString, {kLeast64}, "", "has the negative extent");
  expect_tensor_refused(kFloat, Shape(9, 1), floats({1}), "has 9 dimensions; at most 8 are read");
  OnnxLimits limits;
  limits.max_tensor_bytes = 16;
  const ModelText text = with_tensor(tensor("W", kFloat, {3}, floats({1, 2, 3})));
  expect_refused(text, "shape (3,) is beyond the limit of 16 bytes", limits);
}

TEST(OnnxTensorIsRefused, WhenItsTypeDoesNotHaveAnElement) {
  expect_tensor_refused(kUInt8, {1}, int32s({256}), "an element is 256; from 0 to 255 are read");
  expect_tensor_refused(
      kInt8, {1}, int32s({-129}), "an element is -129; from -128 to 127 are read");
  expect_tensor_refused(kFloat16, {1}, int32s({-1}), "an element is -1; from 0 to 65535 are read");
  expect_tensor_refused(kUInt32, {1}, uint64s({std::int64_t{1} << 32}), "an element is 4294967296");
  expect_tensor_refused(kUInt64, {1}, uint64s({-1}), "an element is 18446744073709551615");
  expect_tensor_refused(kBool, {1}, raw_data("\x02"), "a truth value in it is 2");
}

// --- External data -------------------------------------------------------------------------------

/// A model whose tensor W, of two floats, lies in a file.
ModelText external_model(const std::string& elements) {
  return with_tensor(tensor("W", kFloat, {2}, elements));
}

const std::string& weights() {
  static const std::string bytes = little(std::vector<float>{9, 1.5F, -2, 9});
  return bytes;
}

TEST(OnnxExternalData, AreReadFromAFileBesideTheModel) {
  for (const std::string length : {"8", ""}) {
    const WrittenModel written(external_model(external("weights", "4", length)));
    write_bytes(written.folder() / "weights", weights());
    const auto file = written.read();
    EXPECT_THAT(file.initializers.at(0).reals, ElementsAre(1.5, -2));
    ASSERT_EQ(file.files.size(), 2);
    EXPECT_EQ(file.files[1]->path(), written.folder() / "weights");
    const std::string before = file.sha256;
    write_bytes(written.folder() / "weights", weights() + "more");
    EXPECT_NE(written.read().sha256, before);
  }
  const WrittenModel from_the_start(external_model(external("weights")));
  write_bytes(from_the_start.folder() / "weights", weights());
  EXPECT_THAT(from_the_start.read().initializers.at(0).reals, ElementsAre(9, 1.5));
}

TEST(OnnxExternalData, OfAttributesAreRead) {
  const std::string value = tensor("", kFloat, {2}, external("weights", "4"));
  const WrittenModel written(ModelText{
      .nodes = {
          node({.op = "Constant",
                .inputs = {},
                .outputs = {"c"},
                .attributes = {attribute("value", AttributeType::kTensor, part(5, value))}})}});
  write_bytes(written.folder() / "weights", weights());
  const auto file = written.read();
  const auto& read = std::get<std::shared_ptr<const Tensor>>(file.nodes.at(0).find("value")->value);
  EXPECT_THAT(read->reals, ElementsAre(1.5, -2));
}

TEST(OnnxExternalData, AreRefusedFromAnywhereElse) {
  const auto expect_external_refused = [](const std::string& location, const std::string& reason) {
    const WrittenModel written(external_model(external(location)));
    std::filesystem::create_directory(written.folder() / "folder");
    write_bytes(written.folder() / "folder/weights", weights());
    std::filesystem::create_symlink("folder/weights", written.folder() / "link");
    write_bytes(written.folder() / "first", weights());
    std::filesystem::create_hard_link(written.folder() / "first", written.folder() / "second");
    for (const std::string& message : {std::string("initializer 'W': external data"), reason}) {
      expect_refusal<InputError>([&] { written.read(); }, message);
    }
  };
  expect_external_refused("/etc/passwd", "is not the name of a file next to it");
  expect_external_refused("../weights", "is not the name of a file next to it");
  expect_external_refused("folder/../folder/weights", "is not the name of a file next to it");
  expect_external_refused("folder/weights", "is not the name of a file next to it");
  expect_external_refused("..", "is not the name of a file next to it");
  expect_external_refused("", "is not the name of a file next to it");
  expect_external_refused("folder", "is a directory");
  expect_external_refused("link", "is a symbolic link");
  expect_external_refused("second", "has 2 names");
  expect_external_refused("missing", "cannot be opened");
}

TEST(OnnxExternalData, AreRefusedWhenTheyAreNotThere) {
  const auto expect_place_refused = [](const std::string& elements, const std::string& reason) {
    const WrittenModel written(external_model(elements));
    write_bytes(written.folder() / "weights", weights());
    expect_refusal<InputError>([&] { written.read(); }, "initializer 'W': " + reason);
  };
  expect_place_refused(external("weights", "12"), "its external data are 8 bytes at byte 12 of ");
  expect_place_refused(external("weights", "17"), "its external data are 8 bytes at byte 17 of ");
  expect_place_refused(external("weights", "18446744073709551615"),
                       "its external data are 8 bytes");
  expect_place_refused(external("weights", "18446744073709551616"),
                       "the offset of its external data is");
  expect_place_refused(external("weights", "-4"), "the offset of its external data is '-4'");
  expect_place_refused(external("weights", "4x"), "the offset of its external data is '4x'");
  expect_place_refused(external("weights", "4", "12"),
                       "shape (2,) of float32 needs 8 bytes, but its external data have 12");
  expect_place_refused(external("weights") + floats({1, 2}), "its elements are stored twice");
  expect_place_refused(external("weights") + raw_data("12345678"),
                       "its data are external, but stand in the model, too");
}

TEST(OnnxExternalData, ReadOftenCountEachTime) {
  ModelText text;
  for (const std::string name : {"a", "b", "c"}) {
    text.initializers.push_back(tensor(name, kFloat, {4}, external("weights")));
  }
  const WrittenModel written(text);
  write_bytes(written.folder() / "weights", weights());
  OnnxLimits limits;
  limits.max_total_bytes = 95;
  expect_refusal<InputError>([&] { written.read(limits); },
                             "initializer 'c': with it, the tensors have more than 95 bytes");
  limits.max_total_bytes = 96;
  EXPECT_EQ(written.read(limits).initializers.size(), 3);
}

}  // namespace
}  // namespace hesscope::test::onnx
