// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/autodiff/graph_folding.h>
#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/core/suggest.h>
#include <hesscope/core/wildcard.h>
#include <hesscope/import/importer.h>
#include <hesscope/models/losses.h>
#include <hesscope/models/onnx_model.h>
#include <hesscope/models/onnx_ties.h>

namespace hesscope {
namespace {

using onnx::Axes;
using onnx::ElementKind;
using onnx::OnnxFile;
using onnx::Tensor;
using onnx::Value;

constexpr std::string_view kRecipe =
    "Export with torch.onnx.export(model.eval(), ..., do_constant_folding=False, "
    "training=torch.onnx.TrainingMode.PRESERVE), or dynamo=True, optimize=False in PyTorch 2: "
    "names "
    "are then those of the state_dict. Or analyze the .onnx itself as the checkpoint";

// --- the tensors of a graph ---

// A tensor that may be a parameter: an initializer, or the name that an Identity node gives one, which
// is how exporters write two parameters that were of equal value.
struct Candidate {
  std::string name;
  const Tensor* tensor;
};

// Those that the output depends on, and those that nothing in the graph uses.
std::vector<Candidate> candidates(const OnnxFile& file, const onnx::Dependencies& needs) {
  std::set<std::string> used;
  for (const onnx::Node& node : file.nodes) used.insert(node.inputs.begin(), node.inputs.end());
  std::vector<Candidate> found;
  for (const Tensor& tensor : file.initializers) {
    if (needs.values.contains(tensor.name) || !used.contains(tensor.name)) {
      found.push_back({tensor.name, &tensor});
    }
  }
  for (const std::size_t i : needs.nodes) {
    const onnx::Node& node = file.nodes[i];
    if (node.op != "Identity" || !node.domain.empty() || !node.guards.empty()) continue;
    if (node.inputs.size() != 1) continue;
    const auto of = std::ranges::find(found, node.inputs[0], &Candidate::name);
    if (of != found.end()) found.push_back({node.outputs[0], of->tensor});
  }
  return found;
}

bool matches_any(const std::string& name, const std::vector<std::string>& patterns) {
  return std::ranges::any_of(
      patterns, [&](const std::string& pattern) { return matches_wildcard(pattern, name); });
}

std::vector<std::string> texts_or_none(const Settings& settings, const std::string& key) {
  return settings.has(key) ? settings.texts(key) : std::vector<std::string>();
}

bool is_finite(const Tensor& tensor) {
  return std::ranges::all_of(tensor.reals, [](double x) { return std::isfinite(x); });
}

// Why a candidate is no parameter; empty if it is one.
std::string obstacle(const Candidate& candidate,
                     const onnx::Dependencies& needs,
                     const Settings& settings,
                     const TensorShapes& checkpoint) {
  const Tensor& tensor = *candidate.tensor;
  if (tensor.kind != ElementKind::kReal) return "its elements are integers";
  if (!checkpoint.has(candidate.name)) return "not in the checkpoint";
  if (needs.values.contains(candidate.name) && !needs.with_slopes.contains(candidate.name)) {
    return "only conditions, sizes or statistics use it: no derivative reaches it";
  }
  if (matches_any(candidate.name, texts_or_none(settings, "frozen"))) return "frozen";
  const std::vector<std::string> chosen = texts_or_none(settings, "parameters");
  if (!chosen.empty() && !matches_any(candidate.name, chosen)) return "not among `parameters`";
  if (checkpoint.has_integers(candidate.name)) return "integers in the checkpoint";
  if (!is_finite(tensor)) return "holds infinities";
  if (checkpoint.format == "onnx" && tensor.shape.empty() && chosen.empty()) {
    return "a single number of the graph: `parameters` can name it";
  }
  for (const OnnxTie& tie : onnx_ties_in(settings)) {
    if (tie.name == candidate.name) return fmt::format("tied to {}", tie.to);
  }
  return {};
}

std::vector<OnnxTensorRole> roles(const OnnxFile& file,
                                  const onnx::Dependencies& needs,
                                  const Settings& settings,
                                  const TensorShapes& checkpoint) {
  std::vector<OnnxTensorRole> parameters;
  std::vector<OnnxTensorRole> others;
  for (const Candidate& candidate : candidates(file, needs)) {
    const std::string why_not = obstacle(candidate, needs, settings, checkpoint);
    const bool is_parameter = why_not.empty();
    (is_parameter ? parameters : others)
        .push_back(
            {.name = candidate.name,
             .shape = candidate.tensor->shape,
             .is_parameter = is_parameter,
             .reason = is_parameter ? "in the checkpoint, and a derivative reaches it" : why_not});
  }
  parameters.insert(parameters.end(), others.begin(), others.end());
  return parameters;
}

// --- what is refused ---

void require_patterns_used(const Settings& settings,
                           const std::vector<OnnxTensorRole>& roles,
                           const std::string& source) {
  std::vector<std::string> names;
  for (const OnnxTensorRole& role : roles) names.push_back(role.name);
  for (const char* key : {"frozen", "parameters", "separate"}) {
    for (const std::string& pattern : texts_or_none(settings, key)) {
      if (std::ranges::any_of(names,
                              [&](const auto& name) { return matches_wildcard(pattern, name); })) {
        continue;
      }
      throw ConfigError(fmt::format("[model] of kind 'onnx': '{}' in '{}' is no tensor of {}{}",
                                    pattern,
                                    key,
                                    source,
                                    did_you_mean(pattern, names)));
    }
  }
}

// Tensors of the checkpoint that the graph does not know: were they left out, this would be the
// Hessian of another model.
void require_known_names(const OnnxFile& file,
                         const Settings& settings,
                         const TensorShapes& checkpoint,
                         const onnx::Dependencies& needs) {
  std::set<std::string> known;
  for (const Tensor& tensor : file.initializers) known.insert(tensor.name);
  for (const Candidate& candidate : candidates(file, needs)) known.insert(candidate.name);
  for (const OnnxTie& tie : onnx_ties_in(settings)) {
    known.insert(tie.name);
  }
  std::vector<std::string> unknown;
  for (const auto& [name, shape] : checkpoint.shapes) {
    if (!known.contains(name) && !is_batch_count(checkpoint, name)) unknown.push_back(name);
  }
  if (unknown.empty()) return;
  const std::size_t shown = std::min<std::size_t>(unknown.size(), 5);
  throw InputError(fmt::format(
      "{}: tensor{} {}{} not in the graph of {}: exporting has renamed, merged or folded {}. {}; "
      "for "
      "weights that are one tensor by design say tied = [\"NAME = OTHER\"]",
      checkpoint.source,
      unknown.size() > 1 ? "s" : "",
      fmt::join(unknown.begin(), unknown.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
      unknown.size() > shown ? fmt::format(" and {} more are", unknown.size() - shown)
      : unknown.size() > 1   ? " are"
                             : " is",
      file.path.string(),
      unknown.size() > 1 ? "them" : "it",
      kRecipe));
}

void require_inputs_known(const OnnxFile& file, const Settings& settings) {
  if (!settings.has("inputs")) return;
  std::vector<std::string> names;
  for (const onnx::ValueInfo& input : file.inputs) names.push_back(input.name);
  for (const auto& [input, array] : settings.table("inputs")) {
    if (std::ranges::find(names, input) != names.end()) continue;
    throw ConfigError(fmt::format("[model] of kind 'onnx': '{}' in 'inputs' is no input of {}{}",
                                  input,
                                  file.path.string(),
                                  did_you_mean(input, names)));
  }
}

std::string chosen_output(const OnnxFile& file, const Settings& settings) {
  const std::vector<std::string> names = onnx::output_names(file);
  if (settings.has("output")) return settings.text("output");
  if (names.size() == 1) return names.front();
  if (names.empty()) throw InputError(file.path.string() + ": the graph has no output");
  throw InputError(fmt::format(
      "{}: the graph has the outputs {}: say which in the problem file, as by output = \"{}\"",
      file.path.string(),
      fmt::join(names, ", "),
      names.front()));
}

// --- inputs ---

const SettingTable& renamed_inputs(const Settings& settings) {
  static const SettingTable none;
  return settings.has("inputs") ? settings.table("inputs") : none;
}

class Inputs {
 public:
  Inputs(const OnnxFile& file, const ModelSources& sources, ModelBuilder& builder)
      : file_(file),
        settings_(sources.settings),
        data_(sources.data),
        builder_(builder),
        is_single_(settings_.has("batch")) {}

  Value declared(const onnx::ValueInfo& input) {
    const SettingTable& renamed = renamed_inputs(settings_);
    const auto found = renamed.find(input.name);
    const std::string array = found == renamed.end() ? input.name : found->second;
    require_array(input, array);
    const std::vector<std::int64_t>& all = data_.at(array);
    if (all.empty()) {
      throw InputError(fmt::format(
          "{}: array '{}' is a single number; samples come first", data_.source, array));
    }
    const std::vector<std::int64_t> shape(all.begin() + 1, all.end());
    Value value{.kind = input.kind, .axes = axes_of(input, array, shape)};
    value.var = input.kind == ElementKind::kReal
                    ? builder_.array(array, shape)
                    : builder_.integers(array, shape, INT32_MIN, INT32_MAX);
    return value;
  }

 private:
  [[noreturn]] void refuse(const onnx::ValueInfo& input, const std::string& why) const {
    throw InputError(
        fmt::format("{}: input '{}' {}", file_.path.string(), printable(input.name), why));
  }

  Axes axes_of(const onnx::ValueInfo& input,
               const std::string& array,
               const std::vector<std::int64_t>& shape) {
    if (input.kind == ElementKind::kOther) {
      refuse(input,
             fmt::format("takes elements of type {}, which are not computed with",
                         onnx::type_name(input.onnx_type)));
    }
    Axes axes = onnx::plain_axes(shape);
    const std::size_t batch = batch_place(input);
    axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(std::min(batch, axes.size())),
                batch_of(input, batch));
    if (!input.shape) return axes;
    if (input.shape->size() != axes.size()) {
      refuse(input,
             fmt::format("has {} axes, array '{}' of {} has {}, samples first",
                         input.shape->size(),
                         array,
                         data_.source,
                         axes.size()));
    }
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (i != batch) require_size(input, array, (*input.shape)[i], i, axes[i].size);
    }
    return axes;
  }

