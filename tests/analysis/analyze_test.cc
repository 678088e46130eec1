// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/analysis/analyze.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/dataset/export_registry.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/figures/figure_registry.h>
#include <hesscope/objective/functor_objective.h>
#include <hesscope/plot/svg.h>
#include <hesscope/storage/sha256.h>

#include "support/decompositions.h"
#include "support/files.h"

namespace hesscope {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

namespace fs = std::filesystem;

// (1/2) sum_j (j + 1) theta_j^2 + (1/4) theta_0^4 + i theta_1 at sample i, whose mean over the
// samples has a Hessian that is known.
struct Quartic {
  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& theta, Eigen::Index sample) const {
    T sum = 0.25 * theta(0) * theta(0) * theta(0) * theta(0);
    for (Eigen::Index j = 0; j < theta.size(); ++j) {
      sum += 0.5 * static_cast<double>(j + 1) * theta(j) * theta(j);
    }
    return sum + static_cast<double>(sample) * theta(1);
  }
};

Eigen::MatrixXd quartic_hessian(const Eigen::VectorXd& theta) {
  const Eigen::Index n = theta.size();
  Eigen::MatrixXd h = Eigen::VectorXd::LinSpaced(n, 1, static_cast<double>(n)).asDiagonal();
  h(0, 0) += 3 * theta(0) * theta(0);
  return h;
}

class AnalyzeQuartic : public ::testing::Test {
 protected:
  const FunctorObjective<Quartic> objective_ =
      make_objective(Quartic(), 3, 5, {.parameter_blocks = {{"a", {2}, 0, 2}, {"b", {1}, 2, 1}}});
  const Eigen::VectorXd start_ = Eigen::Vector3d(2, 1, -1);
  const Eigen::VectorXd end_ = Eigen::Vector3d(0.5, -2, 0);
  test::ScratchFolder folder_;
};

TEST_F(AnalyzeQuartic, GivesTheNumbersOfItsHessian) {
  const Analysis analysis =
      analyze(objective_, {{"start", start_}, {"end", end_}}, {"condition", "spectrum"});
  EXPECT_THAT(analysis.analyzers(), ElementsAre("spectrum", "condition"));
  EXPECT_TRUE(analysis.is_conclusive());
  EXPECT_TRUE(analysis.warnings().empty());
  ASSERT_EQ(analysis.points().size(), 2U);
  for (const auto& [name, theta] : {std::pair{"start", start_}, std::pair{"end", end_}}) {
    const PointAnswers& answers = analysis[name];
    EXPECT_EQ(answers.name(), name);
    EXPECT_EQ(answers.point_status(), Status::kOk);
    const Eigen::VectorXd gradient = quartic_hessian(Eigen::VectorXd::Zero(3)) * theta +
                                     Eigen::Vector3d(std::pow(theta(0), 3), 2, 0);
    EXPECT_NEAR(answers.loss(),
                0.25 * std::pow(theta(0), 4) + 2 * theta(1) +
                    0.5 * theta.dot(quartic_hessian(Eigen::VectorXd::Zero(3)) * theta),
                1e-14);
    EXPECT_NEAR(answers.gradient_norm(), gradient.norm(), 1e-14);
    const Eigen::VectorXd expected = test::eigenvalues(quartic_hessian(theta));
    EXPECT_NEAR(answers.number("spectrum", "lambda_min"), expected(0), 1e-14);
    EXPECT_NEAR(answers.number("spectrum", "lambda_median"), expected(1), 1e-14);
    EXPECT_NEAR(answers.number("spectrum", "lambda_max"), expected(2), 1e-14);
    EXPECT_EQ(answers.number("spectrum", "num_positive"), 3);
    EXPECT_LE((answers.values("spectrum", "eigenvalues") - expected).norm(), 1e-14);
    EXPECT_NEAR(answers.number("condition", "classical"), expected(2) / expected(0), 1e-13);
    EXPECT_EQ(answers.status("condition", "classical"), Status::kOk);
  }
  EXPECT_EQ(analysis[1].name(), "end");
}

