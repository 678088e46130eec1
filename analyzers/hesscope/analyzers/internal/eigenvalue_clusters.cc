// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <any>
#include <cmath>
#include <limits>

#include <hesscope/analyzers/internal/eigenvalue_clusters.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/spectra/internal/scaled_matrix.h>

namespace hesscope::detail {
namespace {

// EigenvalueCluster::tilt of a cluster among the eigenvalues found.
double tilt_of(const EigenvalueCluster& cluster, const EndOfSpectrum& found) {
  const Eigen::Index last = cluster.first + cluster.size - 1;
  double distance = std::numeric_limits<double>::infinity();
  if (cluster.first > 0) {
    distance = std::abs(found.values[cluster.first] - found.values[cluster.first - 1]);
  }
  if (last + 1 < found.values.size()) {
    distance = std::min(distance, std::abs(found.values[last + 1] - found.values[last]));
  }
  return norm(found.residuals.segment(cluster.first, cluster.size)) / distance;
}

}  // namespace

Eigen::VectorXd ClusteredEnd::projected_gradient(const EigenvalueCluster& cluster) const {
  const auto v = vectors.middleCols(cluster.first, cluster.size);
  const Eigen::VectorXd along = v.transpose() * cluster.gradient;
  Eigen::VectorXd rest = cluster.gradient - v * along;
  const double size = norm(cluster.gradient);
  // Eigenvectors with an angular error leave a residue of twice its sine, relative to themselves
  // and to components along them.
  const double error = detail::rounding_band(rest.size(), size) + 2 * cluster.tilt * size;
  if (norm(rest) <= error) rest.setZero();
  return rest;
}

std::optional<Eigen::VectorXd> ClusteredEnd::gradient_of(Eigen::Index first,
                                                         Eigen::Index size) const {
  Eigen::VectorXd total = Eigen::VectorXd::Zero(vectors.rows());
  Eigen::Index taken = 0;
  for (const EigenvalueCluster& cluster : clusters) {
    if (cluster.first < first || cluster.first >= first + size) continue;
    if (!cluster.has_gradient()) return std::nullopt;
    total += static_cast<double>(cluster.size) * cluster.gradient;
    taken += cluster.size;
  }
  if (taken != size) return std::nullopt;
  return total / static_cast<double>(size);
}

double largest_magnitude(const Extremes& extremes) {
  return std::max(std::abs(extremes.largest.values[0]), std::abs(extremes.smallest.values[0]));
}

ClusteredEnd clustered_values(PointAnalysis& point,
                              EndOfSpectrum Extremes::*member,
                              Eigen::Index count,
                              double gap) {
  const Extremes& extremes = point.extremes(count + 1);  // one more: does the last cluster end?
  const EndOfSpectrum& found = extremes.*member;
  ClusteredEnd end{.status = found.status, .proof = found.proof, .error_bound = found.error_bound};
  if (end.status != Status::kOk) return end;
  count = std::min(count, found.values.size());
  end.values = found.values.head(count);
  end.residuals = found.residuals.head(count);
  end.vectors = found.vectors.leftCols(count);
  const double scale = largest_magnitude(extremes);
  end.rounding_band = detail::rounding_band(end.vectors.rows(), scale);
  const auto goes_on = [&](Eigen::Index i) {
    return i + 1 < found.values.size() &&
           std::abs(found.values[i + 1] - found.values[i]) <= gap * scale;
  };
  for (Eigen::Index first = 0, i = 0; i < count; ++i) {
    if (goes_on(i) && i + 1 < count) continue;
    const Eigen::Index size = i + 1 - first;
    end.clusters.push_back(
        {.first = first, .size = size, .mean = end.values.segment(first, size).mean()});
    first = i + 1;
  }
  const Eigen::Index whole = goes_on(count - 1) ? end.clusters.back().first : count;
  for (EigenvalueCluster& cluster : end.clusters) {
    cluster.is_whole = cluster.first < whole;
    if (cluster.is_whole) cluster.tilt = tilt_of(cluster, found);
  }
  return end;
}

ClusteredEnd clustered_end(PointAnalysis& point,
                           EndOfSpectrum Extremes::*member,
                           Eigen::Index count,
                           double gap) {
  ClusteredEnd end = clustered_values(point, member, count, gap);
  if (end.status != Status::kOk || !point.objective().has_third_derivatives()) return end;
  Eigen::Index whole = 0;
  for (const EigenvalueCluster& cluster : end.clusters) {
    if (cluster.is_whole) whole += cluster.size;
  }
  const Eigen::MatrixXd v = end.vectors.leftCols(whole);
  const Eigen::MatrixXd T = point.objective().third_derivative_times(point.theta(), v, v);
  for (EigenvalueCluster& cluster : end.clusters) {
    if (!cluster.is_whole) continue;
    cluster.gradient = T.middleCols(cluster.first, cluster.size).rowwise().mean();
  }
  return end;
}

NeighbouringEnds neighbouring_ends(
    PointAnalysis& point,
    const std::string& analyzer,
    const std::function<ClusteredEnd(PointAnalysis&, EndOfSpectrum Extremes::*)>& find) {
  using Kept = std::shared_ptr<const ClusteredEnds>;
  const auto ends_of = [&](PointAnalysis& at) {
    return std::make_shared<const ClusteredEnds>(
        ClusteredEnds{at.index(), {find(at, &Extremes::largest), find(at, &Extremes::smallest)}});
  };
  NeighbouringEnds ends{.here = ends_of(point), .before = nullptr};
  std::any* const notes =
      point.trajectory() != nullptr ? &point.trajectory()->notes(analyzer) : nullptr;
  if (point.previous() != nullptr) {
    const Kept* const kept = std::any_cast<Kept>(notes);
    const bool is_kept = kept != nullptr && (*kept)->index + 1 == point.index();
    ends.before = is_kept ? *kept : ends_of(*point.previous());
  }
  if (notes != nullptr) *notes = ends.here;
  return ends;
}

}  // namespace hesscope::detail
