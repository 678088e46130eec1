// SPDX-License-Identifier: BSD-3-Clause
//
// The data file of a problem, under the names that the model uses for the arrays.
#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <string>

#include <hesscope/models/model_registry.h>
#include <hesscope/models/tensor_shapes.h>
#include <hesscope/problem/problem_file.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::detail {

/// If the file is a tuple with as many arrays as the model has, they are the model's arrays in
/// order.
/// @param stop  once it is requested, reading the file throws Interrupted.
/// @throws InputError as open_tensor_file(), and for an array in [data.arrays] that does not exist.
io::TensorFile open_data(const ProblemFile& problem, const std::stop_token& stop = {});

/// @throws ConfigError for a name in [data.arrays] that is not among `names`, the model's arrays.
void require_known_arrays(const ProblemFile& problem, std::span<const std::string> names);

/// A setting of [data.arrays] with which the data would fit: "inputs = \"X\", target = \"y\"".
/// Empty if no array is missing, nothing fits, or several arrays are possible.
/// @param fits  whether a model and data with these shapes are compatible.
/// @cost   up to 400 calls of fits().
std::string suggested_arrays(const ModelKind& kind,
                             const TensorShapes& data,
                             const std::function<bool(const TensorShapes&)>& fits);

}  // namespace hesscope::detail
