// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/name_list.h>
#include <hesscope/core/wildcard.h>
#include <hesscope/models/tensor_copies.h>
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

std::vector<std::string> remarks_on_equal_parameters(const Model& model,
                                                     std::span<const Eigen::VectorXd> points,
                                                     std::span<const std::string> separate) {
  const auto is_separate = [&](const ParameterBlock& block) {
    return std::ranges::any_of(separate, [&](const std::string& pattern) {
      return matches_wildcard(pattern, block.name);
    });
  };
  const auto is_varied = [&](const ParameterBlock& block) {
    return std::ranges::any_of(points, [&](const Eigen::VectorXd& theta) {
      const auto values = theta.segment(block.offset, block.size);
      return values.minCoeff() < values.maxCoeff();
    });
  };
  const auto are_equal = [&](const ParameterBlock& a, const ParameterBlock& b) {
    return std::ranges::all_of(points, [&](const Eigen::VectorXd& theta) {
      return theta.segment(a.offset, a.size) == theta.segment(b.offset, b.size);
    });
  };
  std::vector<std::string> remarks;
  for (auto b = model.parameters.begin(); b != model.parameters.end(); ++b) {
    if (is_separate(*b) || !is_varied(*b)) continue;
    const auto a = std::find_if(model.parameters.begin(), b, [&](const ParameterBlock& other) {
      return other.shape == b->shape && are_equal(other, *b);
    });
    if (a == b) continue;
    remarks.push_back(fmt::format(
        "tensors '{0}' and '{1}' are equal to the last bit in {2}: if they are one "
        "tensor of the model (tied weights), say tied = [\"{1} = {0}\"] in [model], and "
        "else separate = [\"{1}\"]; here they count as independent parameters",
        a->name,
        b->name,
        points.size() > 1 ? "all checkpoints" : "the checkpoint"));
  }
  return remarks;
}

namespace {

constexpr std::size_t kMostShown = 4;

// The first of these names in the form of a setting: ["a", "b", ...].
std::string setting_of(std::span<const std::string> names) {
  const std::span<const std::string> first = names.first(std::min(names.size(), kMostShown));
  return fmt::format(
      "[\"{}\"{}]", fmt::join(first, "\", \""), first.size() < names.size() ? ", ..." : "");
}

}  // namespace

std::vector<std::string> remarks_on_unmoved_parameters(const Model& model,
                                                       std::span<const Eigen::VectorXd> points) {
  std::vector<std::string> unmoved;
  for (const ParameterBlock& block : model.parameters) {
    const bool is_same = std::ranges::all_of(points, [&](const Eigen::VectorXd& theta) {
      const auto of_block = [&](const Eigen::VectorXd& x) {
        return std::span(x.data() + block.offset, static_cast<std::size_t>(block.size));
      };
      return are_same(of_block(theta), of_block(points.front()));
    });
    if (is_same) unmoved.push_back(block.name);
  }
  if (unmoved.empty() || unmoved.size() == model.parameters.size()) return {};
  const bool is_one = unmoved.size() == 1;
  return {fmt::format(
      "tensor{} {} {} the same to the last bit in all checkpoints, and others are not: if {} a "
      "part of the model that is not trained (a buffer that it computes with), frozen = {} in "
      "[model] "
      "says so; here {}",
      is_one ? "" : "s",
      first_quoted(unmoved, kMostShown),
      is_one ? "is" : "are",
      is_one ? "it is" : "they are",
      setting_of(unmoved),
      is_one ? "it counts as a parameter" : "they count as parameters")};
}

std::string remark_on_parameters_not_given(const Model& model, const OptimizerState& optimizer) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < optimizer.blocks.size(); ++i) {
    if (!optimizer.blocks[i].group) names.push_back(model.parameters[i].name);
  }
  return fmt::format(
      "the optimiser (under '{}') was given {} parameters, and the model has {} here: {} in "
      "[model] says which {} not trained (a buffer that the model computes with)",
      optimizer.prefix,
      model.parameters.size() - optimizer.num_not_given,
      model.parameters.size(),
      names.empty() ? "'frozen'" : "frozen = " + setting_of(names),
      optimizer.num_not_given == 1 ? "is" : "are");
}

}  // namespace hesscope::detail
