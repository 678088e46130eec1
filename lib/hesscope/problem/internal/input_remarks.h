// SPDX-License-Identifier: BSD-3-Clause
//
// What is odd about inputs that can be read and fit.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <hesscope/models/model.h>
#include <hesscope/objective/sample_table.h>
#include <hesscope/problem/optimizer_state.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::detail {

/// On arrays of whole numbers or pixels that a training may have scaled, and on class labels stored
/// as floating-point numbers: a sentence each, naming the file.
/// @param samples  what was made of the data.
std::vector<std::string> remarks_on_data(const Model& model,
                                         const io::TensorFile& data,
                                         const SampleTable& samples);

/// On weights that are no floating-point numbers, and on parameters that are one tensor in the
/// file: a sentence each, without the file.
std::vector<std::string> remarks_on_parameters(const Model& model,
                                               const io::TensorFile& checkpoint);

/// What may have been lost in writing a model: parameters of one shape that are equal to the last
/// bit at all points, and not just one number everywhere, as what initialisation sets to 0 or 1 is.
/// @param separate  patterns of names that are known to be tensors of their own.
std::vector<std::string> remarks_on_equal_parameters(const Model& model,
                                                     std::span<const Eigen::VectorXd> points,
                                                     std::span<const std::string> separate);

/// What may be no parameter: what is the same to the last bit at all points, where others are not.
std::vector<std::string> remarks_on_unmoved_parameters(const Model& model,
                                                       std::span<const Eigen::VectorXd> points);

/// The same of parameters that the optimiser was not given: a sentence, without the file.
std::string remark_on_parameters_not_given(const Model& model, const OptimizerState& optimizer);

}  // namespace hesscope::detail
