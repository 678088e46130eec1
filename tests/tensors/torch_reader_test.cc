// SPDX-License-Identifier: BSD-3-Clause
//
// Asymmetric on purpose: PyTorch wrote, NumPy wrote what it is (make_torch_fixtures.py), hesscope
// reads both.
#include <bit>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/tensors/tensor_file.h>
#include <hesscope/tensors/tensor_map.h>

#include "support/files.h"
#include "tensors/pickle_bytes.h"
#include "tensors/reader_fixtures.h"

namespace {

using hesscope::InputError;
using hesscope::shape_text;
using hesscope::io::ElementType;
using hesscope::io::FileValue;
using hesscope::io::mapped;
using hesscope::io::open_tensor_file;
using hesscope::io::TensorFile;
using hesscope::io::TensorInfo;
using hesscope::test::dict;
using hesscope::test::expect_refused;
using hesscope::test::fixtures;
using hesscope::test::pickle;
using hesscope::test::ScratchFolder;
using hesscope::test::storage;
using hesscope::test::tensor;
using hesscope::test::text;
using hesscope::test::two_doubles;
using hesscope::test::write_torch;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

const fs::path kFolder = fixtures().parent_path() / "tensors" / "torch";

std::vector<std::string> torch_names(const TensorFile& file) {
  std::vector<std::string> all;
  for (const TensorInfo& tensor : file.tensors()) all.push_back(tensor.name);
  return all;
}

std::vector<std::uint64_t> bits(const std::vector<double>& values) {
  std::vector<std::uint64_t> all;
  for (const double value : values) all.push_back(std::bit_cast<std::uint64_t>(value));
  return all;
}

/// Name for name in the same order, bit for bit. Two passes: the second finds checksums known.
void expect_same_tensors(const TensorFile& found, const TensorFile& expected) {
  EXPECT_EQ(torch_names(found), torch_names(expected));
  for (const int pass : {1, 2}) {
    for (const TensorInfo& tensor : expected.tensors()) {
      SCOPED_TRACE(tensor.name + ", pass " + std::to_string(pass));
      const TensorInfo* const other = found.find(tensor.name);
      ASSERT_NE(other, nullptr);
      EXPECT_EQ(other->shape, tensor.shape);
      if (other->type != ElementType::kBFloat16) {
        EXPECT_EQ(other->type, tensor.type);
      }
      EXPECT_EQ(bits(found.read(tensor.name)), bits(expected.read(tensor.name)));
    }
  }
}

TEST(TorchReader, ReadsWhatPyTorchReadsBitForBit) {
  const std::map<std::string, std::string> expectations = {{"big-endian", "numbers"},
                                                           {"little-endian", "numbers"},
                                                           {"deflated", "numbers"},
                                                           {"zip64", "numbers"},
                                                           {"views-deflated", "views"}};
  int num_files = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(kFolder)) {
    const std::string name = entry.path().stem();
    if (entry.path().extension() != ".pt" || name == "legacy" || name == "script") continue;
    SCOPED_TRACE(name);
    const auto other = expectations.find(name);
    const std::string expected = other == expectations.end() ? name : other->second;
    const TensorFile file = open_tensor_file(entry.path());
    EXPECT_EQ(file.format(), "pt");
    expect_same_tensors(file, open_tensor_file(kFolder / (expected + ".npz")));
    ++num_files;
  }
  EXPECT_EQ(num_files, 20);
}

TEST(TorchReader, KnowsEveryType) {
  const TensorFile file = open_tensor_file(kFolder / "numbers.pt");
  const std::map<std::string, ElementType> types = {{"float64", ElementType::kFloat64},
                                                    {"float32", ElementType::kFloat32},
                                                    {"float16", ElementType::kFloat16},
                                                    {"bfloat16", ElementType::kBFloat16},
                                                    {"int64", ElementType::kInt64},
                                                    {"int32", ElementType::kInt32},
                                                    {"int16", ElementType::kInt16},
                                                    {"int8", ElementType::kInt8},
                                                    {"uint8", ElementType::kUInt8},
                                                    {"bool", ElementType::kBool}};
  for (const auto& [name, type] : types) {
    SCOPED_TRACE(name);
    EXPECT_EQ(file.find(name)->type, type);
  }
  EXPECT_EQ(shape_text(file.find("scalar")->shape), "()");
  EXPECT_EQ(shape_text(file.find("empty")->shape), "(0, 3)");
}

