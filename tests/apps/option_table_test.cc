// SPDX-License-Identifier: BSD-3-Clause
#include "option_table.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hesscope::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Options as a command has them, given as the parser gives them.
class OptionTableTest : public testing::Test {
 protected:
  OptionTableTest() {
    table_.group("Input");
    table_.positionals("FILE", files_, "Files").required();
    table_.group("Output");
    table_.text("-o,--output", output_, "OUT", "File to write").unrecorded();
    table_.group("Input");
    table_.choice("--method", method_, {"auto", "dense"}, "How");
    table_.list("--only", only_, "NAMES", "These");
    table_.repeated("--set", sets_, "KEY=VALUE", "Change a key");
    table_.reals("--loss", losses_, "NUMBER", "These, too");
    table_.flag("--curvature", curvature_, "Also this");
    table_.setting({.name = "noise-ladder", .meaning = "sizes", .is_optional = true}, settings_);
    table_.setting({.name = "batch-size", .type = SettingKey::Type::kInteger, .meaning = "samples"},
                   settings_);
    table_.seed("--seed", seed_, "Of all");
  }

  // What is wrong with the value.
  std::string give(const std::string& name, const std::string& value = "") {
    for (Option& option : table_.options()) {
      if (option.long_name() != name) continue;
      ++option.num_given;
      return option.take(value);
    }
    return "no such option";
  }

  std::vector<std::string> files_;
  std::string output_;
  std::string method_ = "auto";
  std::vector<std::string> only_;
  std::vector<std::string> sets_;
  std::vector<double> losses_;
  bool curvature_ = false;
  std::map<std::string, SettingValue> settings_;
  std::uint64_t seed_ = 0;
  OptionTable table_;
};

TEST_F(OptionTableTest, RecordsWhatWasGivenInTheOrderOfTheDeclarations) {
  EXPECT_EQ(give("--seed", "3"), "");
  EXPECT_EQ(give("--curvature"), "");
  EXPECT_EQ(give("--set", "a=b c"), "");
  EXPECT_EQ(give("--set", "d=1"), "");
  EXPECT_EQ(give("--only", "blocks, ggn"), "");
  EXPECT_EQ(give("--method", "dense"), "");
  EXPECT_EQ(give("FILE", "my file.npz"), "");
  EXPECT_EQ(give("FILE", "b.npz"), "");
  EXPECT_EQ(table_.recorded(),
            " 'my file.npz' b.npz --method dense --only blocks,ggn --set 'a=b c' --set d=1 "
            "--curvature --seed 3");
}

TEST_F(OptionTableTest, TakesANumberEachTime) {
  EXPECT_EQ(give("--loss", "0.5"), "");
  EXPECT_EQ(give("--loss", "1e-30"), "");
  for (const char* wrong : {"much", "", "0.5x", "nan", "inf"}) {
    EXPECT_THAT(give("--loss", wrong), HasSubstr("must be a number, got '"));
  }
  EXPECT_THAT(losses_, ElementsAre(0.5, 1e-30));
  EXPECT_EQ(table_.recorded(), " --loss 0.5 --loss 1e-30");
}

TEST_F(OptionTableTest, RecordsNeitherWhatIsAsItWasNorWhatChangesNoResult) {
  EXPECT_EQ(give("FILE", "a.npz"), "");
  EXPECT_EQ(give("FILE", "-b.npz"), "");
  EXPECT_EQ(give("FILE", "./-c.npz"), "");
  EXPECT_THAT(files_, ElementsAre("a.npz", "-b.npz", "-c.npz"));
  EXPECT_EQ(give("--output", "out.h5"), "");
  EXPECT_EQ(give("--method", "auto"), "");
  EXPECT_EQ(give("--seed", "0"), "");
  EXPECT_EQ(output_, "out.h5");
  EXPECT_EQ(table_.recorded(), " a.npz ./-b.npz ./-c.npz");
}

TEST_F(OptionTableTest, RecordsSettingsByTheirNames) {
  EXPECT_EQ(give("--noise-ladder", "1,2"), "");
  EXPECT_EQ(give("--batch-size", "4"), "");
  EXPECT_EQ(table_.recorded(), " --batch-size 4 --noise-ladder 1,2");
}

TEST_F(OptionTableTest, RefusesASettingThatHasNoEffect) {
  table_.setting({.name = "draws", .meaning = "how", .choices = {"fresh", "old"}}, settings_);
  table_.setting({.name = "reference",
                  .type = SettingKey::Type::kInteger,
                  .meaning = "how many",
                  .only_with = SettingKey::Company{"draws", {"fresh"}}},
                 settings_);
  EXPECT_EQ(give("--reference", "4"), "");
  EXPECT_EQ(table_.misfit(), "--reference goes with --draws fresh alone");
  EXPECT_EQ(give("--draws", "old"), "");
  EXPECT_EQ(table_.misfit(), "--reference goes with --draws fresh alone");
  EXPECT_EQ(give("--draws", "fresh"), "");
  EXPECT_EQ(table_.misfit(), "");
}

