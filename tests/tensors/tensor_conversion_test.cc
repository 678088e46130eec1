// SPDX-License-Identifier: BSD-3-Clause
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/tensors/checkpoint_file.h>
#include <hesscope/tensors/format_registry.h>
#include <hesscope/tensors/tensor_conversion.h>
#include <hesscope/tensors/tensor_file.h>

#include "support/files.h"
#include "support/refusal.h"
#include "tensors/pickle_bytes.h"
#include "tensors/reader_fixtures.h"

namespace hesscope::io {
namespace {

using test::expect_refusal;
using test::ScratchFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Stored {
  std::string name;
  std::vector<std::int64_t> shape;
  ElementType type;
  std::vector<std::uint64_t> bits;

  bool operator==(const Stored&) const = default;
};

void PrintTo(const Stored& tensor, std::ostream* out) {
  *out << tensor.name << " " << to_string(tensor.type) << shape_text(tensor.shape);
}

/// Everything that a reader says about a file; all NaNs count as equal.
std::vector<Stored> contents(const std::filesystem::path& path) {
  const TensorFile file = open_tensor_file(path);
  std::vector<Stored> all;
  for (const TensorInfo& tensor : file.tensors()) {
    all.push_back({tensor.name, tensor.shape, tensor.type, {}});
    for (const double value : file.read(tensor.name)) {
      all.back().bits.push_back(
          std::bit_cast<std::uint64_t>(std::isnan(value) ? std::nan("") : value));
    }
  }
  return all;
}

/// A tensor of every type, each with the extremes that the type has.
struct Everything {
  std::vector<double> f64 = {-0.0, 5e-324, 1.7976931348623157e308, 0.1, -kInfinity, std::nan("")};
  std::vector<double> f32 = {-0.0, 0x1p-149, static_cast<double>(0.1F), kInfinity, std::nan(""), 1};
  std::vector<double> f16 = {
      -0.0, 0x1p-24, 1023 * 0x1p-24, 0x1p-14, 65504, -kInfinity, std::nan("")};
  std::vector<double> bf16 = {-0.0, 0x1p-133, 3.140625, -0x1.fep127, kInfinity, std::nan("")};
  std::vector<double> i64 = {-0x1p53, 0x1p53};
  std::vector<double> i32 = {-2147483648.0, 2147483647};
  std::vector<double> i16 = {-32768, 32767};
  std::vector<double> i8 = {-128, 127};
  std::vector<double> u64 = {0, 0x1p53};
  std::vector<double> u32 = {0, 4294967295};
  std::vector<double> u16 = {0, 65535};
  std::vector<double> u8 = {0, 255};
  std::vector<double> b = {1, 0, 1};