TEST(TorchReader, FindsNumbersBesideTheTensors) {
  const TensorFile file = open_tensor_file(kFolder / "training.pt");
  EXPECT_EQ(file.number("epoch"), 3);
  EXPECT_EQ(file.number("losses.1"), 0.25);
  EXPECT_EQ(file.number("best"), 1);
  EXPECT_EQ(file.number("optimizer_state_dict.param_groups.0.lr"), 0.01);
  EXPECT_EQ(file.number("seed"), std::nullopt);  // beyond 64 bits
  EXPECT_EQ(file.number("nothere"), std::nullopt);
  EXPECT_EQ(file.number("rng"), std::nullopt);
  EXPECT_EQ(file.part("optimizer_state_dict").number("param_groups.0.params.3"), 3);
}

TEST(TorchReader, ListsWhatStandsBesideTheTensors) {
  const TensorFile file = open_tensor_file(kFolder / "training.pt");
  std::map<std::string, decltype(FileValue::value)> values;
  for (const FileValue& each : file.values()) values[each.name] = each.value;
  EXPECT_EQ(file.values().front().name, "epoch");
  EXPECT_EQ(values["epoch"], FileValue({"", std::int64_t{3}}).value);
  EXPECT_EQ(values["losses.1"], FileValue({"", 0.25}).value);
  EXPECT_EQ(values["best"], FileValue({"", true}).value);
  EXPECT_EQ(values["optimizer_state_dict.param_groups.0.betas.1"], FileValue({"", 0.999}).value);
  EXPECT_EQ(values["optimizer_state_dict.param_groups.0.params.3"],
            FileValue({"", std::int64_t{3}}).value);
  EXPECT_FALSE(values.contains("seed"));                               // beyond 64 bits
  EXPECT_FALSE(values.contains("optimizer_state_dict.state.0.step"));  // a tensor
  const std::vector<FileValue> part = file.part("optimizer_state_dict").values();
  EXPECT_THAT(part, Contains(FileValue{"param_groups.0.lr", 0.01}));
}

TEST(TorchReader, ListsSharedValuesUnderEachName) {
  const ScratchFolder scratch;
  // A tuple under the memo's number 9 that two dicts share; a list that holds itself; a text that
  // no terminal should see.
  write_torch(scratch / "shared.pt",
              pickle(dict({{"w", two_doubles()},
                           {"a", dict({{"betas", "K\x01K\x02\x86q\x09"}})},
                           {"b", dict({{"betas", "h\x09"}})},
                           {"c",
                            "]q\x0Ah\x0A"
                            "aK\x07"
                            "a"},
                           {"name", text("decoder")},
                           {"escape", text("\x1b[31m")}})));
  std::vector<std::string> found;
  for (const FileValue& each : open_tensor_file(scratch / "shared.pt").values()) {
    found.push_back(each.name);
  }
  EXPECT_THAT(found,
              ElementsAre("a.betas.0", "a.betas.1", "b.betas.0", "b.betas.1", "c.1", "name"));
}

