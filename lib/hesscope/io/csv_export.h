// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/io/export_registry.h>

namespace hesscope::io {

/// Comma-separated values (RFC 4180): of a landscape one line for each point of the grid and, in
/// NAME-trajectory.csv, one for each checkpoint; of an analysis one for each checkpoint with every number that has no further dimension, in columns
/// named GROUP/NAME. Numbers have the digits that bring them back to the last bit; NaN is "nan", a
/// count that is missing nothing.
ExportFormat csv_export_format();

}  // namespace hesscope::io
