// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <span>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/paths/alignment.h>
#include <hesscope/paths/internal/orbit.h>
#include <hesscope/paths/internal/unit_matching.h>

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr int kMaxRounds = 20;
// The last round is the first that reduces the distance by less than this, relative.
constexpr double kLeastGain = 1e-6;

class Aligner {
 public:
  Aligner(const AlignmentMaps& maps, const VectorXd& reference, const ProgressCallback& progress)
      : units_(maps.units), reference_(reference), progress_(progress) {
    double total = 0;
    for (const Invariance& family : maps.invariances) {
      const auto count = static_cast<double>(family.num_generators);
      const auto n = static_cast<double>(reference.size());
      if (!(n * (total + count) <= kMaxAlignmentWork)) {
        left_out_.push_back(family.name);
        continue;
      }
      total += count;
      for (Index k = 0; k < family.num_generators; ++k) generators_.push_back(family.generator(k));
    }
  }

  const std::vector<std::string>& left_out() const { return left_out_; }

  Alignment nearest(const VectorXd& theta) const {
    Alignment best = in_rounds(theta, matched(reference_, theta), 0, 0.4);
    if (generators_.empty() || units_.empty()) return best;
    // Tries again with both points moved to where scales are not arbitrary.
    const VectorXd origin = VectorXd::Zero(theta.size());
    const VectorXd balanced = nearest_to(origin, theta, 0.4, 0.5);
    const VectorXd balanced_reference = nearest_to(origin, reference_, 0.5, 0.6);
    Alignment other = in_rounds(balanced, matched(balanced_reference, balanced), 0.6, 1);
    return other.distance < best.distance ? std::move(other) : std::move(best);
  }

 private:
  VectorXd nearest_to(const VectorXd& target,
                      const VectorXd& theta,
                      double begin,
                      double end) const {
    return detail::nearest_on_orbit(
        generators_, target, theta, detail::part_of(progress_, begin, end));
  }

  // The nearer of the results from two starting points.
  std::vector<detail::UnitMove> matched(const VectorXd& target, const VectorXd& theta) const {
    detail::UnitMatching staged = detail::match_units(units_, target, theta, true);
    detail::UnitMatching plain = detail::match_units(units_, target, theta, false);
    const bool is_staged_nearer =
        detail::norm(target - staged.theta) <= detail::norm(target - plain.theta);
    return std::move(is_staged_nearer ? staged.moves : plain.moves);
  }

  // Flows and matchings in turns, starting from a matching.
  Alignment in_rounds(const VectorXd& theta,
                      const std::vector<detail::UnitMove>& moves,
                      double begin,
                      double end) const {
    Alignment found;
    const auto take = [&](VectorXd point) {
      found.distance = detail::norm(reference_ - point);
      found.theta = std::move(point);
    };
    std::vector<detail::UnitMove> all = moves;
    take(nearest_to(reference_, detail::rearranged(units_, moves, theta), begin, end));
    for (int round = 1; round < kMaxRounds && !units_.empty() && !generators_.empty(); ++round) {
      const detail::UnitMatching again =
          detail::match_units(units_, reference_, found.theta, false);
      VectorXd point = nearest_to(reference_, again.theta, end, end);
      if (!(detail::norm(reference_ - point) < found.distance * (1 - kLeastGain))) break;
      take(std::move(point));
      all.insert(all.end(), again.moves.begin(), again.moves.end());
    }
    const detail::MovedUnits moved = detail::count_moved(units_, all);
    found.num_moved = moved.num_moved;
    found.num_flipped = moved.num_flipped;
    return found;
  }

  std::span<const InterchangeableUnits> units_;
  std::vector<AffineGenerator> generators_;
  std::vector<std::string> left_out_;
  const VectorXd& reference_;
  const ProgressCallback& progress_;
};

}  // namespace

AlignmentMaps alignment_maps(const Objective& objective) {
  return {.units = find_interchangeable_units(objective), .invariances = objective.invariances()};
}

Alignment align(const Objective& objective,
                const AlignmentMaps& maps,
                const Eigen::Ref<const VectorXd>& reference,
                const Eigen::Ref<const VectorXd>& theta,
                const ProgressCallback& progress) {
  const Index n = objective.num_parameters();
  if (reference.size() != n || theta.size() != n) {
    throw PreconditionError(fmt::format("align: expected two points of {} numbers, got {} and {}",
                                        n,
                                        reference.size(),
                                        theta.size()));
  }
  if (!reference.allFinite() || !theta.allFinite()) {
    throw PreconditionError("align: a point contains NaN or infinity");
  }
  const VectorXd target = reference;
  const double before = detail::norm(reference - theta);
  const Aligner aligner(maps, target, progress);
  Alignment found = aligner.nearest(theta);
  if (!(found.distance < before)) {
    found = {.theta = theta, .distance = before};
  }
  found.distance_before = before;
  found.left_out = aligner.left_out();
  return found;
}

}  // namespace hesscope
