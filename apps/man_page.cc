// SPDX-License-Identifier: BSD-3-Clause
#include "man_page.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include <hesscope/core/ascii.h>
#include <hesscope/core/version.h>

#include "help_text.h"
#include "program_text.h"

namespace hesscope::cli {
namespace {

// Text that roff prints unchanged: characters that it would change are escaped.
std::string roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '\\':
        escaped += "\\e";
        break;
      case '-':
        escaped += "\\-";
        break;
      case '\'':
        escaped += "\\(aq";
        break;
      case '`':
        escaped += "\\(ga";
        break;
      case '^':
        escaped += "\\(ha";
        break;
      case '~':
        escaped += "\\(ti";
        break;
      case '"':
        escaped += "\\(dq";
        break;
      default:
        escaped += c;
    }
  }
  return escaped.starts_with('.') ? "\\&" + escaped : escaped;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }

std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

// A summary for the NAME section: its first letter is small, unless it begins with a name.
std::string in_sentence(std::string text) {
  const bool is_word = text.size() > 1 && text[1] >= 'a' && text[1] <= 'z';
  const bool is_article = text.starts_with("A ");
  if (is_word || is_article) text[0] = lower_case(text[0]);
  return text;
}

std::string header(const std::string& name) {
  // Without a date, so that the same version gives the same bytes.
  return fmt::format(
      ".\\\" Written by `hesscope --write-manual`.\n"
      ".TH {} 1 \"\" \"hesscope {}\" \"User Commands\"\n"
      ".nh\n.ad l\n",  // names must appear as they are typed
      roff(upper_case(name)),
      kVersion);
}

// An item of a list, with its text.
std::string item(const std::string& label, const std::string& text) {
  return fmt::format(".TP\n{}\n{}\n", label, text);
}

// "-o, --output OUT.h5", names in bold, values in italics.
std::string label_of(const Option& option) {
  if (option.is_positional()) {
    return italic(option.names) + (option.kind == Option::Kind::kPositionals ? "..." : "");
  }
  std::string label;
  std::string_view rest = option.names;
  while (true) {
    const std::size_t comma = rest.find(',');
    label += bold(rest.substr(0, comma));
    if (comma == std::string_view::npos) break;
    label += ", ";
    rest.remove_prefix(comma + 1);
  }
  return option.value_name.empty() ? label : label + " " + italic(option.value_name);
}

// The text of an option: its first line, followed by a list of "NAME: MEANING".
std::string text_of_help(const std::string& help) {
  std::string text;
  std::size_t begin = 0;
  bool has_list = false;
  while (begin <= help.size()) {
    const std::size_t end = std::min(help.find('\n', begin), help.size());
    const std::string_view line = std::string_view(help).substr(begin, end - begin);
    if (begin == 0) {
      text += roff(line);
    } else {
      if (!has_list) text += "\n.RS";
      has_list = true;
      const std::size_t colon = line.find(": ");
      text += colon == std::string_view::npos
                  ? fmt::format("\n.PP\n{}", roff(line))
                  : fmt::format(
                        "\n.TP\n{}\n{}", bold(line.substr(0, colon)), roff(line.substr(colon + 2)));
    }
    begin = end + 1;
  }
  return has_list ? text + "\n.RE" : text;
}

std::string synopsis_of(const Command& command) {
  std::string usage = bold("hesscope " + command.name());
  for (const Option& option : command.options().options()) {
    const bool is_many = option.kind == Option::Kind::kPositionals;
    if (option.is_positional()) {
      const std::string name = italic(option.names) + (is_many ? "..." : "");
      usage += " " + (option.is_required ? name : "[" + name + "]");
    } else if (option.is_required) {
      usage += " " + bold(option.long_name()) + " " + italic(option.value_name);
    }
  }
  return usage + " [" + italic("OPTIONS") + "]";
}

std::string options_of(const Command& command) {
  std::string text = ".SH OPTIONS\n";
  for (const std::string& group : command.options().groups()) {
    std::string items;
    for (const Option& option : command.options().options()) {
      if (option.group == group) items += item(label_of(option), text_of_help(option.help));
    }
    text += fmt::format(".SS {}\n{}", roff(group), items);
  }
  return text + ".SS Help\n" + item(bold("-h") + ", " + bold("--help"), "Print a help text");
}

std::string examples_of(const std::vector<std::string>& examples) {
  std::string text = ".SH EXAMPLES\n.nf\n";
  for (const std::string& example : examples) {
    const std::string lines = wrapped_command(example);
    for (std::string_view rest = lines; !rest.empty();) {
      const std::size_t end = rest.find('\n');
      text += roff(rest.substr(0, end)) + "\n";
      rest.remove_prefix(std::min(end, rest.size() - 1) + 1);
    }
  }
  return text + ".fi\n";
}

