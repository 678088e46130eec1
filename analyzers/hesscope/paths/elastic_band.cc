// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/paths/elastic_band.h>
#include <hesscope/paths/internal/line_excess.h>

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Constants of FIRE, as published.
constexpr double kFirstMixing = 0.1;
constexpr double kMixingFactor = 0.99;
constexpr double kGrowth = 1.1;
constexpr double kShrinkage = 0.5;
constexpr std::int64_t kPatience = 5;  // steps before the time step grows
// In units of 1 / sqrt(curvature); steps of 2 would be unstable.
constexpr double kFirstTimeStep = 0.3;
constexpr double kLargestTimeStep = 1.0;
constexpr double kLeastTimeStep = 0.003;  // where tangents jump, forces turn even at tiny steps
// In one step, an image moves by at most this fraction of the mean distance between neighbours.
constexpr double kLargestMove = 0.5;
// Stiffness of the springs, in units of the curvature: a chain of them is as stiff as the loss.
constexpr double kSpring = 0.25;
constexpr int kPowerSteps = 20;
// Another image climbs instead if it is higher by this fraction of its height above the higher end.
constexpr double kClearlyHigher = 0.01;
// After this many climbs in vain, no image climbs any more: climbing does not lead to a pass.
constexpr std::int64_t kMostVainClimbs = 50;
// Ends that are closer than this, relative to their size, are one point.
constexpr double kOnePoint = 1e-8;
// Forces below this fraction of curvature x length are rounding.
constexpr double kRounding = 1e-13;

VectorXd tangent_at(const BandState& state, Index i) {
  const VectorXd& loss = state.losses;
  const VectorXd before = state.images.col(i) - state.images.col(i - 1);
  const VectorXd after = state.images.col(i + 1) - state.images.col(i);
  const double rise_before = loss[i] - loss[i - 1];
  const double rise_after = loss[i + 1] - loss[i];
  VectorXd tangent;
  if (rise_before > 0 && rise_after > 0) {
    tangent = after;
  } else if (rise_before < 0 && rise_after < 0) {
    tangent = before;
  } else {
    // A mean of both pieces, in which the one to the higher neighbour has the larger difference as
    // its weight.
    const double larger = std::max(std::abs(rise_before), std::abs(rise_after));
    const double smaller = std::min(std::abs(rise_before), std::abs(rise_after));
    const bool is_next_higher = loss[i + 1] > loss[i - 1];
    tangent =
        after * (is_next_higher ? larger : smaller) + before * (is_next_higher ? smaller : larger);
    if (larger == 0) tangent = after + before;
  }
  return detail::normalized(tangent);
}

// The force of springs across the band where it has a kink. Springs along the band alone let it
// fold, and where the loss is flat across the band, nothing else would unfold it.
VectorXd straightening(const BandState& state, Index i, const VectorXd& tangent) {
  const VectorXd before = state.images.col(i) - state.images.col(i - 1);
  const VectorXd after = state.images.col(i + 1) - state.images.col(i);
  const double cosine = detail::normalized(before).dot(detail::normalized(after));
  const double share = cosine > 0 ? (1 + std::cos(std::numbers::pi * cosine)) / 2 : 1;
  const VectorXd spring = kSpring * state.curvature * (after - before);
  return share * (spring - spring.dot(tangent) * tangent);
}

double largest_speed(const MatrixXd& velocities) {
  double largest = 0;
  for (const auto& velocity : velocities.colwise()) {
    largest = std::max(largest, detail::norm(velocity));
  }
  return largest;
}

}  // namespace

VectorXd BandState::arc_lengths() const {
  VectorXd lengths = VectorXd::Zero(images.cols());
  for (Index i = 1; i < images.cols(); ++i) {
    lengths[i] = lengths[i - 1] + detail::norm(images.col(i) - images.col(i - 1));
  }
  return lengths;
}

bool BandState::is_above_ends(double loss) const {
  const auto is_above = [loss](double end) {
    return loss - end > detail::kLossRounding * (std::abs(loss) + std::abs(end));
  };
  return is_above(losses[0]) && is_above(losses[losses.size() - 1]);
}

std::optional<Index> BandState::highest() const {
  Index top = 0;
  const double highest = losses.maxCoeff(&top);
  return is_above_ends(highest) ? std::optional<Index>(top) : std::nullopt;
}

