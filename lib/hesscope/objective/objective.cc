// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/objective/objective.h>

namespace hesscope {
namespace {

using Eigen::Index;
using Matrix = Objective::Matrix;
using ConstMatrixRef = Objective::ConstMatrixRef;

void require_range(const Objective& objective, const char* function, SampleRange range) {
  if (range.begin < 0 || range.end > objective.num_samples() || range.begin >= range.end) {
    throw PreconditionError(fmt::format("{}: [{}, {}) is not a non-empty range of the {} samples",
                                        function,
                                        range.begin,
                                        range.end,
                                        objective.num_samples()));
  }
}

void require_directions(const Objective& objective,
                        const char* function,
                        const ConstMatrixRef& directions) {
  const Index n = objective.num_parameters();
  if (directions.rows() == n) return;
  throw PreconditionError(
      fmt::format("{}: directions must have {} rows, got {}", function, n, directions.rows()));
}

void require_pairs(const Objective& objective,
                   const char* function,
                   const ConstMatrixRef& u,
                   const ConstMatrixRef& v) {
  const Index n = objective.num_parameters();
  if (u.rows() == n && v.rows() == n && u.cols() == v.cols()) return;
  throw PreconditionError(
      fmt::format("{}: pairs of directions must be two matrices of {} rows and equally many "
                  "columns, got {} x {} and {} x {}",
                  function,
                  n,
                  u.rows(),
                  u.cols(),
                  v.rows(),
                  v.cols()));
}

void require_sample_directions(const Objective& objective,
                               const char* function,
                               const ConstMatrixRef& directions,
                               SampleRange range) {
  const Index n = objective.num_parameters();
  if (directions.rows() == n && directions.cols() == range.size()) return;
  throw PreconditionError(fmt::format(
      "{}: directions must have {} rows and a column for each of {} samples, got {} x {}",
      function,
      n,
      range.size(),
      directions.rows(),
      directions.cols()));
}

void require_columns(const Objective& objective, const char* function, Index first, Index width) {
  const Index n = objective.num_parameters();
  if (first >= 0 && width >= 1 && first < n && width <= n - first) return;
  throw PreconditionError(
      fmt::format("{}: {} columns from {} on are not some of the {}", function, width, first, n));
}

void require_prediction(const Objective& objective, const char* function, const char* what) {
  if (objective.has_gauss_newton()) return;
  throw PreconditionError(
      fmt::format("{}: {} an objective that declares a prediction, got one that gives the loss "
                  "alone",
                  function,
                  what));
}

void require_third_derivatives(const Objective& objective, const char* function) {
  if (objective.has_third_derivatives()) return;
  throw PreconditionError(
      fmt::format("{}: needs an objective that knows its third derivatives, got one that gives "
                  "Hessians alone",
                  function));
}

[[noreturn]] void refuse_answer(const char* member, const Matrix& got, const std::string& wanted) {
  throw PreconditionError(
      fmt::format("Objective::do_{}() returned a matrix of {} x {}, which must be {}",
                  member,
                  got.rows(),
                  got.cols(),
                  wanted));
}

Matrix checked(const char* member, Matrix got, Index rows, Index cols) {
  if (got.rows() == rows && got.cols() == cols) return got;
  refuse_answer(member, got, fmt::format("{} x {}", rows, cols));
}

// Refuses a call of a member that must be overridden where the objective says that it can answer.
[[noreturn]] void refuse_without_override(const char* member, const char* claim) {
  throw PreconditionError(fmt::format(
      "Objective::do_{}() must be overridden, as {}() says that it is known", member, claim));
}

}  // namespace

double Objective::sample_weight(SampleRange range) const {
  require_range(*this, "sample_weight", range);
  return do_sample_weight(range);
}

double Objective::value(const ConstVectorRef& theta, SampleRange range) const {
  require_point(*this, "value", theta, range);
  return do_value(theta, range);
}

double Objective::value(const ConstVectorRef& theta) const { return value(theta, all_samples()); }

Objective::ValueAndGradient Objective::value_and_gradient(const ConstVectorRef& theta,
                                                          SampleRange range) const {
  require_point(*this, "value_and_gradient", theta, range);
  ValueAndGradient got = do_value_and_gradient(theta, range);
  if (got.gradient.size() == theta.size()) return got;
  throw PreconditionError(
      fmt::format("Objective::do_value_and_gradient() returned a gradient of {} entries, which "
                  "must be {}, as many as parameters",
                  got.gradient.size(),
                  theta.size()));
}

Objective::Vector Objective::gradient(const ConstVectorRef& theta, SampleRange range) const {
  return value_and_gradient(theta, range).gradient;
}

Objective::Vector Objective::gradient(const ConstVectorRef& theta) const {
  return gradient(theta, all_samples());
}

Matrix Objective::hessian(const ConstVectorRef& theta,
                          SampleRange range,
                          const ProgressCallback& progress) const {
  require_point(*this, "hessian", theta, range);
  return checked("hessian", do_hessian(theta, range, progress), theta.size(), theta.size());
}

Matrix Objective::hessian(const ConstVectorRef& theta) const {
  return hessian(theta, all_samples());
}

Matrix Objective::hessian_times(const ConstVectorRef& theta,
                                const ConstMatrixRef& directions,
                                SampleRange range) const {
  require_point(*this, "hessian_times", theta, range);
  require_directions(*this, "hessian_times", directions);
  return checked(
      "hessian_times", do_hessian_times(theta, directions, range), theta.size(), directions.cols());
}

Matrix Objective::hessian_times(const ConstVectorRef& theta,
                                const ConstMatrixRef& directions) const {
  return hessian_times(theta, directions, all_samples());
}

Matrix Objective::hessian_columns(const ConstVectorRef& theta,
                                  SampleRange range,
                                  Index first,
                                  Index width) const {
  require_point(*this, "hessian_columns", theta, range);
  require_columns(*this, "hessian_columns", first, width);
  return checked("hessian_columns",
                 do_hessian_columns(theta, range, first, width),
                 theta.size() - first,
                 width);
}

void Objective::with_ranks(const ConstVectorRef& theta,
                           SampleRange range,
                           const std::function<void()>& body) const {
  require_point(*this, "with_ranks", theta, range);
  do_with_ranks(theta, range, body);
}

Matrix Objective::third_derivative_times(const ConstVectorRef& theta,
                                         const ConstMatrixRef& u,
                                         const ConstMatrixRef& v,
                                         SampleRange range) const {
  require_third_derivatives(*this, "third_derivative_times");
  require_point(*this, "third_derivative_times", theta, range);
  require_pairs(*this, "third_derivative_times", u, v);
  return checked("third_derivative_times",
                 do_third_derivative_times(theta, u, v, range),
                 theta.size(),
                 u.cols());
}

Matrix Objective::third_derivative_times(const ConstVectorRef& theta,
                                         const ConstMatrixRef& u,
                                         const ConstMatrixRef& v) const {
  return third_derivative_times(theta, u, v, all_samples());
}

Matrix Objective::line_derivatives(const ConstVectorRef& theta,
                                   const ConstMatrixRef& directions,
                                   SampleRange range) const {
  require_third_derivatives(*this, "line_derivatives");
  require_point(*this, "line_derivatives", theta, range);
  require_directions(*this, "line_derivatives", directions);
  return checked("line_derivatives",
                 do_line_derivatives(theta, directions, range),
                 kLineOrder + 1,
                 directions.cols());
}

Matrix Objective::line_derivatives(const ConstVectorRef& theta,
                                   const ConstMatrixRef& directions) const {
  return line_derivatives(theta, directions, all_samples());
}

Matrix Objective::gauss_newton(const ConstVectorRef& theta,
                               SampleRange range,
                               const ProgressCallback& progress) const {
  require_gauss_newton(*this, "gauss_newton");
  require_point(*this, "gauss_newton", theta, range);
  return checked(
      "gauss_newton", do_gauss_newton(theta, range, progress), theta.size(), theta.size());
}

Matrix Objective::gauss_newton(const ConstVectorRef& theta) const {
  return gauss_newton(theta, all_samples());
}

Matrix Objective::gauss_newton_times(const ConstVectorRef& theta,
                                     const ConstMatrixRef& directions,
                                     SampleRange range) const {
  require_gauss_newton(*this, "gauss_newton_times");
  require_point(*this, "gauss_newton_times", theta, range);
  require_directions(*this, "gauss_newton_times", directions);
  return checked("gauss_newton_times",
                 do_gauss_newton_times(theta, directions, range),
                 theta.size(),
                 directions.cols());
}

Matrix Objective::gauss_newton_times(const ConstVectorRef& theta,
                                     const ConstMatrixRef& directions) const {
  return gauss_newton_times(theta, directions, all_samples());
}

Matrix Objective::predictions(const ConstVectorRef& theta, SampleRange range) const {
  require_prediction(*this, "predictions", "predictions need");
  require_point(*this, "predictions", theta, range);
  Matrix got = do_predictions(theta, range);
  if (got.cols() == range.size() && got.rows() > 0) return got;
  refuse_answer(
      "predictions", got, fmt::format("one of {} columns, one for each sample", range.size()));
}

Matrix Objective::prediction_jacobian(const ConstVectorRef& theta, SampleRange range) const {
  require_prediction(*this, "prediction_jacobian", "predictions need");
  require_point(*this, "prediction_jacobian", theta, range);
  Matrix got = do_prediction_jacobian(theta, range);
  const bool is_of_all = got.rows() > 0 && got.rows() % range.size() == 0;
  if (is_of_all && got.cols() == theta.size()) return got;
  refuse_answer("prediction_jacobian",
                got,
                fmt::format("one of {} columns, and as many rows for each of {} samples",
                            theta.size(),
                            range.size()));
}

Matrix Objective::per_sample_gradients(const ConstVectorRef& theta, SampleRange range) const {
  require_point(*this, "per_sample_gradients", theta, range);
  return checked(
      "per_sample_gradients", do_per_sample_gradients(theta, range), theta.size(), range.size());
}

Matrix Objective::per_sample_hessian_times(const ConstVectorRef& theta,
                                           const ConstMatrixRef& directions,
                                           SampleRange range) const {
  require_point(*this, "per_sample_hessian_times", theta, range);
  require_sample_directions(*this, "per_sample_hessian_times", directions, range);
  return checked("per_sample_hessian_times",
                 do_per_sample_hessian_times(theta, directions, range),
                 theta.size(),
                 range.size());
}

double Objective::do_sample_weight(SampleRange range) const {
  return static_cast<double>(range.size());
}

Matrix Objective::do_hessian_columns(const ConstVectorRef& theta,
                                     SampleRange range,
                                     Index first,
                                     Index width) const {
  const Index n = theta.size();
  Matrix columns(n - first, width);
  for (Index begin = 0; begin < width; begin += kColumnGroup) {
    const Index count = std::min(kColumnGroup, width - begin);
    Matrix directions = Matrix::Zero(n, count);
    directions.middleRows(first + begin, count).setIdentity();
    columns.middleCols(begin, count) =
        hessian_times(theta, directions, range).bottomRows(n - first);
  }
  return columns;
}

Matrix Objective::do_per_sample_hessian_times(const ConstVectorRef& theta,
                                              const ConstMatrixRef& directions,
                                              SampleRange range) const {
  Matrix products(directions.rows(), directions.cols());
  for (Index i = 0; i < range.size(); ++i) {
    const Index sample = range.begin + i;
    products.col(i) = hessian_times(theta, directions.col(i), {sample, sample + 1});
  }
  return products;
}

void Objective::do_with_ranks(const ConstVectorRef& /*theta*/,
                              SampleRange /*range*/,
                              const std::function<void()>& body) const {
  body();
}

Matrix Objective::do_third_derivative_times(const ConstVectorRef& /*theta*/,
                                            const ConstMatrixRef& /*u*/,
                                            const ConstMatrixRef& /*v*/,
                                            SampleRange /*range*/) const {
  refuse_without_override("third_derivative_times", "has_third_derivatives");
}

Matrix Objective::do_line_derivatives(const ConstVectorRef& /*theta*/,
                                      const ConstMatrixRef& /*directions*/,
                                      SampleRange /*range*/) const {
  refuse_without_override("line_derivatives", "has_third_derivatives");
}

Matrix Objective::do_gauss_newton(const ConstVectorRef& /*theta*/,
                                  SampleRange /*range*/,
                                  const ProgressCallback& /*progress*/) const {
  refuse_without_override("gauss_newton", "has_gauss_newton");
}

Matrix Objective::do_gauss_newton_times(const ConstVectorRef& /*theta*/,
                                        const ConstMatrixRef& /*directions*/,
                                        SampleRange /*range*/) const {
  refuse_without_override("gauss_newton_times", "has_gauss_newton");
}

Matrix Objective::do_predictions(const ConstVectorRef& /*theta*/, SampleRange /*range*/) const {
  refuse_without_override("predictions", "has_gauss_newton");
}

Matrix Objective::do_prediction_jacobian(const ConstVectorRef& /*theta*/,
                                         SampleRange /*range*/) const {
  refuse_without_override("prediction_jacobian", "has_gauss_newton");
}

void require_objective(const Objective& objective) {
  const auto require_count = [](const char* member, Index count) {
    if (count > 0) return;
    throw PreconditionError(
        fmt::format("Objective::{} returned {}, which must be at least 1", member, count));
  };
  require_count("num_parameters()", objective.num_parameters());
  require_count("num_samples()", objective.num_samples());
  require_blocks(
      "Objective::parameter_blocks()", objective.parameter_blocks(), objective.num_parameters());
}

void require_point(const Objective& objective,
                   const char* function,
                   const Objective::ConstVectorRef& theta,
                   SampleRange range) {
  if (theta.size() != objective.num_parameters()) {
    throw PreconditionError(fmt::format("{}: theta must have {} entries, got {}",
                                        function,
                                        objective.num_parameters(),
                                        theta.size()));
  }
  require_range(objective, function, range);
}

void require_gauss_newton(const Objective& objective, const char* function) {
  require_prediction(objective, function, "the Gauss-Newton matrix needs");
}

}  // namespace hesscope
