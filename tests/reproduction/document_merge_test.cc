// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/reproduction/internal/document_merge.h>
#include <hesscope/reproduction/internal/document_overrides.h>

#include "support/refusal.h"

namespace hesscope::detail {
namespace {

using test::expect_refusal;
using ::testing::ElementsAre;

constexpr const char* kBase = R"(
title = "base"
seeds = [1, 2, 3]
[data]
kind = "linear-regression"
dimension = 5
context = 20
[data.inner]
depth = 1
width = 2
[[run]]
name = "sgdm"
rule = "sgd"
learning_rate = 0.02
[[run]]
name = "adam"
rule = "adamw"
learning_rate = 0.01
)";

TomlTable merged(const std::string& changes) {
  TomlTable table = parse_toml(kBase, "base.toml");
  merge_into(table, parse_toml(changes, "changes.toml"));
  return table;
}

const SettingValue& value(const TomlTable& table, const std::string& key) {
  return table.values.at(key);
}

TEST(DocumentMerge, ReplacesKeysOfTablesAndLeavesTheOthers) {
  const TomlTable table = merged("title = \"new\"\ndata.context = 7\ndata.inner.width = 9\n");
  EXPECT_EQ(value(table, "title"), SettingValue("new"));
  const TomlTable& data = table.tables.at("data");
  EXPECT_EQ(value(data, "context"), SettingValue(std::int64_t{7}));
  EXPECT_EQ(value(data, "dimension"), SettingValue(std::int64_t{5}));
  EXPECT_EQ(value(data.tables.at("inner"), "width"), SettingValue(std::int64_t{9}));
  EXPECT_EQ(value(data.tables.at("inner"), "depth"), SettingValue(std::int64_t{1}));
  EXPECT_EQ(number_list(table, "seeds"), (std::vector<std::int64_t>{1, 2, 3}));
}

TEST(DocumentMerge, KeepsThePlaceThatEachKeyComesFrom) {
  const TomlTable table = merged("\ndata.context = 7\n");
  const TomlTable& data = table.tables.at("data");
  EXPECT_EQ(data.place("context"), "changes.toml:2");
  EXPECT_EQ(data.place("dimension"), "base.toml:6");
}

TEST(DocumentMerge, FindsElementsOfArraysByTheirNames) {
  const TomlTable table = merged("run.adam.learning_rate = 0.5\nrun.adam.beta1 = 0.8\n");
  const std::vector<TomlTable>& runs = table.table_lists.at("run");
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(value(runs[0], "learning_rate"), SettingValue(0.02));
  EXPECT_FALSE(runs[0].values.contains("beta1"));
  EXPECT_EQ(value(runs[1], "learning_rate"), SettingValue(0.5));
  EXPECT_EQ(value(runs[1], "beta1"), SettingValue(0.8));
  EXPECT_EQ(value(runs[1], "rule"), SettingValue("adamw"));
}

TEST(DocumentMerge, ReplacesATableOfAnotherKindAsAWhole) {
  const TomlTable other = merged("data = { kind = \"tokens\", length = 3 }\n").tables.at("data");
  EXPECT_EQ(value(other, "length"), SettingValue(std::int64_t{3}));
  EXPECT_FALSE(other.values.contains("dimension"));
  EXPECT_TRUE(other.tables.empty());
  const TomlTable same =
      merged("data = { kind = \"linear-regression\", context = 3 }\n").tables.at("data");
  EXPECT_EQ(value(same, "dimension"), SettingValue(std::int64_t{5}));
}

TEST(DocumentMerge, LetsAKeyChangeWhatItIs) {
  const TomlTable list = merged("title = [4, 5]\n");
  EXPECT_FALSE(list.values.contains("title"));
  EXPECT_EQ(number_list(list, "title"), (std::vector<std::int64_t>{4, 5}));
  const TomlTable number = merged("data = 3\nseeds = 4\n");
  EXPECT_FALSE(number.tables.contains("data"));
  EXPECT_FALSE(number.lists.contains("seeds"));
  EXPECT_EQ(value(number, "data"), SettingValue(std::int64_t{3}));
  const TomlTable date = merged("title = 2020-01-01\n");
  EXPECT_FALSE(date.values.contains("title"));
  EXPECT_THAT(date.others, ElementsAre("title"));
  const TomlTable runs = merged("[[run]]\nname = \"only\"\n");
  ASSERT_EQ(runs.table_lists.at("run").size(), 1U);
  EXPECT_EQ(value(runs.table_lists.at("run")[0], "name"), SettingValue("only"));
}

TEST(DocumentMerge, RefusesElementsThatAreNotThere) {
  expect_refusal<ConfigError>(
      [] { merged("run.adma.learning_rate = 1.0\n"); },
      "changes.toml:1: no [[run]] is named 'adma' (did you mean 'adam'?); there are sgdm, adam");
  expect_refusal<ConfigError>([] { merged("run.adam = 1.0\n"); },
                              "changes.toml:1: 'run.adam' stands for a table");
}

TEST(DocumentOverrides, ChangesListsAndTablesWithinTables) {
  TomlTable table = parse_toml("[model]\nfrozen = ['a']\n[model.inputs]\nx = 'y'\nz = 'w'\n", "f");
  merge_into(table, overrides_from({"model.frozen=['b', 'c']", "model.inputs.x=tokens"}));
  const std::vector<SettingKey> keys = {
      {.name = "frozen", .type = SettingKey::Type::kTexts, .meaning = "names"},
      {.name = "inputs", .type = SettingKey::Type::kTable, .meaning = "arrays"}};
  const Settings model = checked(table.tables.at("model"), keys, "[model]");
  EXPECT_THAT(model.texts("frozen"), ElementsAre("b", "c"));
  EXPECT_EQ(model.table("inputs"), (SettingTable{{"x", "tokens"}, {"z", "w"}}));
}

}  // namespace
}  // namespace hesscope::detail
