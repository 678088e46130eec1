// SPDX-License-Identifier: BSD-3-Clause
//
// Spectral figures of H + D to first order in D: every eigenvalue and every entry of the diagonal
// that a figure is made of moves by v^T D v, v its eigenvector or a unit vector.
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
  /// v^T M v of one matrix M for each v; NaN where v is not known.
  using Forms = Eigen::Matrix<double, kNumProbes, 1>;

  /// @param  num_parameters  n; the vectors must have as many entries.
  FirstOrderFigures(const SpectralEigenpairs& eigenpairs, Eigen::Index num_parameters);

  /// The entries of H that robust_diagonal is made of.
  void set_diagonal(const Eigen::Ref<const Eigen::VectorXd>& diagonal);

  /// n x k: the eigenvectors that are known.
  const Eigen::MatrixXd& vectors() const { return vectors_; }

  /// @param  product   M vectors().
  /// @param  diagonal  of M; empty: not known.
  Forms forms(const Eigen::Ref<const Eigen::MatrixXd>& product,
              const Eigen::Ref<const Eigen::VectorXd>& diagonal) const;

  /// Of H + D, given the forms of D. The denominator of a ratio must keep the sign it has in H.
  /// @param  band  the magnitude up to which an eigenvalue or an entry of the diagonal is zero.
  FigureRow at(const Forms& change, double band) const;

  /// Of H, with rounding_band(n, norm()).
  FigureRow at_zero() const;

  /// The largest |eigenvalue| of H that is known: of the ends, where both are. 0: none is.
  double norm() const;

  /// The largest |v^T M v| over the eigenvectors v that are known, at most ||M||; 0: none is.
  static double largest_magnitude(const Forms& forms);

 private:
  Statistic moved(Eigen::Index probe, const Forms& change) const;
  Statistic moved_magnitude(Eigen::Index probe, const Forms& change) const;
  static Statistic ratio(const Statistic& largest,
                         const Statistic& median,
                         double median_of_h,
                         double band);

  Eigen::Index num_parameters_;
  Forms values_;                                  // of H; NaN: not known
  std::array<Eigen::Index, kNumProbes> columns_;  // of vectors_; rows, for the diagonal; -1: none
  Eigen::MatrixXd vectors_;
};

}  // namespace hesscope::detail
