// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/landscape/internal/direction_kinds.h>
#include <hesscope/landscape/internal/direction_tools.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/tensors/tensor_file.h>
#include <hesscope/tensors/wrapped_names.h>

namespace hesscope {
namespace {

void require_shape(const io::TensorFile& file,
                   const io::TensorInfo& tensor,
                   const std::vector<std::int64_t>& shape) {
  if (tensor.shape == shape) return;
  throw InputError(fmt::format("{}: tensor '{}': expected shape {}, found {}",
                               file.path().string(),
                               tensor.name,
                               shape_text(shape),
                               shape_text(tensor.shape)));
}

// The tensors PREFIX + NAME of all parameters; nothing if none of them exists.
std::optional<Eigen::VectorXd> read_tensors(const io::TensorFile& file,
                                            const std::string& prefix,
                                            const Objective& objective) {
  const auto blocks = objective.parameter_blocks();
  const auto is_there = [&](const ParameterBlock& block) {
    return file.find(prefix + block.name) != nullptr;
  };
  if (std::none_of(blocks.begin(), blocks.end(), is_there)) return std::nullopt;
  Eigen::VectorXd direction(objective.num_parameters());
  for (const ParameterBlock& block : blocks) {
    const std::string name = prefix + block.name;
    const std::vector<double> values = file.read(name);
    require_shape(file, *file.find(name), block.shape);
    direction.segment(block.offset, block.size) =
        Eigen::Map<const Eigen::VectorXd>(values.data(), block.size);
  }
  return direction;
}

Eigen::VectorXd read_direction(const io::TensorFile& file,
                               const std::string& name,
                               bool may_be_plain,
                               const DirectionContext& context) {
  const Objective& objective = context.centre.objective();
  std::optional<Eigen::VectorXd> direction;
  if (const io::TensorInfo* tensor = file.find(name)) {
    require_shape(file, *tensor, {objective.num_parameters()});
    const std::vector<double> values = file.read(name);
    direction = Eigen::Map<const Eigen::VectorXd>(values.data(), objective.num_parameters());
  }
  if (!direction) direction = read_tensors(file, name + ".", objective);
  if (!direction && may_be_plain && !context.key.empty()) {
    direction = read_tensors(file, context.key + ".", objective);
  }
  if (!direction && may_be_plain) direction = read_tensors(file, "", objective);
  if (!direction) {
    throw InputError(fmt::format("{}: has no '{}', nor tensors '{}.NAME' of the parameters{}",
                                 file.path().string(),
                                 name,
                                 name,
                                 may_be_plain ? ", nor tensors named as they are" : ""));
  }
  if (!direction->allFinite()) {
    throw InputError(fmt::format("{}: '{}' contains NaN or infinity", file.path().string(), name));
  }
  return *std::move(direction);
}

PreparedDirections prepare_file(const std::string& argument, const DirectionContext& context) {
  const io::TensorFile file = io::unwrapped(io::open_tensor_file(
      std::make_shared<io::InputFile>(argument, io::InputFile::kCheckpoint, context.stop)));
  const Eigen::VectorXd first = read_direction(file, "direction_1", !context.needs_second, context);
  std::optional<Eigen::VectorXd> second;
  if (context.needs_second) second = read_direction(file, "direction_2", false, context);
  const Eigen::MatrixXd columns = detail::columns_of(first, second ? &*second : nullptr);
  return {.descriptions = {"direction_1 of the file " + argument,
                           "direction_2 of the file " + argument},
          .files = {argument},
          .digests = {io::sha256_of(file)},
          .make = [columns] { return Directions{.columns = columns}; }};
}

}  // namespace

DirectionKind file_directions() {
  return {.name = "file",
          .argument = "PATH",
          .meaning = "arrays direction_1 and direction_2, or tensors named like the parameters",
          .prepare = prepare_file};
}

}  // namespace hesscope
