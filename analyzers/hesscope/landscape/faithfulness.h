// SPDX-License-Identifier: BSD-3-Clause
//
// What a plane shows of the landscape around its centre: the curvature within it compared with that
// in all directions, and how well the quadratic model at the centre explains the surface.
#pragma once

#include <span>
#include <vector>

#include <hesscope/analyzers/point_analysis.h>
#include <hesscope/dataset/dataset.h>
#include <hesscope/landscape/grid.h>
#include <hesscope/landscape/plane.h>

namespace hesscope {

/// Quantities of measure_centre(), all without dimensions.
std::vector<Variable> centre_quantities();

/// Slopes, second derivatives and curvatures at the centre along the plane's directions d1, d2 and,
/// if asked for, both ends of the whole spectrum there.
/// @cost two Hessian-vector products; with_spectrum: PointAnalysis::spectrum().
Group measure_centre(PointAnalysis& centre, const Plane& plane, bool with_spectrum);

/// Quantities of measure_quadratic_model(), all without dimensions.
std::vector<Variable> quadratic_model_quantities();

/// Errors of m(alpha, beta) = f + g^T d + d^T H d / 2, d = alpha d1 + beta d2, on a grid.
/// @param  centre  the result of measure_centre().
/// @param  loss    f, at the centre.
/// @param  losses  on the grid, with alpha varying fastest; those that are not finite are skipped.
/// @return status non_finite if no loss is finite, or if a slope or a curvature is not finite.
Group measure_quadratic_model(const Group& centre,
                              double loss,
                              const Grid& grid,
                              std::span<const double> losses);

/// Quantities of measure_barrier(), without dimensions.
std::vector<Variable> barrier_quantities();

/// The barrier on the path from one point at alpha = 0 to another at alpha = 1:
///   max over t of loss(t) - ((1 - t) loss(0) + t loss(1)), t in [0, 1].
/// @param  losses  at the points alpha.
/// @return status not_computed if none of them is in [0, 1]; non_finite if a loss there, or at an
///         end, is not finite.
Group measure_barrier(const Eigen::VectorXd& alpha,
                      std::span<const double> losses,
                      double loss_at_0,
                      double loss_at_1);

}  // namespace hesscope
