// SPDX-License-Identifier: BSD-3-Clause
//
// What explains the zero eigenvalues of the Hessian at a point, and the Hessian on what that
// leaves.
#pragma once

#include <Eigen/Core>

#include <hesscope/analyzers/point_analysis.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/status.h>
#include <hesscope/spectra/zero_modes.h>

namespace hesscope::detail {

/// The mean Euclidean norm of the samples' gradients: the unit that a gradient in which they cancel
/// is small or large in. @cost one pass of per-sample gradients.
double mean_sample_gradient(const Objective& objective, const Eigen::VectorXd& theta);

/// What rounding leaves of a gradient in which samples' gradients of this mean norm cancel.
double gradient_error(double sample_gradient);

/// Whether flat directions are looked for, the objective being a model's that nobody has told
/// invariances of.
bool searches_flat_directions(const Objective& objective);

/// Dead parameters, whose rows of H are zero here and, to rounding, at a point nearby, and the
/// objective's invariances explain zero eigenvalues, and where flat directions are looked for, so
/// do they: then they are the last family, kFlatDirectionsName.
/// Invariances that were looked for, and of which the Hessian refutes something, are those that
/// invariances_at() has at the point.
/// @param spectrum  of the matrix `hessian` at the point.
/// @param options  .gradient_error: how far the gradient may be from that of the point that is
///                 meant: at least gradient_error(); its own norm, too, for a point that stands for
///                 a critical point nearby. .rows_nearby and .product_error are found here.
/// @cost as explain_zero_modes(); where a row of H is zero, a product with a Hessian, and four for
///       each vector that H would refute.
ZeroModes explained_zeros(PointAnalysis& point,
                          const Eigen::MatrixXd& hessian,
                          const Spectrum& spectrum,
                          ZeroModesOptions options);

/// The Hessian H without its explained null space. With an orthonormal basis Q of that space and
/// the projection P = I - Q Q^T,
///   A = P H P + (1 + 2^-10) c Q Q^T,   c = largest |lambda| of H, 1 if that is 0,
/// has the eigenvalues of H on the range of P, and one above them all as often as there are
/// explained zeros: negative and zero eigenvalues of A are those of H that nothing explains. A
/// parameter that some sample's loss is linear in has a row of zeros, and is not explained: the
/// loss may fall along it without end, though the samples' slopes cancel here. Nor is one that some
/// sample's loss has a slope along at a point nearby.
struct UnexplainedHessian {
  Status status = Status::kNotComputed;  ///< without kOk there is nothing below
  Eigen::MatrixXd matrix = {};           ///< A, n x n
  Eigen::MatrixXd basis = {};            ///< Q, n x num_explained
  double norm = kNaN;                    ///< c

  Eigen::Index num_explained() const { return basis.cols(); }

  /// P B.
  Eigen::MatrixXd project(const Eigen::Ref<const Eigen::MatrixXd>& b) const;

  /// P S P of a symmetric S, n x n.
  Eigen::MatrixXd project_both(const Eigen::Ref<const Eigen::MatrixXd>& s) const;
};

/// Status as of the Hessian, the spectrum or ZeroModes where one of these is not kOk.
/// @param gradient_error  as of explained_zeros().
/// @cost as explained_zeros(); where a row of H is zero, two passes of per-sample gradients.
UnexplainedHessian unexplained_hessian(PointAnalysis& point, double gradient_error);

}  // namespace hesscope::detail