// 2^40 names in a few hundred bytes.
TEST(TorchReader, ListsTheFirstOfValuesWithoutEnd) {
  const ScratchFolder scratch;
  std::string doubled = "K\x07";
  for (int level = 0; level < 40; ++level) doubled += "q\x05h\x05\x86";
  write_torch(scratch / "deep.pt", pickle(dict({{"w", two_doubles()}, {"deep", doubled}})));
  const std::size_t count = open_tensor_file(scratch / "deep.pt").values().size();
  EXPECT_GT(count, 1000U);
  EXPECT_LE(count, 50'000U);
}

TEST(TorchReader, KnowsWhatTheFileCallsATensor) {
  const TensorFile file = open_tensor_file(kFolder / "training.pt");
  const TensorFile part = file.part("model_state_dict");
  EXPECT_EQ(part.stored_name("layers.0.bias"), "model_state_dict.layers.0.bias");
  const TensorFile view = mapped(part, {.rules = {{.name = "b*", .source = "layers.*.bias"}}});
  EXPECT_EQ(view.stored_name("b1"), "model_state_dict.layers.1.bias");
  EXPECT_EQ(view.stored_name("layers.1.weight"), "model_state_dict.layers.1.weight");
  EXPECT_THROW(view.stored_name("b2"), hesscope::PreconditionError);
}

TEST(TorchReader, TellsTensorsThatAreOne) {
  const TensorFile file = open_tensor_file(kFolder / "views.pt");
  const auto tie = [&](const char* name) { return file.find(name)->tie; };
  EXPECT_NE(tie("base"), std::nullopt);
  EXPECT_EQ(tie("alias"), tie("base"));
  EXPECT_EQ(tie("transposed"), tie("base"));
  EXPECT_EQ(tie("rows"), std::nullopt);
  EXPECT_EQ(tie("some.integers"), std::nullopt);
}

TEST(TorchReader, TellsViewsThatDifferApart) {
  const ScratchFolder folder;
  const auto view = [](const std::vector<std::int64_t>& shape,
                       const std::vector<std::int64_t>& strides,
                       std::int64_t offset = 0) {
    return tensor(storage("0", 12), shape, strides, offset);
  };
  write_torch(folder / "views.pt",
              pickle(dict({{"first", view({6}, {1})},
                           {"every.second", view({6}, {2})},
                           {"later", view({6}, {1}, 1)},
                           {"matrix", view({3, 2}, {2, 1})},
                           {"transposed", view({2, 1, 3}, {1, 7, 2})},
                           {"columns", view({3, 2}, {4, 1})},
                           {"columns.transposed", view({2, 3}, {1, 4})}})),
              hesscope::test::bytes_of(std::vector<double>(12, 0.5)));
  const TensorFile file = open_tensor_file(folder / "views.pt");
  const auto tie = [&](const char* name) { return file.find(name)->tie; };
  EXPECT_NE(tie("first"), std::nullopt);
  EXPECT_EQ(tie("matrix"), tie("first"));
  EXPECT_EQ(tie("transposed"), tie("first"));
  EXPECT_NE(tie("columns"), std::nullopt);
  EXPECT_NE(tie("columns"), tie("first"));
  EXPECT_EQ(tie("columns.transposed"), tie("columns"));
  EXPECT_EQ(tie("every.second"), std::nullopt);
  EXPECT_EQ(tie("later"), std::nullopt);
}

TEST(TorchReader, TakesAPartByItsKey) {
  const TensorFile file = open_tensor_file(kFolder / "parallel.pt");
  const TensorFile part = file.part("state_dict").part("module");
  EXPECT_EQ(part.key(), "state_dict.module");
  EXPECT_THAT(torch_names(part),
              ElementsAre("layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias"));
  expect_same_tensors(part, file.part("ema"));
  expect_same_tensors(part.whole(), file);
  EXPECT_EQ(torch_names(file.part("")), torch_names(file));
  try {
    file.part("state_dikt");
    FAIL() << "found";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("parallel.pt: there is nothing under 'state_dikt' (did you "
                          "mean 'state_dict'?); there is something under "
                          "state_dict, state_dict.module, ema, ema.layers"));
  }
  EXPECT_THROW(file.part("ema.layers.0.weight"), InputError);
  EXPECT_THROW(part.read("nothere"), InputError);
}

TEST(TorchReader, NamesTensorsItCannotReadWithoutRefusingTheRest) {
  const TensorFile file = open_tensor_file(kFolder / "unreadable.pt");
  std::map<std::string, std::string> reasons;
  for (const auto& tensor : file.unreadable()) reasons[tensor.name] = tensor.reason;
  const std::map<std::string, std::string> expected = {
      {"other.complex", "its elements are torch.ComplexFloatStorage"},
      {"other.sparse", "it is made by torch._utils._rebuild_sparse_tensor"},
      {"other.quantized", "it is made by torch._utils._rebuild_qtensor"}};
  EXPECT_EQ(reasons, expected);
  EXPECT_THAT([&] { file.read("other.complex"); },
              testing::ThrowsMessage<InputError>(
                  HasSubstr("tensor 'other.complex': its elements are torch.ComplexFloatStorage")));
  EXPECT_THAT([&] { require_readable(file); },
              testing::ThrowsMessage<InputError>(HasSubstr("(`key`)")));
  EXPECT_NO_THROW(require_readable(file.part("kept")));
  EXPECT_THAT(file.part("kept").unreadable(), IsEmpty());
  EXPECT_THAT(file.part("other").unreadable()[0].name, "complex");
}

