// SPDX-License-Identifier: BSD-3-Clause
//
// The model that a problem file and a checkpoint define together, and if they do not fit, what to
// change so that they do.
#pragma once

#include <string>
#include <vector>

#include <hesscope/models/model_registry.h>
#include <hesscope/problem/problem_file.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::detail {

/// Says that the checkpoint does not fit, but that the parts under each of these keys do.
std::string only_parts_fit(const ProblemFile& problem,
                           const io::TensorFile& checkpoint,
                           const std::vector<std::string>& keys);

/// The model that fits the checkpoint. If only a part of the checkpoint fits, the error names its
/// key: the part is not used unasked, since averages, gradients and moments have the same names. If
/// none fits, the error says which model was expected, and what gives more information.
/// @throws InputError.
Model fitted_or_advised(const ProblemFile& problem,
                        const TensorShapes& data,
                        const io::TensorFile& checkpoint);

/// A setting of [data.arrays] with which the data would fit; empty if there is none.
std::string arrays_that_fit(const ModelKind& kind,
                            const ProblemFile& problem,
                            const io::TensorFile& checkpoint,
                            const TensorShapes& data);

}  // namespace hesscope::detail
