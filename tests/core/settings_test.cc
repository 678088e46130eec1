// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace hesscope
