// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/reproduction/internal/experiment_document.h>

#include "support/refusal.h"

namespace hesscope::detail {
namespace {

// Runs a, b, c-0.1 and c-1, the last two of the family c.
constexpr const char* kTiny = R"(
[experiment]
name = "tiny"
[model]
kind = "linear-attention"
layers = 1
[data]
kind = "linear-regression"
dimension = 2
context = 4
[initialization]
distribution = "normal"
std = 0.1
[training]
steps = 20
batch = 5
seeds = [0, 1]
checkpoint_every = 10
[[run]]
name = "a"
rule = "gd"
learning_rate = 0.01
[[run]]
name = "b"
rule = "gd"
learning_rate = 0.1
[[run]]
name = "c"
rule = "gd"
learning_rates = [0.1, 1]
[scale.quick]
figure.f.steps = [0, 5]
)";

ExperimentDocument document_of(const std::string& rest, const std::string& scale = "paper") {
  return read_experiment_document(parse_toml(kTiny + rest, "tiny.toml"), "tiny.toml", scale);
}

void expect_refused(const std::string& rest, const std::string& message) {
  test::expect_refusal<ConfigError>([&] { document_of(rest); }, message);
}

TEST(Variants, AreCalledByTheExperimentWhereThereIsOneOnly) {
  EXPECT_EQ(document_of("").variants.front().title, "tiny");
}

TEST(Notes, SayOnOtherScalesThatTheyAreOfTheFullOne) {
  ExperimentDocument document = document_of("");
  EXPECT_EQ(document.shown_note(), "");
  document.note = "Ours: 5000 steps.";
  EXPECT_EQ(document.shown_note(), "Ours: 5000 steps.");
  document.scale = "quick";
  EXPECT_EQ(document.shown_note(),
            "Ours: 5000 steps. Sizes, steps and seeds that are named here are those of the scale "
            "'paper', not of 'quick'.");
  document.note.clear();
  EXPECT_EQ(document.shown_note(), "");
}

// A [[figure]] named f with a published value.
std::string figure_with_value(const std::string& figure, const std::string& value) {
  return "[[figure]]\nname = \"f\"\n" + figure +
         "\n[[figure.published_values]]\nvariant = \"base\"\nmean = 1.0\nsource = \"X\"\n" + value +
         "\n";
}

constexpr const char* kTable = "kind = \"table\"\nquantities = [\"history/loss\"]\nruns = [\"a\"]";
constexpr const char* kCurves = "kind = \"curves\"\nquantity = \"history/loss\"";
constexpr const char* kRates = "kind = \"rates\"";
constexpr const char* kRatios =
    "kind = \"ratios\"\nquantity = \"history/loss\"\nnumerator = \"a\"\ndenominator = \"b\"";
constexpr const char* kSigns =
    "kind = \"contingency\"\nx = \"history/loss\"\ny = \"history/loss\"\nruns = [\"a\"]\n"
    "steps = [0, 20]";

TEST(PublishedValues, AreOfRunsOfTheirFigure) {
  const char* const other = "there is no run of the figure";
  expect_refused(figure_with_value(kTable, "run = \"b\""), other);
  expect_refused(figure_with_value(kTable, "run = \"c\""), other);  // a family
  expect_refused(figure_with_value(kRates, "run = \"c-0.1\""), other);
  expect_refused(figure_with_value(kRates, ""), "needs 'run'");
  expect_refused(figure_with_value(kCurves, ""), "needs 'run': the figure has a, b, c-0.1, c-1");
  expect_refused(figure_with_value(kRatios, "step = 20\nrun = \"a\""),
                 "of a figure of kind 'ratios' take no 'run'");
  EXPECT_EQ(document_of(figure_with_value(kTable, "")).figures.front().published_values.size(), 1U);
  const ExperimentDocument rates = document_of(figure_with_value(kRates, "run = \"c\""));
  EXPECT_EQ(rates.figures.front().published_values.front().run, "c");
}

TEST(PublishedValues, AreOfQuantitiesOfTheirFigure) {
  const char* const other = "there is no quantity of the figure 'nonsense'";
  for (const char* const figure : {kTable, kSigns}) {
    expect_refused(figure_with_value(figure, "quantity = \"nonsense\""), other);
  }
  expect_refused(figure_with_value(kCurves, "run = \"a\"\nquantity = \"nonsense\""), other);
  expect_refused(figure_with_value(kSigns, ""), "needs 'quantity'");
  expect_refused(figure_with_value(kRates, "run = \"c\"\nquantity = \"history/loss\""),
                 "take no 'quantity'");
  expect_refused(figure_with_value("kind = \"scatter\"\nx = \"history/loss\"\ny = \"history/loss\"",
                                   "run = \"a\""),
                 "unknown key 'published_values'");
  const std::string signs = figure_with_value(kSigns, "quantity = \"sum to x+y-\"");
  EXPECT_EQ(document_of(signs).figures.front().published_values.front().quantity, "sum to x+y-");
}

TEST(PublishedValues, AreAtStepsOfTheirFigure) {
  const std::string aligned = "quantity = \"aligned\"\nstep = ";
  expect_refused(figure_with_value(kSigns, aligned + "7"),
                 "the figure has no step 7; there are 0, 20");
  expect_refused(figure_with_value(kCurves, "run = \"a\"\nstep = 21"),
                 "is trained for 20 steps, got step 21");
  expect_refused(figure_with_value(kRatios, ""), "needs 'step'");
  expect_refused(
      figure_with_value("kind = \"convergence\"\nruns = [\"a\"]", "quantity = \"last\"\nstep = 5"),
      "take no 'step'");
  // Other scales may show other steps.
  const ExperimentDocument quick = document_of(figure_with_value(kSigns, aligned + "20"), "quick");
  EXPECT_EQ(quick.figures.front().published_values.front().step, 20);
}

// A [[figure]] named f.
std::string figure(const std::string& text) { return "[[figure]]\nname = \"f\"\n" + text + "\n"; }

std::string landscape(const std::string& directions, const std::string& grid) {
  return figure("kind = \"landscape\"\ndirections = \"" + directions + "\"\ngrid = \"" + grid +
                "\"");
}

TEST(Figures, AreRefusedForWhatTheyCannotShow) {
  const std::string signs = "kind = \"contingency\"\nx = \"history/loss\"\ny = \"history/loss\"\n";
  expect_refused(figure(signs), "needs 'steps', two of them");
  expect_refused(figure(signs + "steps = [20, 0]"), "the earlier first");
  expect_refused(figure("kind = \"traces\"\nquantities = [\"history/loss\"]\nseed = 7"),
                 "figure.f.seed is [7], of which none is among training.seeds, [0, 1]");
}

TEST(Figures, OfNoiseNeedAMeasureOfTheirStep) {
  const std::string noise = figure("kind = \"noise\"\nstep = 10\nruns = [\"a\", \"b\"]");
  const std::string measure = "[[measure]]\nanalyzers = [\"noise\"]\n";
  const char* const needs = "needs the noise of variant 'base' at step 10";
  expect_refused(noise, needs);
  expect_refused(measure + "runs = [\"c-1\"]\n" + noise, needs);
  expect_refused(measure + "checkpoints = [0, 20]\n" + noise, needs);
  EXPECT_EQ(document_of(measure + "runs = [\"b\"]\nseeds = [1]\n" + noise).figures.size(), 1U);
}

TEST(Figures, OfLandscapesHaveDirectionsThatCanBe) {
  expect_refused(landscape("eigen:0", "3x3"), "two ranks K1,K2 wanted, got '0'");
  expect_refused(landscape("eigen:0,x", "3x3"), "a rank must be a whole number");
  expect_refused(landscape("tensors:WQ", "3x3"), "two tensors NAME1,NAME2 wanted");
  expect_refused(landscape("update:sgin", "3x1"), "did you mean 'sign'?");
  expect_refused(landscape("eigen\"\nnormalization = \"filter", "3x3"), "draws nothing");
  EXPECT_EQ(document_of(landscape("eigen:0", "3x1")).figures.size(), 1U);
}

TEST(Figures, OfLandscapesHaveNamesOfNoMeasure) {
  expect_refused("[[measure]]\nname = \"landscape-f\"\nanalyzers = [\"spectrum\"]\n" +
                     landscape("random", "3x3"),
                 "the landscapes of the figure 'f' and the measure 'landscape-f'");
}

}  // namespace
}  // namespace hesscope::detail
