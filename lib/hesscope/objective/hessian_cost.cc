// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <hesscope/core/memory.h>
#include <hesscope/core/progress.h>
#include <hesscope/objective/hessian_cost.h>

namespace hesscope {
namespace {

using Eigen::Index;

struct Sight {
  double seconds = 0;         // of the whole; if it is not complete, without what comes at the end
  double end_seconds = 0;     // behind the last report
  bool is_complete = false;   // whether the whole was seen
  bool has_progress = false;  // whether the work tells how far it is before its end
};

// All of some work, called with a progress callback, by what is seen of it until it has gone on for
// `most` seconds behind its first report: what comes before that, memory for the first time above
// all, does not go on so.
template <typename Work>
Sight seen(Work work, double most, SecondsClock clock) {
  const double start = clock();
  double first_seconds = 0;  // at the first report, and the fraction then
  double first_fraction = 0;
  double seconds = 0;  // since then
  double fraction = 0;
  bool is_enough = false;
  try {
    work([&](double done) {
      fraction = done;
      if (first_fraction == 0) {
        first_seconds = clock() - start;
        first_fraction = fraction;
      }
      seconds = clock() - start - first_seconds;
      is_enough = seconds >= most && fraction > first_fraction;  // some of it must be done
      return !is_enough;
    });
    const double whole = clock() - start;
    const bool has_progress = first_fraction > 0 && first_fraction < 1;
    return {whole, has_progress ? whole - first_seconds - seconds : 0, true, has_progress};
  } catch (const Interrupted&) {
    if (!is_enough) throw;  // by somebody else
  }
  const double whole = first_seconds + seconds * (1 - first_fraction) / (fraction - first_fraction);
  return {whole, 0, false, true};
}

// The seconds that a matrix over all samples takes, from ever more of them until the clock can
// tell. What does not depend on their number (memory for the matrix, its upper triangle) is in two
// probes alike; what of it comes at the end, where a probe does not get, is known from the one
// before.
// @param compute  called with a range and a progress callback.
template <typename Compute>
double seconds_of_matrix(const Objective& objective,
                         SecondsClock clock,
                         double patience,
                         Compute compute) {
  constexpr Index kFew = 64;      // of the overhead of a call not more than there must be ...
  constexpr Index kEnough = 512;  // ... and enough for its share not to count
  constexpr double kEnoughPatience = 0.2;  // share of it that a complete probe must take to tell
  const Index num_samples = objective.num_samples();
  Index last_size = 0;
  double last_seconds = 0;
  double end_seconds = 0;
  for (Index count = kFew;; count *= 8) {
    const SampleRange probe{0, std::min(count, num_samples)};
    Sight sight =
        seen([&](const ProgressCallback& progress) { compute(probe, progress); }, patience, clock);
    if (sight.is_complete) {
      end_seconds = sight.end_seconds;
    } else {
      sight.seconds += end_seconds;
    }
    const bool is_enough = probe.size() >= kEnough || !sight.has_progress;
    const bool can_tell = !sight.is_complete || sight.seconds >= kEnoughPatience * patience;
    if ((is_enough && can_tell) || probe.size() == num_samples) {
      const double per_sample = std::max(0.0, sight.seconds - last_seconds) /
                                static_cast<double>(probe.size() - last_size);
      return sight.seconds + per_sample * static_cast<double>(num_samples - probe.size());
    }
    last_size = probe.size();
    last_seconds = sight.seconds;
  }
}

// n / 2 products, as many as the generic engine's Hessian costs.
double by_products(const Objective& objective,
                   const Objective::ConstVectorRef& theta,
                   SecondsClock clock) {
  constexpr Index kProbeSamples = 1024;
  constexpr Index kProbeDirections = 8;
  const Index n = objective.num_parameters();
  const SampleRange probe{0, std::min(kProbeSamples, objective.num_samples())};
  const Objective::Matrix directions = Objective::Matrix::Identity(n, kProbeDirections);
  const double start = clock();
  objective.hessian_times(theta, directions, probe);
  return (clock() - start) * 0.5 * static_cast<double>(n) / kProbeDirections *
         static_cast<double>(objective.num_samples()) / static_cast<double>(probe.size());
}

double matrix_bytes(const Objective& objective) {
  const auto n = static_cast<double>(objective.num_parameters());
  return n * n * sizeof(double);
}

bool fits(const Objective& objective) {
  return matrix_bytes(objective) <= 0.5 * memory_limit_bytes();
}

}  // namespace

HessianCost estimate_hessian_cost(const Objective& objective,
                                  const Objective::ConstVectorRef& theta,
                                  SecondsClock clock,
                                  double patience) {
  const auto compute = [&](SampleRange range, const ProgressCallback& progress) {
    objective.hessian(theta, range, progress);
  };
  const double seconds = fits(objective) ? seconds_of_matrix(objective, clock, patience, compute)
                                         : by_products(objective, theta, clock);
  return {seconds, matrix_bytes(objective) + objective.workspace_bytes()};
}

double estimate_gauss_newton_seconds(const Objective& objective,
                                     const Objective::ConstVectorRef& theta,
                                     SecondsClock clock) {
  if (!fits(objective)) return by_products(objective, theta, clock);
  constexpr double kPatience = 0.25;
  return seconds_of_matrix(
      objective, clock, kPatience, [&](SampleRange range, const ProgressCallback& progress) {
        objective.gauss_newton(theta, range, progress);
      });
}

}  // namespace hesscope
