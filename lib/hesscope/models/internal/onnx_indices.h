// SPDX-License-Identifier: BSD-3-Clause
//
// Which entries of tables the data of an ONNX graph name, as tokens do rows of an embedding.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <hesscope/import/dependencies.h>
#include <hesscope/onnx/onnx_file.h>

namespace hesscope::detail {

/// An axis of an initializer that all entries of an input pick from.
struct PickedAxis {
  std::int64_t size = 0;
  std::string table;
};

/// The shortest that a Gather picks from by the input's entries as they are, in whatever shape.
/// What has been computed with (a mask, an offset), and branches and bodies, are not followed:
/// nothing where an input comes to those alone.
std::optional<PickedAxis> picked_axis(const onnx::OnnxFile& file,
                                      const onnx::Dependencies& needs,
                                      const std::string& input);

}  // namespace hesscope::detail
