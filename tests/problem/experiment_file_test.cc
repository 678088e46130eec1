// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/models/model_registry.h>
#include <hesscope/problem/experiment_file.h>

#include "support/files.h"

namespace hesscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kModel = "[model]\nkind = \"linear-attention\"\nlayers = 2\n";
const std::string kData = "[data]\nkind = \"linear-regression\"\ndimension = 3\ncontext = 7\n";
const std::string kStart = "[initialization]\ndistribution = \"normal\"\nstd = 0.1\n";
const std::string kTraining = "[training]\nsteps = 10\nbatch = 4\n";
const std::string kRun = "[[run]]\nname = \"a\"\nrule = \"sgd\"\nlearning_rate = 0.5\n";

class ExperimentFileTest : public testing::Test {
 protected:
  ExperimentFile parse(const std::string& text) const {
    test::write_bytes(path_, text);
    return read_experiment_file(path_);
  }

  // That the text is refused at this line (0: of the whole file) with all of these in the message.
  void expect_error(const std::string& text,
                    int line,
                    const std::vector<std::string>& parts) const {
    const std::string place =
        line == 0 ? path_.string() + ": " : path_.string() + ":" + std::to_string(line) + ": ";
    try {
      parse(text);
      ADD_FAILURE() << "not refused: " << text;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), testing::StartsWith(place)) << text;
      for (const std::string& part : parts) EXPECT_THAT(error.what(), HasSubstr(part)) << text;
    }
  }

  const test::ScratchFolder folder_;
  const std::filesystem::path path_ = folder_ / "experiment.toml";
};

TEST_F(ExperimentFileTest, ReadsTheLeast) {
  const ExperimentFile e = parse(kModel + kData + kStart + kTraining + kRun);
  EXPECT_EQ(e.model_kind, "linear-attention");
  EXPECT_EQ(e.model.text("parametrization"), "sparse");
  EXPECT_EQ(e.data.sampler, "linear-regression");
  EXPECT_FALSE(e.data.samples.has_value());
  EXPECT_EQ(e.evaluation.sampler, "linear-regression");
  EXPECT_EQ(e.evaluation.samples, 1000);
  EXPECT_EQ(e.evaluation.seed, 99U);
  EXPECT_EQ(e.evaluation.settings.values(), e.data.settings.values());
  EXPECT_EQ(e.num_steps, 10);
  EXPECT_EQ(e.batch, 4);
  EXPECT_THAT(e.seeds, ElementsAre(0U));
  EXPECT_THAT(e.trained, ElementsAre("*"));
  EXPECT_TRUE(e.history_steps.empty() && e.monitors.empty());
  EXPECT_FALSE(e.clip_norm.has_value());
  EXPECT_EQ(e.history_every, 50);
  EXPECT_EQ(e.checkpoint_every, 0);
  ASSERT_EQ(e.runs.size(), 1U);
  EXPECT_EQ(e.runs[0].settings.real("momentum"), 0.9);
  EXPECT_EQ(e.runs[0].learning_rate, 0.5);
}

TEST_F(ExperimentFileTest, WidthsMayBeAListOrText) {
  const auto hidden = [&](const std::string& value) {
    return parse("[model]\nkind = \"mlp\"\nactivation = \"tanh\"\nloss = \"mse\"\nhidden = " +
                 value + "\n" + kData + kStart + kTraining + kRun)
        .model.text("hidden");
  };
  EXPECT_EQ(hidden("[15, 12]"), "15,12");
  EXPECT_EQ(hidden("\"15,12\""), "15,12");
  EXPECT_EQ(hidden("[]"), "");
}

TEST_F(ExperimentFileTest, AListOfLearningRatesIsAFamilyOfRuns) {
  const ExperimentFile e = parse(kModel + kData + kStart + kTraining + kRun +
                                 "[[run]]\nname = \"b\"\nrule = \"sgd\"\nmomentum = 0.5\n"
                                 "learning_rates = [1, 0.05, 1e-7]\n");
  ASSERT_EQ(e.runs.size(), 4U);
  EXPECT_EQ(e.runs[0].family, "a");
  const std::vector<std::string> names = {"a", "b-1", "b-0.05", "b-1e-07"};
  const std::vector<double> rates = {0.5, 1.0, 0.05, 1e-7};
  for (std::size_t i = 0; i < e.runs.size(); ++i) {
    EXPECT_EQ(e.runs[i].name, names[i]);
    EXPECT_EQ(e.runs[i].learning_rate, rates[i]);
    if (i == 0) continue;
    EXPECT_EQ(e.runs[i].family, "b");
    EXPECT_EQ(e.runs[i].settings.real("momentum"), 0.5);
  }
}

