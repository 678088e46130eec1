// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include <hesscope/core/constants.h>
#include <hesscope/core/eigen.h>
#include <hesscope/core/progress.h>
#include <hesscope/objective/objective.h>

namespace hesscope {

struct CriticalPointOptions {
  /// The gradient norm (Euclidean) at which the search has succeeded; above zero.
  double gradient_tolerance = 1e-12;
  int max_iterations = 100;  ///< at least 0
  int num_threads = 0;       ///< of dense_eigensystem(). Does not affect results.
};

/// How a search for a critical point ended.
enum class CriticalPointOutcome {
  kConverged,
  kStalled,  ///< no step reduces |g|: at a minimum of |g|^2 above 0, or H is singular to rounding
  kOutOfIterations,  ///< of max_iterations
  kNonFinite,        ///< the start, or a Hessian, contains NaN or infinity
  kFailed,           ///< a decomposition did not converge
  kVanishing,        ///< |g| is within the tolerance, but no critical point is near; see below
};

/// "converged", "stalled", "out_of_iterations", "non_finite", "failed", "vanishing", in their
/// order.
inline constexpr std::array<std::string_view, 6> kCriticalPointOutcomes = {
    "converged", "stalled", "out_of_iterations", "non_finite", "failed", "vanishing"};
static_assert(kCriticalPointOutcomes.size() ==
              static_cast<std::size_t>(CriticalPointOutcome::kVanishing) + 1);

struct CriticalPoint {
  CriticalPointOutcome outcome = CriticalPointOutcome::kNonFinite;
  Eigen::VectorXd theta;        ///< the final point, whatever the outcome
  double loss = kNaN;           ///< there
  double gradient_norm = kNaN;  ///< there
  int num_iterations = 0;       ///< steps, each with a Hessian and its eigensystem
  /// If steps shrank by a fixed ratio, as towards a degenerate critical point, an estimate of the
  /// n-vector from theta to it; else empty.
  Eigen::VectorXd rest;
};

/// Finds a critical point of the mean loss over all samples (a minimum, a maximum or a saddle) by
/// Newton's method with Levenberg-Marquardt damping of |g|^2:
///   theta <- theta - (H^2 + mu I)^-1 H g,
/// computed from the eigensystem of H without eigenvalues within its rounding band. mu is adapted
/// to the ratio of actual to predicted decrease of |g|^2, and goes to zero near a critical point:
/// the step is then Newton's, with the pseudo-inverse if the critical points form a manifold, as
/// for a model with invariances. The convergence is quadratic wherever H has full rank across this
/// manifold. Once the tolerance is met, further steps are made while each at least halves |g|, with
/// mu = 0 or with mu = eps ||H||^2: at a remaining distance, eigenvalues that should be zero are
/// merely small, and mu = 0 would divide by them.
///
/// No Newton step is shorter than |g| / ||H||. Suppose that at the end this is still above 1e-6 of
/// |theta|, the larger of its values here and at the start, and above eps (rounding near a critical
/// point at 0 is not); or that the last of the further steps is that long, and it or an earlier one
/// left more than a tenth of |g|. Then the gradient vanishes together with the curvature, as that
/// of a separable cross-entropy does towards infinity, and no critical point is near. The search
/// nevertheless counts as converged if the last eight steps shrink as towards a degenerate point, a
/// root of multiplicity m of the gradient, where each is 1 - 1 / m of the one before: their median
/// ratio r is above 0.4, at most a quarter of the ratios are 0.9 or more, and the rest of the way
/// is at most 1e-2 of |theta|. Each step predicts a rest, r / (1 - r) times itself minus the steps
/// after it; the median by length counts. Rounding of the gradient prevents coming closer than
/// eps^(1/m). On the way to infinity, steps do not shrink, or shrink less and less.
///
/// The search descends |g|, not the loss, so saddles attract it like minima. A saddle that it finds
/// is nearby, but not necessarily the nearest.
/// @param  theta  n >= 1 entries.
/// @throws PreconditionError for a theta of another size, options out of their ranges, and as
///         require_objective().
/// @cost   per iteration: a Hessian, its eigensystem, one or a few gradients; four n x n matrices.
/// @source D. W. Marquardt (1963), J. SIAM 11, 431-441; N. Yamashita & M. Fukushima (2001),
///         Computing Suppl. 15, 239-249, for its convergence to points that are not isolated.
CriticalPoint find_critical_point(const Objective& objective,
                                  const Eigen::Ref<const Eigen::VectorXd>& theta,
                                  const CriticalPointOptions& options = {},
                                  const ProgressCallback& progress = {});

}  // namespace hesscope
