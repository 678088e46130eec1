// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>
#include <hesscope/landscape/internal/direction_kinds.h>
#include <hesscope/landscape/internal/direction_tools.h>

namespace hesscope {
namespace {

const ParameterBlock& find_block(const std::string& name, const Objective& objective) {
  std::vector<std::string> names;
  for (const ParameterBlock& block : objective.parameter_blocks()) {
    if (block.name == name) return block;
    names.push_back(block.name);
  }
  throw ConfigError(fmt::format(
      "`directions` tensors: the model has no tensor '{}'{}", name, did_you_mean(name, names)));
}

std::vector<std::string> names_of_tensors(const std::string& argument, bool needs_second) {
  return detail::argument_parts(argument, needs_second, {"tensors", "tensor", "NAME1,NAME2"});
}

Directions make_tensor(const DirectionContext& context,
                       const std::vector<const ParameterBlock*>& blocks) {
  const Eigen::VectorXd& theta = context.centre.theta();
  detail::DirectionSource source(context.seed);
  Eigen::MatrixXd columns(theta.size(), static_cast<Eigen::Index>(blocks.size()));
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    Eigen::VectorXd direction = Eigen::VectorXd::Zero(theta.size());
    direction.segment(blocks[k]->offset, blocks[k]->size) = source.normal(blocks[k]->size);
    detail::normalize(*blocks[k], theta, context.normalization, false, direction);
    columns.col(static_cast<Eigen::Index>(k)) = direction;
  }
  return {.columns = std::move(columns)};
}

PreparedDirections prepare_tensor(const std::string& argument, const DirectionContext& context) {
  std::vector<const ParameterBlock*> blocks;
  for (const std::string& name : names_of_tensors(argument, context.needs_second)) {
    blocks.push_back(&find_block(name, context.centre.objective()));
  }
  if (context.leaves_out_vectors) {
    throw ConfigError("`leaves_out_vectors` is for `directions` random; tensors are named here");
  }
  if (!context.needs_second) blocks.resize(1);
  if (blocks.size() == 2 && blocks[0] == blocks[1] && blocks[0]->size < 2) {
    throw ConfigError(fmt::format("`directions` tensors: '{}' has one entry, not two directions",
                                  blocks[0]->name));
  }
  PreparedDirections prepared;
  for (const ParameterBlock* block : blocks) {
    prepared.descriptions.push_back(
        fmt::format("zero but for the tensor '{}': {}",
                    block->name,
                    detail::description_of(context.normalization, false)));
  }
  prepared.make = [&context, blocks] { return make_tensor(context, blocks); };
  return prepared;
}

}  // namespace

DirectionKind tensor_directions() {
  return {.name = "tensors",
          .argument = "NAME1,NAME2",
          .meaning = "normal numbers inside one tensor each, scaled by its weights",
          .normalization = Normalization::kLayer,
          .prepare = prepare_tensor,
          .check = names_of_tensors};
}

}  // namespace hesscope
