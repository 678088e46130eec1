// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include <hesscope/analyzers/internal/eigenvalue_clusters.h>
#include <hesscope/core/constants.h>
#include <hesscope/dataset/dataset.h>

namespace hesscope::detail {

/// Numbers along a pair dimension, one for each eigenvalue that was asked for.
class PairNumbers {
 public:
  explicit PairNumbers(Eigen::Index count)
      : numbers_(static_cast<std::size_t>(count), kNaN),
        statuses_(static_cast<std::size_t>(count), Status::kNotComputed) {}

  /// Sets the number of all pairs of a cluster.
  void set(const EigenvalueCluster& cluster, double number, Status status = Status::kOk) {
    if (status == Status::kOk && !std::isfinite(number)) status = Status::kNonFinite;
    for (Eigen::Index i = cluster.first; i < cluster.first + cluster.size; ++i) {
      numbers_[static_cast<std::size_t>(i)] = status == Status::kOk ? number : kNaN;
      statuses_[static_cast<std::size_t>(i)] = status;
    }
  }

  void store(Variable& variable) const { variable.set_numbers(numbers_, statuses_); }

 private:
  std::vector<double> numbers_;
  std::vector<Status> statuses_;
};

}  // namespace hesscope::detail
