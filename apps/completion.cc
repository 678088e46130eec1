// SPDX-License-Identifier: BSD-3-Clause
#include "completion.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "program_text.h"

namespace hesscope::cli {
namespace {

// Whether a value is the name of a file, and of which kind.
struct Paths {
  bool are_files = false;
  bool are_folders = false;
  std::string extension = {};  // "toml"; empty = any
};

// The name of a value says what it is: FILE, OUT.h5, DIR, CHECKPOINT; see `hesscope --help`.
Paths paths_of(const Option& option) {
  const std::string& name = option.is_positional() ? option.names : option.value_name;
  if (name == "DIR") return {.are_folders = true};
  if (name == "RESULT") return {.are_files = true, .extension = "h5"};
  if (name == "EXPERIMENT") return {.are_files = true, .extension = "toml"};
  constexpr std::array<std::string_view, 4> kAnyFiles = {"FILE", "CHECKPOINT", "IN", "OUT"};
  const std::size_t dot = name.find('.');
  const bool is_file =
      std::ranges::find(kAnyFiles, std::string_view(name).substr(0, dot)) != kAnyFiles.end();
  if (!is_file) return {};
  const bool has_choice = name.find('|') != std::string::npos;
  return {.are_files = true,
          .extension = dot == std::string::npos || has_choice ? "" : name.substr(dot + 1)};
}

// "-o" and "--output" for "-o,--output".
std::vector<std::string> spellings_of(const Option& option) {
  const std::size_t comma = option.names.find(',');
  if (comma == std::string::npos) return {option.names};
  return {option.names.substr(0, comma), option.names.substr(comma + 1)};
}

// The first sentence of a help text, without special characters.
std::string short_help(const Option& option) {
  std::string text = option.help.substr(0, option.help.find('\n'));
  for (const std::string_view end : {". ", "; ", " (required)", " (default: "}) {
    text = text.substr(0, text.find(end));
  }
  return text;
}

bool takes_value(const Option& option) { return option.kind != Option::Kind::kFlag; }

// A word in single quotes for bash and zsh.
std::string single_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::vector<std::string> command_names(const std::vector<std::unique_ptr<Command>>& commands) {
  std::vector<std::string> names;
  for (const auto& command : commands) names.push_back(command->name());
  return names;
}

// --- bash ---------------------------------------------------------------------------------------

// The bash code that completes a value of this option.
std::string bash_action(const Option& option) {
  if (!option.choices.empty()) {
    return fmt::format("{} {}",
                       option.takes_list ? "_hesscope_list" : "_hesscope_words",
                       single_quoted(fmt::format("{}", fmt::join(option.choices, " "))));
  }
  const Paths paths = paths_of(option);
  if (paths.are_folders) return "_hesscope_folders";
  if (paths.are_files) return fmt::format("_hesscope_files {}", single_quoted(paths.extension));
  return ":";
}

std::string bash_case(const Command& command) {
  std::string values;
  std::string positional;
  std::vector<std::string> names;
  for (const Option& option : command.options().options()) {
    if (option.is_positional()) {
      positional = positional.empty() ? bash_action(option) : positional;
      continue;
    }
    for (const std::string& name : spellings_of(option)) names.push_back(name);
    if (!takes_value(option)) continue;
    values += fmt::format("        {}) {}; return ;;\n",
                          fmt::format("{}", fmt::join(spellings_of(option), "|")),
                          bash_action(option));
  }
  names.insert(names.end(), {"-h", "--help"});
  std::string text = fmt::format("    {})\n", command.name());
  if (!values.empty()) text += fmt::format("      case $previous in\n{}      esac\n", values);
  return text + fmt::format(
                    "      if [[ $current == -* ]]; then\n"
                    "        _hesscope_words {}\n"
                    "      else\n"
                    "        {}\n"
                    "      fi ;;\n",
                    single_quoted(fmt::format("{}", fmt::join(names, " "))),
                    positional.empty() ? ":" : positional);
}

constexpr char kBashHead[] =
    R"(# Completion of hesscope for bash, written by `hesscope --write-manual`.

# Those of the words that the current one begins.
_hesscope_words() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
}

# The same of the last item between commas.
_hesscope_list() {
  local before=
  [[ $current == *,* ]] && before=${current%,*},
  mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "${current##*,}")
}

# Files that end in .$1, and folders.
_hesscope_files() {
  compopt -o filenames -o plusdirs 2>/dev/null
  if [[ -n $1 ]]; then
    mapfile -t COMPREPLY < <(compgen -f -X "!*.$1" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}

_hesscope_folders() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -d -- "$current")
}

_hesscope() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
)";

// --- zsh ----------------------------------------------------------------------------------------

// Text within [...] of _arguments, or before a colon.
std::string zsh_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string zsh_action(const Option& option) {
  if (!option.choices.empty()) {
    const std::string words = fmt::format("{}", fmt::join(option.choices, " "));
    return option.takes_list ? fmt::format("_sequence compadd - {}", words)
                             : fmt::format("({})", words);
  }
  const Paths paths = paths_of(option);
  if (paths.are_folders) return "_files -/";
  if (!paths.are_files) return " ";
  return paths.extension.empty() ? "_files"
                                 : fmt::format("_files -g \"*.{}(-.)\"", paths.extension);
}

std::string zsh_spec(const Option& option) {
  const std::string value_name = option.is_positional() ? option.names : option.value_name;
  const std::string value = fmt::format(":{}:{}", zsh_escaped(value_name), zsh_action(option));
  switch (option.kind) {
    case Option::Kind::kPositional:
      return single_quoted(value);
    case Option::Kind::kPositionals:
      return single_quoted("*" + value);
    default:
      break;
  }
  // Flags may be given twice, and if a value is given twice, the last one counts.
  const std::string end =
      fmt::format("[{}]{}", zsh_escaped(short_help(option)), takes_value(option) ? value : "");
  const std::vector<std::string> names = spellings_of(option);
  if (names.size() == 1) return single_quoted("*" + names[0] + end);
  return fmt::format("'*'{{{}}}{}", fmt::join(names, ","), single_quoted(end));
}

