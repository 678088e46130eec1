// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/objective/checked_objective.h>

namespace hesscope {
namespace {

using Eigen::Index;
using Matrix = Objective::Matrix;

[[noreturn]] void refuse(const char* member, const Matrix& got, const std::string& wanted) {
  throw PreconditionError(
      fmt::format("Objective::{} returned a matrix of {} x {}, which must be {}",
                  member,
                  got.rows(),
                  got.cols(),
                  wanted));
}

Matrix checked(const char* member, Matrix got, Index rows, Index cols) {
  if (got.rows() == rows && got.cols() == cols) return got;
  refuse(member, got, fmt::format("{} x {}", rows, cols));
}

}  // namespace

CheckedObjective::CheckedObjective(const Objective& objective)
    : objective_(&objective),
      num_parameters_(objective.num_parameters()),
      num_samples_(objective.num_samples()) {
  const auto require_count = [](const char* member, Index count) {
    if (count > 0) return;
    throw PreconditionError(
        fmt::format("Objective::{} returned {}, which must be at least 1", member, count));
  };
  require_count("num_parameters()", num_parameters_);
  require_count("num_samples()", num_samples_);
  require_blocks("Objective::parameter_blocks()", parameter_blocks(), num_parameters_);
}

double CheckedObjective::value(const ConstVectorRef& theta, SampleRange range) const {
  return objective_->value(theta, range);
}

Objective::ValueAndGradient CheckedObjective::value_and_gradient(const ConstVectorRef& theta,
                                                                 SampleRange range) const {
  ValueAndGradient got = objective_->value_and_gradient(theta, range);
  if (got.gradient.size() == num_parameters_) return got;
  throw PreconditionError(
      fmt::format("Objective::value_and_gradient() returned a gradient of {} entries, which must "
                  "be {}, as many as parameters",
                  got.gradient.size(),
                  num_parameters_));
}

Matrix CheckedObjective::hessian_times(const ConstVectorRef& theta,
                                       const ConstMatrixRef& directions,
                                       SampleRange range) const {
  return checked("hessian_times()",
                 objective_->hessian_times(theta, directions, range),
                 num_parameters_,
                 directions.cols());
}

Matrix CheckedObjective::third_derivative_times(const ConstVectorRef& theta,
                                                const ConstMatrixRef& u,
                                                const ConstMatrixRef& v,
                                                SampleRange range) const {
  return checked("third_derivative_times()",
                 objective_->third_derivative_times(theta, u, v, range),
                 num_parameters_,
                 u.cols());
}

Matrix CheckedObjective::line_derivatives(const ConstVectorRef& theta,
                                          const ConstMatrixRef& directions,
                                          SampleRange range) const {
  return checked("line_derivatives()",
                 objective_->line_derivatives(theta, directions, range),
                 kLineOrder + 1,
                 directions.cols());
}

Matrix CheckedObjective::hessian(const ConstVectorRef& theta,
                                 SampleRange range,
                                 const ProgressCallback& progress) const {
  return checked(
      "hessian()", objective_->hessian(theta, range, progress), num_parameters_, num_parameters_);
}

Matrix CheckedObjective::hessian_columns(const ConstVectorRef& theta,
                                         SampleRange range,
                                         Index first,
                                         Index width) const {
  return checked("hessian_columns()",
                 objective_->hessian_columns(theta, range, first, width),
                 num_parameters_ - first,
                 width);
}

void CheckedObjective::with_ranks(const ConstVectorRef& theta,
                                  SampleRange range,
                                  const std::function<void()>& body) const {
  objective_->with_ranks(theta, range, body);
}

Matrix CheckedObjective::gauss_newton_times(const ConstVectorRef& theta,
                                            const ConstMatrixRef& directions,
                                            SampleRange range) const {
  return checked("gauss_newton_times()",
                 objective_->gauss_newton_times(theta, directions, range),
                 num_parameters_,
                 directions.cols());
}

Matrix CheckedObjective::gauss_newton(const ConstVectorRef& theta,
                                      SampleRange range,
                                      const ProgressCallback& progress) const {
  return checked("gauss_newton()",
                 objective_->gauss_newton(theta, range, progress),
                 num_parameters_,
                 num_parameters_);
}

Matrix CheckedObjective::predictions(const ConstVectorRef& theta, SampleRange range) const {
  Matrix got = objective_->predictions(theta, range);
  if (got.cols() == range.size() && got.rows() > 0) return got;
  refuse("predictions()", got, fmt::format("one of {} columns, one for each sample", range.size()));
}

Matrix CheckedObjective::prediction_jacobian(const ConstVectorRef& theta, SampleRange range) const {
  Matrix got = objective_->prediction_jacobian(theta, range);
  const bool is_of_all = got.rows() > 0 && got.rows() % range.size() == 0;
  if (is_of_all && got.cols() == num_parameters_) return got;
  refuse("prediction_jacobian()",
         got,
         fmt::format("one of {} columns, and as many rows for each of {} samples",
                     num_parameters_,
                     range.size()));
}

Matrix CheckedObjective::per_sample_gradients(const ConstVectorRef& theta,
                                              SampleRange range) const {
  return checked("per_sample_gradients()",
                 objective_->per_sample_gradients(theta, range),
                 num_parameters_,
                 range.size());
}

Matrix CheckedObjective::per_sample_hessian_times(const ConstVectorRef& theta,
                                                  const ConstMatrixRef& directions,
                                                  SampleRange range) const {
  return checked("per_sample_hessian_times()",
                 objective_->per_sample_hessian_times(theta, directions, range),
                 num_parameters_,
                 range.size());
}

}  // namespace hesscope
