// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include <hesscope/analyzers/internal/rounded_parameters.h>
#include <hesscope/analyzers/point_analysis.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/core/stopwatch.h>
#include <hesscope/noise/gradient_covariance.h>
#include <hesscope/noise/internal/gradient_rounding.h>
#include <hesscope/objective/hessian_error.h>
#include <hesscope/spectra/counted_spectrum.h>

namespace hesscope {

const std::vector<std::string>& spectrum_method_names() {
  static const std::vector<std::string> names = {
      "auto", "dense", "iterative", "matrix-free", "distributed"};
  return names;
}

std::vector<std::string> names_of_methods_alone() {
  std::vector<std::string> names = spectrum_method_names();
  std::erase(names, name_of(SpectrumMethod::kDistributed));
  return names;
}

const std::string& name_of(SpectrumMethod method) {
  return spectrum_method_names()[static_cast<std::size_t>(method)];
}

SpectrumMethod spectrum_method_of(std::string_view name) {
  const std::vector<std::string>& names = spectrum_method_names();
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) throw PreconditionError("spectrum_method_of: no such method");
  return static_cast<SpectrumMethod>(found - names.begin());
}

SpectrumMethod resolved(SpectrumMethod method, Eigen::Index num_parameters) {
  if (method != SpectrumMethod::kAuto) return method;
  return num_parameters <= kLargestAssembled ? SpectrumMethod::kDense : SpectrumMethod::kMatrixFree;
}

PointAnalysis::PointAnalysis(const Objective& objective, Eigen::VectorXd theta, Options options)
    : objective_(&objective),
      theta_(std::move(theta)),
      options_(std::move(options)),
      meter_(options_.progress,
             options_.costs.hessian + options_.costs.spectrum + options_.costs.own) {
  require_point(objective, "PointAnalysis", theta_, objective.all_samples());
}

PointAnalysis::PointAnalysis(const Objective& objective, Eigen::VectorXd theta)
    : PointAnalysis(objective, std::move(theta), Options()) {}

SpectrumMethod PointAnalysis::method() const {
  return resolved(options_.method, objective_->num_parameters());
}

const Objective::ValueAndGradient& PointAnalysis::value_and_gradient() {
  if (!value_and_gradient_) {
    value_and_gradient_ = objective_->value_and_gradient(theta_, objective_->all_samples());
  }
  return *value_and_gradient_;
}

double PointAnalysis::loss() { return value_and_gradient().value; }

const Eigen::VectorXd& PointAnalysis::gradient() { return value_and_gradient().gradient; }

bool PointAnalysis::is_gradient_zero() {
  if (is_gradient_zero_) return *is_gradient_zero_;
  return is_gradient_zero(gradient_covariance(*objective_, theta_, {.with_matrix = false}));
}

bool PointAnalysis::is_gradient_zero(const GradientCovariance& covariance) {
  if (!gradient_rounding_) gradient_rounding_ = rounding_of_gradients(covariance);
  if (!is_gradient_zero_) {
    is_gradient_zero_ = hesscope::is_gradient_zero(covariance) ||
                        detail::norm(gradient()) <= detail::norm(gradient_by_rounded_parameters());
  }
  return *is_gradient_zero_;
}

double PointAnalysis::gradient_rounding() {
  if (!gradient_rounding_) is_gradient_zero();
  return *gradient_rounding_;
}

Eigen::VectorXd PointAnalysis::gradient_without_rounding() {
  if (is_gradient_zero()) return Eigen::VectorXd::Zero(theta_.size());
  const Eigen::ArrayXd rounding = gradient_by_rounded_parameters().array().max(gradient_rounding());
  return (gradient().array().abs() <= rounding).select(0.0, gradient());
}

const Eigen::VectorXd& PointAnalysis::gradient_by_rounded_parameters() {
  if (gradient_by_rounded_parameters_) return *gradient_by_rounded_parameters_;
  Eigen::VectorXd rows = Eigen::VectorXd::Zero(theta_.size());
  if (const Eigen::MatrixXd* h = hessian()) {
    for (Eigen::Index i = 0; i < theta_.size(); ++i) {
      rows[i] = detail::kGradientRounding * detail::norm(h->col(i).cwiseProduct(theta_));
    }
  } else if (hessian_status() != Status::kNonFinite) {
    rows = detail::estimated_by_rounded_parameters(*objective_, theta_);
  }
  gradient_by_rounded_parameters_ = std::move(rows);
  return *gradient_by_rounded_parameters_;
}

Status PointAnalysis::status() {
  // A point that is not finite has no Hessian; this check avoids computing it n times.
  const bool is_finite = theta_.allFinite() && std::isfinite(loss()) && gradient().allFinite();
  return is_finite ? Status::kOk : Status::kNonFinite;
}

const Eigen::MatrixXd* PointAnalysis::hessian() {
  if (!hessian_status_) {
    if (status() != Status::kOk) {
      hessian_status_ = status();
    } else if (!is_assembled()) {
      hessian_status_ = Status::kNotComputed;
    } else {
      const Stopwatch watch(seconds_.hessian);
      const ProgressMeter::Part part(meter_, options_.costs.hessian);
      hessian_ = objective_->hessian(theta_, objective_->all_samples(), part.progress());
      hessian_status_ = hessian_->allFinite() ? Status::kOk : Status::kNonFinite;
      if (hessian_status_ != Status::kOk) hessian_.reset();
    }
  }
  return hessian_ ? &*hessian_ : nullptr;
}

Status PointAnalysis::hessian_status() {
  hessian();
  return *hessian_status_;
}

