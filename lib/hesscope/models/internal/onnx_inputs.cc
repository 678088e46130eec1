// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/ascii.h>
#include <hesscope/core/error.h>
#include <hesscope/core/internal/exact_integers.h>
#include <hesscope/core/printable.h>
#include <hesscope/core/suggest.h>
#include <hesscope/models/internal/onnx_indices.h>
#include <hesscope/models/internal/onnx_inputs.h>

namespace hesscope::detail {
namespace {

using onnx::Axes;
using onnx::ElementKind;
using onnx::OnnxFile;
using onnx::Value;

// A name as a key of a TOML file, quoted if necessary.
std::string toml_key(const std::string& name) {
  const bool is_bare = !name.empty() && std::ranges::all_of(name, [](char c) {
    return is_letter_or_digit(c) || c == '_' || c == '-';
  });
  return is_bare ? name : fmt::format("'{}'", printable(name));
}

void require_inputs_known(const OnnxFile& file, const Settings& settings) {
  if (!settings.has("inputs")) return;
  std::vector<std::string> names;
  for (const onnx::ValueInfo& input : file.inputs) names.push_back(input.name);
  for (const auto& [input, array] : settings.table("inputs")) {
    if (std::ranges::find(names, input) != names.end()) continue;
    settings.refuse("inputs",
                    fmt::format("[model] of kind 'onnx': '{}' in 'inputs' is no input of {}{}",
                                input,
                                file.path.string(),
                                did_you_mean(input, names)));
  }
}

const SettingTable& renamed_inputs(const Settings& settings) {
  static const SettingTable none;
  return settings.has("inputs") ? settings.table("inputs") : none;
}

// The range of an array, and the reason for it.
struct WholeNumbers {
  std::int64_t first;
  std::int64_t last;
  std::string reason = {};
};

// Limits for 64-bit integers: those that can be computed with exactly.
WholeNumbers bounds_of(const onnx::ValueInfo& input) {
  const std::string type = onnx::type_name(input.onnx_type);
  const auto of_type = [&](std::int64_t first, std::int64_t last) {
    return WholeNumbers{
        first, last, fmt::format("as input '{}' is {}", printable(input.name), type)};
  };
  if (input.kind == ElementKind::kBoolean) return of_type(0, 1);
  if (type == "uint8") return of_type(0, UINT8_MAX);
  if (type == "int8") return of_type(INT8_MIN, INT8_MAX);
  if (type == "uint16") return of_type(0, UINT16_MAX);
  if (type == "int16") return of_type(INT16_MIN, INT16_MAX);
  if (type == "uint32") return of_type(0, UINT32_MAX);
  if (type == "int32") return of_type(INT32_MIN, INT32_MAX);
  constexpr std::int64_t kLargest = detail::kLargestExactInteger;
  return {type.starts_with('u') ? 0 : -kLargest, kLargest, "up to which whole numbers are exact"};
}

// "no array 'x' (did you mean 'X'?) for WHAT; the file holds X, y".
std::string text_of_missing(const TensorShapes& data,
                            const std::string& array,
                            const std::string& what) {
  std::vector<std::string> names;
  for (const auto& [name, shape] : data.shapes) names.push_back(name);
  return fmt::format("{}: no array '{}'{} for {}; the file holds {}",
                     data.source,
                     array,
                     did_you_mean(array, names),
                     what,
                     names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
}

class DeclaredInputs {
 public:
  DeclaredInputs(const OnnxFile& file,
                 const onnx::Dependencies& needs,
                 const ModelSources& sources,
                 ModelBuilder& builder)
      : file_(file),
        needs_(needs),
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
    value.var = input.kind == ElementKind::kReal ? builder_.array(array, shape)
                                                 : declared_integers(input, array, shape);
    return value;
  }

 private:
  Var declared_integers(const onnx::ValueInfo& input,
                        const std::string& array,
                        const std::vector<std::int64_t>& shape) {
    WholeNumbers bounds = bounds_of(input);
    const auto picked = picked_axis(file_, needs_, input.name);
    if (picked && picked->size <= bounds.last) {
      bounds.first = std::max(bounds.first, -picked->size);
      bounds.last = picked->size - 1;
      bounds.reason =
          fmt::format("an index of the {} entries of '{}'", picked->size, printable(picked->table));
    }
    return builder_.integers(array, shape, bounds.first, bounds.last, bounds.reason);
  }

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
    if (data_.has(array)) return;
    throw InputError(fmt::format(
        "{}. Where names differ, say so in the problem file: [model.inputs] {} = \"ARRAY\"",
        text_of_missing(
            data_,
            array,
            fmt::format("the input '{}' of {}", printable(input.name), file_.path.string())),
        toml_key(input.name)));
  }

  // The samples' axis is the first, or the only symbolic one, as for sequences (time, batch,
  // numbers).
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
      if (first.size < 0) {
        refuse(input,
               "has a symbol for its number of samples, and takes any: 'batch' is for graphs that "
               "were exported for one; leave it out");
      }
      refuse(input,
             "has another first axis than the batch of 1 that 'batch' says: samples come first");
    }
    if (first.size < 0) {
      if (symbols_.contains(first.symbol)) {
        refuse(input,
               fmt::format("has its samples along '{}', which is another axis of other inputs",
                           printable(first.symbol)));
      }
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
                   : "; what is the same for all samples belongs into the graph, as a buffer"));
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
  const onnx::Dependencies& needs_;
  const Settings& settings_;
  const TensorShapes& data_;
  ModelBuilder& builder_;
  bool is_single_;
  std::set<std::string> batch_symbols_;
  std::map<std::string, std::int64_t> symbols_;
};

}  // namespace

void declare_onnx_inputs(const OnnxFile& file,
                         const onnx::Dependencies& needs,
                         const ModelSources& sources,
                         ModelBuilder& builder,
                         std::map<std::string, Value>& given) {
  require_inputs_known(file, sources.settings);
  DeclaredInputs inputs(file, needs, sources, builder);
  for (const onnx::ValueInfo& input : file.inputs) {
    if (needs.values.contains(input.name) && !given.contains(input.name)) {
      given[input.name] = inputs.declared(input);
    }
  }
}

void require_target(const TensorShapes& data, const std::string& target) {
  if (data.has(target)) return;
  throw InputError(
      fmt::format("{}. Where names differ, say so in the problem file: [model] target = \"ARRAY\"",
                  text_of_missing(data, target, "the targets of the loss")));
}

}  // namespace hesscope::detail
