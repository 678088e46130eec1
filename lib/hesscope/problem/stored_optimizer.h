// SPDX-License-Identifier: BSD-3-Clause
//
// Optimisers in checkpoints, as the files name what they keep, whatever the model.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <hesscope/problem/optimizer_state.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope {

/// An optimiser as a file holds it.
struct StoredOptimizer {
  /// What is kept for one parameter, by field: "exp_avg_sq".
  struct Entry {
    std::map<std::string, std::string> tensors = {};  ///< their names in the file
    std::map<std::string, double> numbers = {};       ///< single numbers, tensors or not
    std::map<std::string, std::string> odd = {};      ///< what is neither, and what it is
  };

  /// Parameters with settings in common.
  struct Group {
    OptimizerSettings settings = {};
    std::map<std::string, double> numbers = {};  ///< the settings as the file names them
    std::vector<std::string> parameters = {};    ///< their numbers or names: keys of entries
    std::vector<std::string> names = {};  ///< their names where parameters are numbers, if stored
  };

  std::string prefix;  ///< what the names of its tensors begin with: "optimizer_state_dict."
  OptimizerKind kind = OptimizerKind::kUnknown;
  bool is_by_name = false;  ///< parameters go by names, not by numbers
  /// Whether a parameter without an entry is one that it was not given. Groups, where there are
  /// any, list what it was given.
  bool has_entries_of_all = false;
  std::vector<Group> groups = {};
  std::map<std::string, Entry> entries = {};  ///< by the parameter's number or name
  /// Why second moments cannot be had of it: "its kind is not known: ...". Empty otherwise.
  std::string obstacle = {};
  std::vector<std::string> unknown_keys = {};  ///< settings that no optimiser known here has

  std::size_t num_parameters() const;
};

/// The optimisers of a file, in the order of their prefixes. Known are
///   PREFIX.state.N.FIELD and PREFIX.param_groups.G.KEY, as a state_dict() of torch.optim;
///   PREFIX.state.NAME.FIELD with the same groups, or PREFIX.param_groups.NAME.KEY, as PyTorch's
///   sharded and distributed checkpoints;
///   optimizer.FIELD.NAME and optimizer.step with either of these groups, as `hesscope train`: of
///   what is trained.
/// A group that lists no parameters, the only one, is of all that there are.
/// The kind follows from the names of settings and fields, since no file says it.
/// @throws InputError for numbers that cannot be read.
std::vector<StoredOptimizer> find_stored_optimizers(const io::TensorFile& file);

/// Tensors that are named as an optimiser's would be, but are of none of `known`.
std::vector<std::string> unexplained_tensors(const io::TensorFile& file,
                                             const std::vector<StoredOptimizer>& known);

}  // namespace hesscope
