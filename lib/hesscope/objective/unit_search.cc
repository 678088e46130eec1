// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/random_numbers.h>
#include <hesscope/objective/internal/gradient_points.h>
#include <hesscope/objective/internal/placed_units.h>
#include <hesscope/objective/internal/unit_readings.h>
#include <hesscope/objective/internal/unit_views.h>
#include <hesscope/objective/unit_search.h>

namespace hesscope {
namespace {

using detail::UnitCandidate;
using detail::UnitReading;
using detail::UnitView;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// What H d_b has to be, relative to the largest of all, to say that two axes go together: far above
// rounding, far below what random parameters make of it.
constexpr double kCoupled = 1e-10;
// Up to so many axes all subsets of them are tried for signs.
constexpr std::size_t kMaxSignedAxes = 6;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// The connected parts of the graph that `is_joined` is the matrix of.
std::vector<std::vector<std::size_t>> connected_parts(
    const std::vector<std::vector<bool>>& is_joined) {
  std::vector<std::vector<std::size_t>> parts;
  std::vector<bool> is_seen(is_joined.size(), false);
  for (std::size_t first = 0; first < is_joined.size(); ++first) {
    if (is_seen[first]) continue;
    std::vector<std::size_t> part = {first};
    is_seen[first] = true;
    for (std::size_t done = 0; done < part.size(); ++done) {
      for (std::size_t k = 0; k < is_joined.size(); ++k) {
        if (is_seen[k] || !(is_joined[part[done]][k] || is_joined[k][part[done]])) continue;
        is_seen[k] = true;
        part.push_back(k);
      }
    }
    std::ranges::sort(part);
    parts.push_back(std::move(part));
  }
  return parts;
}

// Which axes go together, as far as points have shown it.
struct Couplings {
  explicit Couplings(std::size_t count)
      : is_joined(count, std::vector<bool>(count)), is_idle(count, true), curvature(count) {}

  std::vector<std::vector<bool>> is_joined;
  /// Whether what H d_b has of its own axis has been one multiple of d_b at all points: 0, or that
  /// of weight decay. Where samples' losses curve, it is another at each.
  std::vector<bool> is_idle;
  std::vector<std::optional<double>> curvature;  // that multiple
};

class UnitSearch {
 public:
  UnitSearch(const Objective& objective, const UnitSearchOptions& options)
      : objective_(objective),
        options_(options),
        blocks_(with_entries(objective.parameter_blocks())),
        engine_(options.seed),
        points_(
            detail::random_gradient_points(objective, engine_, options.max_samples, kVerifying)) {}

  std::vector<InterchangeableUnits> execute() {
    if (points_.size() < kVerifying) return {};
    const std::set<Index> counts = detail::unit_counts(blocks_);
    for (auto units = counts.rbegin(); units != counts.rend() && *units > 1; ++units) {
      for (const UnitReading& reading : detail::unit_readings(blocks_, *units)) search(reading);
    }
    for (InterchangeableUnits& units : detail::numbered_units(blocks_)) consider(std::move(units));
    leave_out_compositions();
    search_single_units();
    std::ranges::stable_sort(
        found_, {}, [](const InterchangeableUnits& each) { return each.axes.front().minCoeff(); });
    return std::move(found_);
  }

 private:
  static constexpr std::size_t kVerifying = 2;
  static constexpr int kPoints = 4;

  // A random point that no swap changes.
  VectorXd symmetric_point(const UnitReading& reading) {
    VectorXd theta = detail::random_parameters(blocks_, engine_);
    for (const UnitCandidate& candidate : reading) {
      theta = (theta + candidate.swapped(theta)) / 2;
    }
    return theta;
  }

  // What of a direction changes its sign under swap `a`, and under no other swap of that tensor.
  static VectorXd part_of(const UnitReading& reading, std::size_t a, VectorXd direction) {
    const ParameterBlock* const block = reading[a].view.block;
    for (std::size_t k = 0; k < reading.size(); ++k) {
      if (k == a || reading[k].view.block != block) continue;
      direction = (direction + reading[k].swapped(direction)) / 2;
    }
    return (direction - reading[a].swapped(direction)) / 2;
  }

