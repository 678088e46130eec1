// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/settings.h>

namespace hesscope {
namespace {

using Type = SettingKey::Type;

const std::vector<SettingKey> kKeys = {
    {.name = "layers", .type = Type::kInteger, .meaning = "number of layers", .minimum = 1},
    {.name = "heads",
     .type = Type::kInteger,
     .meaning = "number of heads",
     .minimum = 1,
     .maximum = 64,
     .fallback = SettingValue(std::int64_t{2})},
    {.name = "kernel",
     .type = Type::kText,
     .meaning = "similarity of two tokens",
     .choices = {"softmax", "gaussian"},
     .fallback = SettingValue(std::string("softmax"))},
    {.name = "scale",
     .type = Type::kReal,
     .meaning = "factor of the loss",
     .fallback = SettingValue(1.5)},
    {.name = "bias",
     .type = Type::kBoolean,
     .meaning = "whether there is a bias",
     .fallback = SettingValue(false)},
};

Settings checked(const std::map<std::string, SettingValue>& values,
                 const std::map<std::string, std::string>& locations = {}) {
  return Settings::checked(values, kKeys, "[model]", locations);
}

// The message of the ConfigError, or what was thrown (or not) instead.
std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const ConfigError& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("not a ConfigError: ") + error.what();
  }
  return "accepted";
}

std::int64_t integer(int value) { return value; }

TEST(Settings, ReturnsValuesAsGivenAndFallbacksForTheRest) {
  const Settings settings = checked({{"layers", integer(3)}, {"kernel", std::string("gaussian")}});
  EXPECT_EQ(settings.integer("layers"), 3);
  EXPECT_EQ(settings.text("kernel"), "gaussian");
  EXPECT_EQ(settings.integer("heads"), 2);
  EXPECT_EQ(settings.real("scale"), 1.5);
  EXPECT_FALSE(settings.boolean("bias"));
  EXPECT_TRUE(settings.has("bias"));
  EXPECT_FALSE(settings.has("widths"));
}

TEST(Settings, ListsAllValuesInTheOrderOfTheirNames) {
  const Settings settings = checked({{"layers", integer(3)}});
  std::vector<std::string> names;
  for (const auto& [name, value] : settings.values()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"bias", "heads", "kernel", "layers", "scale"}));
}

TEST(Settings, AcceptsAnIntegerWhereARealNumberIsAskedFor) {
  EXPECT_EQ(checked({{"layers", integer(1)}, {"scale", integer(4)}}).real("scale"), 4.0);
}

TEST(Settings, ConvertsNothingElse) {
  EXPECT_EQ(refusal([] { checked({{"layers", 3.0}}); }), "'layers' must be an integer");
  EXPECT_EQ(refusal([] { checked({{"layers", true}}); }), "'layers' must be an integer");
  EXPECT_EQ(refusal([] {
              checked({{"layers", integer(1)}, {"bias", integer(1)}});
            }),
            "'bias' must be true or false");
  EXPECT_EQ(refusal([] {
              checked({{"layers", integer(1)}, {"kernel", integer(1)}});
            }),
            "'kernel' must be a string");
  EXPECT_EQ(refusal([] {
              checked({{"layers", integer(1)}, {"scale", std::string("1.5")}});
            }),
            "'scale' must be a number");
}

TEST(Settings, RefusesANameOfNoFile) {
  const std::vector<SettingKey> keys = {{.name = "file", .meaning = "a file", .is_path = true}};
  EXPECT_EQ(refusal([&] {
              Settings::checked({{"file", std::string()}}, keys, "[data]", {{"file", "q.toml:6"}});
            }),
            "q.toml:6: 'file' must not be empty");
}

TEST(Settings, RefusesAnUnknownKeyWithTheNearestKnownOne) {
  EXPECT_EQ(refusal([] {
              checked({{"layer", integer(3)}});
            }),
            "unknown key 'layer' in [model] (did you mean 'layers'?); it takes layers, heads, "
            "kernel, scale, bias");
  EXPECT_EQ(refusal([] {
              checked({{"layers", integer(3)}, {"momentum", 0.9}});
            }),
            "unknown key 'momentum' in [model]; it takes layers, heads, kernel, scale, bias");
}

