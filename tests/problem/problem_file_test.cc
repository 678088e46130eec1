// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/models/model_registry.h>
#include <hesscope/problem/problem_file.h>

#include "support/files.h"

namespace hesscope {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class ProblemFileTest : public testing::Test {
 protected:
  ProblemFile parse(const std::string& text) const {
    test::write_bytes(path_, text);
    return read_problem_file(path_);
  }

  // Line 0: a message about the whole file.
  template <typename... Parts>
  void expect_error(const std::string& text, int line, const Parts&... parts) const {
    const std::string place = path_.string() + ":" + (line > 0 ? std::to_string(line) + ":" : "");
    try {
      parse(text);
      ADD_FAILURE() << "accepted:\n" << text;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), AllOf(StartsWith(place), HasSubstr(parts)...));
    }
  }

  test::ScratchFolder folder_;
  const std::filesystem::path path_ = folder_ / "problem.toml";
};

TEST_F(ProblemFileTest, ReadsModelAndData) {
  const ProblemFile problem = parse(
      "# a comment\n[model]\nkind = \"linear-attention\"\nlayers = 3\nparametrization = \"full\"\n"
      "[data]\nfile = \"sub/eval.npz\"\n");
  EXPECT_EQ(problem.path, path_);
  EXPECT_EQ(problem.model_kind, "linear-attention");
  EXPECT_EQ(problem.model.integer("layers"), 3);
  EXPECT_EQ(problem.model.text("parametrization"), "full");
  EXPECT_EQ(problem.data.text("file"), "sub/eval.npz");
  EXPECT_EQ(problem.data_path, folder_.path() / "sub/eval.npz");
}

TEST_F(ProblemFileTest, ReadsNamesOfArrays) {
  const std::string start = "[model]\nkind = \"signal-noise\"\n[data]\nfile = \"x.pt\"\n";
  const ProblemFile problem = parse(start + "[data.arrays]\ninputs = \"train.X\"\ntarget = 1\n");
  ASSERT_EQ(problem.data_arrays.rules.size(), 2U);
  EXPECT_EQ(problem.data_arrays.rules[0].name, "inputs");
  EXPECT_EQ(problem.data_arrays.rules[0].source, "train.X");
  EXPECT_EQ(problem.data_arrays.rules[1].source, "1");
  EXPECT_EQ(parse(problem.resolved_toml()).data_arrays.rules[1].source, "1");
  EXPECT_EQ(parse(start + "arrays = { inputs = \"a\" }\n").data_arrays.rules[0].source, "a");
  EXPECT_TRUE(parse(start).data_arrays.rules.empty());
  expect_error(start + "arrays = \"X\"\n", 5, "'arrays' must be a table");
  expect_error(start + "[data.arrays]\ninputs = \"a*\"\n", 6, "'inputs' in [data.arrays]");
  expect_error(start + "[data.arrays]\ninputs = 0.5\n", 6, "must be the name of an array");
  expect_error(start + "[data.arrays]\ninputs = [\"a\"]\n", 6, "must be the name of an array");
}

TEST_F(ProblemFileTest, ReadsTheLossThatIsExpected) {
  const std::string start = "[model]\nkind = \"signal-noise\"\n[data]\nfile = \"x.pt\"\n[check]\n";
  EXPECT_EQ(parse(start + "loss = 0.00128\n").expected_loss, 0.00128);
  EXPECT_EQ(parse(start + "loss = 2\n").expected_loss, 2.0);
  const ProblemFile by_step = parse(start + "loss = { 0 = 0.69, 500 = 1 }\n");
  EXPECT_EQ(by_step.expected_loss, std::nullopt);
  EXPECT_EQ(by_step.expected_losses, (std::map<std::int64_t, double>{{0, 0.69}, {500, 1.0}}));
  EXPECT_EQ(parse(by_step.resolved_toml()).expected_losses, by_step.expected_losses);
  EXPECT_EQ(parse(parse(start + "loss = 0.1\n").resolved_toml()).expected_loss, 0.1);
  expect_error(start + "loss = nan\n", 6, "finite number");
  expect_error(start + "loss = \"0.5\"\n", 6, "finite number");
  expect_error(
      start + "losses = 1\n", 6, "unknown key 'losses' in [check]", "did you mean 'loss'?");
  expect_error(start + "loss = { last = 1 }\n", 6, "'last'", "must be a step");
  expect_error(start + "loss = {}\n", 6, "'loss' in [check] names no step");
  expect_error(start + "loss = { 0 = 5, 00 = 0.5 }\n", 6, "has step 0 twice");
  expect_error(start + "loss = { 0 = {} }\n", 6, "'0' in 'loss' of [check] must be a single value");
  expect_error(start + "loss = [1, 2]\n", 6, "takes 'loss', a number");
  expect_error(start, 5, "takes 'loss', a number");
}