  // A random one; zero if there is none.
  VectorXd direction_of(const UnitReading& reading, std::size_t a) {
    const ParameterBlock& block = *reading[a].view.block;
    VectorXd direction = VectorXd::Zero(objective_.num_parameters());
    direction.segment(block.offset, block.size) = detail::standard_normal(block.size, 1, engine_);
    return part_of(reading, a, std::move(direction));
  }

  // Adds which axes go together at a point; where units happen to be dead there, none do.
  void join(const UnitReading& reading, Couplings& couplings) {
    const auto count = static_cast<Index>(reading.size());
    MatrixXd directions(objective_.num_parameters(), count);
    for (Index b = 0; b < count; ++b) directions.col(b) = direction_of(reading, at(b));
    const VectorXd theta = symmetric_point(reading);
    const SampleRange range{0, std::min(options_.max_samples, objective_.num_samples())};
    const MatrixXd products = objective_.hessian_times(theta, directions, range);
    if (!products.allFinite()) return;
    const double scale = products.colwise().norm().maxCoeff();
    for (std::size_t b = 0; b < reading.size(); ++b) {
      const VectorXd product = products.col(static_cast<Index>(b));
      VectorXd own;
      for (std::size_t a = 0; a < reading.size(); ++a) {
        VectorXd part = part_of(reading, a, product);
        if (part.norm() > kCoupled * scale) couplings.is_joined[a][b] = true;
        if (a == b) own = std::move(part);
      }
      const VectorXd direction = directions.col(static_cast<Index>(b));
      const double length = direction.norm();
      const double curvature = length > 0 ? direction.dot(product) / (length * length) : 0;
      std::optional<double>& first = couplings.curvature[b];
      const double difference = curvature - first.value_or(curvature);
      if ((own - curvature * direction).norm() > kCoupled * scale ||
          std::abs(difference) * length > kCoupled * scale) {
        couplings.is_idle[b] = false;
      }
      if (!first) first = curvature;
    }
  }

  void search(const UnitReading& reading) {
    Couplings couplings(reading.size());
    for (int point = 0; point < kPoints; ++point) join(reading, couplings);
    UnitReading rest;
    bool is_any_idle = false;
    for (const std::vector<std::size_t>& part : connected_parts(couplings.is_joined)) {
      std::vector<const UnitView*> views;
      for (const std::size_t k : part) views.push_back(&reading[k].view);
      // A direction without any effect on the samples, and hence without a part in anything.
      const bool is_idle = part.size() == 1 && couplings.is_idle[part[0]];
      const bool has_effect = !is_idle || couplings.is_joined[part[0]][part[0]];
      const bool is_family = has_effect && consider(detail::units_on(views));
      if (!is_family && !is_idle) continue;
      is_any_idle = is_any_idle || !is_family;
      for (const std::size_t k : part) rest.push_back(reading[k]);
    }
    // Points that axes leave as they are which may not be exchanged can have no effects at all:
    // between two classes with the same weights nothing is to be learnt. Once more without these
    // axes.
    if (is_any_idle && !rest.empty() && rest.size() < reading.size()) search(rest);
  }

  // Whether they may be exchanged.
  bool consider(InterchangeableUnits units) {
    const bool is_known = std::ranges::any_of(
        found_, [&](const InterchangeableUnits& other) { return is_within(units, other); });
    if (is_known) return true;
    // A transposition and a cycle generate all permutations.
    std::vector<Index> sources = in_order(units);
    std::swap(sources[0], sources[1]);
    if (!is_unnoticed(units, sources, plain(units))) return false;
    sources = in_order(units);
    std::rotate(sources.begin(), sources.begin() + 1, sources.end());
    if (!is_unnoticed(units, sources, plain(units))) return false;
    find_flips(units);
    found_.push_back(std::move(units));
    return true;
  }

