// SPDX-License-Identifier: BSD-3-Clause
//
// Weights that no checkpoint holds, because they are part of an ONNX graph's operations.
#pragma once

#include <string>

#include <hesscope/import/dependencies.h>
#include <hesscope/onnx/onnx_file.h>

namespace hesscope::detail {

/// A sentence on recurrent layers, convolutions and Gemm whose weights come from Constant nodes
/// only, as exporters write those of scripted recurrent modules: they are constants, whatever a
/// checkpoint holds. Empty if there are none.
std::string remark_on_inline_weights(const onnx::OnnxFile& file, const onnx::Dependencies& needs);

}  // namespace hesscope::detail
