// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>

#include <hesscope/analyzers/internal/eigenpair_matching.h>
#include <hesscope/core/constants.h>
#include <hesscope/spectra/assignment.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

// Within a cluster all overlaps are the same: the outermost pair gets the outermost.
void put_clusters_in_order(const std::vector<EigenvalueCluster>& clusters,
                           std::vector<Index>& assigned) {
  for (const EigenvalueCluster& cluster : clusters) {
    const auto first = assigned.begin() + cluster.first;
    std::sort(first, first + cluster.size);
  }
}

// Whether all pairs of `before` in the cluster of `pair` are continued by pairs that share one
// cluster, too.
bool goes_whole(const TrackedPairs& now, const TrackedPairs& before, std::size_t pair) {
  double into = kNaN;
  for (std::size_t j = 0; j < before.cluster.size(); ++j) {
    if (before.cluster[j] != before.cluster[pair]) continue;
    const auto by = std::ranges::find(now.continued, static_cast<double>(j));
    if (by == now.continued.end()) return false;
    const double cluster = now.cluster[static_cast<std::size_t>(by - now.continued.begin())];
    if (std::isnan(into)) into = cluster;
    if (cluster != into) return false;
  }
  return true;
}

}  // namespace

EigenpairMatching match_eigenpairs(const ClusteredEnd& now, const ClusteredEnd& before) {
  const Index count = now.values.size();
  const MatrixXd cosines = now.vectors.transpose() * before.vectors;
  EigenpairMatching matching{.overlaps = MatrixXd::Constant(count, count, kNaN), .continued = {}};
  for (const EigenvalueCluster& c : now.clusters) {
    for (const EigenvalueCluster& d : before.clusters) {
      if (!c.is_whole || !d.is_whole) continue;
      const double share = cosines.block(c.first, d.first, c.size, d.size).norm() /
                           std::sqrt(static_cast<double>(std::min(c.size, d.size)));
      matching.overlaps.block(c.first, d.first, c.size, d.size)
          .setConstant(std::min(share, 1.0));  // above 1 only by rounding
    }
  }
  const MatrixXd cost =
      matching.overlaps.unaryExpr([](double o) { return std::isnan(o) ? 0.0 : -o * o; });
  matching.continued = least_assignment(cost);
  put_clusters_in_order(now.clusters, matching.continued);
  for (Index i = 0; i < count; ++i) {
    Index& continued = matching.continued[static_cast<std::size_t>(i)];
    if (std::isnan(matching.overlaps(i, continued))) continued = -1;
  }
  return matching;
}

std::vector<std::vector<double>> track_numbers(std::span<const TrackedPairs> checkpoints) {
  std::vector<std::vector<double>> numbers;
  double next = 0;
  for (std::size_t t = 0; t < checkpoints.size(); ++t) {
    const TrackedPairs& now = checkpoints[t];
    std::vector<double>& own = numbers.emplace_back(now.cluster.size(), kNaN);
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (std::isnan(now.cluster[i])) continue;
      const bool is_clear = t > 0 && now.overlap[i] > kClearOverlap;
      const auto continued = static_cast<std::size_t>(is_clear ? now.continued[i] : 0);
      const bool goes_on = is_clear && continued < numbers[t - 1].size() &&
                           goes_whole(now, checkpoints[t - 1], continued);
      own[i] = goes_on ? numbers[t - 1][continued] : next++;
    }
  }
  return numbers;
}

}  // namespace hesscope::detail