TEST_F(OptionTableTest, SaysWhatIsWrongWithAValue) {
  EXPECT_THAT(give("--method", "desne"), HasSubstr("must be one of auto, dense, got 'desne' (did"));
  EXPECT_THAT(give("--batch-size", "many"), HasSubstr("must be an integer"));
  EXPECT_THAT(give("--seed", "-1"), HasSubstr("whole number from 0"));
  EXPECT_THAT(give("--only", " , "), "names nothing");
}

TEST_F(OptionTableTest, TakesLengthsInAnyUnit) {
  double width = 0;
  table_.length("--width", width, 60, 5000, "How wide");
  for (const auto& [given, points] :
       {std::pair("240", 240.0), {"240pt", 240}, {"127mm", 360}, {"12.7cm", 360}, {"5in", 360}}) {
    EXPECT_EQ(give("--width", given), "") << given;
    EXPECT_NEAR(width, points, 1e-12 * points) << given;
  }
  for (const char* given :
       {"", "mm", "59", "5001", "8 cm", "85m", "1e9mm", "nan", "inf", "-85mm"}) {
    EXPECT_THAT(give("--width", given), HasSubstr("must be from 60 to 5000 points, as")) << given;
  }
}

TEST_F(OptionTableTest, SaysWhichOptionsWouldHaveNoEffect) {
  int rank = 0;
  bool lists = false;
  bool json = false;
  bool quiet = false;
  table_.integer("--ranks", rank, 0, 9, "So many")
      .only_with("--method dense", [this] { return method_ == "dense"; })
      .only_with("--curvature", [this] { return curvature_; });
  table_.flag("--list", lists, "List").alone();
  table_.how_to_print(json, quiet);
  give("FILE", "a");
  EXPECT_EQ(table_.misfit(), "");
  give("--ranks", "0");  // given as it was, too
  EXPECT_EQ(table_.misfit(), "--ranks goes with --method dense and --curvature alone");
  give("--method", "dense");
  EXPECT_EQ(table_.misfit(), "--ranks goes with --curvature alone");
  give("--curvature");
  EXPECT_EQ(table_.misfit(), "");
  give("--json");
  give("--list");
  EXPECT_EQ(table_.misfit(), "--method does not go with --list");
}

TEST_F(OptionTableTest, KeepsTheOrderOfTheGroups) {
  EXPECT_THAT(table_.groups(), ElementsAre("Input", "Output"));
}

TEST_F(OptionTableTest, TurnsNamesOfTheLibraryIntoFlagsThatTheCommandHas) {
  EXPECT_EQ(table_.with_flags("a: `noise_ladder` or `noise-ladder`, as by `overrides` x=1"),
            "a: --noise-ladder or --noise-ladder, as by --set x=1");
  EXPECT_EQ(table_.with_flags("replace it by `Overwrite::kAnything`, or `step_key`"),
            "replace it by `Overwrite::kAnything`, or `step_key`");
  EXPECT_EQ(table_.with_flags("`run_training()` stores it; `analyzer noise` and a ` alone"),
            "`hesscope train` stores it; `hesscope analyze --only noise` and a ` alone");
}

TEST_F(OptionTableTest, TakesListsAndTablesByCommas) {
  using Type = SettingKey::Type;
  table_.setting({.name = "frozen", .type = Type::kTexts, .meaning = "names"}, settings_);
  table_.setting(
      {.name = "weights", .type = Type::kReals, .meaning = "numbers", .range = RealRange()},
      settings_);
  table_.setting({.name = "inputs", .type = Type::kTable, .meaning = "names"}, settings_);
  EXPECT_EQ(give("--frozen", "a, b c"), "");
  EXPECT_EQ(give("--weights", "1,0.5"), "");
  EXPECT_EQ(give("--inputs", "x=y, z = w"), "");
  EXPECT_EQ(settings_.at("frozen"), SettingValue(std::vector<std::string>{"a", "b c"}));
  EXPECT_EQ(settings_.at("weights"), SettingValue(std::vector<double>{1, 0.5}));
  EXPECT_EQ(settings_.at("inputs"), SettingValue(SettingTable{{"x", "y"}, {"z", "w"}}));
  EXPECT_EQ(table_.recorded(), " --frozen 'a,b c' --inputs x=y,z=w --weights 1,0.5");
  EXPECT_EQ(give("--weights", "1,x"), "must be a number, got 'x'");
  EXPECT_EQ(give("--weights", "-1"), "must be at least 0, got '-1'");
  EXPECT_EQ(give("--inputs", "x"), "must be NAME=TEXT,..., got 'x'");
}

}  // namespace
}  // namespace hesscope::cli
