// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <random>

#include <hesscope/models/invariances.h>
#include <hesscope/objective/internal/confirmed_families.h>
#include <hesscope/objective/internal/gradient_points.h>
#include <hesscope/objective/internal/shift_families.h>
#include <hesscope/objective/internal/unit_families.h>
#include <hesscope/objective/internal/unit_views.h>
#include <hesscope/objective/invariance_search.h>

namespace hesscope {
namespace {

using Eigen::Index;

// As many as give more equations than there are terms.
std::size_t points_to_find_with(const Objective& objective,
                                std::span<const ParameterBlock> blocks,
                                const InvarianceSearchOptions& options) {
  std::size_t terms = 1;
  for (const Index units : detail::unit_counts(blocks)) {
    terms = std::max(terms, 2 * detail::unit_views(blocks, units).size());
  }
  terms = std::max(std::min(terms, detail::kMaxUnitTerms), detail::most_shift_terms(blocks));
  const auto samples =
      static_cast<std::size_t>(std::min(options.max_samples, objective.num_samples()));
  return std::max<std::size_t>(3, (terms + 16) / samples + 1);
}

void append(std::vector<Invariance>& all, std::vector<Invariance> more) {
  std::ranges::move(more, std::back_inserter(all));
}

// One family of each name, where several look alike: units of several lengths, other coefficients.
std::vector<Invariance> joined_by_name(const std::vector<Invariance>& all) {
  std::vector<Invariance> families;
  for (const Invariance& one : all) {
    const auto known = std::ranges::find(families, one.name, &Invariance::name);
    if (known == families.end()) {
      families.push_back(one);
    } else {
      *known = joined(one.name, {*known, one});
    }
  }
  return families;
}

}  // namespace

std::vector<Invariance> find_invariances(const Objective& objective,
                                         const InvarianceSearchOptions& options) {
  constexpr std::size_t kVerifying = 2;
  require_blocks("find_invariances", objective.parameter_blocks(), objective.num_parameters());
  detail::require_max_samples("find_invariances", options.max_samples);
  if (objective.num_parameters() == 0) return {};
  const std::span<const ParameterBlock> blocks = objective.parameter_blocks();
  detail::SearchPoints points{.points = {},
                              .num_finding = points_to_find_with(objective, blocks, options),
                              .tolerance = options.tolerance};
  const std::size_t count = points.num_finding + kVerifying;
  std::mt19937_64 engine(options.seed);
  const auto draw = [&](std::size_t some) {
    return detail::random_gradient_points(objective, engine, options.max_samples, some);
  };
  points.points = draw(count);
  if (points.points.size() < count) return {};
  std::vector<Invariance> found;
  for (const Index units : detail::unit_counts(blocks)) {
    append(found, detail::unit_families(blocks, points, units, options.max_units));
  }
  append(found, detail::axis_shifts(blocks, points));
  append(found, detail::pair_shifts(blocks, points));
  append(found, detail::shared_shifts(blocks, points));
  found = detail::confirmed_families(
      found,
      {points.points.end() - kVerifying, points.points.end()},
      [&] { return draw(1); },
      options.tolerance);
  append(found, detail::shifts_without_effect(blocks, points));  // all that they do is rounding
  return joined_by_name(found);
}

std::vector<Invariance> invariances_at(const Objective& objective,
                                       const Eigen::VectorXd& theta,
                                       const std::vector<Invariance>& found,
                                       double tolerance) {
  require_point(objective, "invariances_at", theta, objective.all_samples());
  return detail::unrefuted_families(found, objective, theta, tolerance);
}

}  // namespace hesscope
