// SPDX-License-Identifier: BSD-3-Clause
//
// What of a checkpoint fits the model of a problem, tensor by tensor, and which names might be
// meant.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <hesscope/problem/problem_file.h>
#include <hesscope/tensors/tensor_file.h>
#include <hesscope/tensors/tensor_map.h>

namespace hesscope {

/// A parameter of the model, and the tensor of its name.
struct ParameterFit {
  enum class State { kFound, kMissing, kWrongShape };

  std::string name;
  State state = State::kFound;
  std::vector<std::int64_t> expected = {};
  std::vector<std::int64_t> found = {};  ///< unless kMissing
};

struct CheckpointFit {
  std::string model_kind;
  std::string wrapper = {};                   ///< what names are read without: io::wrapper_of()
  std::vector<ParameterFit> parameters = {};  ///< in the model's order
  /// In the file's order; what optimisers keep is left out.
  std::vector<io::TensorInfo> unused = {};
  std::vector<std::string> remarks = {};  ///< the model's
  /// Why the model's sizes cannot be inferred from this checkpoint; `parameters` is empty then.
  std::string obstacle = {};
  /// Why it is not certain which tensor is which, where there are several ways or the data say
  /// otherwise: "'a.weight' and 'b.weight' could be either way round". Nothing is suggested then.
  std::string doubt = {};
  /// Rules for missing parameters that only one unused tensor can be: by its shape, or by the end
  /// of its name among several of the shape. The transposed shape counts where no other is there. A
  /// perceptron's layers are known as detail::layers_by_shapes() has it, whatever their names; the
  /// tensors of an exported graph by their values, as detail::rules_by_value() has it. Where they
  /// are complete, what is unused is to be ignored. Where one part of the checkpoint alone fits as
  /// it is, or one alone has all parameters, the map is of that part (TensorMap::key).
  io::TensorMap suggestion = {};

  /// Whether Problem would take the checkpoint.
  bool fits() const;
};

/// @throws InputError for a data file that cannot be read; ConfigError for a sampler's settings.
/// @cost   reads no tensor, but for graphs those whose names it lacks. Missing parameters x unused
///         tensors comparisons, for each part.
CheckpointFit fit_checkpoint(const ProblemFile& problem, const io::TensorFile& checkpoint);

}  // namespace hesscope
