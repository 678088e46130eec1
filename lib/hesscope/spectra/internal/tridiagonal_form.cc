// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include <hesscope/spectra/decomposition_cost.h>
#include <hesscope/spectra/internal/tridiagonal_form.h>

namespace hesscope::detail {

TridiagonalForm::TridiagonalForm(Eigen::MatrixXd h,
                                 Eigen::Index two_stages,
                                 const ProgressCallback& progress)
    : matrix_(std::move(h)) {
  const Eigen::VectorXd diagonal = matrix_.diagonal();
  if (matrix_.rows() >= two_stages) {
    const double to_band = share_of_band_reduction(matrix_.rows());
    band_ = reduce_to_band(matrix_, part_of(progress, 0.0, to_band));
    t_ = tridiagonalize(*band_, part_of(progress, to_band, 1.0));
  } else {
    Reduction reduction = tridiagonalize(matrix_, progress);
    t_ = std::move(reduction.t);
    tau_ = std::move(reduction.tau);
  }
  matrix_.diagonal() = diagonal;
}

std::optional<Eigen::VectorXd> TridiagonalForm::eigenvector(Eigen::Index rank, double value) {
  if (band_) {
    const std::optional<Eigen::VectorXd> of_band = detail::eigenvector(*band_, value);
    if (!of_band) return std::nullopt;
    return apply_q(matrix_, *band_, *of_band).normalized();
  }
  const std::optional<Eigen::VectorXd> of_t = detail::eigenvector(t_, rank);
  if (!of_t) return std::nullopt;
  return apply_q(matrix_, tau_, *of_t).normalized();
}

double TridiagonalForm::residual(const Eigen::VectorXd& v, double value) const {
  return (matrix_.selfadjointView<Eigen::Upper>() * v - value * v).norm();
}

Eigen::MatrixXd TridiagonalForm::lower_triangle() const {
  return matrix_.triangularView<Eigen::Upper>().transpose();
}

}  // namespace hesscope::detail
