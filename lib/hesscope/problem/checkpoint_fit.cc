// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/ascii.h>
#include <hesscope/core/error.h>
#include <hesscope/models/model_registry.h>
#include <hesscope/objective/sampled_records.h>
#include <hesscope/onnx/onnx_file.h>
#include <hesscope/problem/checkpoint_fit.h>
#include <hesscope/problem/internal/checkpoint_keys.h>
#include <hesscope/problem/internal/data_file.h>
#include <hesscope/problem/internal/fit_advice.h>
#include <hesscope/problem/internal/graph_names.h>
#include <hesscope/problem/internal/layer_order.h>
#include <hesscope/problem/problem.h>
#include <hesscope/sampling/sampler_registry.h>
#include <hesscope/tensors/internal/name_under.h>
#include <hesscope/tensors/wrapped_names.h>

namespace hesscope {
namespace {

using Shape = std::vector<std::int64_t>;

TensorShapes data_shapes(const ProblemFile& problem) {
  if (!problem.has_sampler()) return shapes_of(detail::open_data(problem));
  const std::string place = problem.path.string();
  const std::unique_ptr<const Sampler> sampler =
      make_sampler(problem.sampler_kind, problem.data, problem.path.parent_path());
  return shapes_of(*sampler, problem.data.integer("samples"), place);
}

/// The words and numbers of a name: "net.0.weight" is net, 0, weight.
std::vector<std::string_view> tokens(std::string_view name) {
  std::vector<std::string_view> all;
  for (std::size_t i = 0; i < name.size();) {
    std::size_t end = i;
    while (end < name.size() && is_letter_or_digit(name[end])) ++end;
    if (end > i) all.push_back(name.substr(i, end - i));
    i = end + 1;
  }
  return all;
}

/// The number of words at the end that two names share.
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

/// The one candidate that shares more words at its end with `name` than all others, if there is
/// one. A single candidate need not share any.
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

/// Pairs names of two lists that are each other's nearest.
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
    // The tensors with the transposed shape might themselves be parameters of that shape.
    if (shape.size() == 2 && unused.contains(turned) && !missing.contains(turned)) {
      suggest(names, unused.at(turned), true, rules);
    }
  }
  std::ranges::sort(rules, {}, &io::TensorRule::name);
  return rules;
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

// The model of an exported graph whose names differ from the checkpoint's, and the rules with which
// it fits, or a doubt. There are no rules for a checkpoint with which the graph was not exported.
std::optional<Model> build_by_value(const ProblemFile& problem,
                                    const TensorShapes& data,
                                    const io::TensorFile& checkpoint,
                                    std::vector<io::TensorRule>& rules,
                                    std::string& doubt) {
  if (problem.model_kind != "onnx") return std::nullopt;
  try {
    rules = detail::rules_by_value(
        onnx::read_onnx_file(problem.path.parent_path() / problem.model.text("file")),
        checkpoint,
        doubt);
    if (rules.empty()) return std::nullopt;
    const io::TensorFile renamed = io::mapped(checkpoint, {.rules = rules});
    std::string obstacle;
    return build(problem, parameter_shapes_of(renamed), data, obstacle);
  } catch (const InputError&) {  // the existing obstacle says what is wrong with the files
    return std::nullopt;
  }
}

/// The checkpoint's shapes under the names of these rules.
TensorShapes renamed(const TensorShapes& there, const std::vector<io::TensorRule>& rules) {
  TensorShapes shapes;
  shapes.source = there.source;
  for (const io::TensorRule& rule : rules) {
    Shape shape = there.shapes.at(rule.source);
    if (rule.transpose) std::swap(shape[0], shape[1]);
    shapes.shapes[rule.name] = std::move(shape);
  }
  return shapes;
}

/// The model of a checkpoint whose tensors are the layers of a perceptron under other names. Sets
/// the result in `fit`, including the reason if it is not certain which layer is which.
std::optional<Model> build_by_layers(const ProblemFile& problem,
                                     const TensorShapes& data,
                                     const io::TensorFile& checkpoint,
                                     CheckpointFit& fit) {
  const TensorShapes there = parameter_shapes_of(checkpoint);
  std::vector<io::TensorInfo> tensors;
  for (const io::TensorInfo& tensor : checkpoint.tensors()) {
    const bool is_there = there.shapes.contains(tensor.name);
    if (is_there && !may_be_ignored(there, tensor.name)) tensors.push_back(tensor);
  }
  std::string contradiction;
  const auto fits = [&](const std::vector<io::TensorRule>& rules) {
    std::optional<Model> model;
    try {
      std::string obstacle;
      model = build(problem, renamed(there, rules), data, obstacle);
      const bool lacks_last_bias = rules.size() > 2 && rules.size() % 2 == 1;
      if (!model && lacks_last_bias && problem.model_kind == "mlp") contradiction = obstacle;
    } catch (const ConfigError& error) {  // `class_weights`, say, for another number of classes
      contradiction = error.what();
    }
    if (!model) return false;
    const auto is_there = [&](const DataArray& array) { return data.has(array.name); };
    if (!std::ranges::all_of(model->arrays, is_there)) return true;  // it is unknown which
    try {
      require_arrays(*model, data);
      return true;
    } catch (const InputError& error) {
      contradiction = fmt::format(
          "by their shapes, its tensors are layers that the data do not go with: {}", error.what());
      return false;
    }
  };
  detail::LayerOrder order =
      detail::layers_by_shapes(tensors, detail::keeps_order_of_layers(checkpoint), fits);
  fit.doubt = std::move(order.doubt);
  if (order.rules.empty() && fit.doubt.empty()) fit.doubt = contradiction;
  if (order.rules.empty()) return std::nullopt;
  std::string ignored;
  const TensorShapes shapes = renamed(there, order.rules);
  std::optional<Model> model = build(problem, shapes, data, ignored);
  if (!model) return std::nullopt;
  fit.obstacle.clear();
  for (io::TensorRule& rule : order.rules) {
    const auto block = std::ranges::find(model->parameters, rule.name, &ParameterBlock::name);
    if (block != model->parameters.end() && block->shape == shapes.shapes.at(rule.name)) {
      fit.suggestion.rules.push_back(std::move(rule));
    }
  }
  return model;
}

CheckpointFit fit_part(const ProblemFile& problem,
                       const TensorShapes& data,
                       const io::TensorFile& wrapped) {
  CheckpointFit fit{.model_kind = problem.model_kind, .wrapper = io::wrapper_of(wrapped)};
  const io::TensorFile checkpoint = io::unwrapped(wrapped);
  const TensorShapes there = parameter_shapes_of(checkpoint);
  std::optional<Model> model = build(problem, there, data, fit.obstacle);
  if (!model) {
    model = build_by_value(problem, data, checkpoint, fit.suggestion.rules, fit.doubt);
    if (model) fit.obstacle.clear();
  }
  if (!model && problem.model_kind != "onnx")
    model = build_by_layers(problem, data, checkpoint, fit);
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
        !may_be_ignored(there, tensor.name)) {
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

bool is_under(std::string_view name, std::string_view key) {
  return !io::name_under(key, name).empty();
}

bool has_more_than(const io::TensorFile& checkpoint, const std::string& key) {
  const TensorShapes there = parameter_shapes_of(checkpoint);
  return std::ranges::any_of(there.shapes, [&](const auto& tensor) {
    return !may_be_ignored(there, tensor.first) && !is_under(tensor.first, key);
  });
}

// A matrix outside the part under a key that could be the layer after the part's last one: it takes
// as many numbers, and has the shape of none of the part's, as the moments of an optimiser would.
// Empty if there is none.
std::string next_layer(const CheckpointFit& part,
                       const io::TensorFile& checkpoint,
                       const std::string& key) {
  std::set<Shape> own;
  const ParameterFit* last = nullptr;
  for (const ParameterFit& parameter : part.parameters) {
    if (parameter.expected.size() != 2) continue;
    last = &parameter;
    own.insert(parameter.expected);
    own.insert({parameter.expected[1], parameter.expected[0]});
  }
  const auto& rules = part.suggestion.rules;
  const auto rule =
      last == nullptr ? rules.end() : std::ranges::find(rules, last->name, &io::TensorRule::name);
  if (rule == rules.end()) return {};
  const std::size_t input = rule->transpose ? 0 : 1;
  for (const auto& [name, shape] : parameter_shapes_of(checkpoint).shapes) {
    const bool is_matrix = shape.size() == 2 && !is_under(name, key) && !own.contains(shape);
    if (is_matrix && shape[input] == last->expected[0]) return name;
  }
  return {};
}

// For each part of the checkpoint that has all parameters, under any names, the map to it; of
// nested parts only the outermost. A part that needs renaming and has others next to it may be a
// mere layer: it does not count if it leaves a graph with unexplained constants, and is doubtful
// if there is a next_layer(). `doubt` becomes that of the first part that has one.
std::vector<io::TensorMap> maps_of_parts(const ProblemFile& problem,
                                         const TensorShapes& data,
                                         const io::TensorFile& checkpoint,
                                         std::string& doubt) {
  std::vector<io::TensorMap> maps;
  std::vector<std::string> outer;  // keys of maps, and of doubtful parts
  for (const std::string& key : detail::keys_in(checkpoint)) {
    const auto is_outer = [&](const std::string& other) { return is_under(key, other); };
    if (std::ranges::any_of(outer, is_outer)) continue;
    try {
      const CheckpointFit part = fit_part(problem, data, checkpoint.part(key));
      if (!part.doubt.empty()) {
        if (doubt.empty()) doubt = fmt::format("under '{}', {}", key, part.doubt);
        outer.push_back(key);
      }
      if (!is_complete(part)) continue;
      const bool is_renamed = !part.suggestion.rules.empty();
      if (is_renamed && !part.remarks.empty() && has_more_than(checkpoint, key)) continue;
      if (const std::string next = next_layer(part, checkpoint, key); !next.empty()) {
        if (doubt.empty()) {
          doubt = fmt::format(
              "what is under '{}' could be the whole model, or its first layers, "
              "before '{}'",
              key,
              next);
        }
        outer.push_back(key);
        continue;
      }
      maps.push_back(part.suggestion);
      maps.back().key = key;
      outer.push_back(key);
    } catch (const InputError&) {   // an unreadable part does not fit
    } catch (const ConfigError&) {  // nor does one of other sizes than the settings are for
    }
  }
  return maps;
}

}  // namespace

CheckpointFit fit_checkpoint(const ProblemFile& problem, const io::TensorFile& checkpoint) {
  const TensorShapes data = data_shapes(problem);
  CheckpointFit fit = fit_part(problem, data, checkpoint);
  if (fit.fits()) return fit;
  std::string doubt;
  const std::vector<io::TensorMap> all = maps_of_parts(problem, data, checkpoint, doubt);
  std::vector<io::TensorMap> as_they_are;
  std::ranges::copy_if(
      all, std::back_inserter(as_they_are), [](const auto& map) { return map.rules.empty(); });
  if (as_they_are.size() == 1) {
    fit.suggestion = as_they_are.front();
    fit.doubt.clear();
    if (!fit.obstacle.empty() && fit.suggestion.ignored.empty()) {
      fit.obstacle = detail::only_parts_fit(problem, checkpoint, {fit.suggestion.key});
    }
  } else if (all.size() == 1 && !is_complete(fit) && fit.doubt.empty() && doubt.empty()) {
    fit.suggestion = all.front();
  } else if (fit.doubt.empty() && !is_complete(fit)) {
    fit.doubt = doubt;
  }
  return fit;
}

}  // namespace hesscope
