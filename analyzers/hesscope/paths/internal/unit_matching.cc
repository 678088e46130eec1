// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>

#include <hesscope/core/internal/norms.h>
#include <hesscope/paths/internal/unit_matching.h>
#include <hesscope/spectra/assignment.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kMaxSweeps = 200;
constexpr Index kMaxExchangedUnits = 24;
// A rearrangement that reduces the distance by less than this, relative, is rounding.
constexpr double kLeastMatchingGain = 1e-12;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

UnitPlaces unmoved(const InterchangeableUnits& family) {
  UnitPlaces places{std::vector<Index>(at(family.num_units())),
                    std::vector<int>(at(family.num_units()), 1)};
  std::iota(places.sources.begin(), places.sources.end(), Index{0});
  return places;
}

// Row u: the parameters of unit u on an axis.
MatrixXd rows_of(const InterchangeableUnits::Axis& axis, const VectorXd& theta) {
  return MatrixXd::NullaryExpr(
      axis.rows(), axis.cols(), [&](Index u, Index k) { return theta[axis(u, k)]; });
}

class Matching {
 public:
  Matching(std::span<const InterchangeableUnits> families, VectorXd reference, VectorXd theta)
      : families_(families), reference_(std::move(reference)), theta_(std::move(theta)) {}

  // Matches family after family, each by the axes that no later family touches. Families with the
  // most parameters on such axes come first.
  void match_in_stages() {
    std::vector<std::size_t> to_come(families_.size());
    std::iota(to_come.begin(), to_come.end(), std::size_t{0});
    while (!to_come.empty()) {
      const auto next = std::ranges::max_element(to_come, {}, [&](std::size_t f) {
        const std::vector<bool> is_used = free_axes(f, to_come);
        Index size = 0;
        for (std::size_t a = 0; a < is_used.size(); ++a) {
          if (is_used[a]) size += families_[f].axes[a].size();
        }
        return size;
      });
      const std::size_t family = *next;
      const std::vector<bool> is_used = free_axes(family, to_come);
      to_come.erase(next);
      apply(family, best_places(family, is_used));
    }
  }

  // Matches in turns, as long as the distance decreases. @param held  a family that stays as it is.
  void match_in_turns(std::optional<std::size_t> held = std::nullopt) {
    double distance = detail::norm(reference_ - theta_);
    bool is_better = true;
    for (int sweep = 0; sweep < kMaxSweeps && is_better && distance > 0; ++sweep) {
      is_better = false;
      for (std::size_t f = 0; f < families_.size(); ++f) {
        if (f == held) continue;
        const UnitPlaces best = best_places(f, std::vector<bool>(families_[f].axes.size(), true));
        const VectorXd moved = families_[f].rearranged(theta_, best.sources, best.signs);
        const double after = detail::norm(reference_ - moved);
        if (!(after < distance * (1 - kLeastMatchingGain))) continue;
        apply(f, best);
        distance = after;
        is_better = true;
      }
    }
  }

