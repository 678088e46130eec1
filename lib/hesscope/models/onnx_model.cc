// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/autodiff/graph_simplification.h>
#include <hesscope/core/error.h>
#include <hesscope/core/internal/exact_integers.h>
#include <hesscope/core/printable.h>
#include <hesscope/import/importer.h>
#include <hesscope/models/internal/onnx_inline_weights.h>
#include <hesscope/models/internal/onnx_inputs.h>
#include <hesscope/models/internal/onnx_output.h>
#include <hesscope/models/internal/onnx_remarks.h>
#include <hesscope/models/losses.h>
#include <hesscope/models/onnx_model.h>
#include <hesscope/models/onnx_tensors.h>
#include <hesscope/models/onnx_ties.h>
#include <hesscope/onnx/onnx_file.h>

namespace hesscope {
namespace {

using detail::OnnxCandidate;
using onnx::ElementKind;
using onnx::OnnxFile;
using onnx::Tensor;
using onnx::Value;

// A tensor without entries stands for an omitted optional input, or is concatenated with others.
Value constant_of(const Tensor& tensor, const std::vector<double>& values, ModelBuilder& builder) {
  Value value{.kind = tensor.kind, .axes = onnx::plain_axes(tensor.shape)};
  value.is_single = tensor.onnx_type == onnx::kFloat;
  if (tensor.kind == ElementKind::kReal && !values.empty()) {
    value.var = builder.constant(
        Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size())));
  } else {
    value.integers = std::make_shared<const onnx::Integers>(
        onnx::Integers{.base = {values.begin(), values.end()}});
  }
  return value;
}

const Tensor& tensor_of(const std::vector<OnnxCandidate>& all, const std::string& name) {
  return *std::ranges::find(all, name, &OnnxCandidate::name)->tensor;
}

std::set<std::string> names_of(const std::vector<OnnxCandidate>& tensors) {
  std::set<std::string> names;
  for (const OnnxCandidate& tensor : tensors) names.insert(tensor.name);
  return names;
}

// The graph's own values of the parameters.
Eigen::VectorXd own_parameters(const Model& model, const std::vector<OnnxCandidate>& tensors) {
  Eigen::VectorXd theta(model.num_parameters());
  for (const ParameterBlock& block : model.parameters) {
    const std::vector<double>& values = tensor_of(tensors, block.name).reals;
    theta.segment(block.offset, block.size) =
        Eigen::Map<const Eigen::VectorXd>(values.data(), block.size);
  }
  return theta;
}

// A graph, its selected output, and the tensors on which this depends.
struct ChosenGraph {
  explicit ChosenGraph(const ModelSources& sources)
      : file(onnx::read_onnx_file(sources.folder / sources.settings.text("file"))),
        output(detail::chosen_output(file, sources.settings)),
        needs(onnx::dependencies_of(file, output)),
        tensors(detail::onnx_candidates(file, needs)) {}

  OnnxFile file;
  std::string output;
  onnx::Dependencies needs;
  std::vector<OnnxCandidate> tensors;
};

// Requires that what the graph uses as whole numbers or truth values is such in the checkpoint.
void require_fit(const Tensor& tensor, const ModelBuffer& buffer, const TensorShapes& checkpoint) {
  if (tensor.kind == ElementKind::kReal || tensor.kind == ElementKind::kOther) return;
  constexpr auto kLargest = static_cast<double>(detail::kLargestExactInteger);
  const bool is_boolean = tensor.kind == ElementKind::kBoolean;
  for (const double x : buffer.values) {
    if (is_boolean ? x == 0 || x == 1 : x == std::trunc(x) && std::abs(x) <= kLargest) continue;
    throw InputError(fmt::format("{}: tensor '{}' holds {}, and the graph takes it for {}",
                                 checkpoint.source,
                                 printable(buffer.name),
                                 x,
                                 is_boolean ? "truth values, 0 and 1" : "whole numbers"));
  }
}

