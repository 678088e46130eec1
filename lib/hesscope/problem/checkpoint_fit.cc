// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/models/model_registry.h>
#include <hesscope/objective/sampled_records.h>
#include <hesscope/onnx/onnx_file.h>
#include <hesscope/problem/checkpoint_fit.h>
#include <hesscope/problem/internal/checkpoint_keys.h>
#include <hesscope/problem/internal/data_file.h>
#include <hesscope/problem/internal/fit_advice.h>
#include <hesscope/problem/internal/graph_names.h>
#include <hesscope/problem/problem.h>
#include <hesscope/sampling/sampler_registry.h>
#include <hesscope/tensors/wrapped_names.h>

namespace hesscope {
namespace {

using Shape = std::vector<std::int64_t>;

TensorShapes data_shapes(const ProblemFile& problem) {
  if (!problem.has_sampler()) return shapes_of(detail::open_data(problem));
  const std::string place = problem.path.string();
  const std::unique_ptr<const Sampler> sampler =
      find_sampler_kind(problem.sampler_kind)->create(problem.data, problem.path.parent_path());
  return shapes_of(*sampler, problem.data.integer("samples"), place);
}

/// The words and numbers of a name: "net.0.weight" is net, 0, weight.
std::vector<std::string_view> tokens(std::string_view name) {
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  std::vector<std::string_view> all;
  for (std::size_t i = 0; i < name.size();) {
    std::size_t end = i;
    while (end < name.size() && is_letter(name[end])) ++end;
    if (end > i) all.push_back(name.substr(i, end - i));
    i = end + 1;
  }
  return all;
}

/// How many words at the end two names share.
std::size_t common_end(std::string_view a, std::string_view b) {
  const auto x = tokens(a);
  const auto y = tokens(b);
  std::size_t count = 0;
  while (count < std::min(x.size(), y.size()) &&
         x[x.size() - 1 - count] == y[y.size() - 1 - count]) {
    ++count;
  }
  return count;
}

/// The one candidate that shares more words at its end with `name` than all others, if any does.
/// A single candidate need share none.
std::optional<std::size_t> nearest_by_end(const std::string& name,
                                          const std::vector<std::string>& candidates) {
  if (candidates.size() == 1) return 0;
  std::size_t best = 0;
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::size_t length = common_end(name, candidates[i]);
    if (length == best) found.reset();
    if (length > best) {
      best = length;
      found = i;
    }
  }
  return found;
}

/// Pairs those of two lists of names of which each is the other's nearest.
void suggest(const std::vector<std::string>& ours,
             const std::vector<std::string>& theirs,
             bool transpose,
             std::vector<io::TensorRule>& rules) {
  for (const std::string& name : ours) {
    const auto there = nearest_by_end(name, theirs);
    if (!there) continue;
    const auto back = nearest_by_end(theirs[*there], ours);
    if (!back || ours[*back] != name) continue;
    rules.push_back({.name = name, .source = theirs[*there], .transpose = transpose});
  }
}

/// Names of missing parameters and of unused tensors, by shape.
using NamesByShape = std::map<Shape, std::vector<std::string>>;

std::vector<io::TensorRule> suggestions(const CheckpointFit& fit) {
  NamesByShape missing;
  NamesByShape unused;
  for (const ParameterFit& parameter : fit.parameters) {
    if (parameter.state == ParameterFit::State::kMissing) {
      missing[parameter.expected].push_back(parameter.name);
    }
  }
  for (const io::TensorInfo& tensor : fit.unused) unused[tensor.shape].push_back(tensor.name);
  std::vector<io::TensorRule> rules;
  for (const auto& [shape, names] : missing) {
    if (unused.contains(shape)) {
      suggest(names, unused.at(shape), false, rules);
      continue;
    }
    const Shape turned(shape.rbegin(), shape.rend());
    // The tensors of the turned shape might be parameters of that shape themselves.
    if (shape.size() == 2 && unused.contains(turned) && !missing.contains(turned)) {
      suggest(names, unused.at(turned), true, rules);
    }
  }
  std::ranges::sort(rules, {}, &io::TensorRule::name);
  return rules;
}

/// Whether words and numbers come in order: net.2 before net.10, and dense/w before dense_1/w.
bool in_natural_order(const io::TensorInfo& a, const io::TensorInfo& b) {
  const auto rank = [](std::string_view token) {
    const bool is_number = token.find_first_not_of("0123456789") == std::string_view::npos;
    return std::tuple(is_number, is_number ? token.size() : 0, token);
  };
  return std::ranges::lexicographical_compare(tokens(a.name), tokens(b.name), {}, rank, rank);
}

/// Rules that make these tensors, in their order, the layers of a perceptron: as many matrices as
/// vectors, each layer taking what the one before gives. Matrices of all layers are (out, in), or
/// all of them (in, out). Empty if that does not go, or goes both ways.
std::vector<io::TensorRule> as_perceptron(const std::vector<io::TensorInfo>& tensors) {
  std::vector<const io::TensorInfo*> weights;
  std::vector<const io::TensorInfo*> biases;
  for (const io::TensorInfo& tensor : tensors) {
    if (tensor.shape.empty() || tensor.shape.size() > 2) return {};
    (tensor.shape.size() == 2 ? weights : biases).push_back(&tensor);
  }
  if (weights.empty() || weights.size() != biases.size()) return {};
  const auto is_chain = [&](bool transpose) {
    const std::size_t out = transpose ? 1 : 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (biases[i]->shape[0] != weights[i]->shape[out]) return false;
      if (i > 0 && biases[i - 1]->shape[0] != weights[i]->shape[1 - out]) return false;
    }
    return true;
  };
  const bool transpose = is_chain(true);
  if (transpose == is_chain(false)) return {};
  std::vector<io::TensorRule> rules;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    rules.push_back({.name = fmt::format("layers.{}.weight", i),
                     .source = weights[i]->name,
                     .transpose = transpose});
    rules.push_back({.name = fmt::format("layers.{}.bias", i), .source = biases[i]->name});
  }
  return rules;
}

