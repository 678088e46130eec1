// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/core/constants.h>
#include <hesscope/core/eigen.h>
#include <hesscope/core/progress.h>
#include <hesscope/objective/objective.h>

namespace hesscope {

struct CriticalPointOptions {
  /// The gradient's Euclidean norm at which the search is done; above zero.
  double gradient_tolerance = 1e-12;
  int max_iterations = 100;  ///< at least 0
  int num_threads = 0;       ///< of dense_eigensystem(). No result depends on it.
};

/// How a search for a critical point ended.
enum class CriticalPointOutcome {
  kConverged,
  kStalled,  ///< no step lessens |g|: at a minimum of |g|^2 above 0, or H is singular to rounding
  kOutOfIterations,  ///< of max_iterations
  kNonFinite,        ///< the start, or a Hessian, contains NaN or infinity
  kFailed,           ///< a decomposition did not converge
  kVanishing,        ///< |g| is within the tolerance, but no critical point is near; see below
};

/// "converged", "stalled", "out_of_iterations", "non_finite", "failed", "vanishing", in their
/// order.
inline constexpr const char* kCriticalPointOutcomes[] = {
    "converged", "stalled", "out_of_iterations", "non_finite", "failed", "vanishing"};

struct CriticalPoint {
  CriticalPointOutcome outcome = CriticalPointOutcome::kNonFinite;
  Eigen::VectorXd theta;        ///< where it ended, whatever the outcome
  double loss = kNaN;           ///< there
  double gradient_norm = kNaN;  ///< there
  int num_iterations = 0;       ///< steps, each with a Hessian and its eigensystem
  /// Where steps shrank by a fixed ratio, as towards a degenerate critical point, an estimate of
  /// the n-vector from theta to it; else empty.
  Eigen::VectorXd rest;
};

/// The critical point of the mean loss over all samples, a minimum, a maximum or a saddle, that
/// Newton's method with Levenberg's and Marquardt's damping of |g|^2 leads to:
///   theta <- theta - (H^2 + mu I)^-1 H g,
/// by the eigensystem of H, without eigenvalues within its rounding band. mu is chosen by how much
/// of the predicted decrease of |g|^2 a step brings, and goes to zero near a critical point: then
/// the step is Newton's, with the pseudo-inverse where the critical points are a manifold, as those
/// of a model with invariances are. The convergence is quadratic wherever H has full rank across
/// them. Once the tolerance is met, steps go on while each at least halves |g|, with mu = 0 or with
/// mu = eps ||H||^2: the distance still to go makes small eigenvalues of zeros, which mu = 0 would
/// divide by.
///
/// Where |g| / ||H||, which no Newton step is shorter than, is then still above 1e-6 of |theta|,
/// here or at the start, and above eps, as rounding near a critical point at 0 is not, or where
/// the last of these steps is and it or one before left more than a tenth of |g|, the gradient
/// vanishes with the curvature, as that of a separable cross-entropy does towards infinity,
/// and no critical point is near. That is converged nevertheless where steps p shrink by a ratio r
/// of 0.4 to 0.9, as they do by 1 - 1 / m towards a degenerate point, a root of multiplicity m of
/// the gradient, and what is left of them, |p| r / (1 - r), is at most 1e-2 of |theta|: rounding of
/// the gradient lets no one come closer than eps^(1/m). On a run to infinity steps do not shrink,
/// or less and less. r is the median of the last eight ratios, of which one of four may be larger.
///
/// It descends |g|, not the loss, so that saddles attract it like minima; a saddle it leads to is
/// one nearby, but nothing makes sure that it is the nearest.
/// @param  theta  n >= 1 entries.
/// @throws PreconditionError for a theta of another size, options out of their ranges, and as
///         require_objective().
/// @cost   an iteration: a Hessian, its eigensystem, one gradient or some; four n x n matrices.
/// @source D. W. Marquardt (1963), J. SIAM 11, 431-441; N. Yamashita & M. Fukushima (2001),
///         Computing Suppl. 15, 239-249, for its convergence to points that are not isolated.
CriticalPoint find_critical_point(const Objective& objective,
                                  const Eigen::Ref<const Eigen::VectorXd>& theta,
                                  const CriticalPointOptions& options = {},
                                  const ProgressCallback& progress = {});

}  // namespace hesscope
