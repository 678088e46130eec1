// SPDX-License-Identifier: BSD-3-Clause
//
// How lengthy computations report progress and are asked to stop. To follow the progress, a caller
// passes a callback; to stop the work at any moment, it gives the executors that do the work a
// StopRequest (executor.h). Either way the work ends by throwing Interrupted.
#pragma once

#include <functional>
#include <memory>

#include <hesscope/core/eigen.h>
#include <hesscope/core/error.h>

namespace hesscope {

/// Called now and then during long work with the fraction done in [0, 1], from one thread at a
/// time. Returning false asks for the work to stop: the call then throws Interrupted.
using ProgressCallback = std::function<bool(double fraction)>;

/// Whether work should end soon. Asked often, from any thread. For a std::stop_token, use
/// stop_requested_by(); it has its own header (stop_request.h), because `<stop_token>` would slow
/// down the compilation of everything that uses callables.
using StopRequest = std::function<bool()>;

namespace detail {

/// Reports the fraction done. @throws Interrupted if the callback asks for it.
void report(const ProgressCallback& progress, double fraction);

/// The callback for a part of the work that covers [begin, end] of the whole; empty if `progress`
/// is.
ProgressCallback part_of(const ProgressCallback& progress, double begin, double end);

/// Counts finished work in whole numbers, so that it ends at exactly 1, and reports the fraction
/// from one thread at a time, at most about 4000 times. `callback` may be empty and must
/// outlive the counter.
class ProgressCounter {
 public:
  ProgressCounter(const ProgressCallback& callback, Eigen::Index total);
  ~ProgressCounter();

  /// @throws Interrupted if the callback asks, or has asked, to stop; it is not called again after
  ///         that.
  void advance(Eigen::Index work = 1);

 private:
  struct Impl;  // a mutex, whose header would slow down all who use callables
  std::unique_ptr<Impl> impl_;
};

}  // namespace detail
}  // namespace hesscope
