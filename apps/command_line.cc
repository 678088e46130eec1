// SPDX-License-Identifier: BSD-3-Clause
#include "command_line.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/suggest.h>
#include <hesscope/core/version.h>

#include "help_text.h"
#include "standard_streams.h"

namespace hesscope::cli {
namespace {

const char* const kPurpose = "Exact Hessians and loss landscapes of small models";

// A number in decimal, nothing before or behind it. Not CLI11's reading, to which 010 is 8 and 0x10
// is 16.
template <typename T>
bool parse_number(const std::string& given, T& number) {
  const char* const end = given.data() + given.size();
  const auto [stop, error] = std::from_chars(given.data(), end, number);
  return error == std::errc() && stop == end;
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// What follows the last comma of "-n,--name".
std::string long_name(const std::string& names) { return names.substr(names.rfind(',') + 1); }

// Turns an argument into the key's type; returns what is wrong with it, or nothing.
std::string parse_setting(const SettingKey& key, const std::string& given, SettingValue& value) {
  switch (key.type) {
    case SettingKey::Type::kInteger: {
      std::int64_t number = 0;
      if (!parse_number(given, number) || number < key.minimum || number > key.maximum) {
        return key.maximum == INT64_MAX
                   ? fmt::format("must be an integer from {} on, got '{}'", key.minimum, given)
                   : fmt::format("must be an integer from {} to {}, got '{}'",
                                 key.minimum,
                                 key.maximum,
                                 given);
      }
      value = number;
      return {};
    }
    case SettingKey::Type::kReal: {
      double number = 0;
      if (!parse_number(given, number) || !std::isfinite(number)) {
        return fmt::format("must be a number, got '{}'", given);
      }
      value = number;
      return {};
    }
    default:
      value = given;
      const bool is_known =
          key.choices.empty() ||
          std::find(key.choices.begin(), key.choices.end(), given) != key.choices.end();
      return is_known ? std::string()
                      : fmt::format("must be one of {}, got '{}'{}",
                                    fmt::join(key.choices, ", "),
                                    given,
                                    did_you_mean(given, key.choices));
  }
}

std::string value_name_of(const SettingKey& key) {
  if (!key.choices.empty()) return fmt::format("{}", fmt::join(key.choices, "|"));
  switch (key.type) {
    case SettingKey::Type::kBoolean:
      return {};
    case SettingKey::Type::kInteger:
      return "N";
    case SettingKey::Type::kReal:
      return "X";
    case SettingKey::Type::kText:
      break;
  }
  return "TEXT";
}

// A remark at the end of the first line, before any list.
std::string with_remark(std::string help, const std::string& remark) {
  return help.insert(std::min(help.find('\n'), help.size()), " " + remark);
}

// The first letter in capitals, as in the other options' help, and the fallback.
std::string help_of(const SettingKey& key) {
  std::string help = key.meaning;
  if (!help.empty()) help[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(help[0])));
  const auto* fallback = std::get_if<SettingValue>(&key.fallback);
  if (fallback == nullptr) return help;
  if (const auto* number = std::get_if<std::int64_t>(fallback)) {
    return with_remark(help, fmt::format("(default: {})", *number));
  }
  if (const auto* real = std::get_if<double>(fallback)) {
    return with_remark(help, fmt::format("(default: {:g})", *real));
  }
  const auto* text = std::get_if<std::string>(fallback);
  if (text != nullptr && !text->empty()) {
    return with_remark(help, fmt::format("(default: {})", *text));
  }
  return help;
}

// "-n,--name" as people read it, with what follows it.
std::string shown(const std::string& names, const std::string& value_name) {
  std::string text = names;
  if (const std::size_t comma = text.find(','); comma != std::string::npos) {
    text.insert(comma + 1, " ");
  }
  return value_name.empty() ? text : text + " " + value_name;
}

// Makes options of the parser, and lines of the help.
class CliOptionTable final : public OptionTable {
 public:
  CliOptionTable(CLI::App& app, HelpText& help) : app_(&app), help_(&help) {}

  // Positional arguments and required options, for the line on usage.
  const std::string& usage() const { return usage_; }

  void group(const std::string& title) override { help_->begin_group(title); }

  void flag(const std::string& names, bool& target, const std::string& help) override {
    help_->add(shown(names, ""), help);
    app_->add_flag(names, target);
  }

  void counted_flag(const std::string& names, int& target, const std::string& help) override {
    help_->add(shown(names, ""), help);
    app_->add_flag(names, target);
  }

