// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include <hesscope/analyzers/point_analysis.h>
#include <hesscope/spectra/counted_spectrum.h>

namespace hesscope {
namespace {

// Adds the wall time of its life to a total.
class Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(&total), start_(Clock::now()) {}

  ~Stopwatch() { *total_ += std::chrono::duration<double>(Clock::now() - start_).count(); }

  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;

  double* total_;
  Clock::time_point start_;
};

}  // namespace

PointAnalysis::PointAnalysis(const Objective& objective,
                             Eigen::VectorXd theta,
                             ProgressCallback progress,
                             SpectrumMethod method)
    : objective_(&objective),
      theta_(std::move(theta)),
      progress_(std::move(progress)),
      method_(method) {}

const Objective::ValueAndGradient& PointAnalysis::value_and_gradient() {
  if (!value_and_gradient_) {
    value_and_gradient_ = objective_->value_and_gradient(theta_, objective_->all_samples());
  }
  return *value_and_gradient_;
}

double PointAnalysis::loss() { return value_and_gradient().value; }

const Eigen::VectorXd& PointAnalysis::gradient() { return value_and_gradient().gradient; }

const Eigen::MatrixXd* PointAnalysis::hessian() {
  if (hessian_status_ == Status::kNotComputed) {
    // A point that is not finite has no Hessian; no time is spent on finding that out n times.
    if (!theta_.allFinite() || !std::isfinite(loss()) || !gradient().allFinite()) {
      hessian_status_ = Status::kNonFinite;
    } else {
      const Stopwatch watch(seconds_.hessian);
      hessian_ = objective_->hessian(theta_, objective_->all_samples(), progress_);
      hessian_status_ = hessian_->allFinite() ? Status::kOk : Status::kNonFinite;
      if (hessian_status_ != Status::kOk) hessian_.reset();
    }
  }
  return hessian_ ? &*hessian_ : nullptr;
}

Status PointAnalysis::hessian_status() {
  hessian();
  return hessian_status_;
}

const Spectrum& PointAnalysis::spectrum() {
  if (!spectrum_) {
    if (const Eigen::MatrixXd* h = hessian()) {
      const Stopwatch watch(seconds_.eigen);
      spectrum_ = method_ == SpectrumMethod::kIterative ? counted_spectrum(*h) : dense_spectrum(*h);
    } else {
      const double nan = std::numeric_limits<double>::quiet_NaN();
      Spectrum none{};
      none.status = hessian_status_;
      none.smallest = none.median = none.largest = {nan, nan};
      none.rounding_band = nan;
      spectrum_ = none;
    }
  }
  return *spectrum_;
}

}  // namespace hesscope
