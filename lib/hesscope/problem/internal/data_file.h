// SPDX-License-Identifier: BSD-3-Clause
//
// The data file of a problem, under the names that the model uses for the arrays.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <stop_token>
#include <string>

#include <hesscope/models/model_registry.h>
#include <hesscope/models/tensor_shapes.h>
#include <hesscope/problem/internal/toml_tables.h>
#include <hesscope/problem/problem_file.h>
#include <hesscope/tensors/tensor_file.h>
#include <hesscope/tensors/tensor_map.h>

namespace hesscope::detail {

/// The table [data.arrays], which is removed; arrays in a tuple are named by numbers.
/// @throws ConfigError "FILE:LINE: ...".
io::TensorMap take_arrays(TomlTable& data);

/// The table as text, after an empty line; empty without rules.
std::string arrays_toml(const io::TensorMap& arrays);

/// Opens a data file. If it is a tuple with as many arrays as the model kind has, they are the
/// model's arrays in order, unless `arrays` says what they are.
/// @param place  the file that asks for it, for messages.
/// @param stop   once it is requested, reading the file throws Interrupted.
/// @throws InputError as open_tensor_file(), and for an array in `arrays` that does not exist.
io::TensorFile open_data(const std::filesystem::path& path,
                         const io::TensorMap& arrays,
                         const std::string& model_kind,
                         const std::filesystem::path& place,
                         const std::stop_token& stop = {});

inline io::TensorFile open_data(const ProblemFile& problem, const std::stop_token& stop = {}) {
  return open_data(problem.data_path, problem.data_arrays, problem.model_kind, problem.path, stop);
}

/// @throws ConfigError for a name in [data.arrays] that is not among `names`, the model's arrays.
void require_known_arrays(const io::TensorMap& arrays,
                          const std::string& model_kind,
                          std::span<const std::string> names);

/// A setting of [data.arrays] with which the data would fit: "inputs = \"X\", target = \"y\"".
/// Empty if no array is missing, nothing fits, or several arrays are possible.
/// @param fits  whether a model and data with these shapes are compatible.
/// @cost   up to 400 calls of fits().
std::string suggested_arrays(const ModelKind& kind,
                             const TensorShapes& data,
                             const std::function<bool(const TensorShapes&)>& fits);

}  // namespace hesscope::detail
