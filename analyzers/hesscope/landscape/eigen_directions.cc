// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include <hesscope/analyzers/internal/eigenvalue_clusters.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/parse_number.h>
#include <hesscope/landscape/internal/direction_kinds.h>
#include <hesscope/landscape/internal/direction_tools.h>

namespace hesscope {
namespace {

Eigen::Index rank_of(const std::string& text) {
  if (const auto rank = parse_number<Eigen::Index>(text)) return *rank;
  throw ConfigError(
      fmt::format("`directions` eigen: a rank must be a whole number from 0, the largest "
                  "eigenvalue, or from -1, the smallest; got '{}'",
                  text));
}

std::vector<Eigen::Index> ranks_of(const std::string& argument, bool needs_second) {
  const std::string given = argument.empty() ? "0,1" : argument;
  std::vector<Eigen::Index> ranks;
  for (const std::string& part :
       detail::argument_parts(given, needs_second, {"eigen", "rank", "K1,K2"})) {
    ranks.push_back(rank_of(part));
  }
  return ranks;
}

void require_rank(Eigen::Index rank, Eigen::Index n) {
  if (rank < n && rank >= -n) return;
  throw ConfigError(
      fmt::format("`directions` eigen: a rank must be from 0, the largest eigenvalue, to {}, or "
                  "from -1, the smallest, to -{}; got '{}'",
                  n - 1,
                  n,
                  rank));
}

// The end of the spectrum from which a rank is counted, and the position there.
const EndOfSpectrum& end_of(const Extremes& extremes, Eigen::Index rank) {
  return rank < 0 ? extremes.smallest : extremes.largest;
}

Eigen::Index place_of(Eigen::Index rank) { return rank < 0 ? -1 - rank : rank; }

std::vector<Variable> eigen_quantities() {
  std::vector<Variable> quantities;
  for (const char* index : {"1", "2"}) {
    quantities.push_back({.name = std::string("eigenvalue_") + index,
                          .long_name = std::string("eigenvalue of direction_") + index,
                          .definition = "of the Hessian at the centre"});
    quantities.push_back({.name = std::string("residual_") + index,
                          .long_name = std::string("residual of eigenvalue_") + index,
                          .definition = "Euclidean norm of H v - lambda v"});
    quantities.push_back(
        {.name = std::string("gap_") + index,
         .long_name = std::string("gap beside eigenvalue_") + index,
         .definition = std::string("distance to the nearest other eigenvalue, over the largest "
                                   "magnitude of an eigenvalue; if it is within 1e-6, direction_") +
                       index + " is an arbitrary one in their common space",
         .undefined = {Status::kUndefinedTooFewPoints}});
  }
  return quantities;
}

// The gap from an eigenvalue to the nearest other one, in units of the largest magnitude; missing
// if there is only one eigenvalue. Both ends are known, and one eigenvalue beyond `place`, which
// counts from the end.
Statistic gap_beside(const Extremes& extremes, const EndOfSpectrum& end, Eigen::Index place) {
  double gap = kInfinity;
  for (const Eigen::Index next : {place - 1, place + 1}) {
    if (next < 0 || next >= end.values.size()) continue;
    gap = std::min(gap, std::abs(end.values[next] - end.values[place]));
  }
  if (std::isinf(gap)) return missing_statistic(Status::kUndefinedTooFewPoints);
  return finite_statistic(gap == 0 ? 0 : gap / detail::largest_magnitude(extremes));
}

Directions make_eigen(const DirectionContext& context, const std::vector<Eigen::Index>& ranks) {
  Eigen::Index count = 1;
  for (const Eigen::Index rank : ranks) count = std::max(count, place_of(rank) + 1);
  const Eigen::Index n = context.centre.theta().size();
  // One more eigenvalue shows the distance to the next; without it, the directions are still
  // computed.
  const Extremes& more = context.centre.extremes(std::min(count + 1, n));
  const bool has_next = more.largest.status == Status::kOk && more.smallest.status == Status::kOk;
  const Extremes& extremes = has_next ? more : context.centre.extremes(count);
  Directions result{.facts = {.variables = eigen_quantities()}};
  for (const Eigen::Index rank : ranks) {
    if (end_of(extremes, rank).status != Status::kOk) {
      result.status = end_of(extremes, rank).status;
      return result;
    }
  }
  result.columns.resize(n, static_cast<Eigen::Index>(ranks.size()));
  for (std::size_t k = 0; k < ranks.size(); ++k) {
    const EndOfSpectrum& end = end_of(extremes, ranks[k]);
    const auto column = static_cast<Eigen::Index>(k);
    result.columns.col(column) = end.vectors.col(place_of(ranks[k]));
    detail::fix_sign(result.columns.col(column));
    const std::string name = fmt::format("eigenvalue_{}", k + 1);
    result.facts[name].set(end.values[place_of(ranks[k])]);
    result.facts[fmt::format("residual_{}", k + 1)].set(end.residuals[place_of(ranks[k])]);
    if (has_next) {
      result.facts[fmt::format("gap_{}", k + 1)].set(gap_beside(extremes, end, place_of(ranks[k])));
    }
    if (end.proof != Proof::kConverged) continue;
    result.facts[name].is_proved = false;
    if (has_next) result.facts[fmt::format("gap_{}", k + 1)].is_proved = false;
  }
  return result;
}

PreparedDirections prepare_eigen(const std::string& argument, const DirectionContext& context) {
  detail::require_two_parameters(context);
  const Eigen::Index n = context.centre.theta().size();
  std::vector<Eigen::Index> ranks = ranks_of(argument, context.needs_second);
  if (n == 1 && argument.empty()) ranks = {0};
  for (const Eigen::Index rank : ranks) require_rank(rank, n);
  const auto from_largest = [n](Eigen::Index rank) { return rank < 0 ? n + rank : rank; };
  if (ranks.size() == 2 && context.needs_second && from_largest(ranks[0]) == from_largest(ranks[1]))
    throw ConfigError(
        fmt::format("`directions` eigen: '{}' names one eigenvector twice", argument));
  if (!context.needs_second) ranks.resize(1);
  PreparedDirections prepared;
  for (const Eigen::Index rank : ranks) {
    prepared.descriptions.push_back(
        fmt::format("unit eigenvector of the Hessian at the centre, eigenvalue {} from the {}",
                    place_of(rank),
                    rank < 0 ? "smallest" : "largest"));
  }
  prepared.make = [&context, ranks] { return make_eigen(context, ranks); };
  return prepared;
}

}  // namespace

DirectionKind eigen_directions() {
  return {.name = "eigen",
          .argument = "[K1,K2]",
          .meaning =
              "eigenvectors of the Hessian; ranks from the largest, 0, or the smallest, -1 "
              "(default: 0,1)",
          .quantities = eigen_quantities(),
          .prepare = prepare_eigen,
          .check = ranks_of};
}

}  // namespace hesscope