  void text(const std::string& names,
            std::string& target,
            const std::string& value_name,
            const std::string& help,
            bool required) override {
    help_->add(shown(names, value_name), required ? with_remark(help, "(required)") : help);
    if (required) usage_ += fmt::format(" {} {}", long_name(names), value_name);
    take_last(app_->add_option(names, target))->required(required);
  }

  void choice(const std::string& names,
              std::string& target,
              const std::vector<std::string>& choices,
              const std::string& help) override {
    const auto check = [choices](const std::string& given) -> std::string {
      if (std::find(choices.begin(), choices.end(), given) != choices.end()) return {};
      return fmt::format("must be one of {}, got '{}'{}",
                         fmt::join(choices, ", "),
                         given,
                         did_you_mean(given, choices));
    };
    help_->add(shown(names, fmt::format("{}", fmt::join(choices, "|"))), help);
    take_last(app_->add_option(names, target))->check(CLI::Validator(check, ""));
  }

  void list(const std::string& names,
            std::vector<std::string>& target,
            const std::string& value_name,
            const std::string& help) override {
    // One argument, split here: a vector option of CLI11 would also take the positionals after it.
    const auto split = [&target, names](const std::string& given) {
      target.clear();
      for (std::size_t first = 0; first <= given.size();) {
        const std::size_t comma = std::min(given.find(',', first), given.size());
        const std::string name = trimmed(given.substr(first, comma - first));
        if (!name.empty()) target.push_back(name);
        first = comma + 1;
      }
      if (target.empty()) throw CLI::ValidationError(long_name(names), "names nothing");
    };
    help_->add(shown(names, value_name), help);
    take_last(app_->add_option_function<std::string>(names, split));
  }

  void repeated(const std::string& names,
                std::vector<std::string>& target,
                const std::string& value_name,
                const std::string& help) override {
    help_->add(shown(names, value_name), help);
    app_->add_option(names, target)->allow_extra_args(false);
  }

  void integer(const std::string& names,
               int& target,
               int minimum,
               int maximum,
               const std::string& help) override {
    const auto parse = [&target, minimum, maximum, names](const std::string& given) {
      if (parse_number(given, target) && target >= minimum && target <= maximum) return;
      throw CLI::ValidationError(
          long_name(names),
          fmt::format("must be an integer from {} to {}, got '{}'", minimum, maximum, given));
    };
    help_->add(shown(names, "N"), help);
    take_last(app_->add_option_function<std::string>(names, parse));
  }

  void seed(const std::string& names, std::uint64_t& target, const std::string& help) override {
    constexpr std::uint64_t kEnd = 1'000'000'000'000'000'000;
    const auto parse = [&target, names](const std::string& given) {
      if (parse_number(given, target) && target < kEnd) return;
      throw CLI::ValidationError(
          long_name(names),
          fmt::format("must be a whole number from 0 to 10^18 - 1, got '{}'", given));
    };
    help_->add(shown(names, "N"), help);
    take_last(app_->add_option_function<std::string>(names, parse));
  }

  void setting(const SettingKey& key, std::map<std::string, SettingValue>& values) override {
    const std::string name = "--" + key.name;
    help_->add(shown(name, value_name_of(key)), help_of(key));
    if (key.type == SettingKey::Type::kBoolean) {
      app_->add_flag_callback(name, [&values, key] { values[key.name] = SettingValue(true); });
      return;
    }
    const auto parse = [&values, key, name](const std::string& given) {
      if (const std::string problem = parse_setting(key, given, values[key.name]);
          !problem.empty()) {
        throw CLI::ValidationError(name, problem);
      }
    };
    take_last(app_->add_option_function<std::string>(name, parse));
  }

  void positionals(const std::string& name,
                   std::vector<std::string>& target,
                   const std::string& help,
                   bool required) override {
    help_->add(name + "...", help);
    usage_ += required ? " " + name + "..." : " [" + name + "...]";
    app_->add_option(name, target)->required(required);
  }

  void positional(const std::string& name, std::string& target, const std::string& help) override {
    help_->add(name, help);
    usage_ += " " + name;
    app_->add_option(name, target)->required();
  }

 private:
  // An option given twice: the later one counts, so that a line can be recalled and amended.
  static CLI::Option* take_last(CLI::Option* option) {
    return option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }

