// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/objective/objective.h>

namespace hesscope {
namespace {

[[noreturn]] void refuse_without_prediction(const char* function,
                                            const char* what = "the Gauss-Newton matrix needs") {
  throw PreconditionError(fmt::format(
      "{}: {} an objective that declares a prediction, got one that gives the loss alone",
      function,
      what));
}

[[noreturn]] void refuse_without_third_derivatives(const char* function) {
  throw PreconditionError(
      fmt::format("{}: needs an objective that knows its third derivatives, got one that gives "
                  "Hessians alone",
                  function));
}

}  // namespace

double Objective::sample_weight(SampleRange range) const {
  require_range(*this, "sample_weight", range);
  return static_cast<double>(range.size());
}

Objective::Matrix Objective::third_derivative_times(const ConstVectorRef& /*theta*/,
                                                    const ConstMatrixRef& /*u*/,
                                                    const ConstMatrixRef& /*v*/,
                                                    SampleRange /*range*/) const {
  refuse_without_third_derivatives("third_derivative_times");
}

Objective::Matrix Objective::line_derivatives(const ConstVectorRef& /*theta*/,
                                              const ConstMatrixRef& /*directions*/,
                                              SampleRange /*range*/) const {
  refuse_without_third_derivatives("line_derivatives");
}

Objective::Matrix Objective::hessian_columns(const ConstVectorRef& theta,
                                             SampleRange range,
                                             Eigen::Index first,
                                             Eigen::Index width) const {
  require_columns(*this, "hessian_columns", first, width);
  const Eigen::Index n = num_parameters();
  Matrix columns(n - first, width);
  for (Eigen::Index begin = 0; begin < width; begin += kColumnGroup) {
    const Eigen::Index count = std::min(kColumnGroup, width - begin);
    Matrix directions = Matrix::Zero(n, count);
    directions.middleRows(first + begin, count).setIdentity();
    columns.middleCols(begin, count) =
        hessian_times(theta, directions, range).bottomRows(n - first);
  }
  return columns;
}

void Objective::with_ranks(const ConstVectorRef& /*theta*/,
                           SampleRange /*range*/,
                           const std::function<void()>& body) const {
  body();
}

Objective::Matrix Objective::gauss_newton_times(const ConstVectorRef& /*theta*/,
                                                const ConstMatrixRef& /*directions*/,
                                                SampleRange /*range*/) const {
  refuse_without_prediction("gauss_newton_times");
}

Objective::Matrix Objective::gauss_newton(const ConstVectorRef& /*theta*/,
                                          SampleRange /*range*/,
                                          const ProgressCallback& /*progress*/) const {
  refuse_without_prediction("gauss_newton");
}

Objective::Matrix Objective::predictions(const ConstVectorRef& /*theta*/,
                                         SampleRange /*range*/) const {
  refuse_without_prediction("predictions", "predictions need");
}

Objective::Matrix Objective::prediction_jacobian(const ConstVectorRef& /*theta*/,
                                                 SampleRange /*range*/) const {
  refuse_without_prediction("prediction_jacobian", "predictions need");
}

Objective::Matrix Objective::per_sample_hessian_times(const ConstVectorRef& theta,
                                                      const ConstMatrixRef& directions,
                                                      SampleRange range) const {
  require_point(*this, "per_sample_hessian_times", theta, range);
  require_sample_directions(*this, "per_sample_hessian_times", directions, range);
  Matrix products(directions.rows(), directions.cols());
  for (Eigen::Index i = 0; i < range.size(); ++i) {
    const Eigen::Index sample = range.begin + i;
    products.col(i) = hessian_times(theta, directions.col(i), {sample, sample + 1});
  }
  return products;
}

void require_sample_directions(const Objective& objective,
                               const char* function,
                               const Objective::ConstMatrixRef& directions,
                               SampleRange range) {
  const Eigen::Index n = objective.num_parameters();
  if (directions.rows() == n && directions.cols() == range.size()) return;
  throw PreconditionError(fmt::format(
      "{}: directions must have {} rows and a column for each of {} samples, got {} x {}",
      function,
      n,
      range.size(),
      directions.rows(),
      directions.cols()));
}

void require_directions(const Objective& objective,
                        const char* function,
                        const Objective::ConstMatrixRef& directions) {
  const Eigen::Index n = objective.num_parameters();
  if (directions.rows() == n) return;
  throw PreconditionError(
      fmt::format("{}: directions must have {} rows, got {}", function, n, directions.rows()));
}

void require_pairs(const Objective& objective,
                   const char* function,
                   const Objective::ConstMatrixRef& u,
                   const Objective::ConstMatrixRef& v) {
  const Eigen::Index n = objective.num_parameters();
  if (u.rows() == n && v.rows() == n && u.cols() == v.cols()) return;
  throw PreconditionError(
      fmt::format("{}: pairs of directions must be two matrices of {} rows and equally many "
                  "columns, got {} x {} "
                  "and {} x {}",
                  function,
                  n,
                  u.rows(),
                  u.cols(),
                  v.rows(),
                  v.cols()));
}

void require_columns(const Objective& objective,
                     const char* function,
                     Eigen::Index first,
                     Eigen::Index width) {
  const Eigen::Index n = objective.num_parameters();
  if (first >= 0 && width >= 1 && first < n && width <= n - first) return;
  throw PreconditionError(
      fmt::format("{}: {} columns from {} on are not some of the {}", function, width, first, n));
}

void require_gauss_newton(const Objective& objective, const char* function) {
  if (!objective.has_gauss_newton()) refuse_without_prediction(function);
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

void require_range(const Objective& objective, const char* function, SampleRange range) {
  if (range.begin < 0 || range.end > objective.num_samples() || range.begin >= range.end) {
    throw PreconditionError(fmt::format("{}: [{}, {}) is not a non-empty range of the {} samples",
                                        function,
                                        range.begin,
                                        range.end,
                                        objective.num_samples()));
  }
}

}  // namespace hesscope
