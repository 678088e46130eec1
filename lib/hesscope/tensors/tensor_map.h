// SPDX-License-Identifier: BSD-3-Clause
//
// A checkpoint under other names: what a training program calls "net.0.w" and the model
// "layers.0.weight".
#pragma once

#include <string>
#include <vector>

#include <hesscope/tensors/tensor_file.h>

namespace hesscope::io {

/// One tensor's new name, or with one '*' in each name that of all that match: "layers.*.weight"
/// for "net.*.w" makes "layers.0.weight" of "net.0.w". A '*' stands for one character or more.
struct TensorRule {
  std::string name;         ///< ours
  std::string source = {};  ///< theirs: of the tensor in the file
  bool transpose = false;   ///< a matrix stored as (in, out), as Keras does, is read as (out, in)
  std::string place = {};   ///< where the rule stands, for messages: "map.toml:3"
};

struct TensorMap {
  std::vector<TensorRule> rules = {};
  std::vector<std::string> ignored = {};  ///< tensors left out, a '*' as above
  std::string key = {};                   ///< see TensorFile::part; empty = the whole file
  std::string place = {};                 ///< the file, for messages
};

/// The file as the map names its tensors; its whole() is the file as it is. What no rule names
/// keeps its name. A map that names no wrapper is one of the names without it (wrapper_of()).
/// @throws InputError naming the file and the rule: a tensor or pattern that is not there, a
///         transpose of what is no matrix; ConfigError for two rules for one tensor and two tensors
///         of one name.
/// @cost   tensors x rules; reads no data.
TensorFile mapped(const TensorFile& file, const TensorMap& map);

}  // namespace hesscope::io