// "hesscope\-analyze(1), ...", for all commands but one.
std::string see_also(const std::vector<std::unique_ptr<Command>>& commands,
                     const Command* but,
                     const std::string& first) {
  std::string text = first;
  for (const auto& command : commands) {
    if (command.get() == but) continue;
    if (!text.empty()) text += ",\n";
    text += bold("hesscope-" + command->name()) + "(1)";
  }
  return ".SH SEE ALSO\n" + text + "\n";
}

}  // namespace

std::string man_page(const std::vector<std::unique_ptr<Command>>& commands) {
  std::string text = header("hesscope");
  text += fmt::format(".SH NAME\nhesscope \\- {}\n", roff(in_sentence(kPurpose)));
  text += fmt::format(
      ".SH SYNOPSIS\n{} {} [{}]\n", bold("hesscope"), italic("COMMAND"), italic("OPTIONS"));
  text +=
      ".SH DESCRIPTION\n"
      "Reads checkpoints of PyTorch, Keras, NumPy and others and computes the full Hessian of the\n"
      "mean loss by automatic differentiation, its eigenvalues with a proof, condition numbers,\n"
      "sharpness, gradient noise and landscapes. Results are HDF5 files that are netCDF\\-4, too:\n"
      "each variable says in its attributes what it is and how it is defined.\n"
      ".SH COMMANDS\n";
  for (const auto& command : commands) {
    text +=
        item(bold(command->name()),
             fmt::format(
                 "{}. See {}(1)", roff(command->summary()), bold("hesscope-" + command->name())));
  }
  text += ".SH OPTIONS\n";
  for (const auto& [names, meaning] : program_options()) {
    const std::size_t blank = names.rfind(' ');
    const bool has_value = blank != std::string::npos && names[blank + 1] != '-';
    const std::string label =
        has_value ? bold(names.substr(0, blank)) + " " + italic(names.substr(blank + 1))
                  : bold(names);
    text += item(label, roff(meaning));
  }
  text += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : exit_codes()) text += item(bold(code), roff(meaning));
  text +=
      ".SH ENVIRONMENT\n" +
      item(
          bold("SOURCE_DATE_EPOCH"),
          "The time, in seconds, that results and histories are said to be of, so that equal runs\n"
          "give equal bytes");
  text += ".SH FILES\n" + item(italic("OUT.h5"), "A result") +
          item(italic("OUT.h5.units"),
               "A folder in which an unfinished run keeps what it has finished; the same command\n"
               "continues from there, and the folder goes when the result is complete") +
          item(italic("problem.toml"), "What no checkpoint holds: model, loss and data");
  return text + see_also(commands, nullptr, "");
}

std::string man_page(const Command& command,
                     const std::vector<std::unique_ptr<Command>>& commands) {
  const std::string name = "hesscope-" + command.name();
  std::string text = header(name);
  text += fmt::format(".SH NAME\n{} \\- {}\n", roff(name), roff(in_sentence(command.summary())));
  text += ".SH SYNOPSIS\n" + synopsis_of(command) + "\n";
  if (const std::string description = command.description(); !description.empty()) {
    text += ".SH DESCRIPTION\n" + roff(description) + "\n";
  }
  text += options_of(command);
  text += examples_of(command.examples());
  text += ".SH EXIT STATUS\nAs of " + bold("hesscope") + "(1).\n";
  return text + see_also(commands, &command, bold("hesscope") + "(1)");
}

std::string man_page_of_ranks() {
  std::string text = header("hesscope-mpi");
  text += fmt::format(".SH NAME\nhesscope\\-mpi \\- {}\n", roff(kRanksPurpose));
  text += ".SH SYNOPSIS\n";
  for (const char* launcher : {"mpirun -n", "srun -n"}) {
    text += fmt::format("{} {} {} {} [{}]\n.br\n",
                        bold(launcher),
                        italic("N"),
                        bold("hesscope-mpi"),
                        italic("COMMAND"),
                        italic("OPTIONS"));
  }
  text += ".SH DESCRIPTION\n";
  for (const std::string& paragraph : ranks_description()) text += ".PP\n" + roff(paragraph) + "\n";
  text += ".SH COMMANDS\n";
  for (const auto& [command, shared] : ranks_commands()) text += item(bold(command), roff(shared));
  text += examples_of({ranks_examples().begin(), ranks_examples().end()});
  text += ".SH EXIT STATUS\nAs of " + bold("hesscope") + "(1).\n";
  return text + ".SH SEE ALSO\n" + bold("hesscope") + "(1),\n" + bold("hesscope-analyze") +
         "(1),\n" + bold("hesscope-landscape") + "(1)\n";
}

}  // namespace hesscope::cli
