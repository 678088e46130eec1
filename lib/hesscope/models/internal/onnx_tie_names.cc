// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include <hesscope/core/wildcard.h>
#include <hesscope/models/internal/onnx_tie_names.h>
#include <hesscope/models/onnx_ties.h>
#include <hesscope/models/tensor_copies.h>

namespace hesscope::detail {
namespace {

// Whether two names are views of the same elements. If only names are known, they are assumed to
// be.
bool are_one(const std::string& a, const std::string& b, const TensorShapes& checkpoint) {
  if (!checkpoint.has(a) || !checkpoint.has(b) || !checkpoint.read) return true;
  const std::vector<double> x = checkpoint.read(a);
  const std::vector<double> y = checkpoint.read(b);
  return are_same(x, y) ||
         copy_kind({.shape = checkpoint.at(a), .entries = x},
                   {.shape = checkpoint.at(b), .entries = y}) == CopyKind::kTransposed;
}

// A tensor tied to one that is itself tied is tied to what the latter stands for.
void follow(std::vector<ModelTie>& ties, const Settings& settings) {
  for (ModelTie& tie : ties) {
    for (std::size_t steps = 0;; ++steps) {
      const auto next = std::ranges::find(ties, tie.to, &ModelTie::name);
      if (next == ties.end()) break;
      if (steps == ties.size()) {
        settings.refuse(
            "tied",
            fmt::format("[model] of kind 'onnx': 'tied' says of '{}' that it stands for "
                        "itself, by way of others: one of the names must be free",
                        tie.name));
      }
      tie.to = next->to;
    }
  }
}

}  // namespace

std::vector<ModelTie> declared_ties(const std::set<std::string>& names_of_graph,
                                    const Settings& settings,
                                    const TensorShapes& checkpoint) {
  const auto name_now = [&](const std::string& name) {
    if (checkpoint.has(name) || names_of_graph.contains(name)) return name;
    for (const auto& [stored, now] : checkpoint.renamed) {
      if (stored == name || stored.ends_with("." + name)) return now;
    }
    return name;
  };
  std::vector<ModelTie> ties = onnx_ties_in(settings);
  for (ModelTie& tie : ties) tie = {name_now(tie.name), name_now(tie.to)};
  return ties;
}

std::vector<ModelTie> all_ties(const std::set<std::string>& names_of_graph,
                               const Settings& settings,
                               const TensorShapes& checkpoint) {
  std::vector<ModelTie> ties = declared_ties(names_of_graph, settings, checkpoint);
  const auto is_declared = [&](const std::string& name) {
    return std::ranges::find(ties, name, &ModelTie::name) != ties.end();
  };
  for (const std::vector<std::string>& names : checkpoint.ties) {
    const auto first = std::ranges::find_if(names, [&](const std::string& name) {
      return !is_declared(name) && names_of_graph.contains(name);
    });
    if (first == names.end()) continue;
    for (const std::string& name : names) {
      if (name == *first || is_declared(name)) continue;
      if (are_one(name, *first, checkpoint)) ties.push_back({name, *first});
    }
  }
  follow(ties, settings);
  return ties;
}

bool is_settled(const Settings& settings, const std::string& name, const std::string& other) {
  const auto is_among = [&](const char* key) {
    if (!settings.has(key)) return false;
    return std::ranges::any_of(settings.texts(key), [&](const std::string& pattern) {
      return matches_wildcard(pattern, name) || matches_wildcard(pattern, other);
    });
  };
  for (const ModelTie& tie : onnx_ties_in(settings)) {
    if (tie.name == name || tie.name == other) return true;
  }
  return is_among("separate") || is_among("frozen");
}

ShapedNumbers numbers_of(const onnx::Tensor& tensor) {
  return {.shape = tensor.shape, .entries = tensor.reals};
}

}  // namespace hesscope::detail
