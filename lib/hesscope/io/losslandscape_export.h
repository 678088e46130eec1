// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/io/export_registry.h>

namespace hesscope::io {

/// The HDF5 layout of tomgoldstein/loss-landscape: xcoordinates (alpha), ycoordinates (beta) and
/// train_loss(y, x), as its plot_2D.py draws it; a line (one beta) has train_loss(x) alone, for
/// plot_1D.py. The checkpoints are in NAME_proj_lstsq.h5, a projection file as its plot_trajectory.py
/// writes them: proj_xcoord and proj_ycoord, in the order of the checkpoints, NaN where one has no
/// place. That file holds the shares of principal components, too (explained_variance_ratio_), so
/// that plot_2D.py takes it for --proj_file and --dir_file alike.
ExportFormat losslandscape_export_format();

}  // namespace hesscope::io