  CLI::App* app_;
  HelpText* help_;
  std::string usage_;
};

// Declares a command's options to the parser; its help text.
std::string declare(Command& command, CLI::App& app) {
  HelpText options;
  CliOptionTable table(app, options);
  command.declare(table);
  options.begin_group("Help");
  options.add("-h, --help", "Print this text");
  std::string text = wrapped(command.summary(), 0);
  text += "\nUsage:\n" +
          wrapped_command(fmt::format("hesscope {}{} [OPTIONS]", command.name(), table.usage()));
  text += "\nExamples:\n";
  for (const std::string& example : command.examples()) text += wrapped_command(example);
  return text + options.text();
}

std::string help_of_program(const std::vector<std::unique_ptr<Command>>& commands) {
  HelpText lists;
  lists.begin_group("Commands");
  for (const auto& command : commands) lists.add(command->name(), command->summary());
  lists.begin_group("Options");
  lists.add("-h, --help", "Print this text; after a command, what it takes");
  lists.add("--version", "Print the version");
  std::string text = fmt::format(
      "{}\n\nUsage:\n  hesscope COMMAND [OPTIONS]\n{}\nExamples:\n", kPurpose, lists.text());
  for (const auto& command : commands) text += wrapped_command(command->examples().front());
  return text + "\n" +
         wrapped(
             "Exit codes: 0 done, 1 failed, 2 usage, 3 bad input file, 4 locked by another run, "
             "5 finished but a number failed, is not finite or is not proved; 129, 130 and 143 "
             "interrupted.",
             0);
}

std::vector<std::string> long_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

Invocation usage_error(const std::string& command, const std::string& message) {
  print_usage_error(command, message);
  return {nullptr, ExitCode::kUsage};
}

std::string message_of(const CLI::ParseError& error) {
  const std::string text = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    return text.substr(0, text.find(':')) + " needs a value";
  }
  return text.substr(0, text.find('\n'));
}

}  // namespace

Invocation parse_command_line(int argc,
                              const char* const* argv,
                              const std::vector<std::unique_ptr<Command>>& commands) {
  CLI::App app(kPurpose, "hesscope");
  app.set_version_flag("--version", fmt::format("hesscope {}", kVersion));
  app.require_subcommand(0, 1);
  std::map<std::string, std::pair<CLI::App*, Command*>> subcommands;
  std::vector<std::string> command_names;
  for (const auto& command : commands) {
    CLI::App* sub = app.add_subcommand(command->name(), command->summary());
    const std::string help = declare(*command, *sub);
    sub->formatter_fn(
        [help](const CLI::App*, const std::string&, CLI::AppFormatMode) { return help; });
    // Unknown options are collected so that the message can suggest the nearest known one.
    sub->allow_extras();
    subcommands[command->name()] = {sub, command.get()};
    command_names.push_back(command->name());
  }
  const std::string help = help_of_program(commands);
  app.formatter_fn(
      [help](const CLI::App*, const std::string&, CLI::AppFormatMode) { return help; });

  // "hesscope help COMMAND" is "hesscope COMMAND --help".
  std::vector<const char*> arguments(argv, argv + argc);
  if (argc > 1 && std::string_view(argv[1]) == "help") {
    arguments.erase(arguments.begin() + 1);
    arguments.insert(arguments.begin() + std::min(argc - 1, 2), "--help");
  }
  const std::string first = arguments.size() > 1 ? arguments[1] : "";
  if (arguments.size() > 1 && !first.starts_with('-') && !subcommands.contains(first)) {
    return usage_error("", unknown_name("command", first, command_names));
  }
  const std::string chosen = subcommands.contains(first) ? first : "";
  const auto unknown_option = [&](const CLI::App& sub) -> std::string {
    for (const std::string& extra : sub.remaining()) {
      if (extra == "--") continue;  // the mark before arguments that begin with '-'
      return extra.starts_with('-')
                 ? fmt::format("unknown option '{}'{}", extra, did_you_mean(extra, long_names(sub)))
                 : fmt::format("unexpected argument '{}'", extra);
    }
    return {};
  };
  try {
    app.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::Success& success) {  // --help, --version
    app.exit(success);
    return {};
  } catch (const CLI::ParseError& error) {
    // A mistyped option is the likelier mistake behind a missing one.
    const std::string message = unknown_option(chosen.empty() ? app : *subcommands[chosen].first);
    return usage_error(chosen, message.empty() ? message_of(error) : message);
  }
  if (chosen.empty()) {
    std::fputs(help.c_str(), stdout);  // main() sees to a full disk
    return {nullptr, argc > 1 ? ExitCode::kUsage : ExitCode::kDone};
  }
  const auto [sub, command] = subcommands[chosen];
  if (const std::string message = unknown_option(*sub); !message.empty()) {
    return usage_error(chosen, message);
  }
  return {command, ExitCode::kDone};
}

}  // namespace hesscope::cli
