// SPDX-License-Identifier: BSD-3-Clause
//
// The export formats of results, each implemented in the file of its name.
#pragma once

#include <hesscope/dataset/export_registry.h>

namespace hesscope::io {

/// Comma-separated values (RFC 4180). For a landscape, one line per grid point and, in
/// NAME-trajectory.csv, one per checkpoint; for an analysis, one line per checkpoint with every
/// number that has no further dimension, in columns named GROUP/NAME. Numbers have enough digits to
/// be read back exactly; NaN is "nan", a missing count is empty.
ExportKind csv_export_kind();

/// The HDF5 layout of tomgoldstein/loss-landscape: xcoordinates (alpha), ycoordinates (beta) and
/// train_loss(y, x), as its plot_2D.py draws it; a line (a single beta) has train_loss(x) only, for
/// plot_1D.py. The checkpoints are in NAME_proj_lstsq.h5, a projection file as written by its
/// plot_trajectory.py: proj_xcoord and proj_ycoord, in the order of the checkpoints, NaN for those
/// without a place. That file also holds the shares of principal components
/// (explained_variance_ratio_), so that plot_2D.py accepts it both for --proj_file and --dir_file.
ExportKind losslandscape_export_kind();

/// A structured grid in VTK's legacy format (version 3.0, binary, as VTK reads no NaN in text) that
/// ParaView and VisIt open as a surface: points (alpha, beta, loss), with the fields of the
/// landscape as point data. Where the loss is not finite, the surface is at the largest finite loss
/// and the data are NaN. The checkpoints are a polyline in NAME-trajectory.vtk: points (alpha,
/// beta, loss of the checkpoint itself), with step, loss and residual as point data; those without
/// a place on the plane are omitted.
/// @source VTK File Formats, https://vtk.org/wp-content/uploads/2015/04/file-formats.pdf
ExportKind vtk_export_kind();

}  // namespace hesscope::io
