// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include <hesscope/spectra/tridiagonal_form.h>

namespace hesscope::detail {

TridiagonalForm::TridiagonalForm(Eigen::MatrixXd h, Eigen::Index two_stages)
    : matrix_(std::move(h)) {
  const Eigen::VectorXd diagonal = matrix_.diagonal();
  if (matrix_.rows() >= two_stages) {
    band_ = reduce_to_band(matrix_);
    t_ = tridiagonalize(*band_);
  } else {
    Reduction reduction = tridiagonalize(matrix_);
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
