// SPDX-License-Identifier: BSD-3-Clause
//
// What a loss is taken of: one of the graph's outputs, for one sample.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <hesscope/core/settings.h>
#include <hesscope/import/value.h>
#include <hesscope/models/losses.h>
#include <hesscope/onnx/onnx_file.h>

namespace hesscope::detail {

/// By the key `output`, or the only one. @throws InputError where there are several, or none.
std::string chosen_output(const onnx::OnnxFile& file, const Settings& settings);

/// What the output has of one sample.
struct SampleOutput {
  std::vector<std::int64_t> shape;
  /// Whether the output's first axis is of samples and of the first axis here, as of (N T, C).
  bool is_folded = false;
};

/// The output's axes without the batch's, which is the first where none is marked. A mean over the
/// batch has none, nor need a number that is the one sample's. @throws InputError for others.
SampleOutput sample_output(const onnx::OnnxFile& file,
                           const std::string& output,
                           const onnx::Value& value,
                           const Settings& settings);

/// loss_options() for this output. @throws InputError where it is a mean over the batch and the
/// loss is another, or it does not say where its classes are; ConfigError as loss_options().
LossOptions loss_of_output(const onnx::OnnxFile& file,
                           const std::string& output,
                           const onnx::Value& value,
                           const SampleOutput& sample,
                           const Settings& settings);

}  // namespace hesscope::detail
