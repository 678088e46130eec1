// SPDX-License-Identifier: BSD-3-Clause
//
// Any model: a forward pass exported as ONNX, with a loss of its output.
#pragma once

#include <hesscope/models/model_registry.h>

namespace hesscope {

/// Which tensors are parameters, onnx_tensors.h says. A model that is made without a checkpoint has
/// those of the graph's own values.
ModelKind onnx_kind();

}  // namespace hesscope
