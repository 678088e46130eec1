// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/exact_integers.h>
#include <hesscope/core/name_list.h>
#include <hesscope/core/suggest.h>
#include <hesscope/core/wildcard.h>
#include <hesscope/models/internal/onnx_tie_names.h>
#include <hesscope/models/internal/pytorch_buffers.h>
#include <hesscope/models/onnx_tensors.h>

namespace hesscope {

const std::string_view detail::kOnnxRecipe =
    "Export with torch.onnx.export(model.eval(), ..., do_constant_folding=False, "
    "training=torch.onnx.TrainingMode.PRESERVE), or dynamo=True, optimize=False in PyTorch 2: "
    "names are then those of the state_dict. Or analyze the .onnx itself as the checkpoint";

namespace {

using detail::OnnxCandidate;
using onnx::ElementKind;
using onnx::OnnxFile;
using onnx::Tensor;

constexpr std::string_view kFrozen = "frozen";
constexpr std::string_view kNotChosen = "not among `parameters`";
constexpr std::string_view kSingleNumber = "a single number of the graph: `parameters` can name it";

// An independent tensor.
struct OwnTensor {
  OnnxCandidate candidate;
  std::vector<std::string> names;        // its own, and those from Identity nodes
  std::vector<std::string> merged = {};  // among these, see OnnxTensorRole
};

bool matches_any(const std::vector<std::string>& names, const std::vector<std::string>& patterns) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return std::ranges::any_of(
        names, [&](const std::string& name) { return matches_wildcard(pattern, name); });
  });
}

std::vector<std::string> texts_or_none(const Settings& settings, const std::string& key) {
  return settings.has(key) ? settings.texts(key) : std::vector<std::string>();
}

// Whether the tensor may be a mask: some entries are infinite. NaN, in contrast, is what a diverged
// training leaves in a parameter.
bool may_be_mask(const std::vector<double>& entries) {
  return std::ranges::any_of(entries, [](double x) { return std::isinf(x); }) &&
         std::ranges::none_of(entries, [](double x) { return std::isnan(x); });
}

// The name that the node gives another name; nullptr if it does something else.
const std::string* renamed_by(const onnx::Node& node) {
  const bool is_identity = node.op == "Identity" && node.domain.empty() && node.guards.empty() &&
                           node.inputs.size() == 1 && node.outputs.size() == 1;
  return is_identity ? &node.inputs[0] : nullptr;
}

// Adds the names that Identity nodes give to tensors among `names`.
void add_other_names(const OnnxFile& file, std::set<std::string>& names) {
  for (const onnx::Node& node : file.nodes) {
    const std::string* source = renamed_by(node);
    if (source != nullptr && names.contains(*source)) names.insert(node.outputs[0]);
  }
}

// Why a tensor is a constant whatever the numbers of checkpoints are; empty if it is not.
// @param has  whether there is a tensor of a name.
std::string constant_reason(const OwnTensor& own,
                            const onnx::Dependencies& needs,
                            const Settings& settings,
                            const std::function<bool(const std::string&)>& has) {
  const OnnxCandidate& candidate = own.candidate;
  const std::string& name = candidate.name;
  if (candidate.tensor->kind == ElementKind::kOther) {
    return fmt::format("its elements are of type {}, which are not computed with",
                       onnx::type_name(candidate.tensor->onnx_type));
  }
  if (candidate.tensor->kind != ElementKind::kReal) return "its elements are integers";
  if (candidate.tensor->size() == 0) return "it has no entries";
  if (needs.values.contains(name) && !needs.with_slopes.contains(name)) {
    return "only conditions, sizes or statistics use it: no derivative reaches it";
  }
  if (matches_any(own.names, texts_or_none(settings, "frozen"))) return std::string(kFrozen);
  const std::vector<std::string> chosen = texts_or_none(settings, "parameters");
  if (!chosen.empty()) return std::string(matches_any(own.names, chosen) ? "" : kNotChosen);
  return detail::buffer_next_to_a_parameter(name, has);
}

