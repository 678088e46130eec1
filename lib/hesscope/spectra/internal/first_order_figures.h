// SPDX-License-Identifier: BSD-3-Clause
//
// Spectral figures of H + D to first order in D: every eigenvalue and every diagonal entry on which
// a figure is based changes by v^T D v, where v is its eigenvector or a unit vector.
#pragma once

#include <array>

#include <Eigen/Core>

#include <hesscope/spectra/internal/figure_row.h>
#include <hesscope/spectra/sampling_error.h>
#include <hesscope/statistics/statistic.h>

namespace hesscope::detail {

class FirstOrderFigures {
 public:
  static constexpr Eigen::Index kNumProbes = 6;  // four eigenvalues, two entries of the diagonal
  /// v^T M v of one matrix M for each v; NaN if v is not known.
  using Forms = Eigen::Matrix<double, kNumProbes, 1>;

  /// @param  num_parameters  n; the vectors must have as many entries.
  FirstOrderFigures(const SpectralEigenpairs& eigenpairs, Eigen::Index num_parameters);

  /// Sets the entries of H on which robust_diagonal is based.
  void set_diagonal(const Eigen::Ref<const Eigen::VectorXd>& diagonal);

  /// n x k: the known eigenvectors.
  const Eigen::MatrixXd& vectors() const { return vectors_; }

  /// @param  product   M vectors().
  /// @param  diagonal  of M; empty: not known.
  Forms forms(const Eigen::Ref<const Eigen::MatrixXd>& product,
              const Eigen::Ref<const Eigen::VectorXd>& diagonal) const;

  /// For H + D, given the forms of D. The denominator of a ratio must keep the sign that it has in
  /// H.
  /// @param  band  the magnitude up to which an eigenvalue or a diagonal entry counts as zero.
  FigureRow at(const Forms& change, double band) const;

  /// For H, with rounding_band(n, norm()).
  FigureRow at_zero() const;

  /// The largest known |eigenvalue| of H; that of the ends, if both are known. 0 if none is.
  double norm() const;

  /// The largest |v^T M v| over the known eigenvectors v, which is at most ||M||; 0 if none is
  /// known.
  static double largest_magnitude(const Forms& forms);

 private:
  Statistic moved(Eigen::Index probe, const Forms& change) const;
  Statistic moved_magnitude(Eigen::Index probe, const Forms& change) const;
  static Statistic ratio(const Statistic& largest,
                         const Statistic& median,
                         double median_of_h,
                         double band);

  Eigen::Index num_parameters_;
  Forms values_;                                  // of H; NaN if unknown
  std::array<Eigen::Index, kNumProbes> columns_;  // in vectors_; for the diagonal rows; -1: none
  Eigen::MatrixXd vectors_;
};

}  // namespace hesscope::detail