// --- fish ---------------------------------------------------------------------------------------

std::string fish_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

// The arguments of `complete` that describe a value.
std::string fish_value(const Option& option) {
  if (!option.choices.empty()) {
    const std::string words = fmt::format("{}", fmt::join(option.choices, " "));
    if (!option.takes_list) return " -x -a " + fish_quoted(words);
    return fmt::format(" -x -a {}", fish_quoted("(__fish_append , " + words + ")"));
  }
  const Paths paths = paths_of(option);
  if (paths.are_folders) return " -x -a '(__fish_complete_directories)'";
  if (!paths.are_files) return " -x";
  if (paths.extension.empty()) return " -r -F";
  return fmt::format(" -k -x -a '(__fish_complete_suffix .{})'", paths.extension);
}

std::string fish_line(const std::string& command, const Option& option) {
  std::string line =
      fmt::format("complete -c hesscope -n '__fish_seen_subcommand_from {}'", command);
  if (option.is_positional()) {
    const std::string value = fish_value(option);
    const bool is_any = value == " -r -F";
    return line + (is_any ? " -F"
                          : value.substr(0, value.find(" -x")) + " -F" +
                                value.substr(value.find(" -x") + 3));
  }
  for (const std::string& name : spellings_of(option)) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  return line + (takes_value(option) ? fish_value(option) : "") + " -d " +
         fish_quoted(short_help(option));
}

}  // namespace

std::string bash_completion(const std::vector<std::unique_ptr<Command>>& commands) {
  std::vector<std::string> first = command_names(commands);
  std::vector<std::string> options;
  for (const auto& [names, meaning] : program_options()) {
    for (std::string_view rest = names; !rest.empty();) {
      const std::size_t end = std::min(rest.find_first_of(", "), rest.size());
      if (rest.starts_with('-')) options.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  std::string text = kBashHead;
  text += fmt::format(
      "  if ((COMP_CWORD == 1)); then\n"
      "    if [[ $current == -* ]]; then\n"
      "      _hesscope_words {}\n"
      "    else\n"
      "      _hesscope_words {}\n"
      "    fi\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n"
      "    help) _hesscope_words {} ;;\n"
      "    --write-manual) _hesscope_folders ;;\n",
      single_quoted(fmt::format("{}", fmt::join(options, " "))),
      single_quoted(fmt::format("{} help", fmt::join(first, " "))),
      single_quoted(fmt::format("{}", fmt::join(first, " "))));
  for (const auto& command : commands) text += bash_case(*command);
  return text + "  esac\n}\n\ncomplete -F _hesscope hesscope\n";
}

std::string zsh_completion(const std::vector<std::unique_ptr<Command>>& commands) {
  std::string text =
      "#compdef hesscope\n"
      "# Completion of hesscope for zsh, written by `hesscope --write-manual`.\n\n"
      "_hesscope() {\n"
      "  local curcontext=$curcontext state line\n"
      "  typeset -A opt_args\n"
      "  local -a commands=(\n";
  for (const auto& command : commands) {
    text += fmt::format("    {}\n",
                        single_quoted(zsh_escaped(command->name()) + ":" + command->summary()));
  }
  text +=
      "  )\n"
      "  _arguments -C \\\n"
      "    '(- *)'{-h,--help}'[Print the help text]' \\\n"
      "    '(- *)--version[Print the version]' \\\n"
      "    '(- *)--write-manual[Write manual pages and completions below a folder]:DIR:_files -/' "
      "\\\n"
      "    '1:command:{ _describe command commands }' \\\n"
      "    '*::argument:->arguments'\n"
      "  [[ $state == arguments ]] || return\n"
      "  case $words[1] in\n"
      "    help) _describe command commands ;;\n";
  for (const auto& command : commands) {
    text += fmt::format("    {})\n      _arguments -s \\\n", command->name());
    for (const Option& option : command->options().options()) {
      text += fmt::format("        {} \\\n", zsh_spec(option));
    }
    text += "        '(- *)'{-h,--help}'[Print the help text]' ;;\n";
  }
  return text + "  esac\n}\n\n_hesscope \"$@\"\n";
}

std::string fish_completion(const std::vector<std::unique_ptr<Command>>& commands) {
  std::string text =
      "# Completion of hesscope for fish, written by `hesscope --write-manual`.\n\n"
      "complete -c hesscope -f\n"
      "complete -c hesscope -s h -l help -d 'Print the help text'\n"
      "complete -c hesscope -n __fish_use_subcommand -l version -d 'Print the version'\n"
      "complete -c hesscope -n __fish_use_subcommand -l write-manual -x "
      "-a '(__fish_complete_directories)' "
      "-d 'Write manual pages and completions below a folder'\n";
  for (const auto& command : commands) {
    text += fmt::format("complete -c hesscope -n __fish_use_subcommand -a {} -d {}\n",
                        command->name(),
                        fish_quoted(command->summary()));
  }
  text += fmt::format("complete -c hesscope -n '__fish_seen_subcommand_from help' -a {}\n",
                      fish_quoted(fmt::format("{}", fmt::join(command_names(commands), " "))));
  for (const auto& command : commands) {
    text += "\n";
    for (const Option& option : command->options().options()) {
      text += fish_line(command->name(), option) + "\n";
    }
  }
  return text;
}

}  // namespace hesscope::cli