TEST_F(AnalyzeQuartic, WritesAResult) {
  const fs::path output = folder_ / "c.h5";
  const Analysis analysis = analyze(objective_,
                                    {{"start", start_, 0}, {"end", end_, 100}},
                                    {"hessian", "spectrum", "condition", "blocks"});
  analysis.write(output);
  ASSERT_TRUE(io::is_result_file(output));
  const io::ResultReader result(output);
  EXPECT_THAT(result.read_text("", "checkpoint_file"), ElementsAre("start", "end"));
  EXPECT_THAT(result.read_integers("", "step"), ElementsAre(0, 100));
  EXPECT_THAT(result.read_text("", "parameter_name"), ElementsAre("a", "b"));
  EXPECT_THAT(result.read_integers("", "parameter_offset"), ElementsAre(0, 2));
  EXPECT_THAT(result.read_doubles("", "loss"),
              ElementsAre(analysis["start"].loss(), analysis["end"].loss()));
  EXPECT_THAT(result.read_doubles("spectrum", "lambda_max"),
              ElementsAre(analysis["start"].number("spectrum", "lambda_max"),
                          analysis["end"].number("spectrum", "lambda_max")));
  EXPECT_EQ(result.find_attribute("", "problem"), nullptr);
  EXPECT_EQ(result.find_attribute("", "data_sha256"), nullptr);
  EXPECT_EQ(std::get<std::string>(*result.find_attribute("", "title")),
            "hesscope analysis of an objective");
  EXPECT_EQ(std::get<std::int8_t>(*result.find_attribute("", "conclusive")), 1);
  EXPECT_EQ(std::get<std::int64_t>(*result.find_attribute("", "num_samples")), 5);

  std::string bytes(3 * sizeof(double), '\0');
  std::memcpy(bytes.data(), start_.data(), bytes.size());
  EXPECT_EQ(result.read_text("", "checkpoint_sha256").front(), io::sha256_of_text(bytes));
}

TEST_F(AnalyzeQuartic, ItsResultIsPlottedAndExported) {
  for (const bool has_steps : {true, false}) {
    const fs::path output = folder_ / (has_steps ? "steps.h5" : "names.h5");
    std::vector<NamedPoint> points = {{"start", start_}, {"end", end_}};
    if (has_steps) {
      points[0].step = 3;
      points[1].step = 7;
    }
    analyze(objective_, points, {"spectrum", "condition"}).write(output);
    const io::ResultReader result(output);
    const std::vector<std::string> drawable = figures::drawable_figures(result);
    EXPECT_THAT(drawable, ::testing::IsSupersetOf({"spectrum", "condition", "eigenvalues"}));
    for (const std::string& name : drawable) {
      const figures::Source source = {&result, "mine"};
      const plot::Figure figure =
          figures::draw_figure(figures::find_figure_kind(name), std::span(&source, 1), {});
      EXPECT_THAT(plot::to_svg(figure), HasSubstr("</svg>")) << name;
    }
    const figures::Source source = {&result, "mine"};
    EXPECT_THAT(
        [&] {
          figures::draw_figure(
              figures::find_figure_kind("spectrum"), {&source, 1}, {.checkpoint = 2});
        },
        ThrowsMessage<ConfigError>(HasSubstr("has no checkpoint 2: it holds 2, counted from 0")));
    const fs::path csv = folder_ / "c.csv";
    io::find_export_kind("csv").write(result, csv, io::Existing::kReplace);
    EXPECT_THAT(test::read_bytes(csv),
                AllOf(HasSubstr("spectrum/lambda_max"), HasSubstr("start"), HasSubstr("end")));
  }
}

