// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/linalg/internal/lapack.h>
#include <hesscope/spectra/internal/scaled_matrix.h>
#include <hesscope/spectra/operators.h>

namespace hesscope {

using Eigen::MatrixXd;

Eigen::MatrixXd SymmetricOperator::apply(const Eigen::Ref<const MatrixXd>& v) const {
  if (v.rows() != rows()) {
    throw PreconditionError(
        fmt::format("SymmetricOperator: v must have {} rows, got {}", rows(), v.rows()));
  }
  num_calls_.fetch_add(1, std::memory_order_relaxed);
  num_columns_.fetch_add(v.cols(), std::memory_order_relaxed);
  MatrixXd result = product(v);
  if (result.rows() != v.rows() || result.cols() != v.cols()) {
    throw PreconditionError(
        fmt::format("SymmetricOperator: a product with a matrix of {} x {} is of {} x {}, so it is "
                    "none with a symmetric matrix",
                    v.rows(),
                    v.cols(),
                    result.rows(),
                    result.cols()));
  }
  return result;
}

MatrixOperator::MatrixOperator(const Eigen::Ref<const MatrixXd>& hessian)
    : hessian_(hessian.data(),
               hessian.rows(),
               hessian.cols(),
               Eigen::OuterStride<>(hessian.outerStride())) {
  detail::require_symmetric_shape("MatrixOperator", hessian);
}

MatrixOperator::MatrixOperator(const MatrixXd& hessian)
    : MatrixOperator(Eigen::Ref<const MatrixXd>(hessian)) {}

MatrixOperator::MatrixOperator(MatrixXd&& hessian)
    : own_(std::move(hessian)),
      hessian_(own_.data(), own_.rows(), own_.cols(), Eigen::OuterStride<>(own_.rows())) {
  detail::require_symmetric_shape("MatrixOperator", own_);
}

MatrixXd MatrixOperator::product(const Eigen::Ref<const MatrixXd>& v) const {
  const detail::SingleThreadedBlas one_thread;
  return detail::symmetric_times(hessian_, v);
}

CurvatureOperator::CurvatureOperator(const char* name,
                                     const Objective& objective,
                                     Eigen::VectorXd theta,
                                     SampleRange range)
    : objective_(&objective), theta_(std::move(theta)), range_(range) {
  require_point(objective, name, theta_, range_);
}

HessianOperator::HessianOperator(const Objective& objective,
                                 Eigen::VectorXd theta,
                                 SampleRange range)
    : CurvatureOperator("HessianOperator", objective, std::move(theta), range) {}

HessianOperator::HessianOperator(const Objective& objective, Eigen::VectorXd theta)
    : HessianOperator(objective, std::move(theta), objective.all_samples()) {}

MatrixXd HessianOperator::product(const Eigen::Ref<const MatrixXd>& v) const {
  return objective().hessian_times(theta(), v, range());
}

GaussNewtonOperator::GaussNewtonOperator(const Objective& objective,
                                         Eigen::VectorXd theta,
                                         SampleRange range)
    : CurvatureOperator("GaussNewtonOperator", objective, std::move(theta), range) {
  require_gauss_newton(objective, "GaussNewtonOperator");
}

GaussNewtonOperator::GaussNewtonOperator(const Objective& objective, Eigen::VectorXd theta)
    : GaussNewtonOperator(objective, std::move(theta), objective.all_samples()) {}

MatrixXd GaussNewtonOperator::product(const Eigen::Ref<const MatrixXd>& v) const {
  return objective().gauss_newton_times(theta(), v, range());
}

ResidualOperator::ResidualOperator(const Objective& objective,
                                   Eigen::VectorXd theta,
                                   SampleRange range)
    : CurvatureOperator("ResidualOperator", objective, std::move(theta), range) {
  require_gauss_newton(objective, "ResidualOperator");
}

ResidualOperator::ResidualOperator(const Objective& objective, Eigen::VectorXd theta)
    : ResidualOperator(objective, std::move(theta), objective.all_samples()) {}

MatrixXd ResidualOperator::product(const Eigen::Ref<const MatrixXd>& v) const {
  return objective().hessian_times(theta(), v, range()) -
         objective().gauss_newton_times(theta(), v, range());
}

BlockOperator::BlockOperator(const SymmetricOperator& whole, Eigen::Index offset, Eigen::Index size)
    : whole_(&whole), offset_(offset), size_(size) {
  if (offset < 0 || size < 1 || size > whole.rows() - offset) {
    throw PreconditionError(
        fmt::format("BlockOperator: {} rows from row {} on are not a block of {} rows",
                    size,
                    offset,
                    whole.rows()));
  }
}

MatrixXd BlockOperator::product(const Eigen::Ref<const MatrixXd>& v) const {
  MatrixXd padded = MatrixXd::Zero(whole_->rows(), v.cols());
  padded.middleRows(offset_, size_) = v;
  return whole_->apply(padded).middleRows(offset_, size_);
}

PreconditionedOperator::PreconditionedOperator(const SymmetricOperator& h,
                                               const Eigen::VectorXd& diagonal)
    : h_(&h), scale_(diagonal.cwiseSqrt().cwiseInverse()) {
  if (diagonal.size() != h.rows()) {
    throw PreconditionError(
        fmt::format("PreconditionedOperator: diagonal must have {} entries, got {}",
                    h.rows(),
                    diagonal.size()));
  }
  if (!(diagonal.array() > 0.0).all()) {
    throw PreconditionError("PreconditionedOperator: diagonal must be positive");
  }
}

MatrixXd PreconditionedOperator::product(const Eigen::Ref<const MatrixXd>& v) const {
  return scale_.asDiagonal() * h_->apply(scale_.asDiagonal() * v);
}

ShiftedOperator::ShiftedOperator(const SymmetricOperator& h, double factor, double shift)
    : h_(&h), factor_(factor), shift_(shift) {}

MatrixXd ShiftedOperator::product(const Eigen::Ref<const MatrixXd>& v) const {
  return factor_ * h_->apply(v) + shift_ * v;
}

DeflatedOperator::DeflatedOperator(const SymmetricOperator& h, MatrixXd q, double value)
    : h_(&h), q_(std::move(q)), value_(value) {
  if (q_.rows() != h.rows()) {
    throw PreconditionError(
        fmt::format("DeflatedOperator: q must have {} rows, got {}", h.rows(), q_.rows()));
  }
}

// With P = I - Q Q^T: P H P v + value (v - P v).
MatrixXd DeflatedOperator::product(const Eigen::Ref<const MatrixXd>& v) const {
  const MatrixXd within = q_.transpose() * v;
  const MatrixXd outside = v - q_ * within;
  MatrixXd result = h_->apply(outside);
  const MatrixXd leaked = q_.transpose() * result;
  result += q_ * (value_ * within - leaked);
  return result;
}

}  // namespace hesscope
