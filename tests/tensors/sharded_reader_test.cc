// SPDX-License-Identifier: BSD-3-Clause
#include <initializer_list>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/storage/sha256.h>
#include <hesscope/tensors/checkpoint_file.h>
#include <hesscope/tensors/format_registry.h>
#include <hesscope/tensors/tensor_file.h>

#include "support/files.h"
#include "tensors/pickle_bytes.h"
#include "tensors/reader_fixtures.h"

namespace hesscope::io {
namespace {

using test::expect_refused;
using test::write_bytes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

class ShardIndex : public ::testing::Test {
 protected:
  ShardIndex() {
    write("model-1.safetensors", {"a", "c"});
    write("model-2.safetensors", {"b"});
  }

  void write(const std::string& name, const std::vector<std::string>& tensors) const {
    const std::vector<double> values = {1, 2};
    std::vector<CheckpointTensor> all;
    for (const std::string& tensor : tensors) all.push_back({tensor, {2}, values});
    for (const FormatKind& format : format_kinds()) {
      if (scratch_.path() / name != (scratch_.path() / name).replace_extension(format.extension)) {
        continue;
      }
      format.write(scratch_ / name, all, Existing::kReplace);
    }
  }

  TensorFile open(const std::string& json) const {
    write_bytes(index_, json);
    return open_tensor_file(index_);
  }

  void refused(const std::string& json,
               std::initializer_list<std::string> parts,
               const ReadLimits& limits = {}) const {
    SCOPED_TRACE(json.substr(0, 200));
    write_bytes(index_, json);
    expect_refused(index_, parts, limits);
  }