TEST(TorchReader, ReadsWhatNewerPyTorchWrites) {
  const ScratchFolder scratch;
  const fs::path path = scratch / "new.pt";
  // Types without a storage class, in an untyped storage: offset and strides count elements.
  const std::string untyped = "ctorch._utils\n_rebuild_tensor_v3\n(" +
                              storage("0", 16, "torch.storage\nUntypedStorage") +
                              hesscope::test::integer(1) + hesscope::test::tuple({3}) +
                              hesscope::test::tuple({2}) + "\x89" + "N" + "ctorch\nuint16\ntR";
  const std::string parameter = "ctorch._utils\n_rebuild_parameter_with_state\n(" +
                                hesscope::test::tensor(storage("0", 2), {2}, {1}) + "\x88}}tR";
  const std::string with_metadata = "ctorch._utils\n_rebuild_tensor_v2\n(" + storage("0", 2) + "K" +
                                    std::string(1, '\0') + hesscope::test::tuple({2}) +
                                    hesscope::test::tuple({1}) + "\x89N" + dict({{"neg", "\x88"}}) +
                                    "tR";
  write_torch(path,
              pickle(dict({{"u", untyped}, {"n", with_metadata}, {"p", parameter}})),
              std::string("\0\0\1\0\0\0\2\0\0\0\xFF\xFF\0\0\0\0", 16));
  const TensorFile file = open_tensor_file(path);
  EXPECT_EQ(file.find("u")->type, ElementType::kUInt16);
  EXPECT_THAT(file.read("u"), ElementsAre(1, 2, 65535));
  EXPECT_EQ(file.find("p")->type, ElementType::kFloat64);
  ASSERT_EQ(file.unreadable().size(), 1U);
  EXPECT_EQ(file.unreadable()[0].reason, "it is a conjugated or negated view");
}

TEST(TorchReader, NamesAttributesKeysAndPositions) {
  const ScratchFolder scratch;
  const fs::path path = scratch / "names.pt";
  const std::string t = two_doubles();
  // A named tuple, an object with attributes in __slots__, a dict under None, a defaultdict.
  write_torch(path,
              pickle(dict({{"pair", "cm\nPair\n(" + t + t + "t\x81"},
                           {"slots", "cm\nS\n)\x81N" + dict({{"w", t}}) + "\x86" + "b"},
                           {"keys", "}K\5" + t + "sN" + t + "s"},
                           {"default", "ccollections\ndefaultdict\n)R" + text("w") + t + "s"},
                           {"", dict({{"", t}})}})));
  const TensorFile file = open_tensor_file(path);
  EXPECT_THAT(torch_names(file),
              ElementsAre("pair.0", "pair.1", "slots.w", "keys.5", "keys.[1]", "default.w", "."));
  for (const std::string& name : torch_names(file)) EXPECT_THAT(file.read(name), ElementsAre(1, 2));
}

TEST(TorchReader, RefusesOtherThingsThatTorchWrites) {
  expect_refused(kFolder / "legacy.pt",
                 {"the format before PyTorch 1.6", "torch.save(torch.load('", "legacy.pt'"});
  expect_refused(kFolder / "script.pt", {"is a TorchScript program", "torch.jit.load"});
  const ScratchFolder scratch;
  hesscope::test::write_bytes(scratch / "plain.pkl", pickle("N"));
  expect_refused(scratch / "plain.pkl", {"is a plain Python pickle", "torch.save"});
  std::string tar("sys_info");
  tar.resize(512);
  tar.replace(257, 5, "ustar");
  hesscope::test::write_bytes(scratch / "old.tar", tar);
  expect_refused(scratch / "old.tar", {"the format before PyTorch 1.6"});
}

TEST(TorchReader, RefusesWhatHoldsNoTensor) {
  const ScratchFolder scratch;
  for (const std::string nothing : {"N", "}", "]", "cm\nClass\n"}) {
    write_torch(scratch / "none.pt", pickle(nothing));
    expect_refused(scratch / "none.pt", {"data.pkl' holds no tensor", "never executed"});
  }
}

}  // namespace