double PointAnalysis::hessian_error() {
  if (!hessian_error_) {
    hessian_error_ = 0;
    if (const Eigen::MatrixXd* h = hessian()) {
      const Eigen::VectorXd product =
          objective_->hessian_times(theta_, sign_probe(theta_.size()), objective_->all_samples());
      const double error = hesscope::hessian_error(*h, product);
      if (std::isfinite(error)) hessian_error_ = error;
    }
  }
  return *hessian_error_;
}

const Eigen::VectorXd* PointAnalysis::hessian_diagonal() {
  if (method() == SpectrumMethod::kDistributed) {
    return diagonal_status() == Status::kOk ? &distributed().diagonal : nullptr;
  }
  if (!diagonal_) {
    if (const Eigen::MatrixXd* h = hessian()) diagonal_ = h->diagonal();
  }
  return diagonal_ ? &*diagonal_ : nullptr;
}

Status PointAnalysis::diagonal_status() {
  if (method() != SpectrumMethod::kDistributed || status() != Status::kOk) return hessian_status();
  return distributed().diagonal.size() > 0 ? Status::kOk : Status::kNonFinite;
}

const DistributedSpectrum& PointAnalysis::distributed() {
  if (!distributed_) {
    if (options_.solver == nullptr) {
      throw PreconditionError("PointAnalysis: the method 'distributed' needs a solver");
    }
    const Stopwatch watch(seconds_.eigen);
    const double cost = options_.costs.hessian + options_.costs.spectrum;
    const ProgressMeter::Part part(meter_, cost);
    distributed_ =
        distributed_spectrum(*options_.solver,
                             *objective_,
                             theta_,
                             {.proves_fully = options_.proves_fully,
                              .fill_share = cost > 0 ? options_.costs.hessian / cost : 0.0},
                             part.progress());
  }
  return *distributed_;
}

const SymmetricOperator& PointAnalysis::hessian_operator() {
  if (!operator_) {
    if (const Eigen::MatrixXd* h = hessian()) {
      operator_ = std::make_unique<MatrixOperator>(*h);
    } else {
      operator_ = std::make_unique<HessianOperator>(*objective_, theta_);
    }
  }
  return *operator_;
}

const Extremes& PointAnalysis::extremes(Eigen::Index count) {
  count = std::min(count, objective_->num_parameters());
  if (const auto known = extremes_.find(count); known != extremes_.end()) return known->second;
  const Eigen::MatrixXd* h = hessian();
  const bool is_for_spectrum =
      method() == SpectrumMethod::kMatrixFree && extremes_.empty() && options_.costs.spectrum > 0;
  const ProgressMeter::Part part(meter_, is_for_spectrum ? options_.costs.spectrum : 0.0);
  const ProgressCallback& follow = is_for_spectrum ? part.progress() : progress();
  Extremes found;
  if (hessian_status() == Status::kNonFinite) {
    found.smallest.status = found.largest.status = Status::kNonFinite;
  } else {
    const Stopwatch watch(seconds_.eigen);
    const ExtremesOptions options = {
        .num_smallest = count, .num_largest = count, .seed = options_.seed};
    found = h != nullptr ? extreme_eigenpairs(*h, options, follow)
                         : extreme_eigenpairs(hessian_operator(), options, follow);
  }
  return extremes_.emplace(count, std::move(found)).first->second;
}

namespace {

Spectrum spectrum_of_ends(const Extremes& ends, Eigen::Index n) {
  Spectrum spectrum;
  spectrum.status =
      ends.smallest.status == Status::kOk ? ends.largest.status : ends.smallest.status;
  if (spectrum.status != Status::kOk) return spectrum;
  spectrum.proof = std::min(ends.smallest.proof, ends.largest.proof);
  spectrum.smallest = {ends.smallest.values[0], ends.smallest.residuals[0]};
  spectrum.largest = {ends.largest.values[0], ends.largest.residuals[0]};
  const double norm = spectrum.norm();
  spectrum.rounding_band = static_cast<double>(n + 10) * kEpsilon * norm;
  return spectrum;
}

}  // namespace

Spectrum PointAnalysis::spectrum_of(const Eigen::MatrixXd& matrix,
                                    const ProgressCallback& progress,
                                    double least_band) {
  const Stopwatch watch(seconds_.eigen);
  return method() == SpectrumMethod::kIterative ? counted_spectrum(matrix, progress, least_band)
                                                : dense_spectrum(matrix, progress, least_band);
}

Spectrum PointAnalysis::ends_of(const SymmetricOperator& matrix,
                                const ProgressCallback& progress,
                                double least_band) {
  const Stopwatch watch(seconds_.eigen);
  Spectrum spectrum = spectrum_of_ends(
      extreme_eigenpairs(matrix, {.seed = options_.seed}, progress), matrix.rows());
  spectrum.rounding_band = std::max(least_band, spectrum.rounding_band);
  return spectrum;
}

const Spectrum& PointAnalysis::spectrum() {
  if (!spectrum_) {
    const Eigen::MatrixXd* h = hessian();
    if (h != nullptr) {
      const ProgressMeter::Part part(meter_, options_.costs.spectrum);
      spectrum_ = spectrum_of(*h, part.progress(), hessian_error());
    } else if (method() == SpectrumMethod::kDistributed && status() == Status::kOk) {
      spectrum_ = distributed().spectrum;
    } else if (hessian_status() == Status::kNotComputed) {
      spectrum_ = spectrum_of_ends(extremes(1), theta_.size());
    } else {
      spectrum_ = Spectrum();
      spectrum_->status = hessian_status();
    }
  }
  return *spectrum_;
}

void PointAnalysis::release() {
  own_.reset();
  operator_.reset();
  hessian_.reset();
  hessian_status_.reset();
  hessian_error_.reset();
  diagonal_.reset();
  previous_.reset();
}

}  // namespace hesscope