  void require_array(const onnx::ValueInfo& input, const std::string& array) const {
    if (data_.shapes.contains(array) || data_.unreadable.contains(array)) return;
    std::vector<std::string> names;
    for (const auto& [name, shape] : data_.shapes) names.push_back(name);
    throw InputError(fmt::format(
        "{}: no array '{}'{} for the input '{}' of {}; the file holds {}. Where names differ, say "
        "so in the problem file: [model.inputs] {} = \"ARRAY\"",
        data_.source,
        array,
        did_you_mean(array, names),
        printable(input.name),
        file_.path.string(),
        names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")),
        printable(input.name)));
  }

  // The samples' axis is the first, or the only symbol, as of sequences (time, batch, numbers).
  std::size_t batch_place(const onnx::ValueInfo& input) const {
    const auto is_symbol = [](const onnx::Dimension& axis) { return axis.size < 0; };
    if (!input.shape || is_single_ || std::ranges::count_if(*input.shape, is_symbol) != 1) return 0;
    return static_cast<std::size_t>(std::ranges::find_if(*input.shape, is_symbol) -
                                    input.shape->begin());
  }

  onnx::Axis batch_of(const onnx::ValueInfo& input, std::size_t place) {
    if (!input.shape || input.shape->empty()) {
      if (input.shape) refuse(input, "is a single number; its first axis should be the samples'");
      return onnx::kBatchAxis;
    }
    const onnx::Dimension& first = (*input.shape)[place];
    if (is_single_) {
      if (first.size == 1) return {};
      refuse(input, "is not exported for a batch of 1, as 'batch' says");
    }
    if (first.size < 0) {
      if (!first.symbol.empty()) batch_symbols_.insert(first.symbol);
      return onnx::kBatchAxis;
    }
    refuse(input,
           fmt::format(
               "is exported for a batch of {}: export with dynamic_axes = {{\"{}\": {{0: "
               "\"batch\"}}}}, so that the number of samples is a symbol{}",
               first.size,
               printable(input.name),
               first.size == 1
                   ? "; or say batch = 1 in the problem file if the graph is that of one sample"
                   : ""));
  }