TEST_F(AnalyzeQuartic, DependsOnNothingWhenItIsDone) {
  const Analysis analysis = [&] {
    const auto gone = make_objective(Quartic(), 3, 5);
    return analyze(gone, {{"start", start_}}, {"spectrum"});
  }();
  const Analysis copy = analysis;
  copy.write(folder_ / "c.h5");
  EXPECT_EQ(io::ResultReader(folder_ / "c.h5").read_doubles("spectrum", "lambda_max").front(),
            analysis["start"].number("spectrum", "lambda_max"));
}

TEST_F(AnalyzeQuartic, ReplacesAFileOnlyWhenAsked) {
  const fs::path output = folder_ / "c.h5";
  const Analysis analysis = analyze(objective_, {{"start", start_}}, {"spectrum"});
  test::write_bytes(output, "mine");
  EXPECT_THROW(analysis.write(output), OutputError);
  EXPECT_EQ(test::read_bytes(output), "mine");
  EXPECT_THROW(analysis.write(output, {.overwrite = io::Overwrite::kOwnKind}), OutputError);
  EXPECT_EQ(test::read_bytes(output), "mine");
  analysis.write(output, {.overwrite = io::Overwrite::kAnything});
  analysis.write(output, {.overwrite = io::Overwrite::kOwnKind, .command = "a test"});
  const io::ResultReader result(output);
  EXPECT_THAT(std::get<std::string>(*result.find_attribute("", "history")), HasSubstr("a test"));
}

TEST_F(AnalyzeQuartic, OptionsAskForTheirAnalyzersAndReachThem) {
  const Analysis analysis =
      analyze(objective_, {{"start", start_}}, {"spectrum"}, {.options = {{"eigenpairs", 2}}});
  EXPECT_THAT(analysis.analyzers(), ElementsAre("spectrum", "eigenpairs"));
  const Eigen::VectorXd largest = analysis[0].values("eigenpairs", "eigenvalues_largest");
  ASSERT_EQ(largest.size(), 2);
  EXPECT_NEAR(largest.maxCoeff<Eigen::PropagateNaN>(), 13, 1e-13);  // 1 + 3 * 2^2
}

TEST_F(AnalyzeQuartic, SaysWhatSomeAnalyzersSayOfTheRun) {
  std::vector<NamedPoint> points;
  for (int i = 0; i < 12; ++i) {
    points.push_back({"point " + std::to_string(i), start_ / (1 + i), i});
  }
  const Analysis analysis = analyze(objective_, points, {"smoothness", "spectrum"});
  EXPECT_FALSE(analysis.run().group("smoothness").variables.empty());
  for (const Variable& variable : analysis.run().group("smoothness").variables) {
    EXPECT_EQ(variable.status() == Status::kOk, std::isfinite(variable.number())) << variable.name;
  }
  // along the way between two points, v' H v for the diagonal Hessian at the first
  const Eigen::VectorXd v = (points[1].theta - points[0].theta).normalized();
  EXPECT_NEAR(analysis[0].number("smoothness", "directional_smoothness"),
              v.dot(quartic_hessian(points[0].theta) * v),
              1e-12);
  EXPECT_THROW(analysis.run().number("spectrum", "lambda_max"), PreconditionError);
}

TEST_F(AnalyzeQuartic, APointThatIsNotFiniteLeavesTheOthersUnharmed) {
  const Eigen::VectorXd bad = Eigen::Vector3d(1, kNaN, 1);
  const Analysis analysis =
      analyze(objective_, {{"bad", bad}, {"good", start_}}, {"spectrum", "condition"});
  EXPECT_FALSE(analysis.is_conclusive());
  EXPECT_THAT(analysis.warnings(), ElementsAre(AllOf(HasSubstr("bad"), HasSubstr("not finite"))));
  EXPECT_EQ(analysis["bad"].point_status(), Status::kNonFinite);
  EXPECT_EQ(analysis["bad"].status("spectrum", "lambda_max"), Status::kNonFinite);
  EXPECT_TRUE(std::isnan(analysis["bad"].number("spectrum", "lambda_max")));
  EXPECT_EQ(analysis["bad"].values("spectrum", "eigenvalues").size(), 0);
  EXPECT_NEAR(analysis["good"].number("spectrum", "lambda_max"), 13, 1e-13);
}

