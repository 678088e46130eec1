// SPDX-License-Identifier: BSD-3-Clause
//
// What explains the zero eigenvalues of the Hessian at a point, and the Hessian without these
// zeros.
#pragma once

#include <Eigen/Core>

#include <hesscope/analyzers/point_analysis.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/status.h>
#include <hesscope/spectra/zero_modes.h>

namespace hesscope::detail {

/// The mean Euclidean norm of the samples' gradients: the unit for judging whether a gradient in
/// which they cancel is small. @cost one pass of per-sample gradients.
double mean_sample_gradient(const Objective& objective, const Eigen::VectorXd& theta);

/// What rounding leaves of a gradient in which samples' gradients with this mean norm cancel.
double gradient_error(double sample_gradient);

/// Whether flat directions are searched for, because the objective is a model's that declares no
/// invariances.
bool searches_flat_directions(const Objective& objective);

/// Zero eigenvalues are explained by dead parameters, whose rows of H are zero here and, to
/// rounding, at a point nearby; by the objective's invariances; and, if flat directions are
/// searched for, by these. They are then the last family, kFlatDirectionsName. If the invariances
/// were found by a search and the Hessian refutes some of them, those that invariances_at() finds
/// at the point are used.
/// @param spectrum  that of the matrix `hessian` at the point.
/// @param options  .gradient_error: how far the gradient may be from that of the intended point: at
///                 least gradient_error(); plus its own norm if the point stands for a critical
///                 point nearby. .rows_nearby and .product_error are computed here.
/// @cost as explain_zero_modes(); if a row of H is zero, one product with a Hessian; and four
///       products for each vector that H would refute.
ZeroModes explained_zeros(PointAnalysis& point,
                          const Eigen::MatrixXd& hessian,
                          const Spectrum& spectrum,
                          ZeroModesOptions options);

/// The Hessian H without its explained null space. With an orthonormal basis Q of that space and
/// the projection P = I - Q Q^T,
///   A = P H P + (1 + 2^-10) c Q Q^T,   c = largest |lambda| of H, 1 if that is 0,
/// has the eigenvalues of H on the range of P, and one eigenvalue above them all for each explained
/// zero. So the negative and zero eigenvalues of A are those of H that nothing explains. A
/// parameter in which some sample's loss is linear has a row of zeros but is not explained: the
/// loss may fall along it without end, although the samples' slopes cancel here. The same holds for
/// a parameter along which some sample's loss has a slope at a point nearby.
struct UnexplainedHessian {
  Status status = Status::kNotComputed;  ///< without kOk, nothing below is set
  Eigen::MatrixXd matrix = {};           ///< A, n x n
  Eigen::MatrixXd basis = {};            ///< Q, n x num_explained
  double norm = kNaN;                    ///< c

  Eigen::Index num_explained() const { return basis.cols(); }

  /// P B.
  Eigen::MatrixXd project(const Eigen::Ref<const Eigen::MatrixXd>& b) const;

  /// P S P of a symmetric S, n x n.
  Eigen::MatrixXd project_both(const Eigen::Ref<const Eigen::MatrixXd>& s) const;
};

/// The status is that of the Hessian, the spectrum or ZeroModes if one of these is not kOk.
/// @param gradient_error  as in explained_zeros().
/// @cost as explained_zeros(); if a row of H is zero, two passes of per-sample gradients.
UnexplainedHessian unexplained_hessian(PointAnalysis& point, double gradient_error);

}  // namespace hesscope::detail
