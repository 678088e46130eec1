// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <variant>

#include <gtest/gtest.h>

#include <hesscope/reproduction/built_in_experiments.h>
#include <hesscope/reproduction/internal/carried_files.h>

namespace hesscope::detail {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExperiment = "wt-blocks";  // it carries two graphs and their data

std::string text_at(const TomlTable& table, const std::string& key) {
  return std::get<std::string>(table.values.at(key));
}

std::string bytes_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Where a name stands plays no role, as long as it is all of a value.
TEST(CarriedFiles, TakeThePlaceOfTheirNames) {
  const std::string text = R"(
title = "wt-blocks/cnn.onnx and more"
[model]
kind = "onnx"
file = "wt-blocks/cnn.onnx"
[data]
file = "wt-blocks/none.npz"
[[variant]]
name = "gpt"
model.file = "wt-blocks/gpt.onnx"
data.file = "mine/letters.npz"
)";
  TomlTable root = parse_toml(text, "a.toml");
  place_carried_files(root, kExperiment, "out/wt-blocks/inputs");
  EXPECT_EQ(text_at(root, "title"), "wt-blocks/cnn.onnx and more");
  EXPECT_EQ(text_at(root.tables.at("model"), "kind"), "onnx");
  EXPECT_EQ(text_at(root.tables.at("model"), "file"), "out/wt-blocks/inputs/cnn.onnx");
  EXPECT_EQ(text_at(root.tables.at("data"), "file"), "wt-blocks/none.npz");
  const TomlTable& variant = root.table_lists.at("variant").at(0);
  EXPECT_EQ(text_at(variant.tables.at("model"), "file"), "out/wt-blocks/inputs/gpt.onnx");
  EXPECT_EQ(text_at(variant.tables.at("data"), "file"), "mine/letters.npz");

  TomlTable other = parse_toml(text, "a.toml");
  place_carried_files(other, "wt", "out/wt/inputs");
  EXPECT_EQ(text_at(other.tables.at("model"), "file"), "wt-blocks/cnn.onnx");
}

TEST(CarriedFiles, AreWrittenAsTheyAreCarried) {
  const TemporaryFolder parent;
  const fs::path folder = parent.path() / "a" / "b";
  write_carried_files(kExperiment, folder);
  std::size_t count = 0;
  for (const BuiltInFile& file : built_in_files()) {
    if (!file.name.starts_with("wt-blocks/")) continue;
    const fs::path path = folder / file.name.substr(file.name.find('/') + 1);
    EXPECT_EQ(bytes_of(path), file.bytes) << path;
    EXPECT_FALSE(file.bytes.empty());
    ++count;
  }
  EXPECT_EQ(count, 4u);

  // Existing files stay; files that differ are written again.
  const fs::path kept = folder / "cnn.onnx";
  const fs::path damaged = folder / "gpt.onnx";
  const auto before = fs::last_write_time(kept) - std::chrono::hours(1);
  fs::last_write_time(kept, before);
  const std::string whole = bytes_of(damaged);
  fs::resize_file(damaged, whole.size() / 2);
  write_carried_files(kExperiment, folder);
  EXPECT_EQ(fs::last_write_time(kept), before);
  EXPECT_EQ(bytes_of(damaged), whole);
  std::ofstream(damaged, std::ios::binary | std::ios::in) << 'x';  // of the same size
  write_carried_files(kExperiment, folder);
  EXPECT_EQ(bytes_of(damaged), whole);
}

TEST(CarriedFiles, LeaveNothingOfWritersThatWereKilled) {
  const TemporaryFolder folder;
  write_carried_files(kExperiment, folder.path());
  std::ofstream(folder.path() / ".cnn.onnx.tmp-1") << "half";
  std::ofstream(folder.path() / ".mine.onnx.tmp-1") << "another's";
  remove_remnants_of_carried_files(kExperiment, folder.path());
  EXPECT_FALSE(fs::exists(folder.path() / ".cnn.onnx.tmp-1"));
  EXPECT_TRUE(fs::exists(folder.path() / ".mine.onnx.tmp-1"));
  EXPECT_TRUE(fs::exists(folder.path() / "cnn.onnx"));
}

TEST(CarriedFiles, OfExperimentsThatCarryNoneMakeNoFolder) {
  const TemporaryFolder parent;
  write_carried_files("la-noise", parent.path() / "inputs");
  EXPECT_TRUE(fs::is_empty(parent.path()));
}

TEST(TemporaryFolder, GoesWithWhatIsInIt) {
  fs::path path;
  {
    const TemporaryFolder folder;
    const TemporaryFolder other;
    path = folder.path();
    EXPECT_NE(path, other.path());
    EXPECT_TRUE(fs::is_directory(path));
    EXPECT_TRUE(fs::is_empty(path));
    std::ofstream(path / "file") << "text";
  }
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace hesscope::detail