TEST_F(AnalyzeQuartic, RefusesNamesThatDoNotExistWithThoseThatDo) {
  const auto with = [&](const char* name) {
    return [this, name] { analyze(objective_, {{"start", start_}}, {name}); };
  };
  EXPECT_THAT(with("spectra"),
              ThrowsMessage<ConfigError>(AllOf(HasSubstr("'spectra'"), HasSubstr("'spectrum'"))));
  EXPECT_THAT(
      [&] {
        analyze(objective_, {{"start", start_}}, {}, {.options = {{"eigenpair", 2}}});
      },
      ThrowsMessage<ConfigError>(HasSubstr("'eigenpairs'")));
  const Analysis analysis = analyze(objective_, {{"start", start_}}, {"spectrum"});
  EXPECT_THAT([&] { analysis["begin"]; },
              ThrowsMessage<PreconditionError>(AllOf(HasSubstr("'begin'"), HasSubstr("start"))));
  EXPECT_THAT([&] { analysis[0].number("condition", "classical"); },
              ThrowsMessage<PreconditionError>(AllOf(
                  HasSubstr("unknown analyzer of this run 'condition'"), HasSubstr("spectrum"))));
  EXPECT_THAT(
      [&] { analysis[0].number("spectrum", "lambda_mx"); },
      ThrowsMessage<PreconditionError>(AllOf(HasSubstr("'lambda_mx'"), HasSubstr("lambda_max"))));
  EXPECT_THAT([&] { analysis[0].status("spectrum", "max"); },
              ThrowsMessage<PreconditionError>(HasSubstr("lambda_max")));
}

TEST_F(AnalyzeQuartic, RefusesPointsThatDoNotFit) {
  const auto refusal = [&](std::vector<NamedPoint> points, const char* text) {
    EXPECT_THAT([&] { analyze(objective_, points, {"spectrum"}); },
                ThrowsMessage<PreconditionError>(HasSubstr(text)));
  };
  refusal({}, "no points");
  refusal({{"", start_}}, "no name");
  refusal({{std::string("a\0b", 3), start_}}, "zero byte");
  refusal({{"\xff", start_}}, "UTF-8");
  refusal({{"a", start_}, {"a", end_}}, "'a' has the name of another point");
  refusal({{"short", Eigen::Vector2d(1, 2)}}, "'short' must have 3 parameters, got 2");
  refusal({{"adam", start_, 1, adam_state(Eigen::Vector3d(1, -1, 1), 1, {}, 2)}}, "at least 0");
  refusal({{"adam", start_, 1, adam_state(Eigen::Vector3d(1, 1, 1), 1)}},
          "of each parameter block");
  const Eigen::Vector3d v(1, 1, 1);
  const auto refuses =
      [&](const OptimizerSettings& settings, const char* text, std::int64_t step = 1) {
        refusal({{"adam", start_, 1, adam_state(v, step, settings, 2)}}, text);
      };
  refuses({.learning_rate = -0.1}, "an optimiser whose learning rate is not");
  refuses({.learning_rate = kNaN}, "an optimiser whose learning rate is not");
  refuses({.beta1 = 1}, "beta1 is not from 0 to below 1");
  refuses({.beta2 = -0.5}, "beta2 is not from 0 to below 1");
  refuses({.epsilon = kNaN}, "epsilon is not from 0 on");
  refuses({.momentum = -1}, "momentum is not from 0 on");
  refuses({}, "less than one step", 0);
}