  // Whether the swap of the first two of `units` is a permutation of whole units of the other
  // family.
  bool is_within(const InterchangeableUnits& units, const InterchangeableUnits& other) const {
    const Index n = objective_.num_parameters();
    const VectorXd places = VectorXd::LinSpaced(n, 0, static_cast<double>(n - 1)).array().round();
    const VectorXd moved = swapped_places(units, places);
    return std::ranges::any_of(other.axes, [&](const InterchangeableUnits::Axis& axis) {
      std::vector<Index> unit_at(at(n), -1);  // whose first parameter is there
      for (Index u = 0; u < axis.rows(); ++u) unit_at[at(axis(u, 0))] = u;
      std::vector<Index> from;
      for (Index u = 0; u < axis.rows(); ++u) {
        from.push_back(unit_at[at(std::lrint(moved[axis(u, 0)]))]);
      }
      if (std::ranges::find(from, -1) != from.end()) return false;
      return other.rearranged(places, from, plain(other)) == moved;
    });
  }

  // Where the first two units of a family have come to, of all places in theta.
  VectorXd swapped_places(const InterchangeableUnits& units, const VectorXd& places) const {
    std::vector<Index> sources = in_order(units);
    std::swap(sources[0], sources[1]);
    return units.rearranged(places, sources, plain(units));
  }

  std::vector<bool> places_of(const InterchangeableUnits& units) const {
    std::vector<bool> is_there(at(objective_.num_parameters()), false);
    for (const InterchangeableUnits::Axis& axis : units.axes) {
      for (const Index place : axis.reshaped()) is_there[at(place)] = true;
    }
    return is_there;
  }

  // Whether those of a family are all among those of another, which has more.
  static bool is_part(const std::vector<bool>& of, const std::vector<bool>& all) {
    bool is_smaller = false;
    for (std::size_t i = 0; i < of.size(); ++i) {
      if (of[i] && !all[i]) return false;
      is_smaller = is_smaller || of[i] != all[i];
    }
    return is_smaller;
  }

  // Families whose exchange is that of several smaller ones at once: of a coordinate in all heads.
  void leave_out_compositions() {
    const Index n = objective_.num_parameters();
    const VectorXd places = VectorXd::LinSpaced(n, 0, static_cast<double>(n - 1)).array().round();
    std::vector<InterchangeableUnits> kept;
    for (const InterchangeableUnits& family : found_) {
      const std::vector<bool> all = places_of(family);
      VectorXd composed = places;
      for (const InterchangeableUnits& other : found_) {
        if (other.num_units() == family.num_units() && is_part(places_of(other), all)) {
          composed = swapped_places(other, composed);
        }
      }
      if (composed != swapped_places(family, places)) kept.push_back(family);
    }
    found_ = std::move(kept);
  }

  static std::vector<Index> in_order(const InterchangeableUnits& units) {
    std::vector<Index> sources(at(units.num_units()));
    std::iota(sources.begin(), sources.end(), Index{0});
    return sources;
  }

  static std::vector<int> plain(const InterchangeableUnits& units) {
    return std::vector<int>(at(units.num_units()), 1);
  }

  // Whether the samples' gradients are rearranged as the parameters are. A part of a loss that is
  // the same at all parameters could hide a change of the loss; gradients have no such part.
  bool is_unnoticed(const InterchangeableUnits& units,
                    const std::vector<Index>& sources,
                    const std::vector<int>& signs) const {
    return std::ranges::all_of(points_, [&](const detail::GradientPoint& point) {
      MatrixXd difference = detail::sample_gradients(
          objective_, units.rearranged(point.theta, sources, signs), options_.max_samples);
      for (Index s = 0; s < difference.cols(); ++s) {
        difference.col(s) -= units.rearranged(point.gradients.col(s), sources, signs);
      }
      return difference.cwiseAbs().maxCoeff<Eigen::PropagateNaN>() <=
             options_.tolerance * point.gradients.cwiseAbs().maxCoeff();
    });
  }