  std::vector<CheckpointTensor> tensors(bool with_bfloat16) const {
    using enum ElementType;
    std::vector<CheckpointTensor> all = {{"z.matrix", {2, 3}, f64, kFloat64},
                                         {"cube", {1, 3, 2}, f32, kFloat32},
                                         {"half", {7}, f16, kFloat16},
                                         {"i64", {2}, i64, kInt64},
                                         {"i32", {2}, i32, kInt32},
                                         {"i16", {2}, i16, kInt16},
                                         {"i8", {2}, i8, kInt8},
                                         {"u64", {2}, u64, kUInt64},
                                         {"u32", {2}, u32, kUInt32},
                                         {"u16", {2}, u16, kUInt16},
                                         {"u8", {2}, u8, kUInt8},
                                         {"flags", {3}, b, kBool},
                                         {"scalar", {}, std::span(f64).first(1), kFloat64},
                                         {"none", {3, 0}, {}, kFloat32},
                                         {"poids.\"été\"\\λ", {1}, std::span(i8).last(1), kInt8}};
    if (with_bfloat16) all.push_back({"brain", {6}, bf16, kBFloat16});
    return all;
  }
};

const FormatKind& format(const std::string& extension) {
  for (const FormatKind& each : format_kinds()) {
    if (each.extension == extension) return each;
  }
  throw std::runtime_error("no format " + extension);
}

TEST(Conversion, KeepsEveryBitTypeAndNameThroughAllFormats) {
  const ScratchFolder scratch;
  const Everything everything;
  const auto tensors = everything.tensors(false);
  format(".npz").write(scratch / "a.npz", tensors, Existing::kRefuse);
  const std::vector<Stored> expected = contents(scratch / "a.npz");
  ASSERT_EQ(expected.size(), tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    SCOPED_TRACE(tensors[i].name);
    EXPECT_EQ(expected[i].name, tensors[i].name);
    EXPECT_EQ(expected[i].shape, tensors[i].shape);
    EXPECT_EQ(expected[i].type, tensors[i].type);
    std::vector<std::uint64_t> bits;
    for (const double v : tensors[i].values) {
      bits.push_back(std::bit_cast<std::uint64_t>(std::isnan(v) ? std::nan("") : v));
    }
    EXPECT_EQ(expected[i].bits, bits);
  }
  for (const auto& [from, to] : {std::pair{"a.npz", "b.safetensors"},
                                 {"b.safetensors", "c.h5"},
                                 {"c.h5", "d.safetensors"},
                                 {"d.safetensors", "e.npz"},
                                 {"e.npz", "f.h5"}}) {
    SCOPED_TRACE(to);
    const Conversion done = convert_tensors(open_tensor_file(scratch / from), scratch / to);
    EXPECT_EQ(done.format, open_tensor_file(scratch / to).format());
    EXPECT_THAT(done.notes, ElementsAre());
    EXPECT_EQ(contents(scratch / to), expected);
  }
  // The same tensors are the same bytes, by whatever way they came.
  EXPECT_EQ(test::read_bytes(scratch / "a.npz"), test::read_bytes(scratch / "e.npz"));
  EXPECT_EQ(test::read_bytes(scratch / "b.safetensors"),
            test::read_bytes(scratch / "d.safetensors"));
  EXPECT_EQ(test::read_bytes(scratch / "c.h5"), test::read_bytes(scratch / "f.h5"));
}

TEST(Conversion, SaysWhatIsTooSmallForFloat32) {
  const ScratchFolder scratch;
  const std::vector<double> small = {1e-46, -1e-300, 0, 1e-44, 1};
  const std::vector<double> fine = {1, 2};
  const std::vector<CheckpointTensor> tensors = {{"fine", {2}, fine}, {"small", {5}, small}};
  format(".npz").write(scratch / "a.npz", tensors, Existing::kRefuse);
  const TensorFile file = open_tensor_file(scratch / "a.npz");
  const Conversion done = convert_tensors(file, scratch / "b.npz", ElementType::kFloat32);
  EXPECT_THAT(done.notes,
              ElementsAre("2 numbers became 0, as float32 has none so small; the first are in "
                          "'small'"));
  EXPECT_THAT(convert_tensors(file, scratch / "c.npz", ElementType::kFloat64).notes, ElementsAre());
}

TEST(Conversion, SaysWhatIsLeftOut) {
  const ScratchFolder scratch;
  const TensorFile file =
      open_tensor_file(test::fixtures().parent_path() / "tensors/torch/training.pt");
  EXPECT_THAT(convert_tensors(file, scratch / "all.npz").notes,
              ElementsAre(HasSubstr("left out, as the output holds tensors alone: epoch, ")));
  EXPECT_THAT(convert_tensors(file.part("model_state_dict"), scratch / "model.npz").notes,
              ElementsAre());
}

TEST(Conversion, SaysThatTiesAreLost) {
  const ScratchFolder scratch;
  const std::string shared = test::two_doubles();
  test::write_torch(
      scratch / "tied.pt",
      test::pickle(test::dict({{"in", shared},
                               {"out", shared},
                               {"again", shared},
                               {"own", test::tensor(test::storage("0", 2), {1}, {1})}})));
  const TensorFile file = open_tensor_file(scratch / "tied.pt");
  EXPECT_THAT(
      convert_tensors(file, scratch / "a.npz").notes,
      ElementsAre(HasSubstr("'in' and 'out' (and 1 more) are one tensor in the input (tied)")));
  const TensorFile converted = open_tensor_file(scratch / "a.npz");
  EXPECT_THAT(convert_tensors(converted, scratch / "b.npz").notes, ElementsAre());
}

TEST(Conversion, WidensBfloat16WhereAFormatDoesNotKnowItAndSaysSo) {
  const ScratchFolder scratch;
  const Everything everything;
  format(".safetensors")
      .write(scratch / "a.safetensors", everything.tensors(true), Existing::kRefuse);
  const std::vector<Stored> expected = contents(scratch / "a.safetensors");
  EXPECT_EQ(expected.back().type, ElementType::kBFloat16);
  const TensorFile file = open_tensor_file(scratch / "a.safetensors");
  EXPECT_THAT(convert_tensors(file, scratch / "b.safetensors").notes, ElementsAre());
  EXPECT_EQ(contents(scratch / "b.safetensors"), expected);
  for (const std::string name : {"c.npz", "c.h5"}) {
    const Conversion done = convert_tensors(file, scratch / name);
    EXPECT_EQ(done.tensors.back().from, ElementType::kBFloat16);
    EXPECT_EQ(done.tensors.back().to, ElementType::kFloat32);
    EXPECT_THAT(done.notes, ElementsAre(HasSubstr("1 of 16 tensors became float32")));
    EXPECT_EQ(contents(scratch / name).back().bits, expected.back().bits);
    expect_refusal<OutputError>(
        [&] {
          format(std::filesystem::path(name).extension())
              .write(scratch / "x", everything.tensors(true), Existing::kRefuse);
        },
        "tensor 'brain'");
  }
}

TEST(Conversion, AlignsSafetensorsToTheirElements) {
  const ScratchFolder scratch;
  const std::vector<double> values = {1, 0, 1};
  format(".safetensors")
      .write(scratch / "a.safetensors",
             std::vector<CheckpointTensor>{{"b", {3}, values, ElementType::kBool},
                                           {"w", {3}, values, ElementType::kFloat64}},
             Existing::kRefuse);
  const std::string bytes = test::read_bytes(scratch / "a.safetensors");
  const std::string header = R"({"b":{"dtype":"BOOL","shape":[3],"data_offsets":[24,27]},)"
                             R"("w":{"dtype":"F64","shape":[3],"data_offsets":[0,24]}})";
  EXPECT_EQ(bytes.substr(8, header.size()), header);
  EXPECT_EQ(bytes.size() % 8, 3U);
  EXPECT_EQ(static_cast<unsigned char>(bytes[0]) % 8, 0);
}

TEST(Conversion, MakesOneTypeOfFloatsWhereAsked) {
  const ScratchFolder scratch;
  const std::vector<double> values = {0.1, 1e-300, kInfinity};
  const std::vector<double> labels = {0, 1, 2};
  format(".npz").write(scratch / "a.npz",
                       std::vector<CheckpointTensor>{{"w", {3}, values, ElementType::kFloat64},
                                                     {"y", {3}, labels, ElementType::kInt8}},
                       Existing::kRefuse);
  const TensorFile file = open_tensor_file(scratch / "a.npz");
  convert_tensors(file, scratch / "b.npz", ElementType::kFloat32);
  const TensorFile narrow = open_tensor_file(scratch / "b.npz");
  EXPECT_EQ(narrow.find("w")->type, ElementType::kFloat32);
  EXPECT_THAT(narrow.read("w"), ElementsAre(static_cast<double>(0.1F), 0.0, kInfinity));
  EXPECT_EQ(narrow.find("y")->type, ElementType::kInt8);
  convert_tensors(narrow, scratch / "c.npz", ElementType::kFloat64);
  EXPECT_EQ(open_tensor_file(scratch / "c.npz").find("w")->type, ElementType::kFloat64);
  expect_refusal([&] { convert_tensors(file, scratch / "d.npz", ElementType::kInt8); }, "int8");
}

TEST(Conversion, RefusesWhatAFormatCannotHoldAndLeavesNothing) {
  const ScratchFolder scratch;
  const std::vector<double> values = {1, 1e300, 0.5};
  const auto refused = [&](const std::string& extension,
                           const std::vector<CheckpointTensor>& tensors,
                           const std::string& message) {
    SCOPED_TRACE(message);
    expect_refusal<OutputError>(
        [&] { format(extension).write(scratch / ("out" + extension), tensors, Existing::kRefuse); },
        message);
  };
  using enum ElementType;
  const std::span<const double> one = std::span(values).first(1);
  refused(".h5", {{"a/b", {1}, one}}, "tensor 'a/b'");
  refused(".h5", {{".", {1}, one}}, "tensor '.'");
  refused(".safetensors", {{"__metadata__", {1}, one}}, "'__metadata__'");
  refused(".npy", {{"a", {1}, one}, {"b", {1}, one}}, "holds one tensor, got 2");
  refused(".npy", {}, "got 0");
  refused(".npz", {{std::string(65532, 'n'), {1}, one}}, "65532 bytes long");
  std::vector<CheckpointTensor> many;
  for (int i = 0; i < 65535; ++i) many.push_back({std::to_string(i), {1}, one});
  refused(".npz", many, "65535 tensors");
  for (const std::string extension : {".npz", ".safetensors", ".h5"}) {
    refused(extension, {{"w", {3}, values, kFloat32}}, "tensor 'w': element 1 is 1e+300");
    refused(extension, {{"w", {3}, values, kInt64}}, "tensor 'w': element 1 is 1e+300");
    refused(extension, {{"w", {2}, std::span(values).last(2), kFloat16}}, "element 0 is 1e+300");
    refused(extension, {{"w", {1}, std::span(values).last(1), kUInt8}}, "element 0 is 0.5");
    refused(extension, {{"w", {1}, std::span(values).last(1), kBool}}, "element 0 is 0.5");
  }
  const double almost = 1 + 0x1p-11;  // between two float16, and two bfloat16
  refused(".safetensors", {{"w", {1}, {&almost, 1}, kFloat16}}, "float16 does not hold");
  refused(".safetensors", {{"w", {1}, {&almost, 1}, kBFloat16}}, "bfloat16 does not hold");
  for (const FormatKind& each : format_kinds()) {
    if (each.write == nullptr) continue;
    const auto write = [&](const std::vector<CheckpointTensor>& tensors) {
      return
          [&each, &scratch, tensors] { each.write(scratch / "out", tensors, Existing::kRefuse); };
    };
    expect_refusal(write({{"w", {2}, one}}), "'w' of shape (2,) with 1");
    expect_refusal(write({{"w", {-1, -1}, one}}), "'w' of shape (-1, -1) with 1");
    const std::int64_t large = std::int64_t{1} << 32;
    expect_refusal(write({{"w", {large, large}, {}}}), "'w' of shape (4294967296, 4294967296)");
    expect_refusal(write({{"", {1}, one}}), "a tensor needs a name");
    expect_refusal(write({{"\xff", {1}, one}}), "\\xff");
    expect_refusal(write({{"w", {1}, one}, {"w", {1}, one}}), "two tensors are named 'w'");
  }
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

TEST(Conversion, TakesTheFormatFromTheExtensionAndSparesWhatIsThere) {
  const ScratchFolder scratch;
  const std::vector<double> values = {1, 2};
  format(".npz").write(scratch / "a.npz",
                       std::vector<CheckpointTensor>{{"layer/0/w", {2}, values}},
                       Existing::kRefuse);
  const TensorFile file = open_tensor_file(scratch / "a.npz");
  expect_refusal<ConfigError>([&] { convert_tensors(file, scratch / "b.pt"); }, "torch.save");
  expect_refusal<ConfigError>([&] { convert_tensors(file, scratch / "b"); }, "has no extension");
  expect_refusal<ConfigError>([&] { convert_tensors(file, scratch / "b.txt"); },
                              "'.txt' is not written; it is the extension that says what is "
                              "written: .npz, .npy, .h5, .safetensors");
  const Conversion named = convert_tensors(file, scratch / "b.npy");
  EXPECT_THAT(named.notes, ElementsAre(HasSubstr("read back as 'b'")));
  EXPECT_THAT(open_tensor_file(scratch / "b.npy").read("b"), ElementsAre(1, 2));
  convert_tensors(file, scratch / "c.safetensors");
  EXPECT_THAT(open_tensor_file(scratch / "c.safetensors").read("layer/0/w"), ElementsAre(1, 2));

  const std::string before = test::read_bytes(scratch / "c.safetensors");
  expect_refusal<OutputError>(
      [&] { convert_tensors(file, scratch / "c.safetensors", ElementType::kFloat32); },
      "exists already");
  EXPECT_EQ(test::read_bytes(scratch / "c.safetensors"), before);
  convert_tensors(file, scratch / "c.safetensors", ElementType::kFloat32, Existing::kReplace);
  EXPECT_NE(test::read_bytes(scratch / "c.safetensors"), before);
}

}  // namespace
}  // namespace hesscope::io