// P = (1 - 0.75) (sqrt(v / (1 - 0.75)) + 1) after one step, with beta1 as given; and a point
// without moments.
TEST_F(AnalyzeQuartic, TakesWhatIsKnownOfAnOptimiser) {
  const OptimizerSettings settings = {
      .learning_rate = 0.25, .beta1 = 0.5, .beta2 = 0.75, .epsilon = 1};
  const Eigen::Vector3d v(1, 4, 9);
  const Analysis analysis =
      analyze(objective_,
              {{"start", start_, 0}, {"end", end_, 1, adam_state(v, 1, settings, 2)}},
              {"stability"},
              {.options = {{"preconditioner", "adam"}, {"beta1", 0.75}}});
  const Eigen::Vector3d p = 0.25 * ((v / 0.25).array().sqrt() + 1);
  const double largest =
      (quartic_hessian(end_).diagonal().array() / p.array()).maxCoeff<Eigen::PropagateNaN>();
  const double limit = (2 + 2 * 0.75) / (1 - 0.75);
  EXPECT_NEAR(analysis["end"].number("stability", "adam_ratio"), largest * 0.25 / limit, 1e-14);
  EXPECT_EQ(analysis["start"].status("stability", "adam_ratio"), Status::kNotStored);
  ASSERT_EQ(analysis.warnings().size(), 1U);
  EXPECT_THAT(analysis.warnings()[0], HasSubstr("end: beta1 0.75 is taken as given"));
}

TEST_F(AnalyzeQuartic, RefusesAnalyzersThatNeedMoreThanAnObjective) {
  const auto with = [&](const char* name, const AnalyzeOptions& options = {}) {
    return [this, name, options] { analyze(objective_, {{"start", start_}}, {name}, options); };
  };
  EXPECT_THAT(with("ggn"), ThrowsMessage<ConfigError>(HasSubstr("no Gauss-Newton matrix")));
  EXPECT_THAT(with("alignment"), ThrowsMessage<ConfigError>(HasSubstr("signal-noise")));
  EXPECT_THAT(
      with("noise", {.options = {{"noise-sampling", "fresh"}}}),
      ThrowsMessage<ConfigError>(AllOf(
          HasSubstr("noise-sampling fresh"), HasSubstr("Problem"), HasSubstr("an objective"))));
}

TEST_F(AnalyzeQuartic, RefusesToStoreAMatrixThatIsNotAssembled) {
  const auto with = [&](SpectrumMethod method) {
    return [this, method] {
      analyze(objective_,
              {{"start", start_}},
              {"hessian"},
              {.options = {{"save-hessian", true}}, .method = method});
    };
  };
  EXPECT_THAT(with(SpectrumMethod::kMatrixFree),
              ThrowsMessage<ConfigError>(AllOf(HasSubstr("`save-hessian` takes the matrix"),
                                               HasSubstr("matrix-free does not assemble"))));
  EXPECT_NO_THROW(with(SpectrumMethod::kIterative)());
}

TEST(PointAnalysis, AssemblesAMatrixUpToASizeUnlessTold) {
  EXPECT_EQ(resolved(SpectrumMethod::kAuto, kLargestAssembled), SpectrumMethod::kDense);
  EXPECT_EQ(resolved(SpectrumMethod::kAuto, kLargestAssembled + 1), SpectrumMethod::kMatrixFree);
  EXPECT_EQ(resolved(SpectrumMethod::kIterative, kLargestAssembled + 1),
            SpectrumMethod::kIterative);
}

TEST_F(AnalyzeQuartic, StopsWhenProgressSaysSo) {
  std::vector<std::size_t> seen;
  const auto progress = [&](std::size_t index, std::size_t count, double fraction) {
    EXPECT_EQ(count, 2U);
    EXPECT_GE(fraction, 0);
    EXPECT_LE(fraction, 1);
    seen.push_back(index);
    return index < 1;
  };
  EXPECT_THROW(
      analyze(objective_, {{"start", start_}, {"end", end_}}, {"spectrum"}, {.progress = progress}),
      Interrupted);
  EXPECT_EQ(seen.back(), 1U);
}

}  // namespace
}  // namespace hesscope