ElasticBand::ElasticBand(const Objective& objective, const Options& options)
    : objective_(objective), options_(options), executor_(options.num_threads, options.stop) {
  if (options.num_images < 3 || !(options.tolerance > 0) || !(options.climbs_from >= 1)) {
    throw PreconditionError(fmt::format(
        "ElasticBand: needs at least 3 images, a tolerance above 0 and climbs_from of at least 1, "
        "got {}, {} and {}",
        options.num_images,
        options.tolerance,
        options.climbs_from));
  }
}

double ElasticBand::largest_curvature(const VectorXd& theta) const {
  // Starts from a vector without symmetries, the same for every model of this size.
  VectorXd direction(theta.size());
  for (Index i = 0; i < theta.size(); ++i) {
    direction[i] = std::cos(1.0 + 0.7 * static_cast<double>(i));
  }
  direction.normalize();
  double size = 0;
  for (int step = 0; step < kPowerSteps; ++step) {
    const VectorXd product = objective_.hessian_times(theta, direction);
    size = detail::norm(product);
    if (!(size > 0) || !std::isfinite(size)) return size;
    direction = product / size;
  }
  return size;
}

BandState ElasticBand::straight(const Eigen::Ref<const VectorXd>& first,
                                const Eigen::Ref<const VectorXd>& second) const {
  const Index n = objective_.num_parameters();
  if (first.size() != n || second.size() != n) {
    throw PreconditionError(
        fmt::format("ElasticBand::straight: expected two points of {} numbers, got {} and {}",
                    n,
                    first.size(),
                    second.size()));
  }
  BandState state;
  const Index last = options_.num_images - 1;
  state.images.resize(n, options_.num_images);
  for (Index i = 0; i <= last; ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(last);
    state.images.col(i) = i == last ? VectorXd(second) : VectorXd(first + t * (second - first));
  }
  state.velocities = MatrixXd::Zero(n, options_.num_images);
  state.losses.resize(options_.num_images);
  state.losses[0] = objective_.value(first);
  state.losses[last] = objective_.value(second);
  if (detail::norm(second - first) <= kOnePoint * detail::norm(first)) {
    for (Index i = 1; i < last; ++i) state.losses[i] = state.losses[0];
    state.curvature = state.first_force = state.force = 0;
    state.outcome = state.losses.allFinite() ? BandOutcome::kConverged : BandOutcome::kNonFinite;
    return state;
  }
  state.curvature = 0;
  for (const Index i : {Index{0}, last / 2, last}) {
    const double found = largest_curvature(state.images.col(i));
    if (!(found <= state.curvature)) state.curvature = found;
  }
  if (!std::isfinite(state.curvature)) {
    state.outcome = BandOutcome::kNonFinite;
    return state;
  }
  // For a plane, any unit will do.
  if (state.curvature == 0) state.curvature = 1;
  state.time_step = kFirstTimeStep / std::sqrt(state.curvature);
  state.mixing = kFirstMixing;
  const Forces now = forces(state);
  state.first_force = now.largest;
  settle(state, now);
  return state;
}

// Also sets the losses.
ElasticBand::Forces ElasticBand::forces(BandState& state) const {
  const Index last = state.images.cols() - 1;
  MatrixXd gradients = MatrixXd::Zero(state.images.rows(), last + 1);
  const auto evaluate = [&](Index k) {
    const auto found =
        objective_.value_and_gradient(state.images.col(k + 1), objective_.all_samples());
    state.losses[k + 1] = found.value;
    gradients.col(k + 1) = found.gradient;
  };
  if (executor_.num_threads() > 1) {
    executor_.for_each(last - 1, evaluate);
  } else {
    for (Index k = 0; k < last - 1; ++k) evaluate(k);
  }
  Forces found{.forces = MatrixXd::Zero(state.images.rows(), last + 1)};
  found.is_finite = state.losses.allFinite() && gradients.allFinite();
  if (!found.is_finite) return found;
  const std::optional<Index> highest = state.highest();
  if (highest) found.of_highest = detail::norm(gradients.col(*highest));
  if (highest && state.climbing >= 0) {
    const double top = state.losses[*highest];
    const double height = top - std::max(state.losses[0], state.losses[last]);
    if (top - state.losses[state.climbing] > kClearlyHigher * height) state.climbing = *highest;
  }
  const Index climbing = highest ? state.climbing : -1;
  for (Index i = 1; i < last; ++i) {
    const VectorXd tangent = tangent_at(state, i);
    const VectorXd gradient = gradients.col(i);
    const double along = gradient.dot(tangent);
    VectorXd force = -gradient + along * tangent;
    if (i == climbing) {
      force += along * tangent;
      found.largest = std::max(found.largest, detail::norm(force));
    } else {
      force += straightening(state, i, tangent);
      found.largest = std::max(found.largest, detail::norm(force));
      const double stretch = detail::norm(state.images.col(i + 1) - state.images.col(i)) -
                             detail::norm(state.images.col(i) - state.images.col(i - 1));
      force += kSpring * state.curvature * stretch * tangent;
    }
    found.forces.col(i) = force;
  }
  return found;
}

