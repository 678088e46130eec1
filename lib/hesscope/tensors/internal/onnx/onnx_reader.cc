// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/exact_integers.h>
#include <hesscope/onnx/onnx_file.h>
#include <hesscope/tensors/internal/elements.h>
#include <hesscope/tensors/internal/onnx/onnx_reader.h>

namespace hesscope::io {
namespace {

/// Nothing if checkpoints have no such type.
std::optional<ElementType> element_type_of(const onnx::Tensor& tensor) {
  if (tensor.kind == onnx::ElementKind::kOther) return std::nullopt;
  const std::string name = onnx::type_name(tensor.onnx_type);
  for (int i = 0; i <= static_cast<int>(ElementType::kFloat64); ++i) {
    if (to_string(static_cast<ElementType>(i)) == name) return static_cast<ElementType>(i);
  }
  return std::nullopt;
}

// The first integer that doubles cannot represent; nullptr if there is none.
const std::int64_t* find_inexact(const std::vector<std::int64_t>& integers) {
  const auto found = std::ranges::find_if_not(integers, detail::is_exact_double);
  return found == integers.end() ? nullptr : &*found;
}

class OnnxSource final : public TensorSource {
 public:
  OnnxSource(std::shared_ptr<const InputFile> file, const ReadLimits& limits)
      : path_(file->path().string()) {
    onnx::OnnxLimits onnx_limits;
    onnx_limits.max_file_bytes = std::min(onnx_limits.max_file_bytes, limits.max_file_bytes);
    onnx_limits.max_tensor_bytes = std::min(onnx_limits.max_tensor_bytes, limits.max_tensor_bytes);
    onnx_limits.max_tensors = std::min(onnx_limits.max_tensors, limits.max_tensors);
    onnx_limits.max_rank = std::min(onnx_limits.max_rank, limits.max_rank);
    onnx::OnnxFile model = onnx::read_onnx_file(std::move(file), onnx_limits);
    stored_ = std::move(model.initializers);
    files_ = std::move(model.files);

    std::unordered_map<std::string_view, std::size_t> places;  // in stored_, by all their names
    for (std::size_t i = 0; i < stored_.size(); ++i) {
      places.emplace(stored_[i].name, i);
      add(stored_[i].name, i);
    }
    for (const onnx::Node& node : model.nodes) {
      if (node.op != "Identity" || !node.domain.empty() || !node.guards.empty()) continue;
      if (node.inputs.size() != 1 || node.outputs.size() != 1 || node.outputs[0].empty()) continue;
      const auto found = places.find(node.inputs[0]);
      if (found == places.end()) continue;
      const std::size_t place = found->second;
      places.emplace(node.outputs[0], place);
      add(node.outputs[0], place);
    }
    if (tensors_.size() + unreadable_.size() > limits.max_tensors) {
      throw InputError(fmt::format("{}: has more than {} tensors", path_, limits.max_tensors));
    }
  }

  std::span<const TensorInfo> tensors() const override { return tensors_; }

  std::span<const UnreadableTensor> unreadable() const override { return unreadable_; }

  std::vector<double> read(std::size_t index) const override {
    const onnx::Tensor& tensor = stored_.at(places_.at(index));
    if (tensor.kind == onnx::ElementKind::kReal) return tensor.reals;
    const std::string where = fmt::format("{}: tensor '{}'", path_, tensors_[index].name);
    std::vector<double> values(tensor.integers.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = exact_double(where, tensor.integers[i], i);
    }
    return values;
  }

  std::span<const std::shared_ptr<const InputFile>> files() const override { return files_; }

 private:
  void add(const std::string& name, std::size_t place) {
    const onnx::Tensor& tensor = stored_[place];
    if (const std::int64_t* integer = find_inexact(tensor.integers)) {
      unreadable_.push_back({name, fmt::format("its integer {} is beyond 2^53", *integer), true});
    } else if (const std::optional<ElementType> type = element_type_of(tensor)) {
      tensors_.push_back({name, tensor.shape, *type});
      places_.push_back(place);
    } else {
      unreadable_.push_back(
          {name, fmt::format("its elements are of type {}", onnx::type_name(tensor.onnx_type))});
    }
  }

  std::string path_;
  std::vector<std::shared_ptr<const InputFile>> files_;
  std::vector<onnx::Tensor> stored_;
  std::vector<TensorInfo> tensors_;
  std::vector<std::size_t> places_;  // of tensors_ in stored_
  std::vector<UnreadableTensor> unreadable_;
};

}  // namespace

bool recognises_onnx_model(const InputFile& file) { return onnx::recognises_onnx(file); }

std::unique_ptr<TensorSource> open_onnx_model(std::shared_ptr<const InputFile> file,
                                              const ReadLimits& limits) {
  return std::make_unique<OnnxSource>(std::move(file), limits);
}

}  // namespace hesscope::io