bool is_unnamed_number(const OnnxCandidate& candidate,
                       const Settings& settings,
                       const TensorShapes& checkpoint) {
  return checkpoint.format == "onnx" && candidate.tensor->shape.empty() &&
         texts_or_none(settings, "parameters").empty();
}

// The same for a tensor that is a constant because of this checkpoint's content.
std::string constant_reason(const OnnxCandidate& candidate,
                            const Settings& settings,
                            const TensorShapes& checkpoint) {
  if (checkpoint.has_integers(candidate.name)) return "integers in the checkpoint";
  if (may_be_mask(candidate.tensor->reals) &&
      (!checkpoint.shapes.contains(candidate.name) || !checkpoint.read ||
       may_be_mask(checkpoint.read(candidate.name)))) {
    return "holds infinities";
  }
  return std::string(is_unnamed_number(candidate, settings, checkpoint) ? kSingleNumber : "");
}

// Whether `frozen` or `parameters` apply to only one of the two names.
bool are_told_apart(const std::string& a, const std::string& b, const Settings& settings) {
  return std::ranges::any_of(std::array{"frozen", "parameters"}, [&](const char* key) {
    const std::vector<std::string> patterns = texts_or_none(settings, key);
    return matches_any({a}, patterns) != matches_any({b}, patterns);
  });
}

// The candidates without those that are other names of a preceding one.
std::vector<OwnTensor> own_tensors(const OnnxFile& file,
                                   const onnx::Dependencies& needs,
                                   const std::vector<OnnxCandidate>& candidates,
                                   const std::vector<ModelTie>& ties,
                                   const Settings& settings,
                                   const TensorShapes& checkpoint) {
  std::set<std::string> computed_with;  // tensors also used directly, apart from an Identity
  for (const onnx::Node& node : file.nodes) {
    if (renamed_by(node) != nullptr) continue;
    computed_with.insert(node.inputs.begin(), node.inputs.end());
  }
  const auto is_own = [&](const OnnxCandidate& candidate) {
    const std::string& name = candidate.name;
    const bool is_told = matches_any({name}, texts_or_none(settings, "separate")) ||
                         std::ranges::any_of(ties, [&](const ModelTie& tie) {
                           return tie.name == name || tie.to == name;
                         });
    if (is_told || candidate.source.empty()) return true;
    const bool is_shared = computed_with.contains(candidate.source);
    if (checkpoint.has(name)) return checkpoint.format != "onnx" || is_shared;
    return is_shared &&
           ((needs.with_slopes.contains(candidate.source) && !needs.with_slopes.contains(name)) ||
            are_told_apart(name, candidate.source, settings));
  };
  std::vector<OwnTensor> own;
  for (const OnnxCandidate& candidate : candidates) {
    if (is_own(candidate)) {
      own.push_back({candidate, {candidate.name}});
      continue;
    }
    const auto source = std::ranges::find_if(own, [&](const OwnTensor& tensor) {
      return std::ranges::find(tensor.names, candidate.source) != tensor.names.end();
    });
    source->names.push_back(candidate.name);
    if (!checkpoint.has(candidate.name) && computed_with.contains(candidate.source) &&
        are_all_equal(candidate.tensor->reals)) {
      source->merged.push_back(candidate.name);
    }
  }
  return own;
}

// For a tensor that the checkpoint lacks: a tensor tied to it must not be there either.
void require_no_copy_alone(const std::string& name,
                           const std::vector<ModelTie>& ties,
                           const TensorShapes& checkpoint) {
  for (const ModelTie& tie : ties) {
    if (tie.to != name || !checkpoint.has(tie.name)) continue;
    throw InputError(fmt::format(
        "{}: '{}' is there, which is tied to '{}', but that is not: a map can rename it",
        checkpoint.source,
        tie.name,
        name));
  }
}

