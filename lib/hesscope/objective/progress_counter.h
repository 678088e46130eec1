// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mutex>

#include <Eigen/Core>

#include <hesscope/objective/objective.h>

namespace hesscope::detail {

/// Counts finished work in whole numbers, so that it ends at exactly 1, and passes the fraction on
/// from one thread at a time. `callback` may be empty and must outlive the counter.
class ProgressCounter {
 public:
  ProgressCounter(const ProgressCallback& callback, Eigen::Index total);

  /// @throws Interrupted if the callback says so, now or before; it is not called again after that.
  void advance(Eigen::Index work = 1);

 private:
  const ProgressCallback* callback_;
  Eigen::Index total_;
  std::mutex mutex_;
  Eigen::Index done_ = 0;
  bool stopped_ = false;
};

}  // namespace hesscope::detail