  void require_size(const onnx::ValueInfo& input,
                    const std::string& array,
                    const onnx::Dimension& dimension,
                    std::size_t axis,
                    std::int64_t size) {
    if (dimension.size >= 0 && dimension.size != size) {
      refuse(input,
             fmt::format("has length {} along axis {}, array '{}' of {} has {}{}",
                         dimension.size,
                         axis,
                         array,
                         data_.source,
                         size,
                         batch_place(input) == 0
                             ? ""
                             : fmt::format("; its samples are along axis {}, the only symbol, and "
                                           "those of the array come first",
                                           batch_place(input))));
    }
    if (dimension.symbol.empty()) return;
    if (batch_symbols_.contains(dimension.symbol)) {
      refuse(input,
             fmt::format("has the batch ('{}') along axis {}, too: samples would interact",
                         printable(dimension.symbol),
                         axis));
    }
    const auto [known, is_new] = symbols_.emplace(dimension.symbol, size);
    if (!is_new && known->second != size) {
      refuse(input,
             fmt::format("has '{}' = {} along axis {}, elsewhere it is {}",
                         printable(dimension.symbol),
                         size,
                         axis,
                         known->second));
    }
  }

  const OnnxFile& file_;
  const Settings& settings_;
  const TensorShapes& data_;
  ModelBuilder& builder_;
  bool is_single_;
  std::set<std::string> batch_symbols_;
  std::map<std::string, std::int64_t> symbols_;
};

// --- the model ---

// A buffer's values in the checkpoint, or the graph's own.
std::vector<double> values_of(const Tensor& tensor,
                              const std::string& name,
                              const TensorShapes& checkpoint) {
  if (checkpoint.has(name) && checkpoint.read && checkpoint.at(name) == tensor.shape) {
    return checkpoint.read(name);
  }
  if (tensor.kind == ElementKind::kReal) return tensor.reals;
  return {tensor.integers.begin(), tensor.integers.end()};
}

Value constant_of(const Tensor& tensor, const std::vector<double>& values, ModelBuilder& builder) {
  Value value{.kind = tensor.kind, .axes = onnx::plain_axes(tensor.shape)};
  if (tensor.kind == ElementKind::kReal) {
    value.var = builder.constant(
        Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size())));
  } else {
    value.integers = std::make_shared<const onnx::Integers>(
        onnx::Integers{.base = {values.begin(), values.end()}});
  }
  return value;
}

