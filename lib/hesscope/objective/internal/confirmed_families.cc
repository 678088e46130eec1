// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include <hesscope/objective/gradient_blocks.h>
#include <hesscope/objective/internal/confirmed_families.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// What rounding makes of a term, relative to the largest gradient and the largest entry of u.
constexpr double kRoundingOfTerms = 1e-12;
// A sum tells something if rounding is less than this of its terms.
constexpr double kTelling = 1e-3;

// One generator of those found, and what it has stood.
struct Candidate {
  std::size_t family = 0;
  Index index = 0;
  int live_points = 0;
  int live_samples = 0;
  bool is_refuted = false;

  bool is_confirmed() const {
    return !is_refuted && live_points >= kLivePoints && live_samples >= kLiveSamples;
  }

  bool is_settled() const { return is_refuted || is_confirmed(); }
};

// u . g with the sum of the magnitudes of its terms, entry by entry of the generator: those of one
// place may cancel.
struct Slope {
  double sum = 0;
  double size = 0;
};

Slope slope_along(const AffineGenerator& generator,
                  const VectorXd& theta,
                  const Eigen::Ref<const VectorXd>& gradient) {
  Slope slope;
  const auto add = [&](double term) {
    slope.sum += term;
    slope.size += std::abs(term);
  };
  for (const auto& e : generator.linear) add(e.value * theta(e.col) * gradient(e.row));
  for (const auto& e : generator.constant) add(e.value * gradient(e.row));
  return slope;
}

void put_to_the_test(Candidate& candidate,
                     const AffineGenerator& generator,
                     const GradientPoint& point,
                     double tolerance) {
  const double longest = generator.at(point.theta).cwiseAbs().maxCoeff();
  int live_samples = 0;
  for (const auto gradient : point.gradients.colwise()) {
    const Slope slope = slope_along(generator, point.theta, gradient);
    const double rounding = kRoundingOfTerms * longest * gradient.cwiseAbs().maxCoeff();
    if (!(std::abs(slope.sum) <= std::max(tolerance * slope.size, rounding))) {
      candidate.is_refuted = true;
      return;
    }
    if (rounding < kTelling * slope.size) ++live_samples;
  }
  candidate.live_samples += live_samples;
  if (live_samples > 0) ++candidate.live_points;
}

// The generators of a family that these indices name.
Invariance part_of(const Invariance& family, std::vector<Index> kept) {
  const auto count = static_cast<Index>(kept.size());
  if (count == family.num_generators) return family;
  return {.name = family.name,
          .num_generators = count,
          .generator = [all = family.generator, kept = std::move(kept)](Index k) {
            return all(kept[static_cast<std::size_t>(k)]);
          }};
}

std::vector<Candidate> candidates_of(const std::vector<Invariance>& found) {
  std::vector<Candidate> candidates;
  for (std::size_t f = 0; f < found.size(); ++f) {
    for (Index k = 0; k < found[f].num_generators; ++k) candidates.push_back({f, k});
  }
  return candidates;
}

// All families, with those generators that are left.
std::vector<Invariance> families_of(const std::vector<Invariance>& found,
                                    const std::vector<Candidate>& left) {
  std::vector<std::vector<Index>> kept(found.size());
  for (const Candidate& each : left) kept[each.family].push_back(each.index);
  std::vector<Invariance> families;
  for (std::size_t f = 0; f < found.size(); ++f) {
    families.push_back(part_of(found[f], std::move(kept[f])));
  }
  return families;
}

}  // namespace

std::vector<Invariance> confirmed_families(const std::vector<Invariance>& found,
                                           std::vector<GradientPoint> points,
                                           const std::function<std::vector<GradientPoint>()>& next,
                                           double tolerance) {
  std::vector<Candidate> candidates = candidates_of(found);
  for (int used = 0; used < kMaxConfirmingPoints;) {
    for (const GradientPoint& point : points) {
      for (Candidate& each : candidates) {
        if (each.is_settled()) continue;
        put_to_the_test(each, found[each.family].generator(each.index), point, tolerance);
      }
    }
    used += static_cast<int>(points.size());
    if (std::ranges::all_of(candidates, &Candidate::is_settled)) break;
    points = next();
    if (points.empty()) break;
  }
  std::erase_if(candidates, [](const Candidate& each) { return !each.is_confirmed(); });
  std::vector<Invariance> confirmed = families_of(found, candidates);
  std::erase_if(confirmed, [](const Invariance& family) { return family.num_generators == 0; });
  return confirmed;
}

std::vector<Invariance> unrefuted_families(const std::vector<Invariance>& found,
                                           const Objective& objective,
                                           const VectorXd& theta,
                                           double tolerance) {
  std::vector<Candidate> candidates = candidates_of(found);
  for_gradient_blocks(
      objective, theta, objective.all_samples(), [&](MatrixXd& gradients, SampleRange /*samples*/) {
        const GradientPoint point{theta, std::move(gradients)};
        for (Candidate& each : candidates) {
          const Invariance& family = found[each.family];
          put_to_the_test(each, family.generator(each.index), point, tolerance);
        }
        std::erase_if(candidates, &Candidate::is_refuted);
      });
  return families_of(found, candidates);
}

}  // namespace hesscope::detail
