// SPDX-License-Identifier: BSD-3-Clause
//
// The argument of the loss: one of the graph's outputs, for one sample.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <hesscope/core/settings.h>
#include <hesscope/import/value.h>
#include <hesscope/models/losses.h>
#include <hesscope/onnx/onnx_file.h>

namespace hesscope::detail {

/// The output named by the key `output`, or the only one. @throws InputError if there are several,
/// or none.
std::string chosen_output(const onnx::OnnxFile& file, const Settings& settings);

/// The output's part for one sample.
struct SampleOutput {
  std::vector<std::int64_t> shape;
  /// Whether the output's first axis combines the samples with the first axis here, as in (N T, C).
  bool is_folded = false;
};

/// The output's axes without that of the batch, which is the first one if none is marked. A mean
/// over the batch has none, and a single number of the one sample needs none. @throws InputError
/// for others.
SampleOutput sample_output(const onnx::OnnxFile& file,
                           const std::string& output,
                           const onnx::Value& value,
                           const Settings& settings);

/// loss_options() for this output. @throws InputError if it is a mean over the batch and the loss
/// is another one, or it does not say where its classes are; ConfigError as loss_options().
LossOptions loss_of_output(const onnx::OnnxFile& file,
                           const std::string& output,
                           const onnx::Value& value,
                           const SampleOutput& sample,
                           const Settings& settings);

}  // namespace hesscope::detail
