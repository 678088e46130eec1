// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <Eigen/Core>

#include <hesscope/objective/objective.h>

namespace hesscope::detail {

/// Counts finished work in whole numbers, so that it ends at exactly 1, and passes the fraction on
/// from one thread at a time. `callback` may be empty and must outlive the counter.
class ProgressCounter {
 public:
  ProgressCounter(const ProgressCallback& callback, Eigen::Index total);
  ~ProgressCounter();

  /// @throws Interrupted if the callback says so, now or before; it is not called again after that.
  void advance(Eigen::Index work = 1);

 private:
  struct Impl;  // a mutex, whose header every user of callables would pay for
  std::unique_ptr<Impl> impl_;
};

}  // namespace hesscope::detail
