// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/spectra/critical_point.h>
#include <hesscope/spectra/eigensystem.h>

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// Damping is relative to the square of the largest |lambda|.
constexpr double kFirstDamping = 1e-6;
constexpr double kLeastDamping = 1e-20;  // that can be raised
constexpr double kRounding = kEpsilon;
constexpr double kLargestDamping = 1e12;
constexpr double kNear = 1e-6;  // a Newton step, relative to theta
constexpr double kFast = 0.1;   // of |g| left by a step that ends at a critical point
// Ratio of the lengths of successive steps towards a degenerate point.
constexpr double kLeastShrinking = 0.4;
constexpr double kMostShrinking = 0.9;
constexpr double kNearDegenerate = 1e-2;  // total length of further steps, relative to theta
constexpr double kLeastGain = 1e-4;       // of the predicted decrease, for a step to be taken
constexpr double kPoorGain = 0.25;
constexpr double kGoodGain = 0.75;
// A relative predicted decrease of |g|^2 below this counts as none.
constexpr double kLeastDecrease = 1e-12;

// The gradient in the eigenbasis of H, and the steps computed from it.
class DampedStep {
 public:
  DampedStep(const Eigensystem& system, const VectorXd& gradient)
      : system_(&system), along_(system.eigenvectors.transpose() * gradient) {
    scale_ = system.eigenvalues.cwiseAbs().maxCoeff();
    if (scale_ == 0) scale_ = 1;
    relative_ = system.eigenvalues / scale_;
    // If all eigenvalues are zero, so is the band.
    relative_ =
        (system.eigenvalues.array().abs() <= system.rounding_band).select(0.0, relative_.array());
    norm_ = detail::norm(along_);
  }

  VectorXd step(double damping) const {
    return system_->eigenvectors *
           relative_
               .binaryExpr(along_,
                           [&](double s, double g) {
                             return s == 0 ? 0.0 : -s / (s * s + damping) * (g / scale_);
                           })
               .eval();
  }

  // (|g|^2 - |g + H p|^2) / |g|^2 for the corresponding step p.
  double decrease(double damping) const {
    return (relative_.array() == 0)
        .select(0.0,
                (along_.array() / norm_).square() *
                    (1 - (damping / (relative_.array().square() + damping)).square()))
        .sum();
  }

 private:
  const Eigensystem* system_;
  VectorXd along_;
  VectorXd relative_;
  double scale_ = 1;
  double norm_ = 0;
};

struct Place {
  VectorXd theta = {};
  double loss = kNaN;
  VectorXd gradient = {};
  double norm = kNaN;

  bool is_finite() const { return std::isfinite(loss) && std::isfinite(norm); }
};

Place place_at(const Objective& objective, VectorXd theta) {
  Place place{.theta = std::move(theta)};
  const auto found = objective.value_and_gradient(place.theta, objective.all_samples());
  place.loss = found.value;
  place.gradient = found.gradient;
  place.norm = detail::norm(place.gradient);
  return place;
}

// The last steps. Towards a root of multiplicity m > 1 of the gradient, Newton's steps shrink by r
// = 1 - 1 / m each; on the way to infinity, they do not shrink, or less and less.
class Approach {
 public:
  // A fast step, which makes |g| small at once, is of another kind than the preceding ones if it is
  // also much shorter than the last one.
  void add(VectorXd step, bool is_fast) {
    const bool is_short =
        !steps_.empty() && detail::norm(step) <= kLeastShrinking * detail::norm(steps_.back());
    if (is_fast && is_short) steps_.clear();
    if (std::ssize(steps_) > kMostRatios) steps_.erase(steps_.begin());
    steps_.push_back(std::move(step));
  }

  // The remaining way; empty if steps do not shrink in this manner. Each step p gives an estimate,
  // r / (1 - r) p minus the steps after it. If gradients are rounding errors, steps may be wrong:
  // one in four may shrink less, r is the median of their ratios, and the estimate of median length
  // is used.
  VectorXd rest() const {
    const std::vector<double> ratios = sorted_ratios();
    if (std::ssize(ratios) < kLeastRatios) return {};
    const double r = ratios[ratios.size() / 2];
    const double slow = ratios[ratios.size() - 1 - ratios.size() / 4];
    if (!(r > kLeastShrinking && slow < kMostShrinking)) return {};
    std::vector<VectorXd> rests;
    VectorXd after = VectorXd::Zero(steps_.back().size());
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      rests.emplace_back(r / (1 - r) * *step - after);
      after += *step;
    }
    std::ranges::sort(rests, {}, [](const VectorXd& rest) { return detail::norm(rest); });
    return rests[rests.size() / 2];
  }

 private:
  static constexpr Index kLeastRatios = 2;
  static constexpr Index kMostRatios = 8;

  std::vector<double> sorted_ratios() const {
    std::vector<double> ratios;
    for (std::size_t k = 1; k < steps_.size(); ++k) {
      ratios.push_back(detail::norm(steps_[k]) / detail::norm(steps_[k - 1]));
    }
    std::ranges::sort(ratios);
    return ratios;
  }

  std::vector<VectorXd> steps_;
};

}  // namespace

