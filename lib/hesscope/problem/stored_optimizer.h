// SPDX-License-Identifier: BSD-3-Clause
//
// Optimisers in checkpoints, with the names used in the files, independently of the model.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <hesscope/problem/optimizer_state.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope {

/// An optimiser as stored in a file.
struct StoredOptimizer {
  /// The state of one parameter, by field: "exp_avg_sq".
  struct Entry {
    std::map<std::string, std::string> tensors = {};  ///< their names in the file
    std::map<std::string, double> numbers = {};       ///< single numbers, tensors or not
    std::map<std::string, std::string> odd = {};      ///< anything else, with its description
  };

  /// Parameters with common settings.
  struct Group {
    OptimizerSettings settings = {};
    std::map<std::string, double> numbers = {};  ///< the settings as named in the file
    std::vector<std::string> parameters = {};    ///< numbers or names: keys of entries
    std::vector<std::string> names = {};         ///< names of numbered parameters, if stored
  };

  std::string prefix;  ///< prefix of the names of its tensors: "optimizer_state_dict."
  OptimizerKind kind = OptimizerKind::kUnknown;
  bool is_by_name = false;  ///< parameters are identified by names, not by numbers
  /// Whether a parameter without an entry was not given to the optimiser. If there are groups, they
  /// list the parameters that it was given.
  bool has_entries_of_all = false;
  std::vector<Group> groups = {};
  std::map<std::string, Entry> entries = {};  ///< by the parameter's number or name
  /// Why its second moments are not available: "its kind is not known: ...". Empty otherwise.
  std::string obstacle = {};
  std::vector<std::string> unknown_keys = {};  ///< settings of no known optimiser

  std::size_t num_parameters() const;
};

/// The optimisers of a file, in the order of their prefixes. The known forms are
///   PREFIX.state.N.FIELD and PREFIX.param_groups.G.KEY, as in a state_dict() of torch.optim;
///   PREFIX.state.NAME.FIELD with the same groups, or PREFIX.param_groups.NAME.KEY, as in PyTorch's
///   sharded and distributed checkpoints;
///   optimizer.FIELD.NAME and optimizer.step with either of these groups, as from `hesscope train`,
///   for the trained parameters.
/// If the only group lists no parameters, it comprises all of them. The kind is inferred from the
/// names of settings and fields, since no file states it.
/// @throws InputError for numbers that cannot be read.
std::vector<StoredOptimizer> find_stored_optimizers(const io::TensorFile& file);

/// Tensors that are named like those of an optimiser but belong to none of `known`.
std::vector<std::string> unexplained_tensors(const io::TensorFile& file,
                                             const std::vector<StoredOptimizer>& known);

}  // namespace hesscope
