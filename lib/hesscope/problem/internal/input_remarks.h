// SPDX-License-Identifier: BSD-3-Clause
//
// Suspicious properties of inputs that can be read and fit.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <hesscope/models/model.h>
#include <hesscope/objective/sample_table.h>
#include <hesscope/problem/optimizer_state.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::detail {

/// On arrays of whole numbers or pixels that the training may have scaled, and on class labels
/// stored as floating-point numbers: one sentence each, naming the file.
/// @param samples  made from the data.
std::vector<std::string> remarks_on_data(const Model& model,
                                         const io::TensorFile& data,
                                         const SampleTable& samples);

/// On weights that are not floating-point numbers, and on parameters that are one tensor in the
/// file: one sentence each, without the file.
std::vector<std::string> remarks_on_parameters(const Model& model,
                                               const io::TensorFile& checkpoint);

/// On ties that may have been lost when a model was written: parameters of one shape that are equal
/// to the last bit at all points, unless all their entries are one number, as initialisations to 0
/// or 1 are.
/// @param separate  patterns of names that are known to be independent tensors.
std::vector<std::string> remarks_on_equal_parameters(const Model& model,
                                                     std::span<const Eigen::VectorXd> points,
                                                     std::span<const std::string> separate);

/// On tensors that may not be parameters: those that are bit-identical at all points, while others
/// change.
std::vector<std::string> remarks_on_unmoved_parameters(const Model& model,
                                                       std::span<const Eigen::VectorXd> points);

/// The same for parameters that the optimiser did not receive: a sentence, without the file.
std::string remark_on_parameters_not_given(const Model& model, const OptimizerState& optimizer);

}  // namespace hesscope::detail