// Constants whose values a checkpoint may contain: those that are never parameters.
ModelBuffer buffer_of(const Tensor& tensor,
                      const OnnxTensorRole& role,
                      const TensorShapes& checkpoint) {
  ModelBuffer buffer{.name = role.name, .shape = role.shape, .values = {}};
  buffer.is_frozen = role.is_frozen && checkpoint.has(role.name);
  buffer.values = buffer.values_if_absent = detail::values_of(tensor);
  if (checkpoint.has(role.name) && checkpoint.read && checkpoint.at(role.name) == tensor.shape) {
    buffer.values = checkpoint.read(role.name);
    require_fit(tensor, buffer, checkpoint);
  }
  return buffer;
}

// Whether it is a mean or a variance of a batch normalisation.
bool is_statistic(const OnnxFile& file, const std::string& name) {
  return std::ranges::any_of(file.all_nodes(), [&](const onnx::Node* node) {
    return node->op == "BatchNormalization" && node->domain.empty() && node->inputs.size() == 5 &&
           (node->inputs[3] == name || node->inputs[4] == name);
  });
}

// Without tensors that merging by value has left to an Identity node: they were equal, but
// separate.
OnnxWeights weights_of(const ChosenGraph& graph,
                       const std::vector<OnnxTensorRole>& roles,
                       const TensorShapes& checkpoint) {
  const OnnxFile& file = graph.file;
  const onnx::Dependencies& needs = graph.needs;
  OnnxWeights weights{.parameters = {},
                      .constants = {},
                      .single_numbers = {},
                      .integers = {},
                      .statistics = {},
                      .are_named_by_model = checkpoint.format != "onnx"};
  for (const OnnxTensorRole& role : roles) {
    if (!role.is_parameter && !checkpoint.has(role.name) && needs.values.contains(role.name) &&
        is_statistic(file, role.name)) {
      weights.statistics.push_back(role.name);
    }
    for (const std::string& name : role.merged) {
      if (role.is_parameter) weights.merged.push_back({.name = name, .to = role.name});
    }
    if (role.is_parameter && role.is_unused) weights.unused.push_back(role.name);
    if (!weights.are_named_by_model && role.is_not_chosen &&
        std::ranges::any_of(roles, [&](const OnnxTensorRole& other) {
          return other.is_parameter && other.name == role.copy_of;
        })) {
      weights.constant_copies.push_back({.name = role.name, .to = role.copy_of});
    }
    const Tensor* tensor = file.find_initializer(role.name);
    if (tensor == nullptr) continue;
    if (!needs.with_slopes.contains(role.name)) continue;
    if (role.is_parameter) {
      weights.parameters.push_back(tensor);
    } else if (role.is_single_number) {
      weights.single_numbers.push_back(tensor);
    } else if (tensor->reals.empty()) {
      continue;
    } else if (!checkpoint.has(role.name)) {
      weights.constants.push_back(tensor);
    } else if (checkpoint.has_integers(role.name) && !role.is_not_chosen) {
      weights.integers.push_back(role.name);
    }
  }
  return weights;
}

std::vector<ModelTie> ties_of(const std::vector<OnnxTensorRole>& roles) {
  std::vector<ModelTie> ties;
  for (const OnnxTensorRole& role : roles) {
    if (!role.tied_to.empty()) ties.push_back({role.name, role.tied_to});
  }
  return ties;
}

const Tensor* find_tensor(const std::vector<OnnxCandidate>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &OnnxCandidate::name);
  return found == all.end() ? nullptr : found->tensor;
}

// Determines for each tie whether it transposes the tensor; returns remarks where nothing decides.
std::vector<std::string> settle(const ChosenGraph& graph,
                                const TensorShapes& checkpoint,
                                std::vector<ModelTie>& ties) {
  std::vector<std::string> remarks;
  for (ModelTie& tie : ties) {
    const Tensor* copy = find_tensor(graph.tensors, tie.name);
    const Tensor* of = find_tensor(graph.tensors, tie.to);
    if (copy == nullptr || of == nullptr) continue;
    remarks.push_back(settle_tie(graph.file, *copy, *of, checkpoint, tie));
  }
  return remarks;
}