CriticalPoint find_critical_point(const Objective& objective,
                                  const Eigen::Ref<const VectorXd>& theta,
                                  const CriticalPointOptions& options,
                                  const ProgressCallback& progress) {
  require_objective(objective);
  require_point(objective, "find_critical_point", theta, objective.all_samples());
  if (!(options.gradient_tolerance > 0) || options.max_iterations < 0) {
    throw PreconditionError(
        fmt::format("find_critical_point: gradient_tolerance must be above 0 and max_iterations at "
                    "least 0, got {} and {}",
                    options.gradient_tolerance,
                    options.max_iterations));
  }
  Place here = place_at(objective, theta);
  CriticalPoint found;
  const auto end = [&](CriticalPointOutcome outcome) {
    found.outcome = outcome;
    found.theta = here.theta;
    found.loss = here.loss;
    found.gradient_norm = here.norm;
    return found;
  };
  const auto is_done = [&] { return here.norm <= options.gradient_tolerance; };
  const auto size = [&] { return std::max(detail::norm(here.theta), detail::norm(theta)); };
  const auto near = [&] { return std::max(kNear * size(), kRounding); };
  double slow_step = 0;     // long with |g| hardly reduced, or one after it once done
  double curvature = kNaN;  // ||H||_2 when last computed
  Approach approach;        // from the steps taken
  if (!theta.allFinite() || !here.is_finite()) return end(CriticalPointOutcome::kNonFinite);
  double damping = kFirstDamping;
  for (; found.num_iterations < options.max_iterations && here.norm > 0; ++found.num_iterations) {
    detail::report(progress, static_cast<double>(found.num_iterations) / options.max_iterations);
    const Eigensystem system =
        dense_eigensystem(objective.hessian(here.theta), {.num_threads = options.num_threads});
    if (system.status == Status::kOk) curvature = system.eigenvalues.cwiseAbs().maxCoeff();
    if (system.status != Status::kOk) {
      if (is_done() && !std::isnan(curvature)) break;
      return end(system.status == Status::kNonFinite ? CriticalPointOutcome::kNonFinite
                                                     : CriticalPointOutcome::kFailed);
    }
    const DampedStep of(system, here.gradient);
    if (is_done()) {
      const auto is_better = [&](double least_damping) {
        VectorXd step = of.step(least_damping);
        Place there = place_at(objective, here.theta + step);
        if (!(there.is_finite() && there.norm <= here.norm / 2)) return false;
        // After slow steps, a fast one must be short: if gradients are rounding errors, one may be
        // fast by chance. A slow step that is short is then meaningless.
        const bool is_slow = there.norm > kFast * here.norm;
        const double length = detail::norm(step);
        const bool tells = is_slow ? length > near() : slow_step > 0;
        if (tells) slow_step = length;
        approach.add(std::move(step), !is_slow && slow_step == 0);
        here = std::move(there);
        return true;
      };
      if (!is_better(0) && !is_better(kRounding)) break;
      continue;
    }
    while (true) {
      const double predicted = of.decrease(damping);
      if (!(predicted > kLeastDecrease) || damping > kLargestDamping) {
        return end(CriticalPointOutcome::kStalled);
      }
      VectorXd step = of.step(damping);
      Place there = place_at(objective, here.theta + step);
      const double ratio = there.norm / here.norm;
      const double gain = (1 - ratio * ratio) / predicted;
      const bool is_taken = there.is_finite() && gain > kLeastGain;
      if (!is_taken) {
        damping = std::max(4 * damping, kLeastDamping);
        continue;
      }
      if (gain > kGoodGain) damping *= std::min(0.1, ratio);
      if (gain < kPoorGain) damping = std::max(4 * damping, kLeastDamping);
      const double length = detail::norm(step);
      approach.add(std::move(step), ratio <= kFast);
      here = std::move(there);
      if (ratio <= kFast) slow_step = 0;
      if (ratio > kFast && length > near()) slow_step = length;
      break;
    }
  }
  // Without a curvature, a vanishing gradient cannot be distinguished from a critical point, unless
  // it is exactly zero.
  const bool is_known = here.norm == 0 || !std::isnan(curvature);
  if (!is_done() || !is_known) return end(CriticalPointOutcome::kOutOfIterations);
  const bool is_far = here.norm > near() * curvature || slow_step > near();
  const VectorXd rest = approach.rest();
  const double near_degenerate = std::max(kNearDegenerate * size(), kRounding);
  const bool is_approached = rest.size() > 0 && detail::norm(rest) <= near_degenerate;
  if (is_approached) found.rest = rest;
  return end(is_far && !is_approached ? CriticalPointOutcome::kVanishing
                                      : CriticalPointOutcome::kConverged);
}

}  // namespace hesscope
