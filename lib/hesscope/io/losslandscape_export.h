// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/io/export_registry.h>

namespace hesscope::io {

/// The HDF5 layout of tomgoldstein/loss-landscape: xcoordinates (alpha), ycoordinates (beta) and
/// train_loss(y, x), as its plot_2D.py draws it; a line (one beta) has train_loss(x) alone, for
/// plot_1D.py.
ExportFormat losslandscape_export_format();

}  // namespace hesscope::io