TEST_F(ExperimentFileTest, ReadsAllThereIs) {
  const ExperimentFile e =
      parse("[experiment]\nname = \"n\"\ntitle = \"t\"\nsource = \"s\"\nnote = \"o\"\n" + kModel +
            kData + "samples = 50\nseed = 3\n[evaluation]\nsamples = 20\ncontext = 9\n" + kStart +
            "[initialization.blocks.\"layers.*\"]\ndistribution = \"constant\"\nvalue = 1\n"
            "[initialization.blocks.\"*.P\"]\ndistribution = \"uniform\"\nlow = -1\nhigh = 1\n" +
            "[training]\nsteps = 5\nseeds = [4, 2]\nclip_norm = 1\nclip_fraction = 0.5\n"
            "checkpoint_every = 2\nhistory_every = 3\ntrained = [\"*.P\", \"layers.1.Q\"]\n"
            "history_steps = [4, 1, 4]\nmonitors = [\"hessian\"]\n" +
            kRun + "[[run]]\nname = \"b\"\nrule = \"adamw\"\nlearning_rate = 1\nbeta2 = 0.5\n" +
            "[[measure]]\nanything = [[1], [\"x\"]]\n[[figure]]\nat = 2024-01-01\n");
  EXPECT_EQ(e.about.text("title"), "t");
  EXPECT_EQ(e.data.samples, 50);
  EXPECT_EQ(e.data.seed, 3U);
  EXPECT_EQ(e.data.settings.integer("context"), 7);
  EXPECT_EQ(e.evaluation.samples, 20);
  EXPECT_EQ(e.evaluation.seed, 99U);
  EXPECT_EQ(e.evaluation.settings.integer("context"), 9);
  EXPECT_EQ(e.batch, 0);
  EXPECT_THAT(e.seeds, ElementsAre(4U, 2U));
  EXPECT_EQ(e.clip_norm, 1.0);
  EXPECT_EQ(e.clip_fraction, 0.5);
  EXPECT_EQ(e.checkpoint_every, 2);
  EXPECT_EQ(e.history_every, 3);
  EXPECT_THAT(e.trained, ElementsAre("*.P", "layers.1.Q"));
  EXPECT_THAT(e.history_steps, ElementsAre(1, 4));
  EXPECT_THAT(e.monitors, ElementsAre("hessian"));
  ASSERT_EQ(e.initialization.patterns.size(), 2U);  // in the file's order
  EXPECT_EQ(e.initialization.patterns[0].first, "layers.*");
  EXPECT_EQ(e.initialization.patterns[0].second.settings.real("value"), 1);
  EXPECT_EQ(e.initialization.patterns[1].first, "*.P");
  ASSERT_EQ(e.runs.size(), 2U);
  EXPECT_EQ(e.runs[1].rule, "adamw");
  EXPECT_EQ(e.runs[1].settings.real("beta2"), 0.5);
  EXPECT_EQ(e.runs[1].settings.real("weight-decay"), 0.01);
}

TEST_F(ExperimentFileTest, NamesACheckpointToStartFrom) {
  const std::string before = kModel + kData + "[initialization]\n";
  const ExperimentFile alone =
      parse(before + "from_checkpoint = \"in/{seed}/step-{seed}.h5\"\n" + kTraining + kRun);
  ASSERT_TRUE(alone.start.has_value());
  EXPECT_EQ(alone.start->of_seed(12), folder_ / "in/12/step-12.h5");
  EXPECT_TRUE(alone.initialization.otherwise.name.empty());
  // Over a distribution, which a variant may have no other way to take back.
  const ExperimentFile over = parse(kModel + kData + kStart + "from = \"first/gd\"\n" +
                                    "[initialization.blocks.\"*.P\"]\ndistribution = \"constant\"\n"
                                    "value = 1\n" +
                                    kTraining + kRun);
  ASSERT_TRUE(over.start.has_value());
  EXPECT_EQ(over.start->run, "first/gd");
  EXPECT_EQ(over.initialization.otherwise.name, "normal");
  try {
    over.start->of_seed(0);
    ADD_FAILURE() << "not refused";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith(path_.string() + ":11: "));
    EXPECT_THAT(error.what(), HasSubstr("'from_checkpoint'"));
  }
  const std::string after = kTraining + kRun;
  expect_error(before + "from = 3\n" + after, 9, {"'from' must be text"});
  expect_error(before + "from_checkpoint = \"\"\n" + after, 9, {"'from_checkpoint' must be text"});
  expect_error(before + "from_checkpoint = \"a\"\nfrom = \"a/b\"\n" + after,
               10,
               {"'from' and 'from_checkpoint'"});
  expect_error(before + "from = \"a/b\"\nstd = 3\n" + after, 8, {"distribution"});
}

