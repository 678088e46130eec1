// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <hesscope/analysis/internal/checked_answers.h>
#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>

namespace hesscope::detail {
namespace {

// Sizes of the dimensions that its variables may have.
std::map<std::string, std::size_t> sizes_for(const Analyzer& analyzer, const Objective& objective) {
  std::map<std::string, std::size_t> sizes = {
      {"parameter", static_cast<std::size_t>(objective.num_parameters())},
      {"block", objective.parameter_blocks().size()}};
  for (const Dimension& dimension : analyzer.dimensions(objective)) {
    sizes[dimension.name] = static_cast<std::size_t>(dimension.size);
  }
  return sizes;
}

bool is_of_type(const Values& values, VariableType type) {
  return values.index() == static_cast<std::size_t>(type);
}

void require_declared(const std::string& analyzer,
                      const Group& declared,
                      const std::map<std::string, std::size_t>& sizes,
                      const Group& answer) {
  const auto refused = [&](const Variable& variable, const std::string& why) {
    return PreconditionError(
        fmt::format("analyzer '{}': '{}' {}", analyzer, printable(variable.name), why));
  };
  for (const Variable& variable : declared.variables) {
    if (answer.find(variable.name) == nullptr) {
      throw refused(variable, "is declared, but not in its answer: begin with declared()");
    }
  }
  for (const Variable& variable : answer.variables) {
    const auto refuse = [&](const std::string& why) { throw refused(variable, why); };
    const Variable* const as_declared = declared.find(variable.name);
    if (as_declared == nullptr) refuse("is in its answer, but not among what it declares");
    const std::size_t count =
        std::visit([](const auto& all) { return all.size(); }, variable.values);
    if (count == 0) continue;
    if (!is_of_type(variable.values, as_declared->type)) {
      refuse("has values of another type than it declares");
    }
    std::size_t expected = 1;
    for (const std::string& dimension : as_declared->dimensions) {
      const auto size = sizes.find(dimension);
      if (size == sizes.end()) {
        refuse(fmt::format("is declared along '{}', which is no dimension of its", dimension));
      }
      expected *= size->second;
    }
    if (count != expected) refuse(fmt::format("must have {} values, got {}", expected, count));
  }
}

}  // namespace

Group answer_at(const ChosenAnalyzer& chosen, PointAnalysis& point) {
  const Analyzer& analyzer = *chosen.analyzer;
  Group answer = analyzer.analyze(point);
  require_declared(
      chosen.name, analyzer.declared(), sizes_for(analyzer, point.objective()), answer);
  answer.name = chosen.name;
  return answer;
}

Group answer_of_run(const ChosenAnalyzer& chosen,
                    const Objective& objective,
                    std::span<const Group> answers,
                    std::uint64_t seed) {
  const Analyzer& analyzer = *chosen.analyzer;
  Group answer = analyzer.summarize(answers, seed);
  std::map<std::string, std::size_t> sizes = sizes_for(analyzer, objective);
  sizes["checkpoint"] = answers.size();
  require_declared(chosen.name, analyzer.declared_of_run(), sizes, answer);
  answer.name = chosen.name;
  return answer;
}

void add_labels(const std::vector<Dimension>& own, std::vector<Dimension>& all) {
  for (std::size_t d = 0; d < own.size(); ++d) {
    std::vector<std::string>& labels = all.at(d).labels;
    auto next = labels.end();
    for (auto label = own[d].labels.rbegin(); label != own[d].labels.rend(); ++label) {
      const auto place = std::ranges::find(labels, *label);
      next = place == labels.end() ? labels.insert(next, *label) : place;
    }
    all[d].size = static_cast<std::int64_t>(labels.size());
  }
}

}  // namespace hesscope::detail