// What a tied name stands for, in the form in which the graph has it.
Value tied_value(const std::vector<OnnxCandidate>& tensors,
                 const ModelTie& tie,
                 const Value& original) {
  const Tensor* copy = find_tensor(tensors, tie.name);
  if (copy == nullptr || !tie.is_transposed) return original;
  Value value{.axes = onnx::plain_axes(copy->shape), .var = original.var};
  if (*tie.is_transposed) {
    const std::vector<std::int64_t>& shape = tensor_of(tensors, tie.to).shape;
    value.var = gather(*original.var, transposition(shape), shape[1], shape[0]);
  }
  return value;
}

Model build(const ChosenGraph& graph, const ModelSources& sources, const TensorShapes& checkpoint) {
  const Settings& settings = sources.settings;
  const OnnxFile& file = graph.file;
  const std::vector<OnnxTensorRole> roles =
      onnx_tensor_roles(file, graph.needs, settings, checkpoint);
  detail::require_onnx_names(file, settings, roles, checkpoint);
  std::vector<ModelTie> ties = ties_of(roles);
  require_ties_hold(ties, checkpoint);
  std::vector<std::string> remarks = settle(graph, checkpoint, ties);
  const OnnxWeights weights = weights_of(graph, roles, checkpoint);
  require_no_copies(file, weights, settings);

  ModelBuilder builder("onnx");
  std::map<std::string, Value> given;
  std::vector<ModelBuffer> buffers;
  for (const OnnxTensorRole& role : roles) {
    if (role.is_parameter) {
      given[role.name] = {.axes = onnx::plain_axes(role.shape),
                          .var = builder.parameter(role.name, role.shape)};
    } else if (!role.tied_to.empty()) {
      buffers.push_back({role.name, role.shape, {}});
    } else if (!role.is_missing) {
      const Tensor& tensor = tensor_of(graph.tensors, role.name);
      if (!detail::are_doubles(tensor)) continue;  // the graph's own, whatever checkpoints hold
      buffers.push_back(buffer_of(tensor, role, checkpoint));
      // import_output() refuses what is not read if it is needed.
      if (tensor.kind == ElementKind::kOther) continue;
      given[role.name] = constant_of(tensor, buffers.back().values, builder);
    } else if (file.find_initializer(role.name) == nullptr) {
      // An Identity's result: otherwise the graph would use the present value of its input.
      const Tensor& tensor = tensor_of(graph.tensors, role.name);
      given[role.name] = constant_of(tensor, detail::values_of(tensor), builder);
    }
  }
  for (const ModelTie& tie : ties) {
    if (given.contains(tie.to)) given[tie.name] = tied_value(graph.tensors, tie, given.at(tie.to));
  }
  detail::declare_onnx_inputs(file, graph.needs, sources, builder, given);
  const Value value = onnx::import_output(file, graph.needs, builder.graph(), given);
  const auto require_parameters = [&](const auto& is_one) {
    if (std::ranges::any_of(roles, is_one)) return;
    if (std::ranges::any_of(roles, &OnnxTensorRole::is_frozen)) {
      settings.refuse("frozen",
                      fmt::format("[model] of kind 'onnx': 'frozen' leaves no parameter of '{}'",
                                  printable(graph.output)));
    }
    throw InputError(
        fmt::format("{}: no tensor of {} is a parameter of the graph: none of its initializers "
                    "that a derivative of '{}' reaches is in the checkpoint. {}",
                    file.path.string(),
                    checkpoint.source,
                    printable(graph.output),
                    detail::kOnnxRecipe));
  };
  require_parameters([](const OnnxTensorRole& role) { return role.is_parameter; });
  const detail::SampleOutput output = detail::sample_output(file, graph.output, value, settings);
  const std::vector<std::int64_t>& shape = output.shape;

  const LossOptions loss = detail::loss_of_output(file, graph.output, value, output, settings);
  require_parameters(
      [](const OnnxTensorRole& role) { return role.is_parameter && !role.is_unused; });
  const std::string target = settings.has("target") ? settings.text("target") : "target";
  if (loss.kind != LossKind::kOutput) {
    detail::require_target(sources.data, target);
    builder.set_prediction(*value.var);
  }
  const std::string ends_in = remark_on_probabilities(loss, *value.var);
  const std::string of_one_class =
      remark_on_single_class(loss, value.var->rows() * value.var->cols());
  Model model = builder.finish(record_loss(builder, loss, *value.var, shape, target, sources.data));
  model.graph = simplified(*model.graph);
  model.predicts_log_probabilities = loss.kind == LossKind::kNegativeLogLikelihood;
  // The checkpoint also holds tensors that other outputs need.
  for (const auto& [name, extents] : checkpoint.shapes) {
    const bool is_known =
        std::ranges::any_of(roles, [&, &n = name](const auto& role) { return role.name == n; });
    if (!is_known && !may_be_ignored(checkpoint, name)) buffers.push_back({name, extents, {}});
  }
  model.buffers = std::move(buffers);
  model.ties = std::move(ties);
  model.own_parameters = own_parameters(model, graph.tensors);
  model.files = {{file.path.string(), file.sha256}};
  model.weight_decay = weight_decay_from(settings);
  model.searches_invariances = true;
  const std::set<std::string> names = names_of(graph.tensors);
  std::ranges::move(detail::remarks_on_weights({file, names, roles, weights, settings, checkpoint}),
                    std::back_inserter(remarks));
  remarks.insert(remarks.end(),
                 {detail::remark_on_inline_weights(file, graph.needs),
                  remark_on_class_axis(loss, shape, target, sources.data),
                  of_one_class,
                  ends_in});
  for (std::string& remark : remarks) {
    if (!remark.empty()) model.remarks.push_back(std::move(remark));
  }
  return model;
}

