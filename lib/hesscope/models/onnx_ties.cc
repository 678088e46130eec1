// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include <hesscope/core/ascii.h>
#include <hesscope/core/error.h>
#include <hesscope/core/name_list.h>
#include <hesscope/core/printable.h>
#include <hesscope/core/suggest.h>
#include <hesscope/core/wildcard.h>
#include <hesscope/models/internal/onnx_tie_names.h>
#include <hesscope/models/internal/related_tensors.h>
#include <hesscope/models/onnx_tensors.h>
#include <hesscope/models/onnx_ties.h>

namespace hesscope {
namespace {

using onnx::OnnxFile;
using onnx::Tensor;

std::string without_spaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

ShapedNumbers numbers_of(const Tensor& tensor) {
  return {.shape = tensor.shape, .entries = tensor.reals};
}

// At most three names.
std::string list_of(const std::vector<std::string>& names) {
  return printable(first_names(names, 3));
}

// A remark on tensors that are not parameters; empty if there are none.
std::string computes_with(const OnnxFile& file,
                          const std::vector<std::string>& names,
                          const char* what_they_are) {
  if (names.empty()) return {};
  return fmt::format("{} computes with {}{}", file.path.string(), list_of(names), what_they_are);
}

// True for "head.logit_scale" or "0.weight", false for names that exporters number: "onnx::Mul_7",
// "124", "/head/Constant_output_0".
bool is_path_of_names(const std::string& name) {
  return std::ranges::any_of(name, is_letter) && std::ranges::all_of(name, [](char c) {
           return is_letter_or_digit(c) || c == '_' || c == '.';
         });
}

// Named as a module's tensor in a state_dict(): "ln.weight".
bool is_of_a_module(const std::string& name) {
  return is_path_of_names(name) && name.find('.') != std::string::npos;
}

// Whether the problem file states what the tensors with these names are.
bool is_settled(const Settings& settings, const std::string& copy, const std::string& original) {
  const auto is_among = [&](const char* key) {
    if (!settings.has(key)) return false;
    return std::ranges::any_of(settings.texts(key), [&](const std::string& pattern) {
      return matches_wildcard(pattern, copy) || matches_wildcard(pattern, original);
    });
  };
  for (const ModelTie& tie : onnx_ties_in(settings)) {
    if (tie.name == copy || tie.name == original) return true;
  }
  return is_among("separate") || is_among("frozen");
}

// The prefix of names given by PyTorch's exporter.
constexpr std::string_view kExportersName = "onnx::";

// Whether PyTorch's exporter has only transposed or reordered the tensor, judging by its name and
// its numbers. The exporter also uses the names of these operators if it has computed something
// before them: masks then leave zeros, W + W^T and cat([W, W]) contain each number twice.
bool is_only_moved(const Tensor& tensor) {
  constexpr std::array<std::string_view, 4> kMoved = {
      "onnx::MatMul_", "onnx::LSTM_", "onnx::GRU_", "onnx::RNN_"};
  return std::ranges::any_of(kMoved,
                             [&](auto prefix) { return tensor.name.starts_with(prefix); }) &&
         !has_repeated_entries(numbers_of(tensor));
}

}  // namespace

std::vector<ModelTie> onnx_ties_in(const Settings& settings) {
  std::vector<ModelTie> ties;
  if (!settings.has("tied")) return ties;
  for (const std::string& entry : settings.texts("tied")) {
    const std::size_t equals = entry.find('=');
    ModelTie tie;
    if (equals != std::string::npos) {
      tie = {without_spaces(entry.substr(0, equals)), without_spaces(entry.substr(equals + 1))};
    }
    if (tie.name.empty() || tie.to.empty()) {
      settings.refuse(
          "tied",
          fmt::format("[model] of kind 'onnx': an entry of 'tied' is \"NAME = OTHER\", got \"{}\"",
                      entry));
    }
    ties.push_back(std::move(tie));
  }
  return ties;
}

void require_no_copies(const OnnxFile& file, const OnnxWeights& weights, const Settings& settings) {
  std::map<std::vector<double>, const Tensor*> known;
  const auto require_no_copy = [&](const Tensor& tensor, const std::string& consequence) {
    const auto found = known.find(sorted_entries(tensor.reals));
    if (found == known.end()) return;
    const Tensor& original = *found->second;
    const CopyKind kind = copy_kind(numbers_of(tensor), numbers_of(original));
    if (kind == CopyKind::kNone || is_settled(settings, tensor.name, original.name)) return;
    const std::string name = printable(tensor.name);
    const std::string original_name = printable(original.name);
    // `tied` supports no other order.
    const bool can_be_tied = kind != CopyKind::kReordered;
    throw InputError(fmt::format(
        "{}: '{}' holds the same numbers as '{}'{}: exporting has made two tensors of one, it "
        "seems. {}. Export with do_constant_folding=False, "
        "training=torch.onnx.TrainingMode.PRESERVE{}; separate = [\"{}\"] if they only happen to "
        "be equal",
        file.path.string(),
        name,
        original_name,
        kind == CopyKind::kTransposed  ? ", transposed"
        : kind == CopyKind::kReordered ? ", in another order"
                                       : "",
        consequence,
        can_be_tied
            ? fmt::format(", or say tied = [\"{} = {}\"] in the problem file", name, original_name)
            : "",
        name));
  };
  for (const Tensor* tensor : weights.parameters) {
    if (!weights.are_named_by_model) {
      require_no_copy(*tensor, "As two parameters they would give the Hessian of another model");
    }
    known.emplace(sorted_entries(tensor->reals), tensor);
  }
  for (const Tensor* tensor : weights.constants) {
    require_no_copy(*tensor, "Not in the checkpoint, it would stay as it was when exported");
  }
}

std::string remark_on_left_out(const OnnxFile& file,
                               const std::vector<OnnxTensorRole>& roles,
                               const Settings& settings,
                               const TensorShapes& checkpoint) {
  std::vector<std::string> names;
  for (const OnnxTensorRole& role : roles) {
    const bool is_left_out = checkpoint.left_out.contains(role.name) && !role.is_unused;
    if (is_left_out && !is_settled(settings, role.name, role.name)) names.push_back(role.name);
  }
  return computes_with(file,
                       names,
                       " as when the model was exported: the map of names ignores the checkpoint's "
                       "own, which may differ. Where that is meant, 'frozen' says so");
}

std::string remark_on_constants(const OnnxFile& file,
                                const OnnxWeights& weights,
                                const Settings& settings,
                                const TensorShapes& checkpoint) {
  std::vector<std::string> names;
  for (const Tensor* tensor : weights.constants) {
    const std::vector<double>& entries = tensor->reals;
    // Not a mask and, unless it belongs to a module, not a number, or one number many times.
    const bool is_plain = are_all_equal(entries) && !is_of_a_module(tensor->name);
    const bool is_mask = !std::ranges::all_of(entries, [](double x) { return std::isfinite(x); });
    const bool is_known = checkpoint.left_out.contains(tensor->name) ||
                          is_settled(settings, tensor->name, tensor->name);
    if (!is_plain && !is_mask && !is_known) names.push_back(tensor->name);
  }
  return computes_with(
      file,
      names,
      ", which the checkpoint does not have: constants, as they were when the "
      "model was exported. Where exporting has folded them from parameters, export with "
      "do_constant_folding=False; where they are constants, 'frozen' says so");
}

std::string remark_on_single_numbers(const OnnxFile& file,
                                     const OnnxWeights& weights,
                                     const Settings& settings) {
  std::vector<std::string> names;
  for (const Tensor* tensor : weights.single_numbers) {
    if (is_path_of_names(tensor->name) && !is_settled(settings, tensor->name, tensor->name)) {
      names.push_back(tensor->name);
    }
  }
  return computes_with(
      file,
      names,
      ": single numbers, which stay as they are in the file. Where they are "
      "learned, 'parameters' says so ([\"*\"] for all); where they are constants, 'frozen' does");
}

std::string remark_on_folded_numbers(const OnnxFile& file,
                                     const OnnxWeights& weights,
                                     const Settings& settings) {
  std::vector<std::string> names;
  for (const auto* tensors : {&weights.constants, &weights.single_numbers}) {
    for (const Tensor* tensor : *tensors) {
      const bool is_folded = tensor->reals.size() == 1 && tensor->name.starts_with(kExportersName);
      if (is_folded && !is_settled(settings, tensor->name, tensor->name)) {
        names.push_back(tensor->name);
      }
    }
  }
  return computes_with(
      file,
      names,
      ": single numbers that exporting has folded, it seems, and that stay as they are in the "
      "file. Where they come of parameters, this is the Hessian of another model: export with "
      "do_constant_folding=False, training=torch.onnx.TrainingMode.PRESERVE; where they are "
      "constants, 'frozen' says so");
}

std::string remark_on_statistics(const OnnxFile& file,
                                 const OnnxWeights& weights,
                                 const Settings& settings) {
  std::vector<std::string> names;
  for (const std::string& name : weights.statistics) {
    if (!is_settled(settings, name, name)) names.push_back(name);
  }
  return computes_with(
      file,
      names,
      ": averages of batch normalisation, which the checkpoint does not have, "
      "as they were when the model was exported. Those of another step are others, unless hesscope "
      "has trained the model, which keeps them: save them with the parameters, as state_dict() "
      "does; where they are constants, 'frozen' says so");
}

std::string remark_on_merged_constants(const OnnxFile& file,
                                       const OnnxWeights& weights,
                                       const Settings& settings) {
  std::vector<std::string> names;
  for (const ModelTie& merged : weights.merged) {
    if (!is_settled(settings, merged.name, merged.name)) names.push_back(merged.name);
  }
  if (names.empty()) return {};
  const ModelTie& first = *std::ranges::find(weights.merged, names.front(), &ModelTie::name);
  return fmt::format(
      "{}: {}, which the checkpoint does not have, was equal to a parameter when the model was "
      "exported, and exporting has made one tensor of them: {} is taken for {}. If it is a tensor "
      "of its own, 'separate' says so; if they are one by design, tied = [\"{} = {}\"]",
      file.path.string(),
      list_of(names),
      printable(first.name),
      printable(first.to),
      printable(first.name),
      printable(first.to));
}

std::string remark_on_constant_copies(const OnnxFile& file, const OnnxWeights& weights) {
  if (weights.constant_copies.empty()) return {};
  std::vector<std::string> names;
  for (const ModelTie& copy : weights.constant_copies) names.push_back(copy.name);
  const ModelTie& first = weights.constant_copies.front();
  return fmt::format(
      "{} computes with {}, in the file the same tensor as a parameter ({}), as a constant, since "
      "'parameters' does not name it. If it is that parameter, tied = [\"{} = {}\"] says so, if "
      "one of its own, 'parameters', if a constant, 'frozen'",
      file.path.string(),
      list_of(names),
      printable(first.to),
      printable(first.name),
      printable(first.to));
}

std::string remark_on_lost_ties(const OnnxFile& file,
                                const std::set<std::string>& names,
                                const Settings& settings,
                                const TensorShapes& checkpoint) {
  std::vector<std::string> known(names.begin(), names.end());
  for (const auto& [name, shape] : checkpoint.shapes) known.push_back(name);
  for (const ModelTie& tie : detail::declared_ties(names, settings, checkpoint)) {
    const bool is_there = std::ranges::find(known, tie.name) != known.end() ||
                          file.find_initializer(tie.name) != nullptr;
    const std::string nearest = did_you_mean(tie.name, known);
    if (is_there || nearest.empty()) continue;
    return fmt::format("'{}' in 'tied' is no tensor of {} or of {}{}: it ties nothing",
                       printable(tie.name),
                       file.path.string(),
                       checkpoint.source,
                       nearest);
  }
  return {};
}

std::string remark_on_unused_parameters(const OnnxFile& file,
                                        const OnnxWeights& weights,
                                        const Settings& settings) {
  if (settings.has("parameters")) return {};
  std::vector<std::string> names;
  for (const std::string& name : weights.unused) {
    if (!is_settled(settings, name, name)) names.push_back(name);
  }
  if (names.empty()) return {};
  return fmt::format(
      "{}: no node uses {}, which the checkpoint has: parameters without effect, whose rows of the "
      "Hessian are 0. Where they are none of the model's, 'frozen' leaves them out; else "
      "'parameters' says so",
      file.path.string(),
      list_of(names));
}

std::string remark_on_related_weights(const OnnxFile& file,
                                      const OnnxWeights& weights,
                                      const Settings& settings) {
  const bool has_folded = std::ranges::any_of(weights.parameters, [](const Tensor* tensor) {
    return tensor->name.starts_with(kExportersName);
  });
  if (weights.are_named_by_model || !has_folded) return {};
  std::vector<ShapedNumbers> numbers;
  for (const Tensor* tensor : weights.parameters) numbers.push_back(numbers_of(*tensor));
  const auto related = detail::related_tensors(numbers);
  std::vector<std::string> names;
  std::string pair;
  for (std::size_t i = 0; i < related.size(); ++i) {
    if (!related[i]) continue;
    const std::string& name = weights.parameters[i]->name;
    const std::string& other = weights.parameters[*related[i]]->name;
    if (!name.starts_with(kExportersName) || is_settled(settings, name, other)) continue;
    if (pair.empty()) pair = fmt::format("{} and {}", printable(name), printable(other));
    names.push_back(name);
  }
  if (names.empty()) return {};
  return fmt::format(
      "{}: {} hold rows or columns of other parameters, or multiples of them ({}, say): exporting "
      "has computed them of the same tensor, it seems. As parameters of their own they give the "
      "Hessian of another model: export with do_constant_folding=False, "
      "training=torch.onnx.TrainingMode.PRESERVE; where they only happen to be alike, 'separate' "
      "says so",
      file.path.string(),
      list_of(names),
      pair);
}

std::string remark_on_folded_weights(const OnnxFile& file,
                                     const OnnxWeights& weights,
                                     const Settings& settings) {
  std::vector<std::string> names;
  for (const Tensor* tensor : weights.parameters) {
    if (weights.are_named_by_model || !tensor->name.starts_with("onnx::")) continue;
    const bool is_known =
        is_only_moved(*tensor) || is_settled(settings, tensor->name, tensor->name);
    if (!is_known) names.push_back(tensor->name);
  }
  if (names.empty()) return {};
  return fmt::format(
      "{}: the exporter has made the parameters {} itself, of convolutions and the batch "
      "normalisation behind them, or of weights that the model computes with (norms, masks, "
      "scales), it seems: their Hessian is not that of the weights that were trained. Export with "
      "training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False; where they are the "
      "model's own, 'separate' says so, where constants, 'frozen'",
      file.path.string(),
      list_of(names));
}

std::string settle_tie(const OnnxFile& file,
                       const Tensor& copy,
                       const Tensor& original,
                       const TensorShapes& checkpoint,
                       ModelTie& tie) {
  const CopyKind kind = copy_kind(numbers_of(copy), numbers_of(original));
  if (kind == CopyKind::kReordered || copy.size() != original.size()) {
    throw InputError(
        fmt::format("{}: '{}' and '{}' cannot be one tensor, as 'tied' says: {}",
                    file.path.string(),
                    printable(tie.name),
                    printable(tie.to),
                    copy.size() != original.size()
                        ? fmt::format("they have {} and {} entries", copy.size(), original.size())
                        : "their entries are ordered otherwise, and not only transposed"));
  }
  const Sameness in_file = sameness(numbers_of(copy), numbers_of(original));
  const Sameness in_checkpoint = sameness_in(checkpoint, tie);
  if (in_checkpoint.is_certain() && in_file.is_certain() && in_checkpoint.as_is != in_file.as_is) {
    throw InputError(
        fmt::format("{}: '{}' is '{}'{}, and in {} it is that{}: the graph is of another model",
                    checkpoint.source,
                    printable(tie.name),
                    printable(tie.to),
                    in_checkpoint.as_is ? "" : " transposed",
                    file.path.string(),
                    in_file.as_is ? " as it is" : " transposed"));
  }
  const bool may_be_turned = are_transposed(copy.shape, original.shape);
  tie.is_transposed = in_checkpoint.is_certain() ? in_checkpoint.is_transposed
                      : in_file.is_certain()     ? in_file.is_transposed
                                                 : copy.shape != original.shape && may_be_turned;
  const bool is_told = in_checkpoint.is_certain() || in_file.is_certain();
  if (is_told || !may_be_turned || copy.shape != original.shape || copy.size() == 1) return {};
  return fmt::format(
      "{}: '{}' is taken for '{}' as it is, not transposed: neither the graph's numbers nor the "
      "checkpoint's tell which, and derivatives depend on it",
      file.path.string(),
      printable(tie.name),
      printable(tie.to));
}

}  // namespace hesscope
