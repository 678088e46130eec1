// SPDX-License-Identifier: BSD-3-Clause
//
// Which zero eigenvalues of a Hessian follow from known invariances.
//
// A generator u(theta) = B theta + b of an invariance of f gives H u = -B^T g (invariance.h), so a
// combination v = sum_k c_k u_k is a null vector of H exactly if sum_k c_k B_k^T g = 0. With a
// gradient g != 0, the flat directions of the loss are generally not null vectors: along the
// hyperbola p q = const, f(p, q) = phi(p q) is constant, yet
//
//   H = phi'' (q, p)(q, p)^T + phi' [[0, 1], [1, 0]],   H (p, -q) = phi' (-q, p),
//
// which is zero only at a stationary point of phi. What is explained is
//
//   { sum_k c_k u_k : sum_k c_k B_k^T g = 0 } + span { e_j : row j of H is zero },
//
// where a row must be zero not only at this theta, if that is known: along a parameter whose row is
// zero only here, as all rows of x y z are at 0, the loss may rise and fall by terms of third or
// higher order. Constant generators (B = 0) always count. The prediction needs theta and g only; H
// confirms it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <hesscope/core/constants.h>
#include <hesscope/core/eigen.h>
#include <hesscope/core/invariance.h>
#include <hesscope/core/status.h>
#include <hesscope/spectra/spectrum.h>

namespace hesscope {

struct ZeroModesOptions {
  /// Absolute error of the gradient's Euclidean norm. At least eps ||g|| is always assumed; for a
  /// mean of samples' gradients that cancel, use eps times the mean of their norms.
  double gradient_error = 0.0;
  /// Orthonormal columns of n entries: directions in which no sample's loss changes to first order,
  /// although no invariance may imply it (flat_directions.h). nullptr if they are not known.
  const Eigen::MatrixXd* flat_directions = nullptr;
  /// n entries, 0 where no sample's loss has a slope along the parameter. A parameter with a slope
  /// but no curvature, that is, a row of zeros, is not dead: the loss is linear in it, and the
  /// samples' slopes may cancel. nullptr: every row of zeros is considered dead.
  const Eigen::VectorXd* sample_slopes = nullptr;
  /// n entries, 0 where the parameter's row of H is also zero at a nearby point. A parameter whose
  /// row is zero only here is not dead. nullptr: every row of zeros is considered dead.
  const Eigen::VectorXd* rows_nearby = nullptr;
  /// A bound on ||E v|| for a unit vector v of n entries, where E is the error of `hessian`. It is
  /// called for vectors that the Hessian would refute: E may be far above the spectrum's rounding
  /// band, for instance after normalisation over numbers that almost agree. Empty: nothing is added
  /// to the tolerance.
  std::function<double(const Eigen::VectorXd&)> product_error = {};
  /// Whether to return a basis: n x num_explained.
  bool want_basis = false;
  /// Nothing is attempted if the largest set of generators that touch common parameters takes more
  /// than this, or if the generators themselves do not fit into it.
  double memory_limit_bytes = 256.0 * 1024 * 1024;
  /// A limit on floating-point operations for all sets together: about a minute.
  double operation_limit = 2e11;
};

/// What one family of invariances explains.
struct ZeroModesOfFamily {
  std::string name;
  Eigen::Index num_generators = 0;
  /// Zero modes in addition to the dead parameters and the preceding families; -1: not computed.
  std::int64_t num_explained = -1;
  /// max ||B^T g|| / ||u|| over the generators, without u's dead entries: each generator guarantees
  /// an eigenvalue within its ratio of zero. NaN if no generator moves a live parameter.
  double flatness_bound = kNaN;
  /// The number of vectors that it predicts in addition to the preceding families and that H
  /// refutes; -1: not computed. For the unit vector v that H refutes most: ||H v||, the most
  /// that it may be, and the parameter of v's largest entry. NaN and -1 if there is none.
  std::int64_t num_unconfirmed = -1;
  double refutation = kNaN;
  double confirmation_bound = kNaN;
  Eigen::Index refuted_parameter = -1;
};

/// Norms are in units of H.
struct ZeroModes {
  /// kOk; kNotComputed beyond a limit of the options; kNonFinite if an input is; kFailed if H
  /// refutes a predicted mode (num_unconfirmed > 0; all numbers are set) or a decomposition did not
  /// converge; otherwise the spectrum's status.
  Status status = Status::kNotComputed;
  /// Rows of H that are identically zero, excluding those that ZeroModesOptions::sample_slopes and
  /// ::rows_nearby rule out.
  std::int64_t num_dead = -1;
  Eigen::VectorXd dead;  ///< n entries, 1 for these rows, 0 elsewhere; empty where num_dead is -1
  std::int64_t num_explained = -1;  ///< dead parameters included
  /// Predicted, but not null vectors of H, hence not explained. Either a claimed invariance does
  /// not hold, or H is less exact than its rounding band. The latter is likely if
  /// smallest_refutation is a few tolerances and no product_error is given: at weights of 0.05 that
  /// fit every sample to rounding, for example, H was found to have errors of 1e-13 ||H||.
  std::int64_t num_unconfirmed = -1;
  /// max(0, Spectrum::num_zero - num_explained).
  std::int64_t num_unexplained = -1;
  std::vector<ZeroModesOfFamily> families;  ///< in the order given
  /// Those of num_explained that only ZeroModesOptions::flat_directions explains.
  std::int64_t num_flat = 0;
  double flat_residual = 0.0;  ///< max ||H v|| over unit vectors v of their span

