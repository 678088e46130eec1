// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/io/export_registry.h>

namespace hesscope::io {

/// A structured grid of VTK's legacy format (version 3.0, ASCII) that ParaView and VisIt open as a
/// surface: points (alpha, beta, loss), the fields of the landscape as point data. Where the loss
/// is not finite the surface is at the largest finite one and the data says NaN. The checkpoints are
/// a polyline in NAME-trajectory.vtk: points (alpha, beta, loss of the checkpoint itself), with step,
/// loss and residual as point data; those without a place on the plane are left out.
/// @source VTK File Formats, https://vtk.org/wp-content/uploads/2015/04/file-formats.pdf
ExportFormat vtk_export_format();

}  // namespace hesscope::io