  test::ScratchFolder scratch_;
  std::filesystem::path index_ = scratch_ / "model.safetensors.index.json";
};

const std::string kMap =
    R"("weight_map":{"a":"model-1.safetensors","b":"model-2.safetensors","c":"model-1.safetensors"})";

TEST_F(ShardIndex, OpensAllFilesAsOne) {
  const TensorFile file = open(R"({"metadata":{"total_size":48,"x":[[1]]},)" + kMap + "}\n");
  EXPECT_EQ(file.format(), "index");
  ASSERT_EQ(file.tensors().size(), 3U);
  EXPECT_EQ(file.tensors()[1].name, "c");
  EXPECT_EQ(file.tensors()[2].name, "b");
  for (const std::string name : {"a", "b", "c"}) EXPECT_THAT(file.read(name), ElementsAre(1, 2));
  EXPECT_THAT(file.other_files(),
              ElementsAre(scratch_ / "model-1.safetensors", scratch_ / "model-2.safetensors"));
}

// Each file numbers its own from the same number on.
TEST_F(ShardIndex, KeepsTheTiesOfEachFileApart) {
  const auto write_tied = [&](const std::string& name, const std::string& a, const std::string& b) {
    const std::string whole = test::tensor(test::storage("0", 2), {2}, {1}, 0);
    test::write_torch(scratch_ / name,
                      test::pickle(test::dict({{a, whole}, {b, whole}})),
                      test::bytes_of(std::vector<double>{1, 2}));
  };
  write_tied("1.pt", "a", "b");
  write_tied("2.pt", "c", "d");
  const TensorFile file = open(R"({"weight_map":{"a":"1.pt","b":"1.pt","c":"2.pt","d":"2.pt"}})");
  const auto tie = [&](const char* name) { return file.find(name)->tie; };
  EXPECT_NE(tie("a"), std::nullopt);
  EXPECT_EQ(tie("b"), tie("a"));
  EXPECT_NE(tie("c"), std::nullopt);
  EXPECT_NE(tie("c"), tie("a"));
  EXPECT_EQ(tie("d"), tie("c"));
}

TEST_F(ShardIndex, HasTheDigestOfAllFiles) {
  const TensorFile file = open("{" + kMap + "}");
  std::string lines;
  for (const std::string name :
       {"model.safetensors.index.json", "model-1.safetensors", "model-2.safetensors"}) {
    lines += sha256_of_file(scratch_ / name) + "  " + name + "\n";
  }
  EXPECT_EQ(sha256_of(file), sha256_of_text(lines));
  const TensorFile one = open_tensor_file(scratch_ / "model-1.safetensors");
  EXPECT_EQ(sha256_of(one), sha256_of_file(one.path()));
}

TEST_F(ShardIndex, MayNameGroupsAndSeveralFilesAsKerasDoes) {
  test::PythonFiles python("hdf5");  // numbers.h5 has groups layers/0/P and layers/0/Q
  std::filesystem::copy_file(python / "numbers.h5", scratch_ / "m_00000.weights.h5");
  write("m_00001.weights.h5", {"w"});
  const TensorFile file = open(
      R"({"metadata":{},"weight_map":{"/layers/0":["m_00000.weights.h5"],"/layers":"m_00000.weights.h5","w":["m_00001.weights.h5"]}})");
  EXPECT_NE(file.find("layers/0/P"), nullptr);
  EXPECT_THAT(file.read("w"), ElementsAre(1, 2));
}

TEST_F(ShardIndex, NamesTheUnreadableTensorsOfAllFiles) {
  const auto with_odd = [&](const std::string& name) {
    const std::string header =
        R"({")" + name + R"(":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}})";
    const std::string length = {static_cast<char>(header.size()), 0, 0, 0, 0, 0, 0, 0};
    write_bytes(scratch_ / "model-2.safetensors", length + header + "xx");
  };
  with_odd("b");
  const TensorFile file = open("{" + kMap + "}");
  EXPECT_EQ(file.tensors().size(), 2U);
  EXPECT_THAT(file.read("c"), ElementsAre(1, 2));
  test::expect_unreadable(file, {{"b", "its dtype is 'F8_E4M3'"}});
  refused(R"({"weight_map":{"b":"model-2.safetensors"}})", {"tensor 'b': its dtype is 'F8_E4M3'"});
  refused("{" + kMap + "}", {"more than 2 tensors"}, {.max_tensors = 2});
  with_odd("c");
  refused(R"({"weight_map":{"a":"model-1.safetensors","c":"model-2.safetensors"}})",
          {"tensor 'c' is in model-1.safetensors and in model-2.safetensors"});
}

TEST_F(ShardIndex, NamesTheFileThatIsMissingOrDamaged) {
  std::filesystem::remove(scratch_ / "model-2.safetensors");
  refused("{" + kMap + "}", {"No such file", "model-2.safetensors", "a part of"});
  write_bytes(scratch_ / "model-2.safetensors", "junk");
  refused("{" + kMap + "}", {"model-2.safetensors", "no known format", "a part of"});
  EXPECT_THAT([&] { open("{" + kMap + "}"); }, ThrowsMessage<InputError>(Not(HasSubstr("junk"))));
}

TEST_F(ShardIndex, OpensNothingOutsideItsFolder) {
  for (const std::string name :
       {"../x.npz", "/etc/passwd", "sub/x.npz", "..", ".", "", R"(a\u0000.npz)", R"(a\n.npz)"}) {
    refused(R"({"weight_map":{"a":")" + name + "\"}}", {"the index has 'a' in", "next to it"});
  }
  refused(R"({"weight_map":{"a":"model.safetensors.index.json"}})", {"is an index itself"});
}

TEST_F(ShardIndex, IsRefusedWhereItDoesNotSayWhatTheFilesHold) {
  refused(R"({"weight_map":{"d":"model-1.safetensors"}})",
          {"the index has 'd' in 'model-1.safetensors', which does not hold it"});
  write("model-2.safetensors", {"a", "b"});
  refused("{" + kMap + "}", {"tensor 'a' is in model-1.safetensors and in model-2.safetensors"});
  refused("{}", {"JSON without a 'weight_map'"});
  refused(R"({"loss": 0.5})", {"JSON without a 'weight_map'"});
}

TEST_F(ShardIndex, IsRefusedAsDamagedJson) {
  refused("{" + kMap, {"it is not JSON"});
  refused("{" + kMap + "} x", {"it is not JSON"});
  refused("{" + kMap + "," + kMap + "}", {"'weight_map' occurs twice"});
  refused(R"({"weight_map":{"a":"m","a":"m"}})", {"'a' occurs twice"});
  for (const std::string value : {"[]", "1", "null", "true", "\"x\"", "-1", "0.5"}) {
    refused(R"({"weight_map":)" + value + "}", {"'weight_map' must be an object"});
  }
  for (const std::string value : {"{}", "1", "null", "[[\"m\"]]", "[1]", "[{}]"}) {
    refused(R"({"weight_map":{"a":)" + value + "}}", {"'weight_map' must be an object"});
  }
  refused(R"({"x":)" + std::string(100000, '['), {"nested more than 16 deep"});
  refused("{" + kMap + "}", {"more than 2 tensors"}, {.max_tensors = 2});
  refused("{" + kMap + "}", {"is read up to byte 20"}, {.max_header_bytes = 20});
  std::string many = R"({"weight_map":{)";
  for (int i = 0; i < 501; ++i) {
    const std::string n = std::to_string(i);
    many += "\"" + n + "\":\"f" + n + "\"" + (i < 500 ? "," : "");
  }
  refused(many + "}}", {"names more than 500 files"});
}

}  // namespace
}  // namespace hesscope::io
