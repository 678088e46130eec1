// SPDX-License-Identifier: BSD-3-Clause
//
// The data file of a problem under the names that its model has for the arrays.
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

/// Of a tuple of as many arrays as the model has, they are its arrays in order.
/// @param stop  once it is requested, reading the file ends by Interrupted.
/// @throws InputError as open_tensor_file(), and for an array of [data.arrays] that is not there.
io::TensorFile open_data(const ProblemFile& problem, const std::stop_token& stop = {});

/// @throws ConfigError for a name in [data.arrays] that is none of these, the model's arrays.
void require_known_arrays(const ProblemFile& problem, std::span<const std::string> names);

/// What [data.arrays] could say so that the data fit: "inputs = \"X\", target = \"y\"". Empty where
/// no array is missing, nothing fits, or several arrays could be meant.
/// @param fits  whether a model and data with these shapes go together.
/// @cost   up to 400 calls of fits().
std::string suggested_arrays(const ModelKind& kind,
                             const TensorShapes& data,
                             const std::function<bool(const TensorShapes&)>& fits);

}  // namespace hesscope::detail
