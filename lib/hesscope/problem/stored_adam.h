// SPDX-License-Identifier: BSD-3-Clause
//
// Adam's second moments in checkpoints. Private to problem.
#pragma once

#include <optional>

#include <hesscope/io/tensor_file.h>
#include <hesscope/models/model.h>
#include <hesscope/problem/adam_state.h>

namespace hesscope::detail {

/// See Problem::read_adam_state(). `checkpoint` holds the model's parameters.
std::optional<AdamState> read_stored_adam(const Model& model, const io::TensorFile& checkpoint);

}  // namespace hesscope::detail
