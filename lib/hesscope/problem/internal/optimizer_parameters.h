// SPDX-License-Identifier: BSD-3-Clause
//
// Which of what an optimiser keeps is of which of the model's parameters.
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

/// Why the state of an optimiser cannot be used. Never leaves read_optimizer_state().
struct UnusableState {
  std::string reason;
};

/// The reason is that nothing says which parameter is in which group.
struct UnknownGroups : UnusableState {};

/// The reason is that it is of fewer parameters than the model, and nothing says which they are.
struct FewerParameters : UnusableState {
  std::size_t num_missing;
};

/// A parameter as the model has it, and as the checkpoint does.
struct CheckpointParameter {
  const ParameterBlock* block;
  std::size_t index;  ///< of the block
  const io::TensorInfo* tensor;

  /// Whether what the optimiser keeps lies transposed to the model's parameter: it may be
  /// transposed itself, and so may the parameter, by a map of names.
  bool are_transposed(bool moments_are) const { return moments_are != tensor->is_transposed; }

  std::vector<std::int64_t> shape_of_moments(bool moments_are) const;
};

/// In the checkpoint's order: that of the first name of each, where several are tied, as PyTorch
/// numbers parameters.
std::vector<CheckpointParameter> checkpoint_parameters(const Model& model,
                                                       const io::TensorFile& checkpoint);

/// By the model's blocks.
struct AssignedParameters {
  struct Block {
    const std::string* key = nullptr;  ///< in StoredOptimizer::entries; nullptr = not handed to it
    std::optional<std::size_t> group;
  };

  std::vector<Block> blocks;
  std::string warning;  ///< what was assumed
};

/// By names where the optimiser has them, else by the order of the checkpoint and shapes.
/// @param file  holds what is stored; may be more of the same file than `checkpoint`.
/// @throws UnusableState where it is not known; UnknownGroups where all else fits.
AssignedParameters assign_parameters(const Model& model,
                                     const io::TensorFile& checkpoint,
                                     const io::TensorFile& file,
                                     const StoredOptimizer& stored);

/// All that can be compared where no order is needed: how many parameters there are, and the sizes
/// of what is kept for them. @throws UnusableState.
void require_as_many_parameters(const Model& model,
                                const io::TensorFile& file,
                                const StoredOptimizer& stored);

}  // namespace hesscope::detail
