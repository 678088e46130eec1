// SPDX-License-Identifier: BSD-3-Clause
#include "command_line.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>
#include <hesscope/core/version.h>

#include "help_text.h"
#include "manual.h"
#include "program_text.h"
#include "standard_streams.h"

namespace hesscope::cli {
namespace {

// The names of an option for help: "-n, --name VALUE".
std::string shown(const Option& option) {
  if (option.kind == Option::Kind::kPositionals) return option.names + "...";
  std::string text = option.names;
  if (const std::size_t comma = text.find(','); comma != std::string::npos) {
    text.insert(comma + 1, " ");
  }
  return option.value_name.empty() ? text : text + " " + option.value_name;
}

// Declares an option to the parser.
void add_option(Option& option, CLI::App& app) {
  const auto take = [&option](const std::string& given) {
    ++option.num_given;
    const std::string problem = option.take(given);
    if (!problem.empty()) throw CLI::ValidationError(option.long_name(), problem);
  };
  const auto take_all = [take](const std::vector<std::string>& given) {
    for (const std::string& each : given) take(each);
  };
  CLI::Option* added = nullptr;
  switch (option.kind) {
    case Option::Kind::kFlag:
      added = app.add_flag_function(option.names, [take](std::int64_t count) {
        constexpr std::int64_t kMany = 9;  // the parser also reads --flag=1000000
        for (count = std::min(count, kMany); count > 0; --count) take("");
      });
      break;
    case Option::Kind::kValue:
      // If an option is given twice, the later one counts, so that a line can be recalled and
      // amended.
      added = app.add_option_function<std::string>(option.names, take)
                  ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
      break;
    case Option::Kind::kPositional:
      added = app.add_option_function<std::string>(option.names, take);
      break;
    case Option::Kind::kRepeated:
      added = app.add_option_function<std::vector<std::string>>(option.names, take_all)
                  ->allow_extra_args(false);
      break;
    case Option::Kind::kPositionals:
      added = app.add_option_function<std::vector<std::string>>(option.names, take_all);
      break;
  }
  added->required(option.is_required);
}

// How the usage line shows an option.
std::string usage_of(const Option& option) {
  if (option.kind == Option::Kind::kPositionals) {
    return option.is_required ? " " + option.names + "..." : " [" + option.names + "...]";
  }
  if (!option.is_required) return {};
  return " " +
         (option.is_positional() ? option.names : option.long_name() + " " + option.value_name);
}

// Declares a command's options to the parser. Returns its help text.
std::string declare(Command& command, CLI::App& app) {
  command.declare(command.options());
  HelpText options;
  for (const std::string& group : command.options().groups()) options.begin_group(group);
  std::string usage;
  for (Option& option : command.options().options()) {
    options.begin_group(option.group);
    options.add(shown(option), option.help);
    usage += usage_of(option);
    add_option(option, app);
  }
  options.begin_group("Help");
  options.add("-h, --help", "Print this text");
  std::string text = wrapped(command.summary(), 0);
  text +=
      "\nUsage:\n" + wrapped_command(fmt::format("hesscope {}{} [OPTIONS]", command.name(), usage));
  text += "\nExamples:\n";
  for (const std::string& example : command.examples()) text += wrapped_command(example);
  return text + options.text();
}

std::string help_of_program(const std::vector<std::unique_ptr<Command>>& commands) {
  HelpText lists;
  lists.begin_group("Commands");
  for (const auto& command : commands) lists.add(command->name(), command->summary());
  lists.begin_group("Options");
  for (const Meaning& option : program_options()) lists.add(option.term, option.text);
  std::string text = fmt::format(
      "{}\n\nUsage:\n  hesscope COMMAND [OPTIONS]\n{}\nExamples:\n", kPurpose, lists.text());
  for (const auto& command : commands) text += wrapped_command(command->examples().front());
  std::vector<std::string> codes;
  for (const Meaning& code : exit_codes()) codes.push_back(code.term + " " + code.text);
  return text + "\n" + wrapped(fmt::format("Exit codes: {}.", fmt::join(codes, "; ")), 0);
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

Invocation print_manual(const std::string& folder,
                        const std::vector<std::unique_ptr<Command>>& commands,
                        bool is_of_ranks) {
  try {
    for (const auto& file : write_manual(folder, commands, is_of_ranks)) {
      print_text("{}\n", file.string());
    }
    return {};
  } catch (const OutputError& error) {
    print_message("hesscope: {}\n", error.what());
    return {nullptr, ExitCode::kFailed};
  }
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
                              const std::vector<std::unique_ptr<Command>>& commands,
                              bool is_of_ranks) {
  CLI::App app(kPurpose, "hesscope");
  app.set_version_flag("--version", fmt::format("hesscope {}", kVersion));
  std::string manual_folder;
  app.add_option("--write-manual", manual_folder);
  app.require_subcommand(0, 1);
  std::map<std::string, std::pair<CLI::App*, Command*>> subcommands;
  std::vector<std::string> command_names;
  for (const auto& command : commands) {
    CLI::App* sub = app.add_subcommand(command->name(), command->summary());
    std::string help = declare(*command, *sub);
    sub->formatter_fn(
        [help](const CLI::App*, const std::string&, CLI::AppFormatMode) { return help; });
    // Unknown options are collected so that the message can suggest the nearest known one.
    sub->allow_extras();
    subcommands[command->name()] = {sub, command.get()};
    command_names.push_back(command->name());
  }
  std::string help = help_of_program(commands);
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
    std::ostringstream text;
    app.exit(success, text, text);
    write_text(text.str());
    return {};
  } catch (const CLI::ParseError& error) {
    // If an argument is missing, a mistyped option is the more likely mistake.
    const std::string message = unknown_option(chosen.empty() ? app : *subcommands[chosen].first);
    return usage_error(chosen, message.empty() ? message_of(error) : message);
  }
  if (chosen.empty() && !manual_folder.empty()) {
    return print_manual(manual_folder, commands, is_of_ranks);
  }
  if (chosen.empty()) {
    write_text(help);
    return {nullptr, argc > 1 ? ExitCode::kUsage : ExitCode::kDone};
  }
  const auto [sub, command] = subcommands[chosen];
  if (const std::string message = unknown_option(*sub); !message.empty()) {
    return usage_error(chosen, message);
  }
  if (const std::string misfit = command->options().misfit(); !misfit.empty()) {
    return usage_error(chosen, misfit);
  }
  return {command, ExitCode::kDone};
}

}  // namespace hesscope::cli