/// The same of a checkpoint, in the file's order or in that of the names.
std::vector<io::TensorRule> as_perceptron(const io::TensorFile& checkpoint,
                                          const TensorShapes& parameters) {
  std::vector<io::TensorInfo> tensors;
  for (const io::TensorInfo& tensor : checkpoint.tensors()) {
    if (parameters.shapes.contains(tensor.name)) tensors.push_back(tensor);
  }
  std::vector<io::TensorRule> rules = as_perceptron(tensors);
  if (!rules.empty()) return rules;
  std::ranges::stable_sort(tensors, in_natural_order);
  return as_perceptron(tensors);
}

/// Whether the suggestion has a tensor for every parameter.
bool is_complete(const CheckpointFit& fit) {
  return fit.obstacle.empty() && !fit.parameters.empty() &&
         std::ranges::all_of(fit.parameters, [&](const ParameterFit& parameter) {
           const auto& rules = fit.suggestion.rules;
           return parameter.state == ParameterFit::State::kFound ||
                  std::ranges::find(rules, parameter.name, &io::TensorRule::name) != rules.end();
         });
}

std::optional<Model> build(const ProblemFile& problem,
                           const TensorShapes& checkpoint,
                           const TensorShapes& data,
                           std::string& obstacle) {
  try {
    return build_model(problem, data, checkpoint);
  } catch (const InputError& error) {
    obstacle = error.what();
    return std::nullopt;
  }
}

}  // namespace

bool CheckpointFit::fits() const {
  return obstacle.empty() && unused.empty() &&
         std::ranges::all_of(parameters, [](const ParameterFit& parameter) {
           return parameter.state == ParameterFit::State::kFound;
         });
}