const Tensor& tensor_of(const std::vector<Candidate>& all, const std::string& name) {
  return *std::ranges::find(all, name, &Candidate::name)->tensor;
}

// The output's axes without the batch's, which is the first where none is marked.
std::vector<std::int64_t> sample_shape(const OnnxFile& file,
                                       const std::string& output,
                                       const Value& value) {
  const int batch = std::max(onnx::batch_axis(value.axes), 0);
  if (value.is_known() || value.axes.empty() ||
      value.axes[static_cast<std::size_t>(batch)].size != 1) {
    throw InputError(fmt::format(
        "{}: output '{}' has the shape {}: one of its axes should be the samples' (the batch, N)",
        file.path.string(),
        printable(output),
        onnx::text(value.axes)));
  }
  std::vector<std::int64_t> shape = onnx::sizes_of(value.axes);
  shape.erase(shape.begin() + batch);
  return shape;
}

// Without what merging by value has left to an Identity node: that was equal, and is two.
OnnxWeights weights_of(const OnnxFile& file,
                       const onnx::Dependencies& needs,
                       const std::vector<OnnxTensorRole>& roles,
                       const TensorShapes& checkpoint) {
  OnnxWeights weights{
      .parameters = {}, .constants = {}, .are_named_by_model = checkpoint.format != "onnx"};
  for (const OnnxTensorRole& role : roles) {
    const Tensor* tensor = file.find_initializer(role.name);
    if (tensor == nullptr || !needs.with_slopes.contains(role.name)) continue;
    if (role.is_parameter) {
      weights.parameters.push_back(tensor);
    } else if (tensor->kind == ElementKind::kReal && !checkpoint.has(role.name)) {
      weights.constants.push_back(tensor);
    }
  }
  return weights;
}