  // The largest set of axes on which a unit may change its sign.
  void find_flips(InterchangeableUnits& units) const {
    const std::vector<Index> sources = in_order(units);
    std::vector<int> signs = plain(units);
    signs[0] = -1;
    const std::size_t count = units.axes.size();
    const std::uint64_t all = (std::uint64_t{1} << std::min(count, kMaxSignedAxes)) - 1;
    std::vector<std::uint64_t> subsets(count > kMaxSignedAxes ? 1 : all);
    std::iota(subsets.begin(), subsets.end(), all + 1 - subsets.size());
    std::ranges::stable_sort(subsets, std::ranges::greater{}, [](std::uint64_t subset) {
      return std::popcount(subset);
    });
    for (const std::uint64_t subset : subsets) {
      units.flips.clear();
      for (std::size_t k = 0; k < count; ++k) {
        units.flips.push_back(count > kMaxSignedAxes || (subset >> k & 1) != 0);
      }
      if (is_unnoticed(units, sources, signs)) return;
    }
    units.flips.clear();
  }

  void search_single_units() {
    const auto is_sign_unnoticed = [&](const InterchangeableUnits& unit) {
      return is_unnoticed(unit, {0}, {-1});
    };
    for (InterchangeableUnits& unit : detail::single_units(blocks_, is_sign_unnoticed)) {
      if (!is_flip_of_all(unit)) found_.push_back(std::move(unit));
    }
  }

  // Whether it changes the signs that all units of a known family would.
  bool is_flip_of_all(const InterchangeableUnits& unit) const {
    const VectorXd ones = VectorXd::Ones(objective_.num_parameters());
    const VectorXd changed = unit.rearranged(ones, std::vector<Index>{0}, std::vector<int>{-1});
    return std::ranges::any_of(found_, [&](const InterchangeableUnits& family) {
      const std::vector<int> signs(at(family.num_units()), -1);
      return family.rearranged(ones, in_order(family), signs) == changed;
    });
  }

  const Objective& objective_;
  UnitSearchOptions options_;
  std::vector<ParameterBlock> blocks_;
  std::mt19937_64 engine_;
  std::vector<detail::GradientPoint> points_;
  std::vector<InterchangeableUnits> found_;
};

}  // namespace

VectorXd InterchangeableUnits::rearranged(const Eigen::Ref<const VectorXd>& theta,
                                          std::span<const Index> sources,
                                          std::span<const int> signs) const {
  const auto count = static_cast<std::size_t>(num_units());
  if (sources.size() != count || signs.size() != count) {
    throw PreconditionError(fmt::format(
        "InterchangeableUnits::rearranged: expected {} sources and signs, got {} and {}",
        count,
        sources.size(),
        signs.size()));
  }
  VectorXd result = theta;
  // One axis after the other: of a tensor with two, the second moves what the first has moved.
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const VectorXd before = result;
    for (Index u = 0; u < num_units(); ++u) {
      const bool is_reversed = signs[at(u)] < 0 && !flips.empty() && flips[a];
      for (Index k = 0; k < axes[a].cols(); ++k) {
        const double value = before[axes[a](sources[at(u)], k)];
        result[axes[a](u, k)] = is_reversed ? -value : value;
      }
    }
  }
  return result;
}

std::vector<InterchangeableUnits> find_interchangeable_units(const Objective& objective,
                                                             const UnitSearchOptions& options) {
  require_blocks(
      "find_interchangeable_units", objective.parameter_blocks(), objective.num_parameters());
  detail::require_max_samples("find_interchangeable_units", options.max_samples);
  if (objective.num_parameters() == 0) return {};
  return UnitSearch(objective, options).execute();
}

}  // namespace hesscope