TEST_F(ProblemFileTest, ResolvesPathsAgainstItsOwnFolder) {
  const std::string model = "[model]\nkind = \"signal-noise\"\n";
  EXPECT_EQ(parse(model + "[data]\nfile = \"/abs/x.npz\"\n").data_path, "/abs/x.npz");
  EXPECT_EQ(parse(model + "[data]\nfile = \"../x.npz\"\n").data_path, folder_.path() / "../x.npz");
}

TEST_F(ProblemFileTest, FillsInFallbacks) {
  const ProblemFile problem =
      parse("[data]\nfile = \"x.npz\"\n[model]\nlayers = 1\nkind = \"linear-attention\"\n");
  EXPECT_EQ(problem.model.text("parametrization"), "sparse");
}

TEST_F(ProblemFileTest, SuggestsTheNearestKey) {
  expect_error("[model]\nkind = \"linear-attention\"\nlayer = 3\n[data]\nfile = \"x\"\n",
               3,
               "unknown key 'layer'",
               "[model] of kind 'linear-attention'",
               "did you mean 'layers'?",
               "it takes layers, parametrization");
  expect_error("[model]\nkind = \"signal-noise\"\n\n[data]\nfile = \"x\"\nfiles = 2\n",
               6,
               "unknown key 'files' in [data]",
               "did you mean 'file'?");
  // A key of another kind is unknown too.
  expect_error(
      "[model]\nkind = \"mlp\"\nactivation = \"relu\"\nloss = \"mse\"\nlayers = 3\n"
      "[data]\nfile = \"x\"\n",
      5,
      "unknown key 'layers' in [model] of kind 'mlp'");
}

TEST_F(ProblemFileTest, SuggestsTheNearestTable) {
  expect_error("[modle]\nkind = \"mlp\"\n[data]\nfile = \"x\"\n",
               1,
               "unknown table 'modle'",
               "did you mean 'model'?");
  expect_error("[model]\nkind = \"signal-noise\"\n[data]\nfile = \"x\"\n[optimizer]\nlr = 1\n",
               5,
               "unknown table 'optimizer'");
  expect_error("seed = 3\n[model]\nkind = \"signal-noise\"\n[data]\nfile = \"x\"\n",
               1,
               "unknown key 'seed'");
}

TEST_F(ProblemFileTest, SuggestsTheNearestChoice) {
  expect_error("[model]\nkind = \"linear-atention\"\n[data]\nfile = \"x\"\n",
               2,
               "'kind' must be one of linear-attention, linear-attention-population, attention, "
               "attention-classifier, signal-noise, mlp",
               "got 'linear-atention'",
               "did you mean 'linear-attention'?");
  expect_error(
      "[model]\nkind = \"mlp\"\nloss = \"mse\"\nactivation = \"Tanh\"\n[data]\nfile = \"x\"\n",
      4,
      "'activation' must be one of tanh, gelu, relu, softplus, identity",
      "did you mean 'tanh'?");
}

// A missing key and an unknown one that is nearly equal are one mistake.
TEST_F(ProblemFileTest, AKeyThatIsNearlyTheMissingOneIsNamed) {
  expect_error("[model]\nlayers = 3\nknid = \"mlp\"\n[data]\nfile = \"x\"\n",
               3,
               "unknown key 'knid' in [model] (did you mean 'kind'?)");
  expect_error("[model]\nkind = \"signal-noise\"\n[data]\nfil = \"x\"\n",
               4,
               "unknown key 'fil' in [data]",
               "did you mean 'file'?");
}

TEST_F(ProblemFileTest, TakesOneNumberForALossesList) {
  const std::string start =
      "[model]\nkind = \"mlp\"\nactivation = \"relu\"\nloss = \"bce-with-logits\"\n";
  const std::string end = "[data]\nfile = \"x\"\n";
  EXPECT_EQ(parse(start + "pos_weight = 2\n" + end).model.reals("pos_weight"),
            (std::vector<double>{2}));
  EXPECT_EQ(parse(start + "pos_weight = [2, 3.5]\n" + end).model.reals("pos_weight"),
            (std::vector<double>{2, 3.5}));
}

