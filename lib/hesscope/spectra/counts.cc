// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/linalg/internal/lapack.h>
#include <hesscope/spectra/counts.h>
#include <hesscope/spectra/internal/scaled_matrix.h>
#include <hesscope/spectra/internal/sturm_counts.h>
#include <hesscope/spectra/internal/tridiagonal_form.h>

namespace hesscope {
namespace {

void count_sign(double value, std::int64_t count, Inertia& inertia) {
  if (value < 0.0) {
    inertia.num_below += count;
  } else if (value > 0.0) {
    inertia.num_above += count;
  } else {
    inertia.num_at += count;
  }
}

// The inertia of the block diagonal D.
Inertia inertia_of(const detail::Ldlt& ldlt) {
  const Eigen::MatrixXd& d = ldlt.factors;
  Inertia inertia{0, 0, 0};
  for (Eigen::Index i = 0; i < d.rows(); ++i) {
    if (ldlt.pivots[static_cast<std::size_t>(i)] > 0) {
      count_sign(d(i, i), 1, inertia);
      continue;
    }
    // [a b; b c], chosen if |a c| < 0.41 b^2: one eigenvalue of each sign.
    count_sign(-1.0, 1, inertia);
    count_sign(1.0, 1, inertia);
    ++i;
  }
  return inertia;
}

}  // namespace

double counting_band(Eigen::Index n, double norm) { return 10.0 * detail::rounding_band(n, norm); }

ShiftedFactorization::ShiftedFactorization(const Eigen::Ref<const Eigen::MatrixXd>& hessian,
                                           double shift,
                                           const ProgressCallback& progress) {
  detail::require_symmetric_shape("ShiftedFactorization", hessian);
  if (!std::isfinite(shift)) {
    throw PreconditionError(
        fmt::format("ShiftedFactorization: shift must be finite, got {}", shift));
  }
  detail::Survey found = detail::survey(hessian);
  if (!found.is_finite) {
    status_ = Status::kNonFinite;
    return;
  }
  found.largest_magnitude = std::max(found.largest_magnitude, std::abs(shift));
  exponent_ = found.exponent();
  const detail::SingleThreadedBlas one_thread;
  Eigen::MatrixXd shifted = detail::scaled_copy(hessian, exponent_);
  shifted.diagonal().array() -= std::ldexp(shift, -exponent_);
  detail::Ldlt ldlt = detail::factor_ldlt(std::move(shifted), progress);
  if (!ldlt.factors.diagonal().allFinite()) {
    status_ = Status::kFailed;
    return;
  }
  inertia_ = inertia_of(ldlt);
  ldlt_ = std::make_unique<detail::Ldlt>(std::move(ldlt));
  status_ = Status::kOk;
}

ShiftedFactorization::~ShiftedFactorization() = default;
ShiftedFactorization::ShiftedFactorization(ShiftedFactorization&&) noexcept = default;
ShiftedFactorization& ShiftedFactorization::operator=(ShiftedFactorization&&) noexcept = default;

std::optional<Eigen::VectorXd> ShiftedFactorization::solve(
    const Eigen::Ref<const Eigen::VectorXd>& b) const {
  if (ldlt_ == nullptr || ldlt_->is_singular) return std::nullopt;
  if (b.size() != ldlt_->factors.rows()) {
    throw PreconditionError(fmt::format(
        "ShiftedFactorization: b must have {} entries, got {}", ldlt_->factors.rows(), b.size()));
  }
  const detail::SingleThreadedBlas one_thread;
  return detail::scaled_back(detail::solve(*ldlt_, b), -exponent_);
}

EigenvalueCounter::EigenvalueCounter(const Eigen::Ref<const Eigen::MatrixXd>& hessian,
                                     const ProgressCallback& progress) {
  detail::require_symmetric_shape("EigenvalueCounter", hessian);
  n_ = hessian.rows();
  const detail::Survey found = detail::survey_symmetric("EigenvalueCounter", hessian);
  if (!found.is_finite) {
    status_ = Status::kNonFinite;
    return;
  }
  const detail::SingleThreadedBlas one_thread;
  exponent_ = found.exponent();
  form_ = std::make_unique<detail::TridiagonalForm>(
      detail::scaled_copy(hessian, exponent_), detail::TridiagonalForm::kTwoStages, progress);
  sturm_ = std::make_unique<detail::SturmCounts>(form_->t());
  status_ = Status::kOk;
}

EigenvalueCounter::~EigenvalueCounter() = default;
EigenvalueCounter::EigenvalueCounter(EigenvalueCounter&&) noexcept = default;
EigenvalueCounter& EigenvalueCounter::operator=(EigenvalueCounter&&) noexcept = default;

double EigenvalueCounter::rounding_band() const {
  return status_ == Status::kOk
             ? detail::scaled_up(detail::rounding_band(n_, sturm_->norm()), exponent_)
             : kNaN;
}

std::int64_t EigenvalueCounter::num_below(double shift) const {
  if (std::isnan(shift)) throw PreconditionError("EigenvalueCounter: the shift is a NaN");
  if (status_ != Status::kOk) return -1;
  if (std::isinf(shift)) return shift > 0.0 ? n_ : 0;
  return sturm_->num_below(std::ldexp(shift, -exponent_));
}

RankedEigenvalue EigenvalueCounter::eigenvalue(Eigen::Index rank) {
  if (rank < 0 || rank >= n_) {
    throw PreconditionError(
        fmt::format("EigenvalueCounter: rank must be in [0, {}), got {}", n_, rank));
  }
  RankedEigenvalue found;
  found.status = status_;
  if (status_ != Status::kOk) return found;
  const detail::SturmCounts::Interval interval = sturm_->enclose(rank);
  const double value = interval.value();
  const double band = detail::rounding_band(n_, sturm_->norm());
  found.proof = Proof::kCounted;
  found.rank = rank;
  found.eigenvalue.value = std::ldexp(value, exponent_);
  found.lower = detail::scaled_down(interval.lower - band, exponent_);
  found.upper = detail::scaled_up(interval.upper + band, exponent_);
  if (!std::isfinite(found.lower) || !std::isfinite(found.upper)) {
    found = {};
    found.status = Status::kNonFinite;
    return found;
  }

  const detail::SingleThreadedBlas one_thread;
  std::optional<Eigen::VectorXd> v = form_->eigenvector(rank, value);
  if (!v) return found;
  found.eigenvalue.residual = std::ldexp(form_->residual(*v, value), exponent_);
  found.vector = std::move(*v);
  return found;
}

bool EigenvalueCounter::is_confirmed(const RankedEigenvalue& found) const {
  if (status_ != Status::kOk || found.status != Status::kOk) return false;
  const Eigen::MatrixXd lower_triangle = form_->lower_triangle();
  const double band = counting_band(n_, sturm_->norm());
  const ShiftedFactorization below(lower_triangle, std::ldexp(found.lower, -exponent_) - band);
  const ShiftedFactorization above(lower_triangle, std::ldexp(found.upper, -exponent_) + band);
  return below.status() == Status::kOk && above.status() == Status::kOk &&
         below.inertia().num_below <= found.rank && above.inertia().num_below > found.rank;
}

}  // namespace hesscope