  /// Predicted norms ||sum_k c_k B_k^T g|| of unit vectors sum_k c_k u_k, which are the singular
  /// values of H on the span of the generators: the largest one taken for zero and the smallest one
  /// not. Where the prediction is inconclusive (see explain_zero_modes), H's own. NaN if there is
  /// none.
  double largest_accepted = kNaN;
  double smallest_refused = kNaN;
  /// Pivots of the QR decomposition of the generators, each scaled to norm 1, relative to the
  /// largest: the smallest one taken for independent of those before, and the largest one not. NaN
  /// if there is none.
  double smallest_pivot = kNaN;
  double largest_dependence = kNaN;
  /// The largest tolerance below which a norm was taken for zero; see explain_zero_modes. NaN if
  /// there was none.
  double tolerance = kNaN;
  /// max ||H w|| over unit vectors w of the explained space, and min ||H w|| over those of the
  /// unconfirmed space. NaN if there is none.
  double largest_residual = kNaN;
  double smallest_refutation = kNaN;

  /// Lower medians of the eigenvalues and of their magnitudes, without the num_explained ones
  /// nearest to zero. NaN if none is left, or if the spectrum does not list its eigenvalues.
  double median_without_explained = kNaN;
  double median_magnitude_without_explained = kNaN;

  Eigen::MatrixXd basis;  ///< n x num_explained, orthonormal columns; empty unless wanted
};

/// Explains the zero modes of a Hessian by invariances.
///
/// Generators that touch common parameters form a set of T parameters and K generators. The matrix
/// U of its u_k, without dead entries and scaled to unit columns, is decomposed by QR with
/// pivoting, which gives an orthonormal basis Q of the span. Pivots below 1e-8 of the largest count
/// as dependent, since H cannot confirm a direction that is known to fewer digits. The singular
/// values of M = [B_k^T g] R^-1 are, up to rounding, those of H Q, and the modes are the right
/// singular vectors y whose singular value is at most
///
///   band (1 + ||c||_1 / (n + 10)) + gradient_error sum_k |c_k| ||B_k||_F / ||u_k||,   c = R^-1 y,
///
/// where `band` is the spectrum's rounding band. The first term, by which num_zero is counted,
/// suits every scale of g, because ||H|| >= ||B_k^T g|| / ||u_k||; the others are the errors of Q
/// and g. Finally, the confirmed modes are those that H maps to at most twice that tolerance
/// (singular values of H on their span): two numbers that are each off by one tolerance may differ
/// by so much. For a right singular vector v beyond that, product_error(v) is added.
///
/// A tolerance above 1e-9 of ||H|| makes the prediction inconclusive: u_k is then so small, for
/// instance because the weights that a scaling acts on have died, that any error of g is as large
/// as the prediction. For these directions, H alone decides, with the threshold 1e-9 of its norm.
///
/// A remaining zero is also explained if, according to flat_directions, no sample's loss can change
/// along it. Such zeros are the singular values of H on that space, without the modes above, that
/// are at most 1e-9 of ||H||, the smallest first, and no more than there are zeros. In contrast to
/// an affine generator, this needs H for the prediction.
///
/// Zeros that remain unexplained come from the data (fewer samples than parameters, or a relu unit
/// that is active on every sample and therefore linear), from a degenerate point (including rows
/// that are zero only at this theta), or from maps that are not affine and have no known
/// flat_directions.
///
/// @param theta, gradient  n entries each.
/// @param hessian  n x n, n >= 1, symmetric; both triangles are read.
/// @param spectrum  of this Hessian, by dense_spectrum or counted_spectrum.
/// @throws PreconditionError for sizes that do not fit, a generator with entries outside theta, an
///         invariance without a function, or negative options.
/// @cost   about T K^2 operations and 8 (4 T K + 3 K^2 + n K) bytes per set, and n T operations for
///         each predicted mode.
ZeroModes explain_zero_modes(const Eigen::Ref<const Eigen::VectorXd>& theta,
                             const Eigen::Ref<const Eigen::VectorXd>& gradient,
                             std::span<const Invariance> invariances,
                             const Eigen::Ref<const Eigen::MatrixXd>& hessian,
                             const Spectrum& spectrum,
                             const ZeroModesOptions& options = {});

}  // namespace hesscope