namespace {

// The model of an exported graph whose names are not the checkpoint's, and the rules that make it
// fit; of a checkpoint that the graph was not exported with there are none.
std::optional<Model> build_by_value(const ProblemFile& problem,
                                    const TensorShapes& data,
                                    const io::TensorFile& checkpoint,
                                    std::vector<io::TensorRule>& rules) {
  if (problem.model_kind != "onnx") return std::nullopt;
  try {
    rules = detail::rules_by_value(
        onnx::read_onnx_file(problem.path.parent_path() / problem.model.text("file")), checkpoint);
    if (rules.empty()) return std::nullopt;
    const io::TensorFile renamed = io::mapped(checkpoint, {.rules = rules});
    std::string obstacle;
    return build(problem, parameter_shapes_of(renamed), data, obstacle);
  } catch (const InputError&) {  // the obstacle that is there says what is wrong with the files
    return std::nullopt;
  }
}

CheckpointFit fit_part(const ProblemFile& problem,
                       const TensorShapes& data,
                       const io::TensorFile& wrapped) {
  CheckpointFit fit{.model_kind = problem.model_kind, .wrapper = io::wrapper_of(wrapped)};
  const io::TensorFile checkpoint = io::unwrapped(wrapped);
  const TensorShapes there = parameter_shapes_of(checkpoint);
  std::optional<Model> model = build(problem, there, data, fit.obstacle);
  if (!model) {
    model = build_by_value(problem, data, checkpoint, fit.suggestion.rules);
    if (model) fit.obstacle.clear();
  }
  if (!model && problem.model_kind != "onnx") {
    const std::vector<io::TensorRule> rules = as_perceptron(checkpoint, there);
    TensorShapes renamed;
    renamed.source = there.source;
    for (const io::TensorRule& rule : rules) {
      Shape shape = there.shapes.at(rule.source);
      if (rule.transpose) std::swap(shape[0], shape[1]);
      renamed.shapes[rule.name] = std::move(shape);
    }
    std::string ignored;
    if (!rules.empty()) model = build(problem, renamed, data, ignored);
    if (model) {
      fit.obstacle.clear();
      for (const io::TensorRule& rule : rules) {
        const auto block = std::ranges::find(model->parameters, rule.name, &ParameterBlock::name);
        if (block != model->parameters.end() && block->shape == renamed.shapes.at(rule.name)) {
          fit.suggestion.rules.push_back(rule);
        }
      }
    }
  }
  std::set<std::string> used;
  if (model) {
    for (const ParameterBlock& block : model->parameters) {
      ParameterFit parameter{.name = block.name, .expected = block.shape};
      const auto found = there.shapes.find(block.name);
      if (found == there.shapes.end()) {
        parameter.state = ParameterFit::State::kMissing;
      } else {
        parameter.found = found->second;
        if (found->second != block.shape) parameter.state = ParameterFit::State::kWrongShape;
      }
      used.insert(block.name);
      fit.parameters.push_back(std::move(parameter));
    }
    for (const ModelBuffer& buffer : model->buffers) used.insert(buffer.name);
    fit.remarks = std::move(model->remarks);
  }
  for (const io::TensorInfo& tensor : checkpoint.tensors()) {
    if (there.shapes.contains(tensor.name) && !used.contains(tensor.name) &&
        !is_batch_count(there, tensor.name)) {
      fit.unused.push_back(tensor);
    }
  }
  if (fit.suggestion.rules.empty()) fit.suggestion.rules = suggestions(fit);
  if (is_complete(fit)) {
    for (const io::TensorInfo& tensor : fit.unused) {
      const auto& rules = fit.suggestion.rules;
      if (std::ranges::find(rules, tensor.name, &io::TensorRule::source) != rules.end()) continue;
      fit.suggestion.ignored.push_back(tensor.name);
    }
  }
  return fit;
}

bool has_more_than(const io::TensorFile& checkpoint, const std::string& key) {
  return std::ranges::any_of(parameter_shapes_of(checkpoint).shapes, [&](const auto& tensor) {
    return !tensor.first.starts_with(key + '.') && !tensor.first.starts_with(key + '/');
  });
}

// For each part of the checkpoint that has all parameters, under any names, the map that says so; of
// parts within each other the outermost. A part that is renamed, beside others, and leaves the graph
// constants to wonder about is none: that is a layer whose model has lost the other layers' names.
std::vector<io::TensorMap> maps_of_parts(const ProblemFile& problem,
                                         const TensorShapes& data,
                                         const io::TensorFile& checkpoint) {
  std::vector<io::TensorMap> maps;
  for (const std::string& key : detail::keys_in(checkpoint)) {
    const bool is_inner = std::ranges::any_of(maps, [&](const io::TensorMap& map) {
      return key.starts_with(map.key + '.') || key.starts_with(map.key + '/');
    });
    if (is_inner) continue;
    try {
      const CheckpointFit part = fit_part(problem, data, checkpoint.part(key));
      if (!is_complete(part)) continue;
      if (!part.suggestion.rules.empty() && !part.remarks.empty() && has_more_than(checkpoint, key))
        continue;
      maps.push_back(part.suggestion);
      maps.back().key = key;
    } catch (const InputError&) {  // what is not readable is no part that fits
    }
  }
  return maps;
}

}  // namespace

CheckpointFit fit_checkpoint(const ProblemFile& problem, const io::TensorFile& checkpoint) {
  const TensorShapes data = data_shapes(problem);
  CheckpointFit fit = fit_part(problem, data, checkpoint);
  if (fit.fits()) return fit;
  const std::vector<io::TensorMap> all = maps_of_parts(problem, data, checkpoint);
  std::vector<io::TensorMap> as_they_are;
  std::ranges::copy_if(
      all, std::back_inserter(as_they_are), [](const auto& map) { return map.rules.empty(); });
  if (as_they_are.size() == 1) {
    fit.suggestion = as_they_are.front();
    if (!fit.obstacle.empty() && fit.suggestion.ignored.empty()) {
      fit.obstacle = detail::only_parts_fit(problem, checkpoint, {fit.suggestion.key});
    }
  } else if (all.size() == 1 && !is_complete(fit)) {
    fit.suggestion = all.front();
  }
  return fit;
}

}  // namespace hesscope
