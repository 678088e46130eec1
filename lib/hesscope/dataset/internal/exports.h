// SPDX-License-Identifier: BSD-3-Clause
//
// The formats that results are handed on in, each in the file of its name.
#pragma once

#include <hesscope/dataset/export_registry.h>

namespace hesscope::io {

/// Comma-separated values (RFC 4180): of a landscape one line for each point of the grid and, in
/// NAME-trajectory.csv, one for each checkpoint; of an analysis one for each checkpoint with every
/// number that has no further dimension, in columns named GROUP/NAME. Numbers have the digits that
/// bring them back to the last bit; NaN is "nan", a count that is missing nothing.
ExportKind csv_export_kind();

/// The HDF5 layout of tomgoldstein/loss-landscape: xcoordinates (alpha), ycoordinates (beta) and
/// train_loss(y, x), as its plot_2D.py draws it; a line (one beta) has train_loss(x) alone, for
/// plot_1D.py. The checkpoints are in NAME_proj_lstsq.h5, a projection file as its
/// plot_trajectory.py writes them: proj_xcoord and proj_ycoord, in the order of the checkpoints,
/// NaN where one has no place. That file holds the shares of principal components, too
/// (explained_variance_ratio_), so that plot_2D.py takes it for --proj_file and --dir_file alike.
ExportKind losslandscape_export_kind();

/// A structured grid of VTK's legacy format (version 3.0, ASCII) that ParaView and VisIt open as a
/// surface: points (alpha, beta, loss), the fields of the landscape as point data. Where the loss
/// is not finite the surface is at the largest finite one and the data says NaN. The checkpoints
/// are a polyline in NAME-trajectory.vtk: points (alpha, beta, loss of the checkpoint itself), with
/// step, loss and residual as point data; those without a place on the plane are left out.
/// @source VTK File Formats, https://vtk.org/wp-content/uploads/2015/04/file-formats.pdf
ExportKind vtk_export_kind();

}  // namespace hesscope::io
