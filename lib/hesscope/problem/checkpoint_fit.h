// SPDX-License-Identifier: BSD-3-Clause
//
// Which tensors of a checkpoint fit the model of a problem, and which names may correspond.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <hesscope/problem/problem_file.h>
#include <hesscope/tensors/tensor_file.h>
#include <hesscope/tensors/tensor_map.h>

namespace hesscope {

/// A parameter of the model, compared with the tensor of its name.
struct ParameterFit {
  enum class State { kFound, kMissing, kWrongShape };

  std::string name;
  State state = State::kFound;
  std::vector<std::int64_t> expected = {};
  std::vector<std::int64_t> found = {};  ///< unless kMissing
};

struct CheckpointFit {
  std::string model_kind;
  std::string wrapper = {};                   ///< a prefix to remove from names: io::wrapper_of()
  std::vector<ParameterFit> parameters = {};  ///< in the model's order
  /// In the file's order, without an optimiser's tensors.
  std::vector<io::TensorInfo> unused = {};
  std::vector<std::string> remarks = {};  ///< the model's
  /// Why the model's sizes cannot be inferred from this checkpoint; if not empty, `parameters` is.
  std::string obstacle = {};
  /// Why it is uncertain which tensor is which, if there are several possibilities or the data
  /// contradict: "'a.weight' and 'b.weight' could be either way round". Nothing is suggested then.
  std::string doubt = {};
  /// Rules for missing parameters to which only one unused tensor can correspond, by its shape, or,
  /// among several of that shape, by the end of its name. The transposed shape counts if there is
  /// no other. The layers of a perceptron are recognised by detail::layers_by_shapes() whatever
  /// their names are, the tensors of an exported graph by their values (detail::rules_by_value()).
  /// If the rules are complete, unused tensors are to be ignored. If only one part of the
  /// checkpoint fits as it is, or only one has all parameters, the map is for that part
  /// (TensorMap::key).
  io::TensorMap suggestion = {};

  /// Whether Problem would accept the checkpoint.
  bool fits() const;
};

/// @throws InputError for a data file that cannot be read; ConfigError for a sampler's settings.
/// @cost   reads no tensors, except those of graphs whose names the checkpoint lacks. For each
///         part, (missing parameters) x (unused tensors) comparisons.
CheckpointFit fit_checkpoint(const ProblemFile& problem, const io::TensorFile& checkpoint);

}  // namespace hesscope
