// SPDX-License-Identifier: BSD-3-Clause
//
// What a file holds for a model, by names and shapes, and whether it fits the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <hesscope/models/model.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope {

/// Names and shapes found in a file, and what else is known of its tensors: what a model kind is
/// fitted to.
struct TensorShapes {
  std::string source;  ///< the file, for messages
  std::map<std::string, std::vector<std::int64_t>> shapes;
  std::map<std::string, std::string> unreadable = {};  ///< why, by name: io::UnreadableTensor
  std::string format = {};  ///< as TensorFile::format() names it; empty = no file
  std::map<std::string, io::ElementType> types = {};  ///< of stored elements, where known
  /// Names that denote one tensor in the file, or transposes of each other, in the file's order.
  std::vector<std::vector<std::string>> ties = {};
  std::map<std::string, std::string> renamed = {};  ///< by names in the file, if different
  std::set<std::string> left_out = {};  ///< names that the file has, and a map of names ignores
  /// Those that programs store next to parameters (steps, epochs, the loss), by their names.
  std::set<std::string> training_numbers = {};
  /// The elements of a tensor, row-major; empty if only shapes are known. Throws InputError if they
  /// cannot be read.
  std::function<std::vector<double>(const std::string& name)> read = {};

  /// Whether the tensor's elements are known to be stored as integers.
  bool has_integers(const std::string& name) const;

  /// Whether there is a tensor of this name, readable or not.
  bool has(const std::string& name) const;

  /// The shape of a tensor that must exist and be readable. @throws InputError naming the file and
  /// the tensor.
  const std::vector<std::int64_t>& at(const std::string& name) const;

  /// The same for a tensor that must have this rank. `pattern` is its documented shape, for the
  /// message.
  const std::vector<std::int64_t>& at(const std::string& name,
                                      std::size_t rank,
                                      const std::string& pattern) const;
};

/// Whether a model that lacks this tensor of a checkpoint may ignore it: it is a training
/// number, or an integer that counts batches (num_batches_tracked of batch normalisation).
bool may_be_ignored(const TensorShapes& checkpoint, const std::string& name);

/// Checks that a checkpoint holds exactly the model's parameters, optionally also its buffers and
/// what may be ignored: none missing, none with another shape, none superfluous, and tied ones
/// equal.
/// @throws InputError naming the file, the tensor, the expected and the found shape.
void require_parameters(const Model& model, const TensorShapes& checkpoint);

/// Checks that a data file holds the model's arrays with one common number of samples, and returns
/// that number. It is 1 for a loss of the parameters alone, whose mean does not depend on the
/// number of samples. Further arrays are ignored. @throws InputError as above.
std::int64_t require_arrays(const Model& model, const TensorShapes& data);

}  // namespace hesscope
