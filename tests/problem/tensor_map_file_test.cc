// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/problem/tensor_map_file.h>

#include "support/files.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using ::testing::ElementsAre;

class TensorMapFile : public ::testing::Test {
 protected:
  io::TensorMap read(const std::string& text) const {
    test::write_bytes(path_, text);
    return read_tensor_map(path_);
  }

  void refused(const std::string& text, const std::string& message) const {
    SCOPED_TRACE(text);
    test::expect_refusal<ConfigError>([&] { read(text); }, message);
  }

  test::ScratchFolder scratch_;
  std::filesystem::path path_ = scratch_ / "m.toml";
};

TEST_F(TensorMapFile, SaysNamesPatternsTransposesAndWhatIsLeftOut) {
  const io::TensorMap map = read(
      "key = \"model\"\nignore = [\"epoch\", \"x*\"]\n[map]\n\"b.*\" = \"net.*.b\"\n"
      "\"a\" = { name = \"dense/kernel\", transpose = true }\nplain = { name = \"p\" }\n");
  EXPECT_EQ(map.key, "model");
  EXPECT_EQ(map.place, path_.string());
  EXPECT_THAT(map.ignored, ElementsAre("epoch", "x*"));
  ASSERT_EQ(map.rules.size(), 3U);
  EXPECT_EQ(map.rules[0].name, "a");
  EXPECT_EQ(map.rules[0].source, "dense/kernel");
  EXPECT_TRUE(map.rules[0].transpose);
  EXPECT_EQ(map.rules[0].place, path_.string() + ":5");
  EXPECT_EQ(map.rules[1].name, "b.*");
  EXPECT_EQ(map.rules[1].source, "net.*.b");
  EXPECT_FALSE(map.rules[2].transpose);
  EXPECT_TRUE(read("").rules.empty());
}

TEST_F(TensorMapFile, ReadsBackWhatItIsResolvedTo) {
  const io::TensorMap map = read(
      "# a remark\nignore = [\"e\\\"x\"]\nkey = \"k\"\n[map]\n\"q\\\"\\\\.*\" = \"*\"\n"
      "b = { transpose = true, name = \"c\" }\n");
  const std::string text = resolved_toml(map);
  EXPECT_EQ(resolved_toml(read(text)), text);
  EXPECT_EQ(read(text).rules.size(), 2U);
  EXPECT_EQ(read(text).rules[1].name, "q\"\\.*");
  EXPECT_TRUE(read(text).rules[0].transpose);
  EXPECT_EQ(resolved_toml(io::TensorMap{}), "[map]\n");
}

TEST_F(TensorMapFile, IsRefusedWithItsLine) {
  const std::string place = path_.string();
  refused("[map]\n\"a.*\" = \"b\"\n", place + ":2: 'a.*' = 'b': one '*' at most");
  refused("[map]\n\"a\" = \"b*\"\n", ":2: 'a' = 'b*'");
  refused("[map]\n\"a.*.*\" = \"b*c*\"\n", ":2: ");
  refused("[map]\na = 3\n", ":2: 'a' of [map] must be a name or {");
  refused("[map]\na = [\"b\"]\n", ":2: 'a' of [map] must be a name or {");
  refused("[map]\na = { nam = \"b\" }\n",
          ":2: unknown key 'nam' in 'a' of [map] (did you mean 'name'");
  refused("[map]\na = { transpose = true }\n", "'name'");
  refused("[map]\na = { name = \"b\", transpose = 1 }\n", "'transpose'");
  refused("[map]\nlayers.0.weight = \"b\"\n",
          ":2: a name that holds dots needs quotes: \"layers.0...\"");
  refused("[map]\n\"a\" = \"b\"\n\"a\" = \"c\"\n", ":3");
  refused("mpa = 1\n", ":1: unknown key 'mpa' in a map file (did you mean 'map'");
  refused("map = 1\n", ":1: 'map' must be a table");
  refused("ignore = \"a\"\n", ":1: 'ignore' must be a list of names");
  refused("ignore = [1]\n", ":1: 'ignore' must be a list of names");
  refused("ignore = [\"a**\"]\n", ":1: 'ignore' must be a list of names");
  refused("key = 1\n", "'key'");
  refused("[map\n", ":1");
  test::expect_refusal<ConfigError>(
      [&] { read_tensor_map(scratch_ / "none.toml"); },
      "none.toml: cannot be opened: No such file or directory; a map file");
}

}  // namespace
}  // namespace hesscope
