// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/ascii.h>
#include <hesscope/core/name_list.h>
#include <hesscope/core/printable.h>
#include <hesscope/core/suggest.h>
#include <hesscope/models/internal/onnx_remarks.h>
#include <hesscope/models/internal/onnx_tie_names.h>
#include <hesscope/models/internal/pytorch_buffers.h>
#include <hesscope/models/internal/related_tensors.h>

namespace hesscope::detail {
namespace {

using onnx::Tensor;

// At most three names.
std::string list_of(const std::vector<std::string>& names) {
  return printable(first_names(names, 3));
}

// Without those about which the problem file decides.
std::vector<std::string> unsettled(const OnnxReading& reading, std::vector<std::string> names) {
  std::erase_if(names,
                [&](const std::string& name) { return is_settled(reading.settings, name, name); });
  return names;
}

// A remark on tensors that are not parameters; empty if there are none that are unsettled.
std::string computes_with(const OnnxReading& reading,
                          const std::vector<std::string>& names,
                          const char* what_they_are) {
  const std::vector<std::string> doubtful = unsettled(reading, names);
  if (doubtful.empty()) return {};
  return fmt::format(
      "{} computes with {}{}", reading.file.path.string(), list_of(doubtful), what_they_are);
}

// True for "head.logit_scale" or "0.weight", false for names that exporters number: "onnx::Mul_7",
// "124", "/head/Constant_output_0".
bool is_path_of_names(const std::string& name) {
  return std::ranges::any_of(name, is_letter) && std::ranges::all_of(name, [](char c) {
           return is_letter_or_digit(c) || c == '_' || c == '.';
         });
}

// Neither named nor numbered by an exporter: "ln.weight", "temperature", not "val_3".
bool is_named_by_program(const std::string& name) {
  if (!is_path_of_names(name)) return false;
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  return name.find('.') != std::string::npos || digits == name.size() || name[digits - 1] != '_';
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

// Remarks that the graph uses tensors which the checkpoint has and a map of names ignores, and
// which the problem file does not name: those of the checkpoint may be others.
std::string remark_on_left_out(const OnnxReading& reading) {
  std::vector<std::string> names;
  for (const OnnxTensorRole& role : reading.roles) {
    const bool is_left_out = reading.checkpoint.left_out.contains(role.name);
    if (is_left_out && !role.is_unused) names.push_back(role.name);
  }
  return computes_with(reading,
                       names,
                       " as when the model was exported: the map of names ignores the checkpoint's "
                       "own, which may differ. Where that is meant, 'frozen' says so");
}

// Remarks that the graph uses constants which the checkpoint lacks and the problem file does not
// name: they may have been folded from parameters.
std::string remark_on_constants(const OnnxReading& reading) {
  std::vector<std::string> names;
  for (const Tensor* tensor : reading.weights.constants) {
    const std::vector<double>& entries = tensor->reals;
    // Not a mask and, unless a program has named it, not a number, or one number many times.
    const bool is_plain = are_all_equal(entries) && !is_named_by_program(tensor->name);
    const bool is_mask = !std::ranges::all_of(entries, [](double x) { return std::isfinite(x); });
    const bool is_left_out = reading.checkpoint.left_out.contains(tensor->name);
    if (!is_plain && !is_mask && !is_left_out) names.push_back(tensor->name);
  }
  return computes_with(
      reading,
      names,
      ", which the checkpoint does not have: constants, as they were when the "
      "model was exported. Where exporting has folded them from parameters, export with "
      "do_constant_folding=False; where they are constants, 'frozen' says so");
}

// Remarks that single numbers with names given by a program ("logit_scale", not "onnx::Mul_7") are
// constants: they may have been learned.
std::string remark_on_single_numbers(const OnnxReading& reading) {
  std::vector<std::string> names;
  for (const Tensor* tensor : reading.weights.single_numbers) {
    if (is_path_of_names(tensor->name)) names.push_back(tensor->name);
  }
  return computes_with(
      reading,
      names,
      ": single numbers, which stay as they are in the file. Where they are "
      "learned, 'parameters' says so ([\"*\"] for all); where they are constants, 'frozen' does");
}

// Remarks that the graph uses single numbers named by the exporter ("onnx::Exp_28"), as it names
// folded values: they may depend on parameters.
std::string remark_on_folded_numbers(const OnnxReading& reading) {
  std::vector<std::string> names;
  for (const auto* tensors : {&reading.weights.constants, &reading.weights.single_numbers}) {
    for (const Tensor* tensor : *tensors) {
      const bool is_folded = tensor->reals.size() == 1 && tensor->name.starts_with(kExportersName);
      if (is_folded) names.push_back(tensor->name);
    }
  }
  return computes_with(
      reading,
      names,
      ": single numbers that exporting has folded, it seems, and that stay as they are in the "
      "file. Where they come of parameters, this is the Hessian of another model: export with "
      "do_constant_folding=False, training=torch.onnx.TrainingMode.PRESERVE; where they are "
      "constants, 'frozen' says so");
}

// Remarks that the statistics of batch normalisation are taken from the file for all checkpoints.
std::string remark_on_statistics(const OnnxReading& reading) {
  return computes_with(
      reading,
      reading.weights.statistics,
      ": averages of batch normalisation, which the checkpoint does not have, "
      "as they were when the model was exported. Those of another step are others, unless hesscope "
      "has trained the model, which keeps them: save them with the parameters, as state_dict() "
      "does; where they are constants, 'frozen' says so");
}

// Remarks that names are treated as parameters to which they may only have been equal.
std::string remark_on_merged_constants(const OnnxReading& reading) {
  std::vector<std::string> names;
  for (const ModelTie& merged : reading.weights.merged) names.push_back(merged.name);
  names = unsettled(reading, std::move(names));
  if (names.empty()) return {};
  const ModelTie& first =
      *std::ranges::find(reading.weights.merged, names.front(), &ModelTie::name);
  return fmt::format(
      "{}: {}, which the checkpoint does not have, was equal to a parameter when the model was "
      "exported, and exporting has made one tensor of them: {} is taken for {}. If it is a tensor "
      "of its own, 'separate' says so; if they are one by design, tied = [\"{} = {}\"]",
      reading.file.path.string(),
      list_of(names),
      printable(first.name),
      printable(first.to),
      printable(first.name),
      printable(first.to));
}

// Remarks that an Identity node's result for a parameter of an .onnx file is a constant, since
// `parameters` does not name it.
std::string remark_on_constant_copies(const OnnxReading& reading) {
  if (reading.weights.constant_copies.empty()) return {};
  std::vector<std::string> names;
  for (const ModelTie& copy : reading.weights.constant_copies) names.push_back(copy.name);
  const ModelTie& first = reading.weights.constant_copies.front();
  return fmt::format(
      "{} computes with {}, in the file the same tensor as a parameter ({}), as a constant, since "
      "'parameters' does not name it. If it is that parameter, tied = [\"{} = {}\"] says so, if "
      "one of its own, 'parameters', if a constant, 'frozen'",
      reading.file.path.string(),
      list_of(names),
      printable(first.to),
      printable(first.name),
      printable(first.to));
}

// A remark on a tie in `tied` whose name is not that of any tensor, but close to one.
std::string remark_on_lost_ties(const OnnxReading& reading) {
  std::vector<std::string> known(reading.names.begin(), reading.names.end());
  for (const auto& [name, shape] : reading.checkpoint.shapes) known.push_back(name);
  for (const ModelTie& tie : declared_ties(reading.names, reading.settings, reading.checkpoint)) {
    const bool is_there = std::ranges::find(known, tie.name) != known.end() ||
                          reading.file.find_initializer(tie.name) != nullptr;
    const std::string nearest = did_you_mean(tie.name, known);
    if (is_there || nearest.empty()) continue;
    return fmt::format("'{}' in 'tied' is no tensor of {} or of {}{}: it ties nothing",
                       printable(tie.name),
                       reading.file.path.string(),
                       reading.checkpoint.source,
                       nearest);
  }
  return {};
}

// Remarks that no node uses some of the parameters.
std::string remark_on_unused_parameters(const OnnxReading& reading) {
  if (reading.settings.has("parameters")) return {};
  const std::vector<std::string> names = unsettled(reading, reading.weights.unused);
  if (names.empty()) return {};
  return fmt::format(
      "{}: no node uses {}, which the checkpoint has: parameters without effect, whose rows of the "
      "Hessian are 0. Where they are none of the model's, 'frozen' leaves them out; else "
      "'parameters' says so",
      reading.file.path.string(),
      list_of(names));
}

// Remarks that, judging by their names, parameters were computed by the exporter from those of the
// model: batch normalisation folded into the weights of a convolution, or weights that are
// normalised, masked or scaled.
std::string remark_on_folded_weights(const OnnxReading& reading) {
  std::vector<std::string> names;
  for (const Tensor* tensor : reading.weights.parameters) {
    if (reading.weights.are_named_by_model || !tensor->name.starts_with(kExportersName)) continue;
    if (!is_only_moved(*tensor)) names.push_back(tensor->name);
  }
  names = unsettled(reading, std::move(names));
  if (names.empty()) return {};
  return fmt::format(
      "{}: the exporter has made the parameters {} itself, of convolutions and the batch "
      "normalisation behind them, or of weights that the model computes with (norms, masks, "
      "scales), it seems: their Hessian is not that of the weights that were trained. Export with "
      "training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False; where they are the "
      "model's own, 'separate' says so, where constants, 'frozen'",
      reading.file.path.string(),
      list_of(names));
}

// Remarks that, judging by their numbers, the exporter computed some parameters from others, as if
// one tensor had been used twice and sliced or scaled once.
std::string remark_on_related_weights(const OnnxReading& reading) {
  const bool has_folded = std::ranges::any_of(reading.weights.parameters, [](const Tensor* tensor) {
    return tensor->name.starts_with(kExportersName);
  });
  if (reading.weights.are_named_by_model || !has_folded) return {};
  std::vector<ShapedNumbers> numbers;
  for (const Tensor* tensor : reading.weights.parameters) numbers.push_back(numbers_of(*tensor));
  const auto related = related_tensors(numbers);
  std::vector<std::string> names;
  std::string pair;
  for (std::size_t i = 0; i < related.size(); ++i) {
    if (!related[i]) continue;
    const std::string& name = reading.weights.parameters[i]->name;
    const std::string& other = reading.weights.parameters[*related[i]]->name;
    if (!name.starts_with(kExportersName) || is_settled(reading.settings, name, other)) continue;
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
      reading.file.path.string(),
      list_of(names),
      pair);
}

// Remarks that the checkpoint holds as integers what the graph computes with as real numbers.
std::string remark_on_integers(const OnnxReading& reading) {
  return computes_with(reading,
                       reading.weights.integers,
                       ", which the checkpoint holds as integers: constants. If they are learned, "
                       "store them as real numbers; where they are constants, 'frozen' says so");
}

// Remarks that parameters have names that are nearly always those of buffers.
std::string remark_on_buffers(const OnnxReading& reading) {
  if (reading.settings.has("parameters")) return {};
  std::vector<std::string> names;
  for (const Tensor* tensor : reading.weights.parameters) {
    if (is_name_of_buffers(tensor->name)) names.push_back(tensor->name);
  }
  names = unsettled(reading, std::move(names));
  if (names.empty()) return {};
  return fmt::format(
      "{}: {}, a buffer by its name, is a parameter here, since the checkpoint has it and the "
      "model computes with it. If it was not learned, 'frozen' leaves it out of the Hessian; if it "
      "was, 'parameters' says so",
      reading.file.path.string(),
      list_of(names));
}

}  // namespace

std::vector<std::string> remarks_on_weights(const OnnxReading& reading) {
  std::vector<std::string> remarks;
  for (const auto remark : {&remark_on_left_out,
                            &remark_on_constants,
                            &remark_on_integers,
                            &remark_on_single_numbers,
                            &remark_on_folded_numbers,
                            &remark_on_statistics,
                            &remark_on_merged_constants,
                            &remark_on_constant_copies,
                            &remark_on_lost_ties,
                            &remark_on_unused_parameters,
                            &remark_on_buffers,
                            &remark_on_folded_weights,
                            &remark_on_related_weights}) {
    if (std::string text = remark(reading); !text.empty()) remarks.push_back(std::move(text));
  }
  return remarks;
}

}  // namespace hesscope::detail
