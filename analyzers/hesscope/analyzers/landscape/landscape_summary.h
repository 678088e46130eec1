// SPDX-License-Identifier: BSD-3-Clause
//
// What a landscape's caller is told of it beside the file. Private to the analyzers.
#pragma once

#include <string>
#include <vector>

#include <hesscope/analyzers/landscape.h>
#include <hesscope/analyzers/landscape/landscape_file.h>
#include <hesscope/analyzers/record.h>

namespace hesscope::detail {

/// The checkpoints with their places on the plane; a warning for each whose loss is not finite.
void summarize_trajectory(const std::vector<TrajectoryPoint>& trajectory, LandscapeResult& result);

/// The extremes of the loss on the grid, and the number of points where it is not finite; a warning
/// for each quantity that failed at some points.
void summarize_surface(const std::vector<SurfaceValues>& surface,
                       const Grid& grid,
                       LandscapeResult& result);

/// Numbers of a record of scalars; a warning for each that is unproved or missing for no good
/// reason.
/// @param  quantities  in the order wanted.
void summarize_scalars(const std::vector<Quantity>& quantities,
                       const Record& record,
                       LandscapeResult& result);

/// A warning, and the result is no longer conclusive.
void warn(const std::string& message, LandscapeResult& result);

}  // namespace hesscope::detail