std::vector<SettingKey> keys() {
  using Type = SettingKey::Type;
  std::vector<SettingKey> all = {
      {.name = "file", .meaning = "the .onnx file, relative to the problem file", .is_path = true}};
  const std::vector<SettingKey> losses = loss_keys({LossKind::kCrossEntropy,
                                                    LossKind::kMeanSquaredError,
                                                    LossKind::kBinaryCrossEntropy,
                                                    LossKind::kHuber,
                                                    LossKind::kNegativeLogLikelihood,
                                                    LossKind::kOutput});
  all.insert(all.end(), losses.begin(), losses.end());
  const std::vector<SettingKey> rest = {
      {.name = "output",
       .meaning = "which output of the graph, if it has several",
       .is_optional = true},
      {.name = "target",
       .meaning = "array of the data file that holds the targets; \"target\" unless given",
       .is_optional = true},
      {.name = "inputs",
       .type = Type::kTable,
       .meaning = "arrays of the data file by inputs of the graph, where names differ",
       .is_optional = true},
      {.name = "frozen",
       .type = Type::kTexts,
       .meaning = "initializers that are constants; * stands for anything",
       .is_optional = true},
      {.name = "parameters",
       .type = Type::kTexts,
       .meaning = "initializers that are parameters, no others; * stands for anything",
       .is_optional = true},
      {.name = "tied",
       .type = Type::kTexts,
       .meaning = "\"NAME = OTHER\": two names of the checkpoint for one tensor",
       .is_optional = true},
      {.name = "separate",
       .type = Type::kTexts,
       .meaning =
           "initializers that are parameters of their own though they hold the same numbers as "
           "another; * stands for anything",
       .is_optional = true},
      {.name = "batch",
       .type = Type::kInteger,
       .meaning = "1 for a graph that was exported for one sample",
       .minimum = 1,
       .maximum = 1,
       .is_optional = true},
  };
  all.insert(all.end(), rest.begin(), rest.end());
  all.push_back(weight_decay_key());
  return all;
}

}  // namespace

ModelKind onnx_kind() {
  return {.name = "onnx",
          .summary = "any forward pass exported as ONNX, with a loss of its output",
          .keys = keys(),
          .build =
              [](const ModelSources& sources, const TensorShapes& checkpoint) {
                return build(ChosenGraph(sources), sources, checkpoint);
              },
          .create =
              [](const ModelSources& sources) {
                const ChosenGraph graph(sources);
                return build(graph, sources, detail::as_checkpoint(graph.file, graph.tensors));
              },
          .has_own_parameters = true,
          .checks_predictions = true};
}

}  // namespace hesscope
