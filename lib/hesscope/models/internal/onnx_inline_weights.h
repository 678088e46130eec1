// SPDX-License-Identifier: BSD-3-Clause
//
// Weights that no checkpoint holds, since they stand among an ONNX graph's operations.
#pragma once

#include <string>

#include <hesscope/import/dependencies.h>
#include <hesscope/onnx/onnx_file.h>

namespace hesscope::detail {

/// A sentence on recurrent layers, convolutions and Gemm whose weights come from Constant nodes
/// alone, as exporters write those of scripted recurrent modules: they are constants, whatever a
/// checkpoint holds. Empty where there are none.
std::string remark_on_inline_weights(const onnx::OnnxFile& file, const onnx::Dependencies& needs);

}  // namespace hesscope::detail
