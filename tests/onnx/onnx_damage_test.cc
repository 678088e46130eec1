// SPDX-License-Identifier: BSD-3-Clause
//
// Files that are wrong somewhere: each is refused or harmless, and at once.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "fuzz/memory_file.h"
#include "onnx/onnx_reading.h"

namespace hesscope::test::onnx {
namespace {

/// Everything that the reader reads, once, in a few hundred bytes.
std::string rich_model() {
  const std::string constant = tensor("", kInt64, {2}, int64s({3, -1}));
  const FunctionText twice{.name = "twice",
                           .domain = "local",
                           .inputs = {"a"},
                           .outputs = {"b"},
                           .nodes = {node({.op = "Elu",
                                           .inputs = {"a"},
                                           .outputs = {"c"},
                                           .attributes = {reference("alpha", "slope")}}),
                                     node({.op = "Add", .inputs = {"a", "c"}, .outputs = {"b"}})},
                           .defaults = {float_attribute("slope", 0.5F)}};
  return model(
      {.nodes = {node({.op = "Constant",
                       .inputs = {},
                       .outputs = {"s"},
                       .attributes = {attribute(
                           "value", AttributeType::kTensor, part(5, constant))}}),
                 node({.op = "Gemm",
                       .inputs = {"x", "W", "b"},
                       .outputs = {"h"},
                       .attributes = {int_attribute("transB", 1), float_attribute("alpha", 0.1F)}}),
                 node({.op = "twice",
                       .inputs = {"h"},
                       .outputs = {"y"},
                       .name = "call",
                       .domain = "local"})},
       .initializers = {tensor("W", kFloat, {2, 3}, floats({1, 2, 3, 4, 5, 6})),
                        tensor("b", kDouble, {2}, raw_data(std::string(16, '\x3f'))),
                        tensor("m", kBool, {2}, int32s({0, 1}))},
       .inputs = {value_info("x", kFloat, axis("N") + axis(3))},
       .outputs = {value_info("y", kFloat, axis("") + axis(2))},
       .functions = {function(twice)}});
}

/// Whether it is read; fails the test for anything but an InputError otherwise.
bool is_read(fuzz::MemoryFile& file, const std::string& bytes) {
  file.assign(std::as_bytes(std::span(bytes)));
  try {
    const auto model = hesscope::onnx::read_onnx_file(file.path());
    for (const auto& tensor : model.initializers) {
      const bool is_real = tensor.kind == hesscope::onnx::ElementKind::kReal;
      const bool has_none = tensor.kind == hesscope::onnx::ElementKind::kOther;
      const auto num_elements = static_cast<std::size_t>(has_none ? 0 : tensor.size());
      EXPECT_EQ(tensor.reals.size(), is_real ? num_elements : 0);
      EXPECT_EQ(tensor.integers.size(), is_real ? 0 : num_elements);
    }
    return true;
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith(file.path().string() + ": "));
    return false;
  }
}

TEST(OnnxDamage, CutAnywhereButBetweenItsPartsIsRefused) {
  fuzz::MemoryFile file;
  const std::string bytes = rich_model();
  ASSERT_TRUE(is_read(file, bytes));
  std::size_t num_read = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    SCOPED_TRACE(size);
    num_read += is_read(file, bytes.substr(0, size)) ? 1 : 0;
  }
  EXPECT_EQ(num_read, 1);  // without the function, which comes last, it is as whole as with it
}

TEST(OnnxDamage, AnyBitFlippedIsRefusedOrHarmless) {
  fuzz::MemoryFile file;
  std::string bytes = rich_model();
  std::size_t num_read = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      SCOPED_TRACE(testing::Message() << "bit " << bit << " of byte " << i);
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
      num_read += is_read(file, bytes) ? 1 : 0;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
    }
  }
  EXPECT_LT(num_read, 8 * bytes.size());
  EXPECT_GT(num_read, 0);  // numbers, letters of names
}

TEST(OnnxDamage, IsLocated) {
  const std::string bytes = rich_model();
  expect_refused(bytes.substr(0, bytes.size() - 1), "bytes begins there, of which ");
  const std::string group = bytes + '\x0b';
  expect_refused(
      group,
      "no field of an ONNX model begins there (at byte " + std::to_string(bytes.size()) + ")");
}

double seconds_to_refuse(const std::string& bytes, const std::string& message) {
  const WrittenModel written(bytes);
  const auto start = std::chrono::steady_clock::now();
  expect_refusal<InputError>([&] { written.read(); }, message);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(OnnxDamage, WhatWouldBeFarLargerInMemoryIsRefusedUnread) {
  std::string nodes;
  for (int i = 0; i < 4'100'000; ++i) nodes += std::string("\x0a\x00", 2);  // an empty one each
  EXPECT_LT(
      seconds_to_refuse(number(1, 8) + part(7, nodes), "it has more than 4000000 names, nodes"), 5);
  std::string graph;
  for (int i = 0; i < 40; ++i)
    graph = part(1, part(5, part(6, graph)));  // graph, node, attribute, ...
  EXPECT_LT(
      seconds_to_refuse(number(1, 8) + part(7, graph), "messages are nested more than 100 deep"),
      1);
}

/// Refusals that are this reader's; others take what the graph means to see.
TEST(OnnxRefusals, OfFilesNameWhatIsWrong) {
  std::size_t num_refused = 0;
  for (const auto& entry : std::filesystem::directory_iterator(fixtures() / "onnx-refusals")) {
    if (!entry.is_directory()) continue;
    const std::string name = entry.path().filename().string();
    SCOPED_TRACE(name);
    const bool is_of_file = name == "empty" || name == "text" || name == "not-onnx" ||
                            name == "truncated" || name == "huge-dims" || name == "opset-too-new" ||
                            name.starts_with("external-");
    const auto read = [&] { return hesscope::onnx::read_onnx_file(entry.path() / "model.onnx"); };
    if (!is_of_file) {
      EXPECT_NO_THROW(read());
      continue;
    }
    ++num_refused;
    const auto expected = nlohmann::json::parse(read_bytes(entry.path() / "expect.json"));
    EXPECT_EQ(expected["exit"], 3);
    for (const auto& words : expected["names"]) {
      std::vector<testing::Matcher<std::string>> any;
      for (const std::string word : words) any.emplace_back(testing::HasSubstr(word));
      EXPECT_THAT(read, testing::ThrowsMessage<InputError>(testing::AnyOfArray(any)));
    }
  }
  EXPECT_EQ(num_refused, 8);
}

}  // namespace
}  // namespace hesscope::test::onnx
