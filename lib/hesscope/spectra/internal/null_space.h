// SPDX-License-Identifier: BSD-3-Clause
//
// The null space of H within the span of some generators: the numerics of zero_modes.h, which
// defines the notation.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <Eigen/Core>

#include <hesscope/core/constants.h>
#include <hesscope/core/invariance.h>
#include <hesscope/spectra/internal/generator_sets.h>

namespace hesscope::detail {

/// Relative to ||H||: used where H alone decides whether a direction is a null vector, since
/// directions are known to a few digits less than numbers.
inline constexpr double kZeroOfHessian = 1e-9;

/// Where g predicts a value within the tolerance of zero, H must have one within twice the
/// tolerance: the two agree to the tolerance.
inline constexpr double kConfirmingTolerances = 2.0;

/// The point, with g, H and the band scaled by a power of two.
struct ScaledPoint {
  Eigen::VectorXd theta;
  Eigen::VectorXd gradient;                          // scaled
  const Eigen::Ref<const Eigen::MatrixXd>* hessian;  // not scaled
  int exponent = 0;                                  // scaled: times 2^-exponent
  std::vector<bool> is_dead;                         // zero rows of H, of dead parameters
  double band = 0.0;                                 // scaled
  double norm = 0.0;                                 // ||H||_2, scaled
  double gradient_error = 0.0;                       // scaled
  std::function<double(const Eigen::VectorXd&)> product_error = {};  // scaled

  Eigen::Index size() const { return theta.size(); }

  bool dead(Eigen::Index i) const { return is_dead[static_cast<std::size_t>(i)]; }
};

/// The generators of one set, each divided by the norm of its u_k without dead entries; generators
/// that move no live parameter are omitted. Rows are the set's parameters.
struct GeneratorColumns {
  Eigen::MatrixXd u;                // T x K, zero in dead rows
  Eigen::MatrixXd bt_g;             // T x K, B_k^T g, scaled
  Eigen::VectorXd sensitivity;      // K, ||B_k||_F
  std::vector<std::size_t> family;  // K, ascending

  Eigen::Index size() const { return u.cols(); }
};

GeneratorColumns generator_columns(const GeneratorSet& set,
                                   std::span<const Invariance> invariances,
                                   const ScaledPoint& point);

/// Norms as in ZeroModes, scaled; NaN if there is none.
struct NullSpace {
  Eigen::MatrixXd basis;  // T x confirmed
  Eigen::Index num_unconfirmed = 0;
  double largest_accepted = kNaN;
  double smallest_refused = kNaN;
  double smallest_pivot = kNaN;
  double largest_dependence = kNaN;
  double tolerance = kNaN;
  double largest_residual = kNaN;
  double smallest_refutation = kNaN;
  double largest_refutation = kNaN;
  double confirmation_bound = kNaN;  // the upper limit for the largest refutation
  Eigen::VectorXd refuted;  // T, the unit vector of the largest refutation; empty if there is none
};

/// For the first K >= 1 generators; nothing if a decomposition failed.
std::optional<NullSpace> null_space(const GeneratorColumns& columns,
                                    Eigen::Index K,
                                    const ScaledPoint& point,
                                    const std::vector<Eigen::Index>& parameters);

/// Maximum and minimum, in place; if one number is NaN, the other is used.
void raise(double& value, double candidate);
void lower(double& value, double candidate);

}  // namespace hesscope::detail
