// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/io/landscape_grid.h>

namespace hesscope::io {
namespace {

const std::string kGroup = "landscape";
const std::string kLoss = "loss";

bool is_field(const ResultVariable& variable) {
  return variable.type == VariableType::kDouble &&
         variable.dimensions == std::vector<std::string>{"beta", "alpha"};
}

}  // namespace

bool has_landscape(const ResultReader& result) {
  const ResultVariable* loss = result.find(kGroup, kLoss);
  return loss != nullptr && is_field(*loss);
}

LandscapeGrid read_landscape(const ResultReader& result) {
  if (!has_landscape(result)) {
    throw InputError(
        fmt::format("{}: holds no landscape, that is no variable /landscape/loss over "
                    "(beta, alpha); `hesscope landscape` makes one",
                    result.path().string()));
  }
  LandscapeGrid grid;
  grid.alpha = result.read_doubles(kGroup, "alpha");
  grid.beta = result.read_doubles(kGroup, "beta");
  grid.fields.emplace_back(kLoss, result.read_doubles(kGroup, kLoss));
  const auto group = std::find_if(result.groups().begin(),
                                  result.groups().end(),
                                  [](const ResultGroup& g) { return g.name == kGroup; });
  for (const ResultVariable& variable : group->variables) {
    if (!is_field(variable) || variable.name == kLoss) continue;
    grid.fields.emplace_back(variable.name, result.read_doubles(kGroup, variable.name));
  }
  return grid;
}

}  // namespace hesscope::io