Model build(const ModelSources& sources, const TensorShapes& checkpoint) {
  const Settings& settings = sources.settings;
  const OnnxFile file = onnx::read_onnx_file(sources.folder / settings.text("file"));
  const std::string output = chosen_output(file, settings);
  const onnx::Dependencies needs = onnx::dependencies_of(file, output);
  const std::vector<Candidate> tensors = candidates(file, needs);
  const std::vector<OnnxTensorRole> all = roles(file, needs, settings, checkpoint);
  require_patterns_used(settings, all, file.path.string());
  require_known_names(file, settings, checkpoint, needs);
  require_ties_hold(onnx_ties_in(settings), checkpoint);
  const OnnxWeights weights = weights_of(file, needs, all, checkpoint);
  require_no_copies(file, weights, settings);
  require_inputs_known(file, settings);

  ModelBuilder builder("onnx");
  std::map<std::string, Value> given;
  std::vector<ModelBuffer> buffers;
  for (const OnnxTensorRole& role : all) {
    const Tensor& tensor = tensor_of(tensors, role.name);
    if (role.is_parameter) {
      given[role.name] = {.axes = onnx::plain_axes(role.shape),
                          .var = builder.parameter(role.name, role.shape)};
    } else if (checkpoint.has(role.name)) {
      buffers.push_back({role.name, role.shape, values_of(tensor, role.name, checkpoint)});
      given[role.name] = constant_of(tensor, buffers.back().values, builder);
    }
  }
  for (const OnnxTie& tie : onnx_ties_in(settings)) {
    const Tensor* copy = file.find_initializer(tie.name);
    const Tensor* original = file.find_initializer(tie.to);
    if (!given.contains(tie.to)) continue;
    given[tie.name] = given.at(tie.to);
    if (copy == nullptr || original == nullptr) continue;
    given[tie.name] = {.axes = onnx::plain_axes(copy->shape),
                       .var = tied_variable(file, *copy, *original, *given.at(tie.to).var)};
  }
  Inputs inputs(file, sources, builder);
  for (const onnx::ValueInfo& input : file.inputs) {
    if (needs.values.contains(input.name) && !given.contains(input.name)) {
      given[input.name] = inputs.declared(input);
    }
  }
  const Value value = onnx::import_output(file, output, builder.graph(), given);
  if (all.empty() || !all.front().is_parameter) {
    throw InputError(
        fmt::format("{}: no tensor of {} is a parameter of the graph: none of its initializers "
                    "that a derivative "
                    "of '{}' reaches is in the checkpoint. {}",
                    file.path.string(),
                    checkpoint.source,
                    printable(output),
                    kRecipe));
  }
  const std::vector<std::int64_t> shape = sample_shape(file, output, value);

  const LossOptions loss = loss_options(settings);
  const std::string target = settings.has("target") ? settings.text("target") : "target";
  if (loss.kind != LossKind::kOutput) builder.set_prediction(*value.var);
  Model model = builder.finish(record_loss(builder, loss, *value.var, shape, target, sources.data));
  model.graph = pruned(*model.graph);
  // Tensors that other outputs need, or that are tied, are in the checkpoint, too.
  for (const auto& [name, extents] : checkpoint.shapes) {
    const bool is_known =
        std::ranges::any_of(all, [&, &n = name](const auto& role) { return role.name == n; });
    if (!is_known && !is_batch_count(checkpoint, name)) buffers.push_back({name, extents, {}});
  }
  model.buffers = std::move(buffers);
  model.files = {{file.path, file.sha256}};
  model.weight_decay = weight_decay_from(settings);
  model.searches_invariances = true;
  const std::string remark = remark_on_constants(file, weights, settings);
  if (!remark.empty()) model.remarks.push_back(remark);
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

std::vector<OnnxTensorRole> onnx_tensor_roles(const OnnxFile& file,
                                              const std::string& output,
                                              const Settings& settings,
                                              const TensorShapes& checkpoint) {
  return roles(file, onnx::dependencies_of(file, output), settings, checkpoint);
}

ModelKind onnx_kind() {
  return {.name = "onnx",
          .summary = "any forward pass exported as ONNX, with a loss of its output",
          .keys = keys(),
          .build = build,
          .checks_predictions = true};
}

}  // namespace hesscope
