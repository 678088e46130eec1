// SPDX-License-Identifier: BSD-3-Clause
#include <map>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/models/internal/onnx_tie_names.h>
#include <hesscope/models/onnx_ties.h>
#include <hesscope/models/tensor_copies.h>

namespace hesscope {
namespace {

using detail::is_settled;
using detail::numbers_of;
using onnx::OnnxFile;
using onnx::Tensor;

std::string without_spaces(std::string text) {
  std::erase(text, ' ');
  return text;
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
          fmt::format(R"([model] of kind 'onnx': an entry of 'tied' is "NAME = OTHER", got "{}")",
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
