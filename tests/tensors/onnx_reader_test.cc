// SPDX-License-Identifier: BSD-3-Clause
//
// .onnx files as checkpoints. The fixtures are PyTorch's.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/tensors/format_registry.h>
#include <hesscope/tensors/tensor_file.h>

#include "support/files.h"
#include "support/onnx_bytes.h"
#include "support/refusal.h"

namespace hesscope::test {
namespace {

using io::open_tensor_file;
using io::TensorFile;
using io::TensorInfo;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> tensor_names(const TensorFile& file) {
  std::vector<std::string> names;
  for (const TensorInfo& tensor : file.tensors()) names.push_back(tensor.name);
  return names;
}

TEST(OnnxCheckpoint, HoldsWhatTheStateDictHolds) {
  const auto folder = fixtures() / "onnx/mlp";
  const TensorFile exported = open_tensor_file(folder / "model.onnx");
  const TensorFile state_dict = open_tensor_file(folder / "step-000120.npz");
  EXPECT_EQ(exported.format(), "onnx");
  ASSERT_EQ(exported.tensors().size(), 6);
  for (const TensorInfo& tensor : exported.tensors()) {
    const TensorInfo* const same = state_dict.find(tensor.name);
    ASSERT_NE(same, nullptr) << tensor.name;
    EXPECT_EQ(tensor, *same);
    EXPECT_EQ(exported.read(tensor.name), state_dict.read(tensor.name));
  }
}

TEST(OnnxCheckpoint, MayHaveItsDataBesideIt) {
  const auto folder = fixtures() / "onnx/mlp";
  const TensorFile plain = open_tensor_file(folder / "model.onnx");
  const TensorFile external = open_tensor_file(folder / "model-external.onnx");
  EXPECT_EQ(tensor_names(external), tensor_names(plain));
  for (const TensorInfo& tensor : plain.tensors()) {
    EXPECT_EQ(external.read(tensor.name), plain.read(tensor.name));
  }
  EXPECT_THAT(external.other_files(), ElementsAre(folder / "model-external.onnx.data"));
  EXPECT_NE(sha256_of(external), sha256_of(*external.files().front()));
}

TEST(OnnxCheckpoint, CountsAChangeOfItsExternalData) {
  const ScratchFolder folder;
  for (const std::string name : {"model-external.onnx", "model-external.onnx.data"}) {
    std::filesystem::copy_file(fixtures() / "onnx/mlp" / name, folder / name);
  }
  const TensorFile file = open_tensor_file(folder / "model-external.onnx");
  EXPECT_NO_THROW(file.read("0.weight"));
  write_bytes(folder / "model-external.onnx.data", std::string(604, '\0'));
  expect_refusal<InputError>([&] { file.read("0.weight"); }, "it changed since it was opened");
  expect_refusal<InputError>([&] { sha256_of(file); }, "it changed since it was opened");
}

TEST(OnnxCheckpoint, HasTensorsThatTheExporterMerged) {
  // Untrained LayerNorm weights are all 1, and biases 0: one initializer each, and Identity nodes.
  const auto folder = fixtures() / "onnx/gpt-default-export";
  const TensorFile untrained = open_tensor_file(folder / "step-000000.onnx");
  const TensorFile trained = open_tensor_file(folder / "step-000060.onnx");
  int num_found = 0;
  for (const TensorInfo& tensor : trained.tensors()) {
    if (tensor.name.starts_with("onnx::")) continue;  // folded, and numbered anew
    const TensorInfo* const same = untrained.find(tensor.name);
    ASSERT_NE(same, nullptr) << tensor.name;
    EXPECT_EQ(same->shape, tensor.shape);
    EXPECT_FALSE(same->tie);
    ++num_found;
  }
  EXPECT_EQ(num_found, 13);
  for (const std::string name : {"h.0.ln1", "h.0.ln2", "ln_f"}) {
    EXPECT_EQ(untrained.read(name + ".weight"), std::vector<double>(4, 1.0));
    EXPECT_EQ(untrained.read(name + ".bias"), std::vector<double>(4, 0.0));
  }
}

/// Bytes of a model with these initializers and nodes, opened.
TensorFile opened(const ScratchFolder& folder, const onnx::ModelText& text) {
  write_bytes(folder / "model.onnx", onnx::model(text));
  return open_tensor_file(folder / "model.onnx");
}

TEST(OnnxCheckpoint, FollowsIdentities) {
  const ScratchFolder folder;
  const auto identity = [](const std::string& from, const std::string& to) {
    return onnx::node({.op = "Identity", .inputs = {from}, .outputs = {to}});
  };
  const TensorFile file = opened(
      folder,
      {.nodes = {identity("a", "b"), identity("x", "c"), identity("b", "d"), identity("i", "j")},
       .initializers = {onnx::tensor("a", onnx::kFloat, {2}, onnx::floats({1, 2})),
                        onnx::tensor("i", onnx::kInt64, {1}, onnx::int64s({7}))},
       .inputs = {onnx::value_info("x", onnx::kFloat, onnx::axis("N"))}});
  EXPECT_THAT(tensor_names(file), ElementsAre("a", "i", "b", "d", "j"));
  EXPECT_THAT(file.read("d"), ElementsAre(1, 2));
  EXPECT_THAT(file.read("j"), ElementsAre(7));
}

TEST(OnnxCheckpoint, KeepsTypesAndSaysWhatIsNotRead) {
  const ScratchFolder folder;
  const TensorFile file = opened(
      folder,
      {.initializers = {onnx::tensor("half", onnx::kFloat16, {1}, onnx::int32s({0x3C00})),
                        onnx::tensor("mask", onnx::kBool, {2}, onnx::int32s({0, 1})),
                        onnx::tensor("big", onnx::kInt64, {1}, onnx::int64s({(1LL << 53) + 1})),
                        onnx::tensor("text", onnx::kString, {1}, onnx::part(6, "a")),
                        onnx::tensor("z", onnx::kComplex64, {1}, onnx::floats({1, 2}))}});
  ASSERT_EQ(file.tensors().size(), 2);
  for (const io::UnreadableTensor& tensor : file.unreadable()) {
    EXPECT_EQ(tensor.is_no_parameter, tensor.name == "big") << tensor.name;
  }
  EXPECT_EQ(file.find("half")->type, io::ElementType::kFloat16);
  EXPECT_EQ(file.find("mask")->type, io::ElementType::kBool);
  EXPECT_THAT(file.read("mask"), ElementsAre(0, 1));
  expect_refusal<InputError>(
      [&] { file.read("big"); },
      "model.onnx: tensor 'big': its integer 9007199254740993 is beyond 2^53");
  expect_refusal<InputError>([&] { file.read("text"); }, "its elements are of type string");
  expect_refusal<InputError>([&] { file.read("z"); }, "its elements are of type complex64");
}

TEST(OnnxCheckpoint, IsRecognisedByNoOtherFormat) {
  int num_models = 0;
  int num_others = 0;
  const auto tests = fixtures().parent_path();
  for (const auto& folder : {fixtures(), tests / "tensors", tests / "fuzz/corpus"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file()) continue;
      SCOPED_TRACE(entry.path().string());
      const io::InputFile file(entry.path());
      const bool is_damaged = entry.path().string().find("onnx-refusals/") != std::string::npos;
      if (entry.path().string().find("corpus/onnx/") != std::string::npos) continue;
      std::vector<std::string_view> found;
      for (const io::FormatKind& format : io::format_kinds()) {
        if (format.recognises(file)) found.push_back(format.name);
      }
      if (entry.path().extension() == ".onnx" && !is_damaged) {
        EXPECT_THAT(found, ElementsAre("onnx"));
        ++num_models;
      } else if (entry.path().extension() != ".onnx") {
        EXPECT_THAT(found, testing::Not(testing::Contains("onnx")));
        ++num_others;
      }
    }
  }
  EXPECT_GE(num_models, 4);
  EXPECT_GT(num_others, 1000);
}

TEST(OnnxCheckpoint, IsRecognisedWhenItIsCutOff) {
  const ScratchFolder folder;
  const std::string whole = read_bytes(fixtures() / "onnx/mlp/model.onnx");
  for (const std::size_t size : {whole.size() / 2, std::size_t{30}}) {
    write_bytes(folder / "model.onnx", whole.substr(0, size));
    expect_refusal<InputError>([&] { open_tensor_file(folder / "model.onnx"); },
                               "model.onnx: damaged or no ONNX model");
  }
}

}  // namespace
}  // namespace hesscope::test