void require_patterns_used(const OnnxFile& file,
                           const Settings& settings,
                           const std::vector<OnnxTensorRole>& roles,
                           const TensorShapes& checkpoint) {
  std::set<std::string> all;
  for (const OnnxTensorRole& role : roles) all.insert(role.name);
  add_other_names(file, all);
  const std::vector<std::string> names(all.begin(), all.end());
  const auto refuse = [&](const std::string& key, const std::string& pattern) {
    const bool is_of_file = std::ranges::any_of(file.initializers, [&](const Tensor& tensor) {
      return matches_wildcard(pattern, tensor.name);
    });
    const std::string why =
        is_of_file
            ? fmt::format("is a tensor of {}, but none that the chosen output depends on",
                          file.path.string())
            : fmt::format("is no tensor of {}{}", file.path.string(), did_you_mean(pattern, names));
    settings.refuse(key, fmt::format("[model] of kind 'onnx': '{}' in '{}' {}", pattern, key, why));
  };
  if (settings.has("parameters") && settings.texts("parameters").empty()) {
    settings.refuse("parameters",
                    "[model] of kind 'onnx': 'parameters' names none; leave it out for all");
  }
  for (const std::string key : {"frozen", "parameters", "separate"}) {
    for (const std::string& pattern : texts_or_none(settings, key)) {
      if (!matches_any(names, {pattern})) refuse(key, pattern);
    }
  }
  for (const ModelTie& tie : detail::declared_ties(all, settings, checkpoint)) {
    if (!all.contains(tie.to) && file.find_initializer(tie.to) == nullptr) refuse("tied", tie.to);
  }
}

}  // namespace

std::vector<OnnxTensorRole> onnx_tensor_roles(const OnnxFile& file,
                                              const onnx::Dependencies& needs,
                                              const Settings& settings,
                                              const TensorShapes& checkpoint) {
  const std::vector<OnnxCandidate> candidates = detail::onnx_candidates(file, needs);
  std::set<std::string> names;
  for (const OnnxCandidate& candidate : candidates) names.insert(candidate.name);
  const std::vector<ModelTie> all_ties = detail::all_ties(names, settings, checkpoint);
  std::vector<ModelTie> ties = all_ties;
  const auto has = [&](const std::string& name) {
    return names.contains(name) || checkpoint.has(name);
  };
  std::vector<OnnxTensorRole> parameters;
  std::vector<OnnxTensorRole> others;
  for (const OwnTensor& own : own_tensors(file, needs, candidates, ties, settings, checkpoint)) {
    const OnnxCandidate& candidate = own.candidate;
    OnnxTensorRole role{.name = candidate.name,
                        .shape = candidate.tensor->shape,
                        .merged = own.merged,
                        .is_unused = !needs.values.contains(candidate.name),
                        .copy_of = candidate.source};
    const auto tie = std::ranges::find(ties, role.name, &ModelTie::name);
    if (tie != ties.end()) {
      role.tied_to = tie->to;
      ties.erase(tie);
    }
    role.reason = constant_reason(own, needs, settings, has);
    role.is_not_chosen = role.reason == kNotChosen;
    role.is_frozen = role.reason == kFrozen;
    if (!role.tied_to.empty()) role.reason = "tied to " + role.tied_to;
    if (role.reason.empty() && !checkpoint.has(role.name)) {
      require_no_copy_alone(role.name, all_ties, checkpoint);
      role.reason = "not in the checkpoint";
      role.is_missing = true;
    }
    if (role.reason.empty()) {
      role.reason = constant_reason(candidate, settings, checkpoint);
      role.is_single_number = role.reason == kSingleNumber;
    }
    role.is_parameter = role.reason.empty();
    if (role.is_parameter) {
      role.reason = role.is_unused ? "in the checkpoint, but no node uses it: without effect"
                                   : "in the checkpoint, and a derivative reaches it";
    }
    (role.is_parameter ? parameters : others).push_back(std::move(role));
  }
  for (const ModelTie& tie : ties) {  // with names that the graph lacks
    others.push_back(
        {.name = tie.name, .shape = {}, .tied_to = tie.to, .reason = "tied to " + tie.to});
    const auto found = checkpoint.shapes.find(tie.name);
    if (found != checkpoint.shapes.end()) others.back().shape = found->second;
  }
  parameters.insert(parameters.end(), others.begin(), others.end());
  return parameters;
}