TEST(Settings, RefusesATextThatIsNotAmongTheChoices) {
  EXPECT_EQ(refusal([] {
              checked({{"layers", integer(1)}, {"kernel", std::string("gausian")}});
            }),
            "'kernel' must be one of softmax, gaussian, got 'gausian' (did you mean 'gaussian'?)");
}

TEST(Settings, RefusesAnIntegerOutsideItsRangeAndAcceptsTheEnds) {
  EXPECT_EQ(refusal([] {
              checked({{"layers", integer(0)}});
            }),
            "'layers' must be at least 1, got 0");
  EXPECT_EQ(refusal([] {
              checked({{"layers", integer(1)}, {"heads", integer(65)}});
            }),
            "'heads' must be between 1 and 64, got 65");
  EXPECT_EQ(checked({{"layers", integer(1)}, {"heads", integer(64)}}).integer("heads"), 64);
  EXPECT_EQ(checked({{"layers", INT64_MAX}}).integer("layers"), INT64_MAX);
}

TEST(Settings, RefusesTheAbsenceOfARequiredKey) {
  EXPECT_EQ(refusal([] { checked({}); }), "[model] needs the key 'layers' (number of layers)");
}

TEST(Settings, PutsTheLocationBeforeEveryMessage) {
  const std::map<std::string, std::string> locations = {{"", "problem.toml:1"},
                                                        {"layer", "problem.toml:2"},
                                                        {"layers", "problem.toml:3"},
                                                        {"kernel", "problem.toml:4"}};
  const auto place = [&](const std::map<std::string, SettingValue>& values) {
    const std::string message = refusal([&] { checked(values, locations); });
    return message.substr(0, message.find(": "));
  };
  EXPECT_EQ(place({}), "problem.toml:1");
  EXPECT_EQ(place({{"layer", integer(1)}}), "problem.toml:2");
  EXPECT_EQ(place({{"layers", 1.5}}), "problem.toml:3");
  EXPECT_EQ(place({{"layers", integer(0)}}), "problem.toml:3");
  EXPECT_EQ(place({{"layers", integer(1)}, {"kernel", std::string("cosine")}}), "problem.toml:4");
}

TEST(Settings, RefusesWhatHasNoEffectWithoutAnother) {
  const std::vector<SettingKey> keys = {
      {.name = "draws",
       .meaning = "how",
       .choices = {"fresh", "new", "old"},
       .fallback = SettingValue(std::string("old"))},
      {.name = "reference",
       .type = SettingKey::Type::kInteger,
       .meaning = "how many",
       .fallback = SettingValue(std::int64_t{3}),
       .only_with = SettingKey::Company{"draws", {"fresh", "new"}}}};
  const SettingValue three(std::int64_t{3});
  EXPECT_EQ(Settings::checked({}, keys, "[x]").integer("reference"), 3);
  EXPECT_EQ(Settings::checked({{"draws", std::string("new")}, {"reference", three}}, keys, "[x]")
                .integer("reference"),
            3);
  for (const auto& draws : {std::map<std::string, SettingValue>(),
                            std::map<std::string, SettingValue>{{"draws", std::string("old")}}}) {
    auto values = draws;
    values["reference"] = three;
    EXPECT_EQ(refusal([&] {
                Settings::checked(values, keys, "[x]", {{"reference", "a.toml:3"}});
              }),
              "a.toml:3: 'reference' in [x] goes with 'draws' fresh or new alone");
  }
}

TEST(Settings, ReadingAnotherKeyOrTypeIsAProgrammingError) {
  const Settings settings = checked({{"layers", integer(3)}});
  EXPECT_THROW(settings.integer("widths"), PreconditionError);
  EXPECT_THROW(settings.real("layers"), PreconditionError);
  EXPECT_THROW(settings.text("layers"), PreconditionError);
  EXPECT_THROW(settings.boolean("kernel"), PreconditionError);
  EXPECT_THROW(Settings().integer("layers"), PreconditionError);
}