  // For families that share all their parameters with others: exchanges pairs of units and matches
  // the others again, as long as the distance decreases. As long as heads are in wrong places,
  // their coordinates cannot be right, and no family alone can repair that.
  void match_by_exchanges() {
    std::vector<std::size_t> all(families_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    bool is_better = true;
    for (int sweep = 0; sweep < kMaxSweeps && is_better; ++sweep) {
      is_better = false;
      for (const std::size_t f : all) {
        const std::vector<bool> is_free = free_axes(f, all);
        const bool is_nested = std::ranges::find(is_free, true) == is_free.end();
        if (is_nested && families_[f].num_units() <= kMaxExchangedUnits) {
          is_better = exchange_pairs(f) || is_better;
        }
      }
    }
  }

  UnitMatching finished() && { return {std::move(theta_), std::move(moves_)}; }

 private:
  bool exchange_pairs(std::size_t family) {
    bool is_better = false;
    for (Index u = 0; u < families_[family].num_units(); ++u) {
      for (Index v = 0; v < u; ++v) {
        Matching trial = *this;
        UnitPlaces swap = unmoved(families_[family]);
        std::swap(swap.sources[at(u)], swap.sources[at(v)]);
        trial.apply(family, swap);
        trial.match_in_turns(family);
        trial.match_in_turns();
        const double before = detail::norm(reference_ - theta_);
        const double after = detail::norm(reference_ - trial.theta_);
        if (!(after < before * (1 - kLeastMatchingGain))) continue;
        theta_ = std::move(trial.theta_);
        moves_ = std::move(trial.moves_);
        is_better = true;
      }
    }
    return is_better;
  }

  // The axes of a family that share no parameter with a remaining family, nor with another axis of
  // the family itself.
  std::vector<bool> free_axes(std::size_t family, const std::vector<std::size_t>& to_come) const {
    std::vector<int> uses(at(theta_.size()), 0);
    for (const std::size_t f : to_come) {
      for (const InterchangeableUnits::Axis& axis : families_[f].axes) {
        for (const Index place : axis.reshaped()) ++uses[at(place)];
      }
    }
    std::vector<bool> is_free;
    for (const InterchangeableUnits::Axis& axis : families_[family].axes) {
      is_free.push_back(
          std::ranges::all_of(axis.reshaped(), [&](Index place) { return uses[at(place)] == 1; }));
    }
    return is_free;
  }

  // The sources and signs with the largest inner product with the reference over these axes.
  UnitPlaces best_places(std::size_t index, const std::vector<bool>& is_used) const {
    const InterchangeableUnits& family = families_[index];
    const Index count = family.num_units();
    MatrixXd plain = MatrixXd::Zero(count, count);
    MatrixXd signed_part = MatrixXd::Zero(count, count);
    for (std::size_t a = 0; a < family.axes.size(); ++a) {
      if (!is_used[a]) continue;
      const bool has_sign = !family.flips.empty() && family.flips[a];
      (has_sign ? signed_part : plain) +=
          rows_of(family.axes[a], reference_) * rows_of(family.axes[a], theta_).transpose();
    }
    const MatrixXd gain = plain + signed_part.cwiseAbs();
    UnitPlaces places{least_assignment(-gain), {}};
    for (Index u = 0; u < count; ++u) {
      places.signs.push_back(signed_part(u, places.sources[at(u)]) < 0 ? -1 : 1);
    }
    return places;
  }

  void apply(std::size_t family, const UnitPlaces& next) {
    theta_ = families_[family].rearranged(theta_, next.sources, next.signs);
    moves_.push_back({family, next});
  }

  std::span<const InterchangeableUnits> families_;
  VectorXd reference_;
  VectorXd theta_;
  std::vector<UnitMove> moves_;
};

}  // namespace

UnitMatching match_units(std::span<const InterchangeableUnits> families,
                         const Eigen::Ref<const VectorXd>& reference,
                         const Eigen::Ref<const VectorXd>& theta,
                         bool is_staged) {
  Matching matching(families, reference, theta);
  if (is_staged) matching.match_in_stages();
  matching.match_in_turns();
  matching.match_by_exchanges();
  return std::move(matching).finished();
}

VectorXd rearranged(std::span<const InterchangeableUnits> families,
                    std::span<const UnitMove> moves,
                    VectorXd theta) {
  for (const auto& [family, places] : moves) {
    theta = families[family].rearranged(theta, places.sources, places.signs);
  }
  return theta;
}

MovedUnits count_moved(std::span<const InterchangeableUnits> families,
                       std::span<const UnitMove> moves) {
  std::vector<UnitPlaces> all;
  for (const InterchangeableUnits& family : families) all.push_back(unmoved(family));
  for (const auto& [family, next] : moves) {
    const UnitPlaces before = all[family];
    for (std::size_t u = 0; u < next.sources.size(); ++u) {
      all[family].sources[u] = before.sources[at(next.sources[u])];
      all[family].signs[u] = next.signs[u] * before.signs[at(next.sources[u])];
    }
  }
  MovedUnits count;
  for (const UnitPlaces& places : all) {
    for (std::size_t u = 0; u < places.sources.size(); ++u) {
      if (places.sources[u] != static_cast<Index>(u)) ++count.num_moved;
      if (places.signs[u] < 0) ++count.num_flipped;
    }
  }
  return count;
}

}  // namespace hesscope::detail
