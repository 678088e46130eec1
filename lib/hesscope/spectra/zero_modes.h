// SPDX-License-Identifier: BSD-3-Clause
//
// Which zero eigenvalues of a Hessian follow from known invariances.
//
// A generator u(theta) = B theta + b of an invariance of f gives H u = -B^T g (invariance.h), so a
// combination v = sum_k c_k u_k is a null vector of H exactly where sum_k c_k B_k^T g = 0. With a
// gradient g != 0, the flat directions of the loss are in general no null vectors: along the
// hyperbola p q = const, f(p, q) = phi(p q) is constant, yet
//
//   H = phi'' (q, p)(q, p)^T + phi' [[0, 1], [1, 0]],   H (p, -q) = phi' (-q, p),
//
// which is zero at a stationary point of phi only. What is explained is
//
//   { sum_k c_k u_k : sum_k c_k B_k^T g = 0 } + span { e_j : row j of H is zero },
//
// where a row must be zero not for this theta alone, if that is known: along one that is, as all of
// x y z are at 0, the loss may rise and fall by terms of third or higher order. Constant generators
// (B = 0) always count. The prediction needs theta and g only; H confirms it.
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
  /// Absolute error of the gradient's Euclidean norm. At least eps ||g||, which is assumed anyway;
  /// for a mean of samples' gradients that cancel, eps times the mean of their norms.
  double gradient_error = 0.0;
  /// Orthonormal columns of n entries: directions in which the loss of no sample changes to first
  /// order, though no invariance may say so (flat_directions.h). nullptr where they are not known.
  const Eigen::MatrixXd* flat_directions = nullptr;
  /// n entries, 0 where no sample's loss has a slope along the parameter. One that has a slope and
  /// no curvature, a row of zeros, is not dead: the loss is linear in it, and what samples say of
  /// it may cancel. nullptr: every row of zeros is taken for dead.
  const Eigen::VectorXd* sample_slopes = nullptr;
  /// n entries, 0 where the parameter's row of H is zero at a point nearby, too. One whose row is
  /// zero here alone is not dead. nullptr: every row of zeros is taken for one.
  const Eigen::VectorXd* rows_nearby = nullptr;
  /// A bound on ||E v|| for a unit vector v of n entries, E being the error of `hessian`. It is
  /// called for vectors that the Hessian would refute: E may be far above the spectrum's rounding
  /// band, as after normalization over numbers that almost agree. Empty: nothing is added to the
  /// tolerance.
  std::function<double(const Eigen::VectorXd&)> product_error = {};
  /// Whether to return a basis: n x num_explained.
  bool want_basis = false;
  /// More than this for the largest set of generators that touch common parameters, or more
  /// generators than fit into it, is not attempted.
  double memory_limit_bytes = 256.0 * 1024 * 1024;
  /// Nor are more floating-point operations, all sets together: about a minute.
  double operation_limit = 2e11;
};

/// What one family of invariances explains.
struct ZeroModesOfFamily {
  std::string name;
  Eigen::Index num_generators = 0;
  /// Zero modes beyond the dead parameters and the families before this one; -1: not computed.
  std::int64_t num_explained = -1;
  /// max ||B^T g|| / ||u|| over the generators, without u's dead entries: each generator makes sure
  /// of an eigenvalue within its ratio of zero. NaN where no generator moves a live parameter.
  double flatness_bound = kNaN;
  /// Vectors that it predicts beyond the families before it, and that H refutes; -1: not computed.
  /// Of the one that H refutes most, of length 1: ||H v||, what that should be at most, and the
  /// parameter of its largest entry. NaN and -1 where there is none.
  std::int64_t num_unconfirmed = -1;
  double refutation = kNaN;
  double confirmation_bound = kNaN;
  Eigen::Index refuted_parameter = -1;
};

/// Norms are in units of H.
struct ZeroModes {
  /// kOk; kNotComputed beyond a limit of the options; kNonFinite if an input is; kFailed if H
  /// refutes a predicted mode (num_unconfirmed > 0; all numbers are there) or a decomposition did
  /// not converge; otherwise the spectrum's status.
  Status status = Status::kNotComputed;
  /// Rows of H that are identically zero, without those of ZeroModesOptions::sample_slopes and
  /// ::rows_nearby.
  std::int64_t num_dead = -1;
  Eigen::VectorXd dead;  ///< n entries, 1 for these rows, 0 elsewhere; empty where num_dead is -1
  std::int64_t num_explained = -1;  ///< dead parameters included
  /// Predicted, but not null vectors of H: not explained. Either an invariance is none, or, where
  /// smallest_refutation is a few tolerances and no product_error is given, H is less exact than
  /// its rounding band: so measured at weights of 0.05 that fit every sample to rounding, where H
  /// has errors of 1e-13 ||H||.
  std::int64_t num_unconfirmed = -1;
  /// max(0, Spectrum::num_zero - num_explained).
  std::int64_t num_unexplained = -1;
  std::vector<ZeroModesOfFamily> families;  ///< in the order given
  /// Of num_explained, those that only ZeroModesOptions::flat_directions explains.
  std::int64_t num_flat = 0;
  double flat_residual = 0.0;  ///< max ||H v|| over unit vectors v of their span