TEST(Settings, LeavesOptionalKeysOut) {
  const std::vector<SettingKey> keys = {
      {.name = "width", .type = Type::kInteger, .meaning = "a width", .is_optional = true}};
  EXPECT_FALSE(Settings::checked({}, keys, "[x]").has("width"));
  EXPECT_EQ(Settings::checked({{"width", std::int64_t{3}}}, keys, "[x]").integer("width"), 3);
  EXPECT_THROW(Settings::checked({{"width", true}}, keys, "[x]"), ConfigError);
}

using Texts = std::vector<std::string>;
using Reals = std::vector<double>;

const std::vector<SettingKey> kListKeys = {
    {.name = "frozen", .type = Type::kTexts, .meaning = "names", .is_optional = true},
    {.name = "loss",
     .type = Type::kTexts,
     .meaning = "terms",
     .choices = {"mse", "huber"},
     .is_optional = true},
    {.name = "weights",
     .type = Type::kReals,
     .meaning = "of classes",
     .range = RealRange(),
     .is_optional = true},
    {.name = "decay",
     .type = Type::kReal,
     .meaning = "of weights",
     .range = RealRange{.minimum = 0, .maximum = 1},
     .is_optional = true},
    {.name = "inputs", .type = Type::kTable, .meaning = "by name", .is_optional = true},
    {.name = "file", .meaning = "a file", .is_optional = true, .is_path = true}};

Settings listed(const std::map<std::string, SettingValue>& values) {
  return Settings::checked(values, kListKeys, "[model]");
}

TEST(Settings, HasListsAndTables) {
  const Settings settings = listed({{"frozen", Texts{"a", "b"}},
                                    {"weights", Reals{1, 2.5}},
                                    {"inputs", SettingTable{{"ids", "tokens"}}}});
  EXPECT_EQ(settings.texts("frozen"), (Texts{"a", "b"}));
  EXPECT_EQ(settings.reals("weights"), (Reals{1, 2.5}));
  EXPECT_EQ(settings.table("inputs"), (SettingTable{{"ids", "tokens"}}));
  EXPECT_THROW(settings.reals("frozen"), PreconditionError);
  EXPECT_THROW(settings.texts("weights"), PreconditionError);
  EXPECT_THROW(settings.table("frozen"), PreconditionError);
}

TEST(Settings, TakesAListOfNothingForOneOfAnything) {
  EXPECT_TRUE(listed({{"weights", Texts{}}}).reals("weights").empty());
  EXPECT_TRUE(listed({{"frozen", Reals{}}}).texts("frozen").empty());
}

TEST(Settings, TakesOneNumberForAListWhereTheKeySaysSo) {
  const std::vector<SettingKey> keys = {{.name = "weight",
                                         .type = Type::kReals,
                                         .meaning = "of x",
                                         .range = RealRange(),
                                         .takes_one = true}};
  const auto weight = [&](const SettingValue& value) {
    return Settings::checked({{"weight", value}}, keys, "[x]").reals("weight");
  };
  EXPECT_EQ(weight(2.5), (Reals{2.5}));
  EXPECT_EQ(weight(integer(2)), (Reals{2}));
  EXPECT_EQ(weight(Reals{1, 2}), (Reals{1, 2}));
  EXPECT_EQ(refusal([&] { weight(-1.0); }), "'weight' must be numbers at least 0, got -1");
  EXPECT_EQ(refusal([&] { weight(std::string("2")); }), "'weight' must be a list of numbers");
}

TEST(Settings, TakesAListOfWholeNumbersForTextWhereTheKeySaysSo) {
  const std::vector<SettingKey> keys = {
      {.name = "widths", .meaning = "of y", .takes_numbers = true}};
  const auto widths = [&](const SettingValue& value) {
    return Settings::checked({{"widths", value}}, keys, "[x]").text("widths");
  };
  EXPECT_EQ(widths(Reals{64, 32}), "64,32");
  EXPECT_EQ(widths(Texts{}), "");
  EXPECT_EQ(widths(std::string("64,32")), "64,32");
  EXPECT_EQ(refusal([&] { widths(Reals{1.5}); }), "'widths' must be a string");
  EXPECT_EQ(refusal([&] { widths(Texts{"64"}); }), "'widths' must be a string");
}

