// SPDX-License-Identifier: BSD-3-Clause
//
// Kinds of analyzers that a program adds to those built in.
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/analysis/analyze.h>
#include <hesscope/analyzers/analyzer_registry.h>
#include <hesscope/core/error.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/objective/functor_objective.h>

#include "support/files.h"
#include "support/maxima.h"

namespace hesscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// The largest |gradient_i|, times a factor.
class LargestSlope final : public Analyzer {
 public:
  explicit LargestSlope(double factor) : factor_(factor) {}

  Group analyze(PointAnalysis& point) const override {
    Group answer = declared();
    answer[largest_].set(factor_ * test::largest_magnitude(point.gradient()));
    return answer;
  }

 private:
  double factor_;
  VariableId largest_ = declare(
      {.name = "largest", .long_name = "largest slope", .definition = "max |g_i|", .headline = 1});
};

AnalyzerKind largest_slope(const std::string& name) {
  return {.name = name,
          .question = "how steep it is at most",
          .by_default = false,
          .options = {{.name = name + "-factor",
                       .type = SettingKey::Type::kReal,
                       .meaning = "what it is multiplied by",
                       .fallback = SettingValue(1.0)}},
          .create = [name](const Settings& settings) {
            return std::make_unique<LargestSlope>(settings.real(name + "-factor"));
          }};
}

TEST(RegisterAnalyzer, ItsAnswersAreThoseOfOthers) {
  register_analyzer(largest_slope("own-slope"));
  const auto objective =
      make_objective([](const auto& x, Eigen::Index) { return x(0) * x(0) - 3.0 * x(1); }, 2, 1);
  const std::vector<NamedPoint> points = {{"start", Eigen::Vector2d(4, 0)}};
  EXPECT_EQ(analyze(objective, points, {"own-slope"})[0].number("own-slope", "largest"), 8);
  const Analysis twice =
      analyze(objective, points, {"spectrum"}, {.options = {{"own-slope-factor", 2}}});
  EXPECT_EQ(twice[0].number("own-slope", "largest"), 16);
  const test::ScratchFolder folder;
  twice.write(folder / "out.h5");
  EXPECT_THAT(io::ResultReader(folder / "out.h5").read_doubles("own-slope", "largest"),
              testing::ElementsAre(16));
}

// Declares a number, a count and one number for each parameter, and answers as the test says.
class Careless final : public Analyzer {
 public:
  using Answer = std::function<void(Group& answer)>;

  explicit Careless(Answer answer) : answer_(std::move(answer)) {
    declare({.name = "number", .definition = "a number"});
    declare({.name = "count", .type = VariableType::kInt64, .definition = "a count"});
    declare({.name = "vector", .dimensions = {"parameter"}, .definition = "numbers"});
    declare({.name = "lost", .dimensions = {"nowhere"}, .definition = "numbers"});
  }

  Group analyze(PointAnalysis& /*point*/) const override {
    Group answer = declared();
    answer_(answer);
    return answer;
  }

 private:
  Answer answer_;
};

TEST(RegisterAnalyzer, AnswersThatAreNotAsDeclaredAreRefusedWhenTheyAreGiven) {
  static Careless::Answer answer;  // kinds stay
  register_analyzer({.name = "own-careless",
                     .question = "what goes wrong",
                     .create = [](const Settings&) { return std::make_unique<Careless>(answer); }});
  const auto objective =
      make_objective([](const auto& x, Eigen::Index) { return x(0) * x(0) - 3.0 * x(1); }, 2, 1);
  const auto refused = [&](const Careless::Answer& wrong, const char* text) {
    answer = wrong;
    EXPECT_THAT(
        [&] {
          analyze(objective, {{"start", Eigen::Vector2d(4, 0)}}, {"own-careless"});
        },
        ThrowsMessage<PreconditionError>(AllOf(HasSubstr("'own-careless'"), HasSubstr(text))));
  };
  refused([](Group& group) { group["vector"].set(Eigen::Vector3d(1, 2, 3)); },
          "'vector' must have 2 values, got 3");
  refused([](Group& group) { group["number"].set_count(1); },
          "'number' has values of another type");
  refused([](Group& group) { group["count"].set(1.0); }, "'count' has values of another type");
  refused([](Group& group) { group.add({.name = "more", .statuses = {Status::kFailed}}); },
          "'more' is in its answer, but not among what it declares");
  refused([](Group& group) { group.variables.clear(); }, "is declared, but not in its answer");
  refused([](Group& group) { group["lost"].set(1.0); }, "'lost' is declared along 'nowhere'");
  answer = [](Group& group) {
    group["vector"].set(Eigen::Vector2d(1, 2));
    group["count"].set_count(3);
    group.set_rest_missing(Status::kFailed);
  };
  const Analysis fine = analyze(objective, {{"start", Eigen::Vector2d(4, 0)}}, {"own-careless"});
  EXPECT_EQ(fine[0].number("own-careless", "count"), 3);
}

