// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/statistics/histogram.h>
#include <hesscope/statistics/internal/centered.h>

namespace hesscope {

using Eigen::Index;
using Eigen::VectorXd;

Histogram histogram(const Eigen::Ref<const VectorXd>& values, Index num_bins) {
  detail::require_values("histogram", values, 1);
  if (num_bins < 1) {
    throw PreconditionError(
        fmt::format("histogram: num_bins must be at least 1, got {}", num_bins));
  }
  Histogram result;
  if (!values.allFinite()) {
    result.status = Status::kNonFinite;
    return result;
  }
  double first = values.minCoeff();
  double last = values.maxCoeff();
  if (first == last) {
    first -= 0.5;
    last += 0.5;
  }
  if (!std::isfinite(last - first)) {
    result.status = Status::kNonFinite;
    return result;
  }
  const double width = (last - first) / static_cast<double>(num_bins);
  VectorXd edges(num_bins + 1);
  for (Index i = 0; i < num_bins; ++i) edges[i] = first + static_cast<double>(i) * width;
  edges[num_bins] = last;
  if (!((edges.tail(num_bins) - edges.head(num_bins)).minCoeff() > 0.0)) {
    result.status = Status::kFailed;
    return result;
  }
  VectorXd counts = VectorXd::Zero(num_bins);
  for (const double value : values) {
    const double position = (value - first) / (last - first) * static_cast<double>(num_bins);
    Index bin = std::clamp<Index>(static_cast<Index>(position), 0, num_bins - 1);
    // Decided by the edges, not by the rounding of the position.
    while (bin > 0 && value < edges[bin]) --bin;
    while (bin < num_bins - 1 && value >= edges[bin + 1]) ++bin;
    counts[bin] += 1.0;
  }
  VectorXd density = counts.array() / (edges.tail(num_bins) - edges.head(num_bins)).array() /
                     static_cast<double>(values.size());
  if (!density.allFinite()) {
    result.status = Status::kNonFinite;
    return result;
  }
  result.status = Status::kOk;
  result.density = std::move(density);
  result.edges = std::move(edges);
  result.counts = std::move(counts);
  return result;
}

}  // namespace hesscope
