// SPDX-License-Identifier: BSD-3-Clause
#include "quantities_report.h"

#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include <hesscope/analysis/analysis.h>
#include <hesscope/analyzers/analyzer_registry.h>
#include <hesscope/core/status.h>
#include <hesscope/landscape/landscape.h>
#include <hesscope/paths/path.h>
#include <hesscope/training/training.h>

#include "help_text.h"

namespace hesscope::cli {
namespace {

// Groups of the results of a command.
struct Declared {
  std::string command;
  std::vector<Group> groups;
};

std::vector<Declared> all_declared() {
  std::vector<Declared> all;
  all.push_back({"analyze", analysis_quantities()});
  all.push_back({"landscape", {landscape_quantities()}});
  all.push_back({"path", {path_quantities()}});
  all.push_back({"train", {training_quantities()}});
  return all;
}

// The question that a group answers; empty for groups without an analyzer.
std::string question_of(const std::string& group) {
  for (const AnalyzerKind& kind : analyzer_kinds()) {
    if (kind.name == group) return kind.question;
  }
  return {};
}

// The possible values of NAME_status; flags, names and coordinates have none.
std::vector<std::string> statuses_of(const Variable& variable) {
  const bool is_number =
      variable.type == VariableType::kDouble || variable.type == VariableType::kInt64;
  if (!is_number) return {};
  std::vector<std::string> statuses;
  for (const Status status :
       {Status::kOk, Status::kNotComputed, Status::kNonFinite, Status::kFailed}) {
    statuses.emplace_back(to_string(status));
  }
  for (const Status status : variable.undefined) statuses.emplace_back(to_string(status));
  return statuses;
}

Json variable_json(const Variable& variable) {
  return {{"name", variable.name},
          {"type", to_string(variable.type)},
          {"dimensions", variable.dimensions},
          {"long_name", variable.long_name},
          {"units", variable.units},
          {"definition", variable.definition},
          {"flag_meanings", variable.flag_meanings},
          {"statuses", statuses_of(variable)},
          {"references", variable.references}};
}

}  // namespace

std::string quantities_text() {
  constexpr std::size_t kIndent = 4;
  std::string text;
  for (const Declared& declared : all_declared()) {
    for (const Group& group : declared.groups) {
      if (!text.empty()) text += "\n";
      text += fmt::format("/{} of hesscope {}\n", group.name, declared.command);
      for (const Variable& variable : group.variables) {
        const std::string unit =
            variable.units == "1" ? "" : fmt::format(", in {}", variable.units);
        text += fmt::format("  {}{}\n", variable.name, unit);
        text += std::string(kIndent, ' ') +
                wrapped(variable.long_name + ": " + variable.definition, kIndent, kIndent);
        for (const std::string& source : variable.references) {
          text += std::string(kIndent, ' ') + wrapped("from " + source, kIndent, kIndent);
        }
      }
    }
  }
  return text;
}

Json quantities_json() {
  Json groups = Json::list();
  for (const Declared& declared : all_declared()) {
    for (const Group& group : declared.groups) {
      Json variables = Json::list();
      for (const Variable& variable : group.variables) variables.push_back(variable_json(variable));
      groups.push_back({{"name", group.name},
                        {"command", declared.command},
                        {"question", question_of(group.name)},
                        {"variables", variables}});
    }
  }
  Json statuses = Json::list();
  for (std::size_t code = 0; code < kStatusMeanings.size(); ++code) {
    statuses.push_back({{"code", code}, {"name", kStatusMeanings[code]}});
  }
  return {{"command", "inspect"}, {"groups", groups}, {"statuses", statuses}};
}

}  // namespace hesscope::cli