TEST(RegisterAnalyzer, RefusesWhatCannotBeNamedOrMade) {
  const auto refusal = [](AnalyzerKind entry, const char* text) {
    EXPECT_THAT([&] { register_analyzer(entry); },
                ThrowsMessage<PreconditionError>(HasSubstr(text)));
  };
  refusal(largest_slope("spectrum"), "there is an analyzer 'spectrum' already");
  refusal(largest_slope("Slope"), "lower-case letters");
  refusal(largest_slope("a/b"), "lower-case letters");
  refusal(largest_slope("loss"), "stands for something else");
  AnalyzerKind entry = largest_slope("own-other");
  entry.options.front().name = "eigenpairs";
  refusal(entry, "there is an option 'eigenpairs' already");
  entry.options.front() = {.name = "own-option", .meaning = "nothing"};
  refusal(entry, "'own-option' without a fallback");
  entry.options.front() = {.name = "own-option",
                           .type = SettingKey::Type::kReal,
                           .meaning = "nothing",
                           .fallback = SettingValue(std::int64_t{1})};
  refusal(entry, "'own-option' that is a number, with a fallback of another type");
  entry.create = nullptr;
  refusal(entry, "no function `create`");
}

TEST(CreateAnalyzer, RefusesNothing) {
  AnalyzerKind entry = largest_slope("own-nothing");
  entry.create = [](const Settings&) { return nullptr; };
  EXPECT_THROW(create_analyzer(entry, Settings::checked({}, entry.options, "")), PreconditionError);
}

// Declares one flag.
class Flagged final : public Analyzer {
 public:
  explicit Flagged(std::vector<std::string> meanings) {
    declare({.name = "verdict",
             .type = VariableType::kInt8,
             .definition = "which",
             .flag_meanings = std::move(meanings)});
  }

  Group analyze(PointAnalysis& /*point*/) const override { return declared(); }
};

TEST(CreateAnalyzer, RefusesFlagMeaningsThatAreNotOneWordEach) {
  const auto refused = [](const std::vector<std::string>& meanings, const char* text) {
    const AnalyzerKind entry = {
        .name = "own-flag", .question = "which", .create = [&](const Settings&) {
          return std::make_unique<Flagged>(meanings);
        }};
    EXPECT_THAT([&] { create_analyzer(entry, Settings::checked({}, {}, "")); },
                ThrowsMessage<PreconditionError>(
                    AllOf(HasSubstr("'own-flag'"), HasSubstr("'verdict'"), HasSubstr(text))));
  };
  refused({"saddle", "local minimum"}, "with underscores: 'local_minimum'");
  refused({"saddle", "line\nend"}, "'line\\x0aend' must be one word");
  refused({""}, "meaning of 0 is empty");
  refused({"flat", "flat"}, "'flat' is there twice");
}

// Results would say other things by the same name than definitions.md does.
TEST(DeclaredQuantities, HaveOneDefinitionWhateverIsChosen) {
  std::size_t num_compared = 0;
  for (const AnalyzerKind& kind : analyzer_kinds()) {
    const Group all = declared_quantities(kind);
    EXPECT_FALSE(all.variables.empty()) << kind.name;
    for (const SettingKey& key : kind.options) {
      std::vector<SettingValue> values;
      if (key.type == SettingKey::Type::kBoolean) values = {true};
      if (key.type == SettingKey::Type::kText) values = {key.choices.begin(), key.choices.end()};
      for (const SettingValue& value : values) {
        std::map<std::string, SettingValue> chosen = {{key.name, value}};
        if (key.only_with) chosen[key.only_with->key] = key.only_with->values.front();
        const auto analyzer = kind.create(Settings::checked(chosen, kind.options, kind.name));
        for (const Variable& variable : analyzer->declared().variables) {
          SCOPED_TRACE(kind.name + "/" + variable.name);
          EXPECT_EQ(all[variable.name].definition, variable.definition);
          EXPECT_EQ(all[variable.name].references, variable.references);
          EXPECT_EQ(all[variable.name].dimensions.size(), variable.dimensions.size() + 1);
          ++num_compared;
        }
      }
    }
  }
  EXPECT_GT(num_compared, 100U);
}

}  // namespace
}  // namespace hesscope
