// SPDX-License-Identifier: BSD-3-Clause
//
// What a checkpoint says about its training, apart from parameters and optimiser.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <hesscope/tensors/tensor_file.h>

namespace hesscope {

/// Names under which programs store the progress of a training, the finest measure first. The last
/// one, "epoch", counts passes over the data, the others steps.
std::span<const std::string_view> counter_names();

/// The number `name` stored apart from the parameters, or the tensor of one element: in the part of
/// the file that `key` names, else in the enclosing part, else at the top.
/// @param file  a whole file.
/// @throws InputError if the tensor cannot be read.
std::optional<double> training_number(const io::TensorFile& file,
                                      std::string_view key,
                                      std::string_view name);

/// Those of counter_names() that are present. @throws as training_number().
std::map<std::string, double> training_counters(const io::TensorFile& file, std::string_view key);

/// Whether a tensor, unless the model has one of its name, is no parameter but a counter (one of
/// counter_names(), or the number of averaged models) or the loss, stored as a tensor of one
/// element.
bool is_training_number(const io::TensorInfo& tensor);

}  // namespace hesscope