TEST_F(ExperimentFileTest, WritesTheProblemOfItsEvaluation) {
  const ExperimentFile drawn = parse(kModel + kData + kStart + kTraining + kRun);
  EXPECT_EQ(drawn.problem_toml(folder_.path()),
            "[model]\nkind = 'linear-attention'\nlayers = 2\nparametrization = 'sparse'\n"
            "heads = 1\nactivation = 'none'\n\n"
            "[data]\nkind = 'linear-regression'\ndimension = 3\ncontext = 7\n"
            "covariates = 'gaussian'\ndistortion_hidden = 0\ndistortion_seed = 0\nsamples = 1000\n"
            "seed = 99\n");
  const ExperimentFile file =
      parse(kModel + "[data]\nfile = \"in/x.npz\"\n" + kStart + "[training]\nsteps = 1\n" + kRun);
  EXPECT_EQ(file.data.path, folder_.path() / "in/x.npz");
  EXPECT_THAT(file.problem_toml(folder_.path() / "out" / "a"),
              HasSubstr("file = '../../in/x.npz'"));
}

TEST_F(ExperimentFileTest, NamesWhatIsUnknownOrMissing) {
  expect_error(kModel + kData + kStart + kTraining, 0, {"needs at least one table [[run]]"});
  expect_error(kData + kStart + kTraining + kRun, 0, {"needs a table [model]"});
  expect_error(kModel + kData + kTraining + kRun, 0, {"needs a table [initialization]"});
  expect_error(kModel + kData + kStart + kTraining + kRun + "[trainin]\n",
               18,
               {"unknown key 'trainin' in an experiment file", "did you mean 'training'?"});
  expect_error(kModel + kData + kStart + kTraining + "batches = 3\n" + kRun,
               14,
               {"unknown key 'batches' in [training]", "did you mean 'batch'?"});
  expect_error(kModel + kData + kStart + kTraining + kRun + "momentun = 1\n",
               18,
               {"unknown key 'momentun' in [[run]] with rule 'sgd'", "did you mean 'momentum'?"});
  expect_error(kModel + kData + kStart + "value = 1\n" + kTraining + kRun,
               11,
               {"unknown key 'value' in [initialization] with 'normal'"});
  expect_error(kModel + kData + "contest = 1\n" + kStart + kTraining + kRun,
               8,
               {"unknown key 'contest' in [data] of kind 'linear-regression'", "'context'"});
  expect_error(
      kModel + "head = 1\n" + kData + kStart + kTraining + kRun, 4, {"unknown key 'head'"});
  expect_error(kModel + kData + kStart + kTraining + "[[run]]\nname = \"a\"\nlearning_rate = 1\n",
               14,
               {"[[run]] needs the key 'rule'"});
  expect_error(kModel + kData + kStart + kTraining + "[[run]]\nname = \"a\"\nrule = \"sdg\"\n",
               16,
               {"'rule' must be one of gd, sgd", "did you mean 'sgd'?"});
}