TEST_F(ProblemFileTest, NamesWhatIsMissing) {
  expect_error("", 0, "needs a table [model]");
  expect_error("[model]\nkind = \"signal-noise\"\n", 0, "needs a table [data]");
  expect_error("[model]\nlayers = 3\n[data]\nfile = \"x\"\n", 1, "[model] needs the key 'kind'");
  expect_error("\n[model]\nkind = \"linear-attention\"\n[data]\nfile = \"x\"\n",
               2,
               "[model] of kind 'linear-attention' needs the key 'layers' (number of layers)");
  expect_error(
      "[model]\nkind = \"attention\"\n[data]\nfile = \"x\"\n", 1, "needs the key 'kernel'");
  expect_error("[model]\nkind = \"signal-noise\"\n[data]\n", 3, "[data] needs the key 'file'");
}

TEST_F(ProblemFileTest, RefusesOtherTypes) {
  const std::string data = "\n[data]\nfile = \"x\"\n";
  const std::string linear = "[model]\nkind = \"linear-attention\"\n";
  expect_error(linear + "layers = \"3\"" + data, 3, "'layers' must be an integer");
  expect_error(linear + "layers = 3.0" + data, 3, "'layers' must be an integer");
  expect_error(linear + "layers = true" + data, 3, "'layers' must be an integer");
  expect_error(linear + "layers = [3]" + data,
               3,
               "'layers' in [model] of kind 'linear-attention' must be a single value");
  expect_error(
      linear + "layers = 2024-01-01" + data, 3, "'layers' in [model] of kind", "single value");
  expect_error("[model]\nkind = 3" + data, 2, "'kind' must be a string");
  expect_error(
      "[model]\nkind = \"signal-noise\"\n[data]\nfile = 1\n", 4, "'file' must be a string");
  expect_error("model = 3\n[data]\nfile = \"x\"\n", 1, "[model]");
  expect_error("[[model]]\nkind = \"mlp\"\n[data]\nfile = \"x\"\n", 1, "[model]");
}

TEST_F(ProblemFileTest, RefusesNumbersOutOfRange) {
  for (const std::string layers : {"0", "-3", "1001"}) {
    expect_error(
        "[model]\nkind = \"linear-attention\"\nlayers = " + layers + "\n[data]\nfile = \"x\"\n",
        3,
        "'layers' must be between 1 and 1000, got " + layers);
  }
}

TEST_F(ProblemFileTest, PlacesSyntaxErrors) {
  expect_error("[model]\nkind = \"mlp\n[data]\n", 2);
  expect_error("[model]\nkind = \"mlp\"\nkind = \"mlp\"\n", 3);
  expect_error("[model\n", 1);
  expect_error("[model]\nlayers = 99999999999999999999\n", 2);
  expect_error("[model]\n\xff\xfe = 1\n", 0, "utf-8");
}

TEST_F(ProblemFileTest, ReportsKeysThatTomlPlusPlusAssertsToBeNone) {
  expect_error("[!]\n", 1, "expected bare key");
  expect_error("[[!]]\n", 1, "expected bare key");
}

TEST_F(ProblemFileTest, ReportsLettersThatTomlPlusPlusTakesForImpossible) {
  for (const std::string letter : {"\u00e9", "\u03bb", "\u0424"}) {
    expect_error("[model]\nlayers" + letter + " = 3\n", 2, "expected '='", letter);
    expect_error("[model]\nlayers = 3" + letter + "\n", 2, letter);
  }
}

