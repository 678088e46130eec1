// SPDX-License-Identifier: BSD-3-Clause
//
// Whether a found invariance has been put to the test.
//
// A sum of terms that are all 0 vanishes whatever its coefficients are: where a relu unit does not
// fire, the gradients along its weights say nothing, and a unit that fires for one sample at one
// point of a search gives one equation for all its weights. What solves that equation holds nowhere
// else.
#pragma once

#include <functional>
#include <vector>

#include <hesscope/core/invariance.h>
#include <hesscope/objective/internal/gradient_points.h>

namespace hesscope::detail {

/// A generator is live for a sample at a point where its terms u_i dl/dtheta_i are not 0, so that
/// the sample's loss could change. It must be so for this many samples, all points together, at
/// this many points.
inline constexpr int kLiveSamples = 8;
inline constexpr int kLivePoints = 3;
/// One that has not been after so many points is given up.
inline constexpr int kMaxConfirmingPoints = 48;

/// The generators that keep every sample's loss, to first order, at `points` and then at further
/// ones until each has been live enough; families without any are left out.
/// @param points  none that the families were found with.
/// @param next  a further point, or none where there is no more; called only where one is needed.
/// @param tolerance  of u . dl/dtheta, relative to the sum of its terms' magnitudes.
std::vector<Invariance> confirmed_families(const std::vector<Invariance>& found,
                                           std::vector<GradientPoint> points,
                                           const std::function<std::vector<GradientPoint>()>& next,
                                           double tolerance);

/// The generators that change no sample's loss, to first order, at theta: all families, some
/// perhaps without any.
/// @cost  a pass of per-sample gradients, and every generator once for each of them.
std::vector<Invariance> unrefuted_families(const std::vector<Invariance>& found,
                                           const Objective& objective,
                                           const Eigen::VectorXd& theta,
                                           double tolerance);

}  // namespace hesscope::detail
