// SPDX-License-Identifier: BSD-3-Clause
//
// Which entries of tables the data of an ONNX graph select, as tokens select rows of an embedding.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <hesscope/import/dependencies.h>
#include <hesscope/onnx/onnx_file.h>

namespace hesscope::detail {

/// An axis of an initializer from which all entries of an input select.
struct PickedAxis {
  std::int64_t size = 0;
  std::string table;
};

/// The shortest axis from which a Gather selects with the input's entries themselves, in whatever
/// shape. Computed indices (with a mask or an offset), branches and bodies are not followed:
/// nothing if the input is used only there.
std::optional<PickedAxis> picked_axis(const onnx::OnnxFile& file,
                                      const onnx::Dependencies& needs,
                                      const std::string& input);

}  // namespace hesscope::detail
