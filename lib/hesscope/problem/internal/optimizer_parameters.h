// SPDX-License-Identifier: BSD-3-Clause
//
// Assigns the state of an optimiser to the model's parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <hesscope/models/model.h>
#include <hesscope/problem/stored_optimizer.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::detail {

/// Why the state of an optimiser cannot be used. Never propagates out of read_optimizer_state().
struct UnusableState {
  std::string reason;
};

/// The reason is that nothing says which parameter belongs to which group.
struct UnknownGroups : UnusableState {};

/// The reason is that it has fewer parameters than the model, and nothing says which they are.
struct FewerParameters : UnusableState {
  std::size_t num_missing;
};

/// A parameter, in the model and in the checkpoint.
struct CheckpointParameter {
  const ParameterBlock* block;
  std::size_t index;  ///< of the block
  const io::TensorInfo* tensor;

  /// Whether the optimiser's state is transposed relative to the model's parameter: the state
  /// itself may be transposed, and so may the parameter, by a map of names.
  bool are_transposed(bool moments_are) const { return moments_are != tensor->is_transposed; }

  std::vector<std::int64_t> shape_of_moments(bool moments_are) const;
};

/// In the checkpoint's order: that of the first name of each if several are tied, which is how
/// PyTorch numbers parameters.
std::vector<CheckpointParameter> checkpoint_parameters(const Model& model,
                                                       const io::TensorFile& checkpoint);

/// In the order of the model's blocks.
struct AssignedParameters {
  struct Block {
    const std::string* key = nullptr;  ///< in StoredOptimizer::entries; nullptr = not received
    std::optional<std::size_t> group;
  };

  std::vector<Block> blocks;
  std::string warning;  ///< what was assumed
};

/// By name if the optimiser has names, else by the order of the checkpoint and by shapes.
/// @param file  contains the stored state; may be a larger part of the same file than `checkpoint`.
/// @throws UnusableState if the assignment is unknown; UnknownGroups if only the groups are.
AssignedParameters assign_parameters(const Model& model,
                                     const io::TensorFile& checkpoint,
                                     const io::TensorFile& file,
                                     const StoredOptimizer& stored);

/// Compares everything that does not depend on an order: the number of parameters, and the sizes of
/// what is kept for them. @throws UnusableState.
void require_as_many_parameters(const Model& model,
                                const io::TensorFile& file,
                                const StoredOptimizer& stored);

}  // namespace hesscope::detail
