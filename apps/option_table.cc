// SPDX-License-Identifier: BSD-3-Clause
#include "option_table.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/parse_number.h>
#include <hesscope/core/shell.h>

#include "library_names.h"
#include "option_values.h"

namespace hesscope::cli {
namespace {

// "-a.npz" without a "--" before it.
std::string positional_word(const std::string& given) {
  return " " + shell_word(given.starts_with('-') ? "./" + given : given);
}

// "./-a.npz" and "-a.npz" name the same file: the first becomes the second, so that a run that was
// begun with one form continues with the other.
void take_positional(Option& option) {
  option.take = [take = option.take](const std::string& given) {
    return take(given.starts_with("./-") ? given.substr(2) : given);
  };
}

}  // namespace

Option& Option::required() {
  is_required = true;
  if (!is_positional()) help = with_remark(help, "(required)");
  return *this;
}

Option& Option::only_with(const std::string& what, std::function<bool()> is_there) {
  goes_with.push_back({what, std::move(is_there)});
  return *this;
}

Option& Option::alone() {
  stands_alone = true;
  return *this;
}

Option& Option::unrecorded() {
  is_recorded = false;
  return *this;
}

Option& Option::offering(std::vector<std::string> values) {
  choices = std::move(values);
  return *this;
}

void OptionTable::group(const std::string& title) {
  group_ = title;
  if (std::find(groups_.begin(), groups_.end(), title) == groups_.end()) groups_.push_back(title);
}

Option& OptionTable::add(const std::string& names,
                         const std::string& value_name,
                         const std::string& help,
                         Option::Kind kind) {
  options_.push_back(
      {.names = names, .value_name = value_name, .help = help, .group = group_, .kind = kind});
  return options_.back();
}

template <typename Value>
Option& OptionTable::value(const std::string& names,
                           Value& target,
                           const std::string& value_name,
                           const std::string& help,
                           std::function<std::string(const std::string&)> take) {
  Option& option = add(names, value_name, help, Option::Kind::kValue);
  option.take = std::move(take);
  option.written = [&target, initial = target, name = option.long_name()]() -> std::string {
    return target == initial ? "" : fmt::format(" {} {}", name, shell_word(fmt::to_string(target)));
  };
  return option;
}

Option& OptionTable::flag(const std::string& names, bool& target, const std::string& help) {
  Option& option = add(names, "", help, Option::Kind::kFlag);
  option.take = [&target](const std::string&) { return target = true, std::string(); };
  option.written = [&target, name = option.long_name()] { return target ? " " + name : ""; };
  return option;
}

void OptionTable::how_to_print(bool& json, bool& quiet, const std::string& on_quiet) {
  for (Option* option : {&flag("--json", json, "Print one JSON document on stdout"),
                         &flag("-q,--quiet", quiet, on_quiet)}) {
    option->says_how = true;
    option->unrecorded();
  }
}

Option& OptionTable::counted_flag(const std::string& names, int& target, const std::string& help) {
  Option& option = add(names, "", help, Option::Kind::kFlag);
  option.take = [&target](const std::string&) { return ++target, std::string(); };
  option.written = [&target, name = option.long_name()] {
    std::string all;
    for (int i = 0; i < target; ++i) all += " " + name;
    return all;
  };
  return option;
}

Option& OptionTable::text(const std::string& names,
                          std::string& target,
                          const std::string& value_name,
                          const std::string& help) {
  return value(names, target, value_name, help, [&target](const std::string& given) {
    return target = given, std::string();
  });
}

Option& OptionTable::output(std::string& target,
                            const std::string& value_name,
                            const std::string& help) {
  return value("-o,--output", target, value_name, help, [&target](const std::string& given) {
    if (given == "-") {
      return std::string(
          "'-' is no output: what is written are files, so name one; --json prints to standard "
          "output");
    }
    return target = given, std::string();
  });
}

Option& OptionTable::choice(const std::string& names,
                            std::string& target,
                            const std::vector<std::string>& choices,
                            const std::string& help) {
  return value(names,
               target,
               fmt::format("{}", fmt::join(choices, "|")),
               help,
               [&target, choices](const std::string& given) {
                 return target = given, choice_problem(choices, given);
               })
      .offering(choices);
}

Option& OptionTable::list(const std::string& names,
                          std::vector<std::string>& target,
                          const std::string& value_name,
                          const std::string& help) {
  Option& option = add(names, value_name, help, Option::Kind::kValue);
  option.takes_list = true;
  option.take = [&target](const std::string& given) -> std::string {
    target = listed(given);
    return target.empty() ? "names nothing" : "";
  };
  option.written = [&target, name = option.long_name()]() -> std::string {
    if (target.empty()) return {};
    return fmt::format(" {} {}", name, shell_word(fmt::format("{}", fmt::join(target, ","))));
  };
  return option;
}

Option& OptionTable::repeated(const std::string& names,
                              std::vector<std::string>& target,
                              const std::string& value_name,
                              const std::string& help) {
  Option& option = add(names, value_name, help, Option::Kind::kRepeated);
  option.take = [&target](const std::string& given) {
    return target.push_back(given), std::string();
  };
  option.written = [&target, name = option.long_name()] {
    std::string all;
    for (const std::string& each : target) all += fmt::format(" {} {}", name, shell_word(each));
    return all;
  };
  return option;
}

Option& OptionTable::reals(const std::string& names,
                           std::vector<double>& target,
                           const std::string& value_name,
                           const std::string& help) {
  Option& option = add(names, value_name, help, Option::Kind::kRepeated);
  option.take = [&target](const std::string& given) {
    const SettingKey key = {.name = {}, .type = SettingKey::Type::kReal, .meaning = {}};
    SettingValue value;
    std::string problem = parse_setting(key, given, value);
    if (problem.empty()) target.push_back(std::get<double>(value));
    return problem;
  };
  option.written = [&target, name = option.long_name()] {
    std::string all;
    for (const double each : target) all += fmt::format(" {} {}", name, each);
    return all;
  };
  return option;
}

Option& OptionTable::integer(
    const std::string& names, int& target, int minimum, int maximum, const std::string& help) {
  return value(names,
               target,
               "N",
               help,
               [&target, minimum, maximum](const std::string& given) -> std::string {
                 const auto number = parse_number<int>(given);
                 if (!number || *number < minimum || *number > maximum) {
                   return fmt::format(
                       "must be an integer from {} to {}, got '{}'", minimum, maximum, given);
                 }
                 target = *number;
                 return {};
               });
}

Option& OptionTable::length(const std::string& names,
                            double& target,
                            double minimum,
                            double maximum,
                            const std::string& help) {
  return value(names,
               target,
               "LENGTH",
               help,
               [&target, minimum, maximum](const std::string& given) -> std::string {
                 target = parse_length(given);
                 if (target >= minimum && target <= maximum) return {};
                 return fmt::format(
                     "must be from {} to {} points, as 240, 85mm, 8.5cm or 3.4in, got '{}'",
                     minimum,
                     maximum,
                     given);
               });
}

Option& OptionTable::seed(const std::string& names,
                          std::uint64_t& target,
                          const std::string& help) {
  return value(names, target, "N", help, [&target](const std::string& given) -> std::string {
    constexpr std::uint64_t kEnd = 1'000'000'000'000'000'000;
    const auto number = parse_number<std::uint64_t>(given);
    if (!number || *number >= kEnd) {
      return fmt::format("must be a whole number from 0 to 10^18 - 1, got '{}'", given);
    }
    target = *number;
    return {};
  });
}

Option& OptionTable::setting(const SettingKey& key, std::map<std::string, SettingValue>& values) {
  Option& option =
      add("--" + key.name,
          value_name_of(key),
          help_of(key),
          key.type == SettingKey::Type::kBoolean ? Option::Kind::kFlag : Option::Kind::kValue);
  option.choices = key.choices;
  option.takes_list = key.type == SettingKey::Type::kTexts;
  option.take = [&values, key](const std::string& given) {
    return parse_setting(key, given, values[key.name]);
  };
  if (std::find(recorded_maps_.begin(), recorded_maps_.end(), &values) == recorded_maps_.end()) {
    recorded_maps_.push_back(&values);
    option.written = [&values] { return settings_text(values); };
  } else {
    option.unrecorded();
  }
  if (key.only_with) {
    option.only_with(
        fmt::format("--{} {}", key.only_with->key, fmt::join(key.only_with->values, " or ")),
        [&values, company = *key.only_with] { return company.is_in(values); });
  }
  return option;
}

Option& OptionTable::positionals(const std::string& name,
                                 std::vector<std::string>& target,
                                 const std::string& help) {
  Option& option = repeated(name, target, "", help);
  option.kind = Option::Kind::kPositionals;
  take_positional(option);
  option.written = [&target] {
    std::string all;
    for (const std::string& each : target) all += positional_word(each);
    return all;
  };
  return option;
}

Option& OptionTable::positional(const std::string& name,
                                std::string& target,
                                const std::string& help) {
  Option& option = text(name, target, "", help);
  option.kind = Option::Kind::kPositional;
  take_positional(option);
  option.written = [&target] { return positional_word(target); };
  return option.required();
}

std::string OptionTable::recorded() const {
  std::string all;
  for (const Option& option : options_) {
    if (option.is_recorded) all += option.written();
  }
  return all;
}

std::string OptionTable::misfit() const {
  for (const Option& option : options_) {
    if (option.num_given == 0) continue;
    std::vector<std::string> missing;
    for (const Option::Company& company : option.goes_with) {
      if (!company.is_there()) missing.push_back(company.what);
    }
    if (!missing.empty()) {
      return fmt::format("{} goes with {} alone", option.long_name(), fmt::join(missing, " and "));
    }
    if (!option.stands_alone) continue;
    for (const Option& other : options_) {
      const bool fits = &other == &option || other.num_given == 0 || other.says_how ||
                        (other.is_positional() && other.is_required);
      if (!fits)
        return fmt::format("{} does not go with {}", other.long_name(), option.long_name());
    }
  }
  return {};
}

std::string OptionTable::flag_of(const std::string& name) const {
  std::string flag = option_named(name);
  const std::string first = flag.substr(0, flag.find(' '));
  const bool is_option = std::any_of(options_.begin(), options_.end(), [&](const Option& option) {
    return option.long_name() == first;
  });
  return is_option ? flag : "";
}

std::string OptionTable::with_flags(const std::string& message) const {
  return with_names_replaced(message, [&](const std::string& name) {
    const std::string flag = flag_of(name);
    const std::string command = command_of(name);
    return !flag.empty() || command.empty() ? flag : "`" + command + "`";
  });
}

}  // namespace hesscope::cli