  /// Predicted norms ||sum_k c_k B_k^T g|| of unit vectors sum_k c_k u_k, the singular values of H
  /// on the span of the generators: the largest taken for zero and the smallest not; where the
  /// prediction says nothing (see explain_zero_modes), H's own. NaN if none.
  double largest_accepted = kNaN;
  double smallest_refused = kNaN;
  /// Pivots of the QR decomposition of the generators, each scaled to norm 1, relative to the
  /// largest: the smallest taken for independent of those before, and the largest not. NaN if none.
  double smallest_pivot = kNaN;
  double largest_dependence = kNaN;
  /// The largest tolerance below which a norm was taken for zero; see explain_zero_modes. NaN if
  /// none was.
  double tolerance = kNaN;
  /// max ||H w|| over unit vectors w of the explained space; of the unconfirmed one the smallest.
  /// NaN if there is none.
  double largest_residual = kNaN;
  double smallest_refutation = kNaN;

  /// Lower medians of the eigenvalues and of their magnitudes without the num_explained ones
  /// nearest to zero. NaN if none is left, or if the spectrum does not list its eigenvalues.
  double median_without_explained = kNaN;
  double median_magnitude_without_explained = kNaN;

  Eigen::MatrixXd basis;  ///< n x num_explained, orthonormal columns; empty unless wanted
};

/// Explains the zero modes of a Hessian by invariances.
///
/// Generators that touch common parameters form a set of T parameters and K generators. Of the
/// matrix U of its u_k, without dead entries and scaled to unit columns, QR with pivoting gives an
/// orthonormal basis Q of the span: pivots below 1e-8 of the largest count as dependent, since a
/// direction known to fewer digits is one that H cannot confirm. The singular values of M = [B_k^T
/// g] R^-1 are, up to rounding, those of H Q, and the modes are the right singular vectors y with
/// one of at most
///
///   band (1 + ||c||_1 / (n + 10)) + gradient_error sum_k |c_k| ||B_k||_F / ||u_k||,   c = R^-1 y,
///
/// `band` being the spectrum's rounding band. Its first term, by which num_zero is counted, suits
/// every scale of g, because ||H|| >= ||B_k^T g|| / ||u_k||; the others are the errors of Q and g.
/// Last, the modes that H maps to at most twice that tolerance (singular values of H on their span)
/// are the confirmed ones: so far may two numbers differ that each are off by one tolerance. Of a
/// right singular vector v beyond that, product_error(v) is added.
///
/// A tolerance above 1e-9 of ||H|| says nothing: u_k is so small there, as where the weights that a
/// scaling acts on have died, that any error of g is as large as what it predicts. Of these
/// directions H alone decides, by 1e-9 of its norm.
///
/// Of the zeros that this leaves, those are explained, too, along which flat_directions says that
/// no sample's loss can change: singular values of H on that space, without the modes above, which
/// are at most 1e-9 of ||H||, the smallest first, and no more than there are zeros. H is asked
/// here, where an affine generator would have told without it.
///
/// Zeros that remain unexplained are of the data (fewer samples than parameters, a relu unit that
/// fires on every sample and so is linear), of a degenerate point (rows that are zero for this
/// theta alone among them), or of maps that are not affine and of which no flat_directions are
/// known.
///
/// @param theta, gradient  of n entries.
/// @param hessian  n x n, n >= 1, symmetric; both triangles are read.
/// @param spectrum  of this Hessian, by dense_spectrum or counted_spectrum.
/// @throws PreconditionError for sizes that do not fit, a generator with entries outside of theta,
///         an invariance without a function, or negative options.
/// @cost   about T K^2 operations and 8 (4 T K + 3 K^2 + n K) bytes a set, and n T operations for
///         each predicted mode.
ZeroModes explain_zero_modes(const Eigen::Ref<const Eigen::VectorXd>& theta,
                             const Eigen::Ref<const Eigen::VectorXd>& gradient,
                             std::span<const Invariance> invariances,
                             const Eigen::Ref<const Eigen::MatrixXd>& hessian,
                             const Spectrum& spectrum,
                             const ZeroModesOptions& options = {});

}  // namespace hesscope
