// SPDX-License-Identifier: BSD-3-Clause
#include "fit_report.h"

#include <vector>

#include <fmt/format.h>

#include <hesscope/problem/tensor_map_file.h>
#include <hesscope/tensors/tensor_file.h>

#include "table.h"

namespace hesscope::cli {
namespace {

const char* state_text(ParameterFit::State state) {
  switch (state) {
    case ParameterFit::State::kFound:
      return "found";
    case ParameterFit::State::kMissing:
      return "missing";
    case ParameterFit::State::kWrongShape:
      return "wrong shape";
  }
  return "";
}

std::string parameters_text(const CheckpointFit& fit) {
  std::vector<std::vector<std::string>> rows = {{"parameter", "expected", "found", ""}};
  for (const ParameterFit& parameter : fit.parameters) {
    const bool is_missing = parameter.state == ParameterFit::State::kMissing;
    rows.push_back({parameter.name,
                    shape_text(parameter.expected),
                    is_missing ? "-" : shape_text(parameter.found),
                    state_text(parameter.state)});
  }
  for (const io::TensorInfo& tensor : fit.unused) {
    rows.push_back({tensor.name, "-", shape_text(tensor.shape), "unused"});
  }
  return table_text(rows, rows.front().size());
}

}  // namespace

bool has_suggestion(const CheckpointFit& fit) {
  const io::TensorMap& map = fit.suggestion;
  return !map.rules.empty() || !map.ignored.empty() || !map.key.empty();
}

std::string fit_text(const CheckpointFit& fit, const std::string& problem) {
  std::string text = fmt::format(
      "{}: {} the {} model\n", problem, fit.fits() ? "fits" : "does not fit", fit.model_kind);
  if (!fit.wrapper.empty()) {
    text += fmt::format(
        "names are read without '{}', which DataParallel or torch.compile put before them\n",
        fit.wrapper);
  }
  if (fit.obstacle.empty()) {
    text += parameters_text(fit);
  } else {
    text += fmt::format("it cannot be built for this checkpoint: {}\n", fit.obstacle);
  }
  if (!fit.doubt.empty()) {
    text += fmt::format("no map is suggested, since {}\n", fit.doubt);
  }
  if (has_suggestion(fit)) {
    text += fmt::format("\nThese tensors might be meant; a file for --map that says so:\n\n{}",
                        resolved_toml(fit.suggestion));
    const std::vector<std::string>& ignored = fit.suggestion.ignored;
    if (!ignored.empty()) {
      text += fmt::format(
          "\nIt leaves out {} tensor{} of the checkpoint, which is right only if your model does "
          "not compute with {}.\n",
          ignored.size(),
          ignored.size() == 1 ? "" : "s",
          ignored.size() == 1 ? "it" : "them");
    }
  }
  return text;
}

Json fit_json(const CheckpointFit& fit, const std::string& problem) {
  Json document;
  document["problem"] = problem;
  document["model"] = fit.model_kind;
  document["fits"] = fit.fits();
  document["wrapper"] = fit.wrapper.empty() ? Json() : Json(fit.wrapper);
  document["obstacle"] = fit.obstacle.empty() ? Json() : Json(fit.obstacle);
  document["doubt"] = fit.doubt.empty() ? Json() : Json(fit.doubt);
  document["parameters"] = Json::list();
  for (const ParameterFit& parameter : fit.parameters) {
    const bool is_missing = parameter.state == ParameterFit::State::kMissing;
    document["parameters"].push_back({{"name", parameter.name},
                                      {"state", state_text(parameter.state)},
                                      {"expected", parameter.expected},
                                      {"found", is_missing ? Json() : Json(parameter.found)}});
  }
  document["unused"] = Json::list();
  for (const io::TensorInfo& tensor : fit.unused) {
    document["unused"].push_back({{"name", tensor.name}, {"shape", tensor.shape}});
  }
  document["map"] = has_suggestion(fit) ? Json(resolved_toml(fit.suggestion)) : Json();
  return document;
}

}  // namespace hesscope::cli
