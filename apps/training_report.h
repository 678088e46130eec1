// SPDX-License-Identifier: BSD-3-Clause
//
// What a checkpoint holds about its training, for people: the optimiser, and numbers and texts
// besides the tensors.
#pragma once

#include <string>

#include <hesscope/tensors/tensor_file.h>

#include "json_document.h"

namespace hesscope::cli {

/// Empty if there is nothing of this kind.
std::string training_text(const io::TensorFile& file);

/// The same: an object with `values`, by name, and `optimizers`.
Json training_json(const io::TensorFile& file);

}  // namespace hesscope::cli
