// SPDX-License-Identifier: BSD-3-Clause
//
// A checkpoint under other names, for example if the training program's "net.0.w" is
// "layers.0.weight" in the model.
#pragma once

#include <string>
#include <vector>

#include <hesscope/tensors/tensor_file.h>

namespace hesscope::io {

/// Renames one tensor or, with one '*' in each name, all that match: "layers.*.weight" for
/// "net.*.w" turns "net.0.w" into "layers.0.weight". A '*' stands for one character or more.
struct TensorRule {
  std::string name;         ///< ours
  std::string source = {};  ///< theirs: the tensor's name in the file
  bool transpose = false;   ///< reads a matrix stored as (in, out), as in Keras, as (out, in)
  std::string place = {};   ///< where the rule stands, for messages: "map.toml:3"
};

struct TensorMap {
  std::vector<TensorRule> rules = {};
  std::vector<std::string> ignored = {};  ///< tensors to be left out, with '*' as above
  std::string key = {};                   ///< see TensorFile::part; empty = the whole file
  std::string place = {};                 ///< the file, for messages
};

/// The file with names as in the map; its whole() is the file as it is. Tensors that no rule names
/// keep their names. A map that does not mention a wrapper applies to the names without it
/// (wrapper_of()).
/// @throws InputError naming the file and the rule: a tensor or pattern that is not there, a
///         transpose of something that is not a matrix; ConfigError for two rules for one tensor or
///         two tensors of one name.
/// @cost   tensors x rules; reads no data.
TensorFile mapped(const TensorFile& file, const TensorMap& map);

/// The map's rules for tensors that this part of a file has, without its key and what it ignores:
/// for files that hold some of what the checkpoints hold, under the same names.
TensorMap applicable(const TensorMap& map, const TensorFile& part);

}  // namespace hesscope::io
