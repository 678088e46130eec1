// SPDX-License-Identifier: BSD-3-Clause
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/problem/internal/input_remarks.h>

namespace hesscope::detail {
namespace {

bool is_floating_point(io::ElementType type) {
  return type == io::ElementType::kFloat16 || type == io::ElementType::kBFloat16 ||
         type == io::ElementType::kFloat32 || type == io::ElementType::kFloat64;
}

// Grey values and colours: whole numbers from 0 to 255, some of them large.
bool are_like_pixels(const Eigen::Ref<const SampleTable>& values) {
  constexpr double kLarge = 128;
  const double largest = values.maxCoeff();
  return values.minCoeff() >= 0 && largest >= kLarge && largest <= 255 &&
         (values.array() == values.array().floor()).all();
}

}  // namespace

std::vector<std::string> remarks_on_data(const Model& model,
                                         const io::TensorFile& data,
                                         const SampleTable& samples) {
  std::vector<std::string> remarks;
  for (const DataArray& array : model.arrays) {
    const io::TensorInfo* const info = data.find(array.name);
    if (info == nullptr) continue;
    const bool is_float = is_floating_point(info->type);
    const std::string place = fmt::format("{}: array '{}'", data.where(), array.name);
    const bool is_class = array.content == DataArray::Content::kClass;
    if ((is_class || array.content == DataArray::Content::kInteger) && is_float) {
      remarks.push_back(fmt::format("{} holds {} as {}; they are whole numbers and taken as such",
                                    place,
                                    is_class ? "class labels" : "indices",
                                    io::to_string(info->type)));
    }
    if (array.content != DataArray::Content::kReal) continue;
    const auto values = samples.middleCols(array.offset, array.width);
    if (!is_float || are_like_pixels(values)) {
      remarks.push_back(
          fmt::format("{} holds {} from {} to {}, taken as they are; where the training scaled its "
                      "inputs (torchvision's ToTensor divides by 255), its loss was another",
                      place,
                      is_float ? "whole numbers" : io::to_string(info->type),
                      values.minCoeff(),
                      values.maxCoeff()));
    }
  }
  return remarks;
}

std::vector<std::string> remarks_on_parameters(const Model& model,
                                               const io::TensorFile& checkpoint) {
  std::vector<std::string> remarks;
  std::map<std::size_t, std::vector<std::string>> tied;
  for (const ParameterBlock& block : model.parameters) {
    const io::TensorInfo* const info = checkpoint.find(block.name);
    if (info == nullptr) continue;
    if (info->tie) tied[*info->tie].push_back(block.name);
    if (is_floating_point(info->type)) continue;
    remarks.push_back(
        fmt::format("tensor '{}' holds {}, not floating-point weights; taken as the numbers they "
                    "are, without any scale of a quantisation",
                    block.name,
                    io::to_string(info->type)));
  }
  for (const auto& [tie, names] : tied) {
    if (names.size() < 2) continue;
    remarks.push_back(
        fmt::format("'{}' are one tensor in the file (tied weights), but count as independent "
                    "parameters here: the Hessian is that of the model with all of them free",
                    fmt::join(names, "' and '")));
  }
  return remarks;
}

}  // namespace hesscope::detail