TEST_F(ProblemFileTest, RefusesNestingThatWouldOverflowTheStack) {
  const auto dotted = [](int num_dots) {
    std::string key;
    for (int i = 0; i < num_dots; ++i) key += "a.";
    return key + "a";
  };
  expect_error("\n" + dotted(200'000) + " = 1\n", 2, "keys are nested more than 64 deep");
  expect_error("[" + dotted(200'000) + "]\n", 1, "keys are nested more than 64 deep");
  expect_error("[" + dotted(64) + "]\n", 1, "tables are nested more than 64 deep");
  std::string values = "a = ";
  for (int i = 0; i < 100'000; ++i) values += "[";
  expect_error(values, 1, "lists and tables are nested more than 16 deep");
  // What nests deepest, some 600 tables: a key of 64 dots in each of as many inline tables as there
  // may be within each other.
  std::string tables = "[" + dotted(64) + "]\n" + dotted(64) + " = [\n";
  for (int i = 0; i < 7; ++i) tables += "{" + dotted(64) + " = [\n";
  for (int i = 0; i < 7; ++i) tables += "]}\n";
  expect_error(tables + "]\n", 1, "tables are nested more than 64 deep");
}

TEST_F(ProblemFileTest, RefusesMoreThanItsSizeTellsOfAProblem) {
  const auto repeated = [](const std::string& part, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += part;
    return text;
  };
  expect_error(repeated("a = 1\n", 60'000), 50'001, "more than 50000 keys and values");
  expect_error("a = [" + repeated("1,\n", 60'000) + "]", 49'999, "more than 50000 keys");
  expect_error(repeated("[a.b]\n", 30'000), 25'001, "more than 50000 keys and values");
  expect_error("a = [" + repeated("{},", 60'000) + "]", 1, "more than 50000 keys and values");
  // What stands in texts and comments does not count.
  const std::string data = "[model]\nkind = \"signal-noise\"\n[data]\n";
  for (const std::string quote : {"\"", "'", "\"\"\"", "'''"}) {
    const std::string text = repeated("[.,{=", 20'000);
    EXPECT_EQ(
        parse(data + "file = " + quote + text + quote + " # " + text + "\n").data.text("file"),
        text);
  }
  EXPECT_EQ(parse(data + R"(file = "\\")" + " # '\n# \"\n").data.text("file"), "\\");
  EXPECT_EQ(parse(data + "file = 'x' # " + std::string(1'000'000, '#')).data.text("file"), "x");
  expect_error("#" + std::string(1 << 20, '#'), 0, "has 1048577 bytes; at most 1048576 are read");
}

TEST_F(ProblemFileTest, RefusesAFileWithoutEnd) {
  EXPECT_THAT([] { read_problem_file("/dev/zero"); },
              testing::ThrowsMessage<ConfigError>(
                  HasSubstr("/dev/zero: is not a regular file; a problem file is expected")));
}

TEST_F(ProblemFileTest, RefusesWhatItCannotRead) {
  const auto expect_refused = [](const std::filesystem::path& path, const std::string& message) {
    try {
      read_problem_file(path);
      ADD_FAILURE() << "read " << path;
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.what(), path.string() + message);
    }
  };
  expect_refused(folder_ / "absent.toml",
                 ": cannot be opened: No such file or directory; a problem file is expected");
  expect_refused(folder_.path(), ": is a directory; a problem file is expected");
  std::ofstream(folder_ / "zip.toml") << "PK\x03\x04";
  expect_refused(folder_ / "zip.toml", ": is not a TOML text file; a problem file is expected");
}

TEST_F(ProblemFileTest, ResolvesToTomlThatSaysTheSame) {
  const std::string nasty = R"(a "quoted" \ back'slash	tab 'and' ü.npz)";
  const std::string text =
      "[model]\nkind = \"linear-attention\"\nlayers = 3\n[data]\nfile = '''" + nasty + "'''\n";
  const ProblemFile problem = parse(text);
  EXPECT_EQ(problem.data.text("file"), nasty);
  const std::string resolved = problem.resolved_toml();
  EXPECT_THAT(resolved, HasSubstr("parametrization = "));
  const ProblemFile again = parse(resolved);
  EXPECT_EQ(again.model_kind, problem.model_kind);
  EXPECT_EQ(again.model.values(), problem.model.values());
  EXPECT_EQ(again.data.values(), problem.data.values());
  EXPECT_EQ(again.data_path, problem.data_path);
  EXPECT_EQ(again.resolved_toml(), resolved);
}

TEST_F(ProblemFileTest, ResolvesToTomlThatDoesNotDependOnOrderOrComments) {
  const std::string a =
      "[model]\nkind = \"mlp\"\nloss = \"mse\"\nactivation = \"relu\"\n"
      "[data]\nfile = \"x\"\n";
  const std::string b =
      "# note\n[data]\nfile = 'x'\n\n[model]\nactivation = 'relu'\n"
      "kind = \"mlp\" # note\nloss = \"mse\"";
  EXPECT_EQ(parse(a).resolved_toml(), parse(b).resolved_toml());
}

// A kind whose keys are of the types that no kind built in has.
class ProblemFileListsTest : public ProblemFileTest {
 protected:
  static void SetUpTestSuite() {
    using Type = SettingKey::Type;
    register_model_kind({.name = "lists",
                         .keys = {{.name = "file", .meaning = "a file", .is_path = true},
                                  {.name = "frozen",
                                   .type = Type::kTexts,
                                   .meaning = "names",
                                   .fallback = SettingValue(std::vector<std::string>())},
                                  {.name = "weights",
                                   .type = Type::kReals,
                                   .meaning = "of classes",
                                   .range = RealRange(),
                                   .is_optional = true},
                                  {.name = "inputs",
                                   .type = Type::kTable,
                                   .meaning = "arrays by their names in the file",
                                   .fallback = SettingValue(SettingTable())}},
                         .build = [](const auto&...) -> Model { throw InputError("unused"); }});
  }

  static std::string problem(const std::string& lines, const std::string& tables = "") {
    return "[model]\nkind = \"lists\"\nfile = \"a.onnx\"\n" + lines +
           "\n[data]\nfile = \"x.npz\"\n" + tables;
  }
};

TEST_F(ProblemFileListsTest, ReadsListsAndTables) {
  const Settings model = parse(problem("frozen = ['a', 'b.*']\nweights = [1, 2.5]",
                                       "[model.inputs]\n'input ids' = 'tokens'\nmask = 'm'\n"))
                             .model;
  EXPECT_EQ(model.texts("frozen"), (std::vector<std::string>{"a", "b.*"}));
  EXPECT_EQ(model.reals("weights"), (std::vector<double>{1, 2.5}));
  EXPECT_EQ(model.table("inputs"), (SettingTable{{"input ids", "tokens"}, {"mask", "m"}}));
  const Settings inline_table = parse(problem("weights = []\ninputs = { mask = 'm' }")).model;
  EXPECT_EQ(inline_table.table("inputs"), (SettingTable{{"mask", "m"}}));
  EXPECT_TRUE(inline_table.reals("weights").empty());
  EXPECT_TRUE(inline_table.texts("frozen").empty());
}

TEST_F(ProblemFileListsTest, WritesThemAsTheyAreRead) {
  const std::string lists = "frozen = [ 'a', \"it's \\\"b\\\"\" ]\nweights = [0.1, 3]\n";
  const ProblemFile read = parse(problem(lists, "[model.inputs]\n'a.b' = '\\'\n"));
  EXPECT_EQ(read.model.texts("frozen")[1], "it's \"b\"");
  const std::string resolved = read.resolved_toml();
  EXPECT_THAT(resolved, HasSubstr("\n\n[model.inputs]\n"));
  const ProblemFile again = parse(resolved);
  EXPECT_EQ(again.model.values(), read.model.values());
  EXPECT_EQ(again.data.values(), read.data.values());
  EXPECT_EQ(again.resolved_toml(), resolved);
  EXPECT_EQ(parse(parse(problem("")).resolved_toml()).model.values(),
            parse(problem("")).model.values());
}

TEST_F(ProblemFileListsTest, SaysWhatIsExpected) {
  expect_error(problem("frozen = 'a'"), 4, "'frozen' must be a list of strings");
  expect_error(problem("frozen = ['a', 1]"), 4, "'frozen' must be a list of strings");
  expect_error(problem("frozen = [['a']]"), 4, "'frozen' must be a list of strings");
  expect_error(problem("frozen = { a = 'b' }"), 4, "'frozen' must be a list of strings");
  expect_error(problem("weights = ['a']"), 4, "'weights' must be a list of numbers");
  expect_error(problem("weights = [1, 'a']"), 4, "'weights' must be a list of numbers");
  expect_error(problem("weights = [1, nan]"), 4, "'weights' must be numbers at least 0, got nan");
  expect_error(problem("inputs = ['a']"), 4, "'inputs' must be a table of strings");
  expect_error(problem("inputs = 'a'"), 4, "'inputs' must be a table of strings");
  expect_error(
      problem("", "[model.inputs]\na = 1\n"), 8, "'a' in 'inputs' of [model]", "must be a string");
  expect_error(problem("", "[model.inputs.a]\nb = 'c'\n"), 7, "'a' in 'inputs'");
  expect_error(problem("", "[model.input]\na = 'b'\n"), 7, "unknown key 'input'", "'inputs'?");
  expect_error("[model]\nkind = \"lists\"\nfile = ['a']\n[data]\nfile = \"x\"\n",
               3,
               "'file' in [model] of kind 'lists' must be a single value");
}

}  // namespace
}  // namespace hesscope
