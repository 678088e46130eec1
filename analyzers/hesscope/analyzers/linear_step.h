// SPDX-License-Identifier: BSD-3-Clause
//
// When an optimiser with momentum is stable on a quadratic.
#pragma once

namespace hesscope {

/// One update, with the diagonal P by which it divides held still:
///   m     <- momentum m + intake g
///   theta <- theta - learning_rate P^-1 (gradient_weight g + momentum_weight m)
/// All are at least 0, momentum below 1.
struct LinearStep {
  double momentum = 0;
  double intake = 0;
  double gradient_weight = 1;
  double momentum_weight = 0;

  bool operator==(const LinearStep&) const = default;
};

/// Gradient descent; heavy ball: m <- momentum m + (1 - dampening) g; Nesterov's in PyTorch's form,
/// a step by g + momentum m.
LinearStep gradient_descent_step();
LinearStep heavy_ball_step(double momentum, double dampening = 0);
LinearStep nesterov_step(double momentum);

/// A step by an average, m <- momentum m + (1 - momentum) g, as in Adam.
LinearStep averaged_step(double momentum);

/// The largest eigenvalue of learning_rate P^-1/2 H P^-1/2 at which the update does not diverge on
/// the quadratic of H:
///   (2 + 2 momentum) / (gradient_weight (1 + momentum) + momentum_weight intake);
/// infinity if nothing of the gradient enters the update. 2 for gradient descent, 2 + 2 momentum
/// for heavy ball, (2 + 2 momentum) / (1 + 2 momentum) for Nesterov's, (2 + 2 momentum) / (1 -
/// momentum) for an average.
///
/// Along an eigenvector with eigenvalue s, the update of (theta, m) is a matrix with trace
/// T = 1 + momentum - s (gradient_weight + momentum_weight intake) and determinant
/// D = momentum - s gradient_weight momentum. It is stable while 1 + T + D > 0; 1 - T + D > 0 and
/// |D| < 1 hold until then.
/// @source J. Cohen et al. (2021), arXiv 2103.00065, appendix B, for the first three; (2022),
///         arXiv 2207.14484, for the last.
double stable_limit(const LinearStep& step);

}  // namespace hesscope
