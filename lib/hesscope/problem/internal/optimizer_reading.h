// SPDX-License-Identifier: BSD-3-Clause
//
// Reads the state of a checkpoint's optimiser for a model.
#pragma once

#include <hesscope/models/model.h>
#include <hesscope/problem/optimizer_state.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::detail {

/// See Problem::read_optimizer_state(). `checkpoint` holds the model's parameters.
OptimizerState read_optimizer_state(const Model& model, const io::TensorFile& checkpoint);

}  // namespace hesscope::detail