void ElasticBand::settle(BandState& state, const Forces& now) const {
  state.force = now.is_finite ? now.largest : kNaN;
  if (!now.is_finite) {
    state.outcome = BandOutcome::kNonFinite;
    return;
  }
  const double length =
      detail::norm(state.images.col(state.images.cols() - 1) - state.images.col(0));
  const double rest =
      std::max(options_.tolerance * state.first_force, kRounding * state.curvature * length);
  const double near = options_.climbs_from * rest;
  const std::optional<Index> highest = state.highest();
  const bool may_climb = state.num_vain_climbs < kMostVainClimbs;
  if (state.climbing < 0 && may_climb && state.force <= near && highest) {
    // From here on, the dynamics differ. A straight path of minimum energy has no force across it
    // with which the force on the climbing image could be compared.
    state.climbing = *highest;
    state.first_force =
        std::max(state.first_force, std::min(now.of_highest, state.curvature * length));
    return;
  }
  if (state.climbing >= 0 && !(state.force <= state.first_force)) {
    state.climbing = -1;
    ++state.num_vain_climbs;
    state.velocities.setZero();
    return;
  }
  if (state.force <= rest) state.outcome = BandOutcome::kConverged;
}

void ElasticBand::advance(BandState& state,
                          std::int64_t num_steps,
                          const ProgressCallback& progress) const {
  if (state.is_done()) return;
  const double longest = kLargestTimeStep / std::sqrt(state.curvature);
  Forces now = forces(state);
  for (std::int64_t step = 0; step < num_steps && !state.is_done(); ++step) {
    detail::report(progress, static_cast<double>(step) / static_cast<double>(num_steps));
    if (detail::dot(now.forces.reshaped(), state.velocities.reshaped()) > 0.0) {
      const double speed = detail::norm(state.velocities);
      const double size = detail::norm(now.forces);
      state.velocities =
          (1 - state.mixing) * state.velocities + state.mixing * (speed / size) * now.forces;
      if (++state.num_downhill > kPatience) {
        state.time_step = std::min(state.time_step * kGrowth, longest);
        state.mixing *= kMixingFactor;
      }
    } else if (state.num_steps > 0) {
      state.velocities.setZero();
      state.time_step =
          std::max(state.time_step * kShrinkage, kLeastTimeStep / std::sqrt(state.curvature));
      state.mixing = kFirstMixing;
      state.num_downhill = 0;
    }
    state.velocities += state.time_step * now.forces;
    const double limit = kLargestMove * state.arc_lengths()[state.images.cols() - 1] /
                         static_cast<double>(state.images.cols() - 1);
    const double move = state.time_step * largest_speed(state.velocities);
    if (move > limit) state.velocities *= limit / move;
    state.images += state.time_step * state.velocities;
    ++state.num_steps;
    now = forces(state);
    settle(state, now);
  }
}

MatrixXd ElasticBand::tangents(const BandState& state) {
  const Index last = state.images.cols() - 1;
  MatrixXd result(state.images.rows(), last + 1);
  result.col(0) = detail::normalized(state.images.col(1) - state.images.col(0));
  for (Index i = 1; i < last; ++i) result.col(i) = tangent_at(state, i);
  result.col(last) = detail::normalized(state.images.col(last) - state.images.col(last - 1));
  return result;
}

}  // namespace hesscope