namespace detail {

std::vector<OnnxCandidate> onnx_candidates(const OnnxFile& file, const onnx::Dependencies& needs) {
  std::set<std::string> used;
  for (const onnx::Node& node : file.nodes) used.insert(node.inputs.begin(), node.inputs.end());
  std::vector<OnnxCandidate> found;
  for (const Tensor& tensor : file.initializers) {
    if (needs.values.contains(tensor.name) || !used.contains(tensor.name)) {
      found.push_back({tensor.name, &tensor});
    }
  }
  for (const std::size_t i : needs.nodes) {
    const std::string* source = renamed_by(file.nodes[i]);
    if (source == nullptr) continue;
    const auto of = std::ranges::find(found, *source, &OnnxCandidate::name);
    if (of != found.end()) found.push_back({file.nodes[i].outputs[0], of->tensor, *source});
  }
  return found;
}

std::vector<double> values_of(const Tensor& tensor) {
  if (tensor.kind == ElementKind::kReal) return tensor.reals;
  return {tensor.integers.begin(), tensor.integers.end()};
}

bool are_doubles(const Tensor& tensor) {
  return std::ranges::all_of(tensor.integers, is_exact_double);
}

TensorShapes as_checkpoint(const OnnxFile& file, const std::vector<OnnxCandidate>& candidates) {
  TensorShapes shapes{.source = file.path.string(), .shapes = {}, .format = "onnx"};
  std::map<std::string, const Tensor*> tensors;
  for (const OnnxCandidate& candidate : candidates) {
    shapes.shapes[candidate.name] = candidate.tensor->shape;
    const bool is_real = candidate.tensor->kind == ElementKind::kReal;
    shapes.types[candidate.name] = is_real ? io::ElementType::kFloat64 : io::ElementType::kInt64;
    tensors[candidate.name] = candidate.tensor;
  }
  shapes.read = [tensors](const std::string& name) { return values_of(*tensors.at(name)); };
  return shapes;
}

void require_onnx_names(const OnnxFile& file,
                        const Settings& settings,
                        const std::vector<OnnxTensorRole>& roles,
                        const TensorShapes& checkpoint) {
  require_patterns_used(file, settings, roles, checkpoint);
  std::set<std::string> known;
  for (const Tensor& tensor : file.initializers) known.insert(tensor.name);
  for (const OnnxTensorRole& role : roles) known.insert(role.name);
  add_other_names(file, known);  // including those of other outputs
  std::vector<std::string> unknown;
  for (const auto& [name, shape] : checkpoint.shapes) {
    if (!known.contains(name) && !may_be_ignored(checkpoint, name)) unknown.push_back(name);
  }
  if (unknown.empty()) return;
  constexpr std::size_t kMostShown = 5;
  const std::string shown = first_names(unknown, kMostShown);
  const bool is_all = unknown.size() <= kMostShown;
  const bool is_one = unknown.size() == 1;
  const std::string it = is_one ? "it" : "them";
  const std::string tie = fmt::format("tied = [\"{} = OTHER\"]", unknown.front());
  if (!is_all) unknown.resize(kMostShown);
  // If a layer is not used, all other tensors are there; if a tensor was renamed, its new name is
  // not.
  const bool may_be_renamed = std::ranges::any_of(
      roles, [](const OnnxTensorRole& role) { return role.is_missing && !role.shape.empty(); });
  const std::string advice =
      may_be_renamed
          ? fmt::format(
                "exporting has renamed, merged or folded {}. {}; for weights that are one "
                "tensor by design say {}; what is not used a map can ignore",
                it,
                kOnnxRecipe,
                tie)
          : fmt::format(
                "where the forward pass does not use {}, a map can say so (`map`): ignore = "
                "[\"{}\"{}]; for weights that are one tensor by design say {}; else "
                "exporting has merged or folded {}. {}",
                it,
                fmt::join(unknown, "\", \""),
                is_all ? "" : ", ...",
                tie,
                it,
                kOnnxRecipe);
  throw InputError(fmt::format("{}: tensor{} {} {} not in the graph of {}: {}",
                               checkpoint.source,
                               is_one ? "" : "s",
                               shown,
                               is_one ? "is" : "are",
                               file.path.string(),
                               advice));
}

}  // namespace detail
}  // namespace hesscope