TEST(Settings, SaysWhichListOrTableIsExpected) {
  EXPECT_EQ(refusal([] {
              listed({{"frozen", std::string("a")}});
            }),
            "'frozen' must be a list of strings");
  EXPECT_EQ(refusal([] { listed({{"frozen", Reals{1}}}); }), "'frozen' must be a list of strings");
  EXPECT_EQ(refusal([] { listed({{"weights", 1.0}}); }), "'weights' must be a list of numbers");
  EXPECT_EQ(refusal([] {
              listed({{"inputs", Texts{"a"}}});
            }),
            "'inputs' must be a table of strings");
  EXPECT_EQ(refusal([] { listed({{"file", Texts{"a"}}}); }), "'file' must be a string");
}

TEST(Settings, ChecksEachElementOfAList) {
  EXPECT_EQ(refusal([] {
              listed({{"loss", Texts{"mse", "hubert"}}});
            }),
            "'loss' must be one of mse, huber, got 'hubert' (did you mean 'huber'?)");
  EXPECT_EQ(refusal([] {
              listed({{"weights", Reals{1, -2}}});
            }),
            "'weights' must be numbers at least 0, got -2");
}

TEST(Settings, RefusesARealNumberOutsideItsRangeAndAcceptsTheEnds) {
  const auto refused = [](double value) { return refusal([&] { listed({{"decay", value}}); }); };
  EXPECT_EQ(refused(-0.5), "'decay' must be between 0 and 1, got -0.5");
  EXPECT_EQ(refused(std::nan("")), "'decay' must be between 0 and 1, got nan");
  EXPECT_EQ(refused(1), "accepted");
  EXPECT_EQ(refused(0), "accepted");
  EXPECT_FALSE(RealRange().contains(kInfinity));
}

TEST(Settings, SayWhichNumbersARangeHas) {
  EXPECT_EQ(kNonNegative.to_string(), "at least 0");
  EXPECT_EQ(kPositive.to_string(), "above 0");
  EXPECT_EQ(kBelowOne.to_string(), "at least 0 and below 1");
  EXPECT_EQ(kFinite.to_string(), "finite");
  EXPECT_EQ((RealRange{.maximum = 5, .excludes_minimum = true}).to_string(),
            "above 0 and at most 5");
  EXPECT_TRUE(kBelowOne.contains(0) && kBelowOne.contains(0.999));
  EXPECT_FALSE(kBelowOne.contains(1) || kBelowOne.contains(-1e-300) || kBelowOne.contains(kNaN));
  EXPECT_TRUE(kPositive.contains(5e-324));
  EXPECT_FALSE(kPositive.contains(0) || kPositive.contains(kInfinity));
  EXPECT_TRUE(kFinite.contains(-1e308));
  EXPECT_FALSE(kFinite.contains(-kInfinity) || kFinite.contains(kNaN));
}

TEST(Settings, RefusesLaterWhatItHasTaken) {
  const auto refusal = [](const std::map<std::string, std::string>& locations,
                          const std::string& key) {
    const Settings settings =
        Settings::checked({{"layers", std::int64_t{3}}}, kKeys, "[model]", locations);
    try {
      settings.refuse(key, "too many");
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(refusal({{"", "p.toml:1"}, {"layers", "p.toml:3"}}, "layers"), "p.toml:3: too many");
  EXPECT_EQ(refusal({{"", "p.toml:1"}, {"layers", "p.toml:3"}}, "heads"), "p.toml:1: too many");
  EXPECT_EQ(refusal({}, "layers"), "too many");
}

TEST(Settings, NamesFilesRelativeToAFolder) {
  const auto files = [](const std::map<std::string, SettingValue>& values) {
    return files_named(listed(values), kListKeys, "dir");
  };
  EXPECT_EQ(files({{"file", std::string("a.onnx")}, {"frozen", Texts{"b"}}}),
            (std::vector<std::filesystem::path>{"dir/a.onnx"}));
  EXPECT_EQ(files({{"file", std::string("/a.onnx")}}),
            (std::vector<std::filesystem::path>{"/a.onnx"}));
  EXPECT_TRUE(files({}).empty());
}

}  // namespace
}  // namespace hesscope
