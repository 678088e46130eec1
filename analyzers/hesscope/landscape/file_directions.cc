// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/landscape/internal/direction_kinds.h>
#include <hesscope/landscape/internal/direction_tools.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/tensors/internal/name_under.h>
#include <hesscope/tensors/tensor_file.h>
#include <hesscope/tensors/tensor_map.h>
#include <hesscope/tensors/wrapped_names.h>

namespace hesscope {
namespace {

void require_shape(const io::TensorFile& file,
                   const io::TensorInfo& tensor,
                   const std::vector<std::int64_t>& shape) {
  if (tensor.shape == shape) return;
  throw InputError(fmt::format("{}: tensor '{}': expected shape {}, found {}",
                               file.path().string(),
                               file.stored_name(tensor.name),
                               shape_text(shape),
                               shape_text(tensor.shape)));
}

// The tensors of all parameters under the names that the checkpoints give them; nothing if none of
// them exists.
std::optional<Eigen::VectorXd> read_tensors(const io::TensorFile& part,
                                            const DirectionContext& context) {
  const Objective& objective = context.centre.objective();
  const io::TensorFile file = context.map == nullptr
                                  ? io::unwrapped(part)
                                  : io::mapped(part, io::applicable(*context.map, part));
  const auto blocks = objective.parameter_blocks();
  const auto is_there = [&](const ParameterBlock& block) {
    return file.find(block.name) != nullptr;
  };
  if (std::none_of(blocks.begin(), blocks.end(), is_there)) return std::nullopt;
  Eigen::VectorXd direction(objective.num_parameters());
  for (const ParameterBlock& block : blocks) {
    if (!is_there(block)) {
      throw InputError(fmt::format("{}: has no '{}{}', but other parameters",
                                   file.path().string(),
                                   part.key().empty() ? "" : part.key() + '.',
                                   block.name));
    }
    const std::vector<double> values = file.read(block.name);
    require_shape(file, *file.find(block.name), block.shape);
    direction.segment(block.offset, block.size) =
        Eigen::Map<const Eigen::VectorXd>(values.data(), block.size);
  }
  return direction;
}

// Nothing if there is no such array.
std::optional<Eigen::VectorXd> read_array(const io::TensorFile& file,
                                          const std::string& name,
                                          Eigen::Index size) {
  const io::TensorInfo* const tensor = file.find(name);
  if (tensor == nullptr) return std::nullopt;
  require_shape(file, *tensor, {size});
  const std::vector<double> values = file.read(name);
  return Eigen::Map<const Eigen::VectorXd>(values.data(), size);
}

// The part of the file under a key, which is empty for the whole file; nothing if there is nothing.
std::optional<io::TensorFile> part_under(const io::TensorFile& file, const std::string& key) {
  const auto is_under = [&](const io::TensorInfo& tensor) {
    return key.empty() || !io::name_under(key, tensor.name).empty();
  };
  if (std::ranges::none_of(file.tensors(), is_under)) return std::nullopt;
  return file.part(key);
}

// @param may_be_plain  whether the tensors may be named as in a checkpoint.
Eigen::VectorXd read_direction(const io::TensorFile& file,
                               const std::string& name,
                               bool may_be_plain,
                               const DirectionContext& context) {
  const Eigen::Index size = context.centre.objective().num_parameters();
  std::optional<Eigen::VectorXd> direction = read_array(file, name, size);
  const bool is_landscape = file.key() == io::kLandscapeGroup;
  if (direction && is_landscape && direction->hasNaN()) direction.reset();  // a line has only one
  std::vector<std::string> keys = {name};
  if (may_be_plain) keys.insert(keys.end(), {context.key, ""});
  for (const std::string& key : keys) {
    if (direction) break;
    if (const auto part = part_under(file, key)) direction = read_tensors(*part, context);
  }
  if (!direction) {
    throw InputError(
        fmt::format("{}: has no '{}', nor tensors '{}.NAME' of the parameters{}, and is no "
                    "landscape with this direction",
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

// The file's part with the directions, if it is a landscape's result, of a model with the same
// tensors; otherwise the file.
io::TensorFile with_directions(const io::TensorFile& file, const Objective& objective) {
  const std::string group = io::kLandscapeGroup;
  if (file.find(group + "/direction_1") == nullptr) return file;
  std::vector<double> offsets;
  for (const ParameterBlock& block : objective.parameter_blocks()) {
    offsets.push_back(static_cast<double>(block.offset));
  }
  if (file.find("parameter_offset") == nullptr || file.read("parameter_offset") != offsets) {
    throw InputError(
        fmt::format("{}: is a landscape of a model with other parameters", file.path().string()));
  }
  return file.part(group);
}

PreparedDirections prepare_file(const std::string& argument, const DirectionContext& context) {
  const io::TensorFile whole = io::open_tensor_file(
      std::make_shared<io::InputFile>(argument, io::InputFile::kCheckpoint, context.stop));
  const io::TensorFile file = with_directions(whole, context.centre.objective());
  const Eigen::VectorXd first = read_direction(file, "direction_1", !context.needs_second, context);
  std::optional<Eigen::VectorXd> second;
  if (context.needs_second) second = read_direction(file, "direction_2", false, context);
  const Eigen::MatrixXd columns = detail::columns_of(first, second ? &*second : nullptr);
  return {.descriptions = {"direction_1 of the file " + argument,
                           "direction_2 of the file " + argument},
          .files = {argument},
          .digests = {io::sha256_of(whole)},
          .make = [columns] { return Directions{.columns = columns}; }};
}

}  // namespace

DirectionKind file_directions() {
  return {.name = "file",
          .argument = "PATH",
          .meaning =
              "another landscape's; or arrays direction_1 and direction_2, or tensors "
              "direction_1.NAME, named as in the checkpoints",
          .prepare = prepare_file};
}

}  // namespace hesscope
