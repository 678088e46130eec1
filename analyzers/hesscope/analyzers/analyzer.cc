// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/analyzers/analyzer.h>

namespace hesscope {
namespace {

void add_all(Group& group,
             std::vector<Variable> variables,
             const std::vector<std::string>& headline) {
  for (Variable& variable : variables) group.add(std::move(variable));
  for (std::size_t i = 0; i < headline.size(); ++i) {
    group[headline[i]].headline = static_cast<int>(i) + 1;
  }
}

}  // namespace

void Analyzer::declare_all(std::vector<Variable> variables,
                           const std::vector<std::string>& headline) {
  add_all(declared_, std::move(variables), headline);
}

void Analyzer::declare_all_of_run(std::vector<Variable> variables,
                                  const std::vector<std::string>& headline) {
  add_all(declared_of_run_, std::move(variables), headline);
}

}  // namespace hesscope
