// SPDX-License-Identifier: BSD-3-Clause
#include "library_names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace hesscope::cli {
namespace {

// Members of requests whose names differ from those of their options.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kOtherNames = {{
    {"expected_losses", "--expect-loss"},
    {"expected_sha256", "--expect-sha256"},
    {"leaves_out_vectors", "--leave-out-vectors"},
    {"num_images", "--images"},
    {"overrides", "--set"},
    {"Existing::kReplace", "--force"},
    {"Overwrite::kOwnKind", "--force"},
    {"Overwrite::kAnything", "--force --force"},
}};

// Functions of the library and the commands that do the same.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kCommands = {{
    {"known_operators()", "hesscope inspect --operators"},
    {"run_analysis()", "hesscope analyze"},
    {"run_landscape()", "hesscope landscape"},
    {"run_landscape() curvature", "hesscope landscape --curvature"},
    {"run_path()", "hesscope path"},
    {"run_training()", "hesscope train"},
}};

}  // namespace

std::string option_named(const std::string& name) {
  for (const auto& [member, option] : kOtherNames) {
    if (member == name) return std::string(option);
  }
  std::string option = "--" + name;
  std::replace(option.begin(), option.end(), '_', '-');
  return option;
}

std::string command_of(const std::string& function) {
  constexpr std::string_view kAnalyzer = "analyzer ";
  if (function.starts_with(kAnalyzer)) {
    return "hesscope analyze --only " + function.substr(kAnalyzer.size());
  }
  for (const auto& [name, command] : kCommands) {
    if (name == function) return std::string(command);
  }
  return {};
}

std::string with_names_replaced(
    const std::string& message,
    const std::function<std::string(const std::string& name)>& replacement) {
  std::string text;
  for (std::size_t begin = 0, end = 0; begin < message.size(); begin = end) {
    const std::size_t close =
        message[begin] == '`' ? message.find('`', begin + 1) : std::string::npos;
    if (close == std::string::npos) {
      end = std::min(message.find('`', begin + 1), message.size());
      text += message.substr(begin, end - begin);
      continue;
    }
    end = close + 1;
    const std::string other = replacement(message.substr(begin + 1, close - begin - 1));
    text += other.empty() ? message.substr(begin, end - begin) : other;
  }
  return text;
}

}  // namespace hesscope::cli
