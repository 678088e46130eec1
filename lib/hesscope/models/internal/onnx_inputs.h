// SPDX-License-Identifier: BSD-3-Clause
//
// The inputs of an ONNX graph as arrays of a data set.
#pragma once

#include <map>
#include <string>

#include <hesscope/import/importer.h>
#include <hesscope/models/model_registry.h>
#include <hesscope/onnx/onnx_file.h>

namespace hesscope::detail {

/// Declares an array for each input that the output depends on and that is not `given`, and adds
/// its value, with the samples on the first axis: the batch, or 1 for a graph of one sample.
/// @throws ConfigError for a name in [model.inputs] that is not an input; InputError naming the
///         input, the array and both shapes if they do not fit, and for a graph exported for
///         several samples.
void declare_onnx_inputs(const onnx::OnnxFile& file,
                         const onnx::Dependencies& needs,
                         const ModelSources& sources,
                         ModelBuilder& builder,
                         std::map<std::string, onnx::Value>& given);

/// @throws InputError for data without the array of targets, saying how the problem file can name
///         it.
void require_target(const TensorShapes& data, const std::string& target);

}  // namespace hesscope::detail
