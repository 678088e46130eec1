// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/import/dependencies.h>
#include <hesscope/models/internal/onnx_output.h>

namespace hesscope::detail {

using onnx::OnnxFile;
using onnx::Value;

namespace {

// The class axis of a folded output, counted as losses count its axes: one more than in the graph.
// Classes have an axis of their own, so of two axes it is the last.
std::int64_t folded_class_axis(const OnnxFile& file,
                               const LossOptions& loss,
                               const SampleOutput& output) {
  const auto rank = static_cast<std::int64_t>(output.shape.size());
  if (!loss.class_axis && rank == 2) return -1;
  if (!loss.class_axis) {
    throw InputError(fmt::format(
        "{}: the output has samples on the first of its {} axes, together with others: {}",
        file.path.string(),
        rank,
        rank > 2 ? "say by `class_axis` on which of them its classes are"
                 : "classes need an axis of their own"));
  }
  const std::int64_t axis = *loss.class_axis;
  if (axis == 0 || axis >= rank || axis <= -rank) {
    loss.source.refuse("class_axis",
                       fmt::format("'class_axis' is {}, but of the {} axes of the graph's output "
                                   "samples are on the first",
                                   axis,
                                   rank));
  }
  return axis > 0 ? axis + 1 : axis;
}

}  // namespace

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

SampleOutput sample_output(const OnnxFile& file,
                           const std::string& output,
                           const Value& value,
                           const Settings& settings) {
  const bool is_number = value.axes.empty() && !value.is_known();
  if (value.batch_total != nullptr || (is_number && settings.has("batch"))) {
    return {.shape = onnx::sizes_of(value.axes)};
  }
  const int batch = std::max(onnx::batch_axis(value.axes), 0);
  const bool is_batch_alone =
      !value.axes.empty() && value.axes[static_cast<std::size_t>(batch)].size == 1;
  const bool is_folded = !value.axes.empty() && value.axes[0].has_batch && !is_batch_alone;
  if (value.is_known() || (!is_batch_alone && !is_folded)) {
    throw InputError(fmt::format(
        "{}: output '{}' has the shape {}: one of its axes should be the samples' (the batch, N)",
        file.path.string(),
        printable(output),
        onnx::text(value.axes)));
  }
  std::vector<std::int64_t> shape = onnx::sizes_of(value.axes);
  if (!is_folded) shape.erase(shape.begin() + batch);
  return {shape, is_folded};
}

LossOptions loss_of_output(const OnnxFile& file,
                           const std::string& output,
                           const Value& value,
                           const SampleOutput& sample,
                           const Settings& settings) {
  LossOptions loss = loss_options(settings);
  using Kind = onnx::BatchTotal::Kind;
  const Kind total = value.batch_total == nullptr ? Kind::kMean : value.batch_total->kind;
  if (total == Kind::kCount) {
    throw InputError(fmt::format(
        "{}: output '{}' is the number of samples (N)", file.path.string(), printable(output)));
  }
  if (total == Kind::kSum) {
    throw InputError(fmt::format(
        "{}: output '{}' is a sum over the batch (N), taken by {}: samples would interact. Divide "
        "it by the number of samples as the graph knows it, x.shape[0], or take the mean",
        file.path.string(),
        printable(output),
        value.batch_total->place));
  }
  if (value.batch_total != nullptr && loss.kind != LossKind::kOutput) {
    throw InputError(fmt::format(
        "{}: output '{}' is a mean over the batch (N), taken by {}: a loss that the graph itself "
        "computes is taken by loss = \"output\", and for any other the samples' outputs are needed",
        file.path.string(),
        printable(output),
        value.batch_total->place));
  }
  if (sample.is_folded && takes_classes(loss.kind)) {
    loss.class_axis = folded_class_axis(file, loss, sample);
  }
  return loss;
}

}  // namespace hesscope::detail
