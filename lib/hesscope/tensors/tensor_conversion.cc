// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/ascii.h>
#include <hesscope/core/error.h>
#include <hesscope/core/name_list.h>
#include <hesscope/tensors/checkpoint_file.h>
#include <hesscope/tensors/format_registry.h>
#include <hesscope/tensors/tensor_conversion.h>

namespace hesscope::io {
namespace {

const FormatKind& format_of(const std::filesystem::path& output) {
  const std::string extension = lower_case(output.extension().string());
  std::vector<std::string_view> written;
  for (const FormatKind& format : format_kinds()) {
    if (format.write == nullptr) continue;
    if (format.extension == extension) return format;
    written.push_back(format.extension);
  }
  const bool is_torch = extension == ".pt" || extension == ".pth";
  throw ConfigError(fmt::format(
      "{}: {}; it is the extension that says what is written: {}{}",
      output.string(),
      extension.empty() ? "has no extension"
                        : fmt::format("a file in the format of '{}' is not written", extension),
      fmt::join(written, ", "),
      is_torch ? ". From a .npz, Python makes one: torch.save({k: torch.from_numpy(v) for k, v in "
                 "numpy.load('FILE.npz').items()}, 'FILE.pt')"
               : ""));
}

bool is_float(ElementType type) {
  return type == ElementType::kFloat16 || type == ElementType::kBFloat16 ||
         type == ElementType::kFloat32 || type == ElementType::kFloat64;
}

// Numbers too small for float32, where they become 0.
class LostNumbers {
 public:
  void add(const std::string& name, const std::vector<double>& values) {
    const auto lost = std::ranges::count_if(
        values, [](double x) { return x != 0 && static_cast<float>(x) == 0; });
    if (lost > 0 && count_ == 0) first_ = name;
    count_ += lost;
  }

  void note(std::vector<std::string>& notes) const {
    if (count_ == 0) return;
    notes.push_back(
        fmt::format("{} number{} became 0, as float32 has none so small; the first {} in '{}'",
                    count_,
                    count_ == 1 ? "" : "s",
                    count_ == 1 ? "is" : "are",
                    first_));
  }

 private:
  std::int64_t count_ = 0;
  std::string first_;
};

// Says that the values which the input holds in addition to tensors are not in the output; empty if
// there are none.
std::string note_on_values(const TensorFile& input) {
  constexpr std::size_t kMaxShown = 6;
  std::vector<std::string> names;
  for (FileValue& value : input.values()) names.push_back(std::move(value.name));
  if (names.empty()) return {};
  // Top-level values, such as the epoch, come before nested ones.
  std::ranges::stable_sort(
      names, {}, [](const std::string& name) { return std::ranges::count(name, '.'); });
  return "left out, as the output holds tensors alone: " + first_names(names, kMaxShown);
}

// Says that a tensor with several names in the input becomes several tensors in the output; empty
// if there is none.
std::string note_on_ties(const TensorFile& input) {
  std::map<std::size_t, std::string> firsts;  // by their tie
  std::string shown;
  std::size_t num_others = 0;
  for (const TensorInfo& tensor : input.tensors()) {
    if (!tensor.tie) continue;
    const auto [first, is_new] = firsts.emplace(*tensor.tie, tensor.name);
    if (is_new) continue;
    if (shown.empty()) {
      shown = fmt::format("'{}' and '{}'", first->second, tensor.name);
    } else {
      ++num_others;
    }
  }
  if (shown.empty()) return {};
  return fmt::format(
      "{}{} are one tensor in the input (tied); in the output they are separate ones of the same "
      "numbers, and nothing says that they are tied",
      shown,
      num_others > 0 ? fmt::format(" (and {} more)", num_others) : "");
}

}  // namespace

Conversion convert_tensors(const TensorFile& input,
                           const std::filesystem::path& output,
                           std::optional<ElementType> float_type,
                           Existing existing) {
  if (float_type && *float_type != ElementType::kFloat32 && *float_type != ElementType::kFloat64) {
    throw PreconditionError(fmt::format(
        "convert_tensors: float_type must be float32 or float64, got {}", to_string(*float_type)));
  }
  const FormatKind& format = format_of(output);
  require_readable(input);
  Conversion conversion{.format = format.name};
  std::vector<std::vector<double>> values;
  std::vector<CheckpointTensor> tensors;
  std::vector<std::string> widened;
  LostNumbers lost;
  for (const TensorInfo& tensor : input.tensors()) {
    ElementType type = tensor.type;
    if (float_type && is_float(type)) type = *float_type;
    if (type == ElementType::kBFloat16 && !format.holds_bfloat16) {
      type = ElementType::kFloat32;
      widened.push_back(tensor.name);
    }
    values.push_back(input.read(tensor.name));
    if (type == ElementType::kFloat32) lost.add(tensor.name, values.back());
    tensors.push_back({tensor.name, tensor.shape, values.back(), type});
    conversion.tensors.push_back({tensor.name, tensor.shape, tensor.type, type});
  }
  format.write(output, tensors, existing);
  if (!widened.empty()) {
    conversion.notes.push_back(
        fmt::format("{} does not know bfloat16: {} of {} tensors became "
                    "float32, which holds the same numbers",
                    format.extension,
                    widened.size(),
                    tensors.size()));
  }
  if (format.extension == ".npy" && tensors[0].name != output.stem().string()) {
    conversion.notes.push_back(
        fmt::format(".npy has no place for a name: '{}' will be read back as '{}', after the file",
                    tensors[0].name,
                    output.stem().string()));
  }
  lost.note(conversion.notes);
  for (std::string note : {note_on_ties(input), note_on_values(input)}) {
    if (!note.empty()) conversion.notes.push_back(std::move(note));
  }
  return conversion;
}

}  // namespace hesscope::io
