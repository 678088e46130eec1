// SPDX-License-Identifier: BSD-3-Clause
//
// Any model: a forward pass exported as ONNX, and a loss of its output.
#pragma once

#include <hesscope/models/model_registry.h>

namespace hesscope {

/// onnx_tensors.h defines which tensors are parameters. A model built without a checkpoint has the
/// parameters with the graph's own values.
ModelKind onnx_kind();

}  // namespace hesscope
