// SPDX-License-Identifier: BSD-3-Clause
//
// Settings: the named values with which a component is configured (such as the [model] table of a
// problem file) and the keys it accepts. Components declare their keys as data; readers of
// configuration files check against the declaration, so that an unknown key is refused with a
// suggestion of the nearest known one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hesscope {

/// Texts by name: a table within a table of a configuration file, such as [model.inputs].
using SettingTable = std::map<std::string, std::string>;

using SettingValue = std::variant<bool,
                                  std::int64_t,
                                  double,
                                  std::string,
                                  std::vector<std::string>,
                                  std::vector<double>,
                                  SettingTable>;

/// Finite real numbers from a minimum to a maximum.
struct RealRange {
  double minimum = 0;
  double maximum = std::numeric_limits<double>::max();
  bool excludes_minimum = false;
  bool excludes_maximum = false;

  bool contains(double x) const {
    return (excludes_minimum ? x > minimum : x >= minimum) &&
           (excludes_maximum ? x < maximum : x <= maximum);
  }

  /// "at least 0", "between 0 and 1", "at least 0 and below 1", "above 0", "finite".
  std::string to_string() const;
};

inline constexpr RealRange kPositive{.excludes_minimum = true};
inline constexpr RealRange kNonNegative{};
inline constexpr RealRange kBelowOne{.maximum = 1, .excludes_maximum = true};  ///< [0, 1)
inline constexpr RealRange kFinite{.minimum = std::numeric_limits<double>::lowest()};

/// One key a component accepts.
struct SettingKey {
  enum class Type { kBoolean, kInteger, kReal, kText, kTexts, kReals, kTable };

  std::string name;
  Type type = Type::kText;
  std::string meaning = {};               ///< one line for help and errors
  std::vector<std::string> choices = {};  ///< for text: the accepted values; empty = any
  std::int64_t minimum = INT64_MIN;       ///< for integers
  std::int64_t maximum = INT64_MAX;       ///< for integers
  std::optional<RealRange> range = {};    ///< for real numbers, each of a list; none = any
  std::variant<std::monostate, SettingValue> fallback = {};  ///< value when absent; none = required
  bool is_optional = false;  ///< without a fallback: may be absent, and then stays so
  /// For text: the name of a file, relative to the folder of the file that contains it; not empty.
  bool is_path = false;
  /// For text that holds whole numbers separated by commas: a list of integers is accepted too.
  bool takes_numbers = false;
  /// For a list of numbers: a single number is accepted as a list of one.
  bool takes_one = false;
  std::string choices_note = {};  ///< added to the message if the value is not among the choices

  /// Another key, of type text, and those of its values with which a key has an effect.
  struct Company {
    std::string key;
    std::vector<std::string> values;

    bool is_in(const std::map<std::string, SettingValue>& settings) const;
  };

  /// If the other key is not set so, this key is refused, because it would have no effect.
  std::optional<Company> only_with = {};
};

/// "a list of strings": what a value of this type is called in messages.
std::string_view to_string(SettingKey::Type type);

/// Whether a configuration file writes the value as a single one, not as a list or a table.
bool is_single_value(SettingKey::Type type);

/// A required size: an integer in [1, maximum].
SettingKey size_key(std::string name, std::string meaning, std::int64_t maximum = 1'000'000);

/// Named values checked against a declaration.
class Settings {
 public:
  Settings() = default;

  /// Checks every value against the declaration and fills in fallbacks.
  /// @throws ConfigError naming the key: unknown (with the nearest known one), wrong type, not
  ///         among the choices, out of range, or required and absent.
  /// @param locations  the place of each key ("problem.toml:3"), which begins the message; the
  ///                   empty key stands for the place of the whole.
  static Settings checked(const std::map<std::string, SettingValue>& values,
                          std::span<const SettingKey> keys,
                          const std::string& context,
                          const std::map<std::string, std::string>& locations = {});

  bool has(const std::string& key) const { return values_.contains(key); }

  std::int64_t integer(const std::string& key) const;
  double real(const std::string& key) const;
  bool boolean(const std::string& key) const;
  const std::string& text(const std::string& key) const;
  const std::vector<std::string>& texts(const std::string& key) const;
  const std::vector<double>& reals(const std::string& key) const;
  const SettingTable& table(const std::string& key) const;

  /// @throws ConfigError "PLACE: WHAT", always. PLACE is what checked() was given for the key, or
  ///         else for the whole; without either, the message is WHAT alone.
  [[noreturn]] void refuse(const std::string& key, const std::string& what) const;

  /// All values, including fallbacks, in the order of their names.
  const std::map<std::string, SettingValue>& values() const { return values_; }

 private:
  template <typename T>
  const T& get(const std::string& key) const;

  std::map<std::string, SettingValue> values_;
  std::map<std::string, std::string> locations_;
};

/// The files that the values of keys with `is_path` name; empty texts name none.
/// @param folder  what relative names are relative to.
std::vector<std::filesystem::path> files_named(const Settings& settings,
                                               std::span<const SettingKey> keys,
                                               const std::filesystem::path& folder);

}  // namespace hesscope
