// SPDX-License-Identifier: BSD-3-Clause
//
// The model that a problem file and a checkpoint make together, and where they make none, what to
// change so that they do.
#pragma once

#include <string>
#include <vector>

#include <hesscope/models/model_registry.h>
#include <hesscope/problem/problem_file.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::detail {

/// That the checkpoint does not fit, but what stands under each of these keys does.
std::string only_parts_fit(const ProblemFile& problem,
                           const io::TensorFile& checkpoint,
                           const std::vector<std::string>& keys);

/// The model that fits the checkpoint. Where only a part of the checkpoint fits, the refusal names
/// its key: the part is not taken unasked, since averages, gradients and moments are named alike.
/// Where none does, it says which model was asked for and what tells more.
/// @throws InputError.
Model fitted_or_advised(const ProblemFile& problem,
                        const TensorShapes& data,
                        const io::TensorFile& checkpoint);

/// What [data.arrays] could say where it does not; empty if nothing fits.
std::string arrays_that_fit(const ModelKind& kind,
                            const ProblemFile& problem,
                            const io::TensorFile& checkpoint,
                            const TensorShapes& data);

}  // namespace hesscope::detail