TEST_F(ExperimentFileTest, RefusesWhatCannotBe) {
  const auto with_training = [](const std::string& line) {
    return kModel + kData + kStart + kTraining + line + kRun;
  };
  expect_error(with_training("seeds = []\n"), 14, {"'seeds' must be at least one"});
  expect_error(with_training("seeds = [1, 1]\n"), 14, {"each of them once"});
  expect_error(with_training("seeds = [-1]\n"), 14, {"whole numbers from 0 on"});
  expect_error(with_training("seeds = 3\n"), 14, {"'seeds' must be a list"});
  expect_error(with_training("trained = \"*\"\n"), 14, {"'trained' must be a list"});
  expect_error(with_training("monitors = \"hessian\"\n"), 14, {"'monitors' must be a list"});
  expect_error(with_training("monitors = [1]\n"), 14, {"'monitors' must hold text"});
  expect_error(with_training("history_steps = [1, -1]\n"), 14, {"whole numbers from 0 on"});
  expect_error(with_training("history_steps = 3\n"), 14, {"'history_steps' must be a list"});
  expect_error(with_training("clip_norm = 0\n"), 14, {"'clip_norm' must be above 0, got 0"});
  expect_error(with_training("clip_norm = nan\n"), 14, {"'clip_norm' must be above 0, got nan"});
  expect_error(with_training("clip_fraction = 1.0\n"), 14, {"'clip_fraction' must be in [0, 1)"});
  expect_error(with_training("history_every = -1\n"), 14, {"'history_every' must be"});
  expect_error(with_training("checkpoint_every = [2]\n"), 14, {"must be a single value"});
  expect_error(kModel + kData + kStart + "[training]\nsteps = 10\n" + kRun,
               11,
               {"needs a 'batch' of at least 1"});
  expect_error(kModel + kData + "seed = 3\n" + kStart + kTraining + kRun,
               8,
               {"'seed' is of a fixed data set"});
  const auto with_run = [](const std::string& text) {
    return kModel + kData + kStart + kTraining + text;
  };
  expect_error(with_run(kRun + kRun), 19, {"there are two runs named 'a'"});
  expect_error(with_run("[[run]]\nname = \"../a\"\nrule = \"gd\"\nlearning_rate = 1\n"),
               15,
               {"the name of a run, '../a'"});
  expect_error(with_run("[[run]]\nname = \"a\"\nrule = \"gd\"\nlearning_rate = inf\n"),
               17,
               {"'learning_rate' must be at least 0, got inf"});
  const std::string head = "[[run]]\nname = \"a\"\nrule = \"gd\"\n";
  expect_error(with_run(head), 14, {"either 'learning_rate' or a list 'learning_rates'"});
  expect_error(with_run(head + "learning_rate = 1\nlearning_rates = [1]\n"),
               18,
               {"either 'learning_rate' or a list 'learning_rates'"});
  for (const std::string list : {"[]", "[0.1, 0.1]", "[\"x\"]", "3"}) {
    expect_error(with_run(head + "learning_rates = " + list + "\n"),
                 17,
                 {"'learning_rates' must be a list of different numbers"});
  }
  expect_error(with_run(head + "learning_rates = [0.1, -1]\n"),
               17,
               {"'learning_rates' must be at least 0, got -1"});
  expect_error(with_run("[[run]]\nname = \"a-1\"\nrule = \"gd\"\nlearning_rate = 1\n" + head +
                        "learning_rates = [0.1, 1]\n"),
               19,
               {"there are two runs named 'a-1'"});
  expect_error(with_run(kRun + "momentum = 1.5\n"),
               18,
               {"'momentum' must be at least 0 and below 1, got 1.5"});
  expect_error(with_run("run = 3\n"), 14, {"unknown key 'run' in [training]"});
  expect_error(kModel + kData + kStart + "[initialization.blocks]\nx = 3\n" + kTraining + kRun,
               12,
               {"[initialization.blocks] holds tables"});
  expect_error("evaluation = 3\n" + kModel + kData + kStart + kTraining + kRun,
               1,
               {"'evaluation' must be a table"});
}

TEST_F(ExperimentFileTest, WritesListsTablesAndFilesOfModelsIntoTheProblem) {
  using Type = SettingKey::Type;
  register_model_kind(
      {.name = "experiment-lists",
       .keys = {{.name = "file", .meaning = "a file", .is_path = true},
                {.name = "inputs", .type = Type::kTable, .meaning = "names", .is_optional = true},
                {.name = "frozen", .type = Type::kTexts, .meaning = "names"}},
       .build = [](const auto&...) -> Model { throw InputError("unused"); }});
  const ExperimentFile file = parse(
      "[model]\nkind = \"experiment-lists\"\nfile = \"in/a.onnx\"\nfrozen = [\"a\"]\n"
      "[model.inputs]\nx = \"y\"\n[data]\nfile = \"in/x.npz\"\n" +
      kStart + "[training]\nsteps = 1\n" + kRun);
  EXPECT_EQ(file.problem_toml(folder_.path() / "out"),
            "[model]\nkind = 'experiment-lists'\nfile = '../in/a.onnx'\nfrozen = ['a']\n\n"
            "[model.inputs]\n'x' = 'y'\n\n[data]\nfile = '../in/x.npz'\n");
}

}  // namespace
}  // namespace hesscope
