// SPDX-License-Identifier: BSD-3-Clause
//
// How long work says how far it is, and how it is asked to stop. A caller that wants to hear of
// progress passes a callback; one that wants the work to end whatever it is doing at the moment
// gives the work's executors a question to ask (executor.h). Both end it by Interrupted.
#pragma once

#include <functional>
#include <memory>

#include <hesscope/core/eigen.h>
#include <hesscope/core/error.h>

namespace hesscope {

/// Called now and then during long work with the fraction done in [0, 1], from one thread at a
/// time. Returning false asks for the work to stop: the call then throws Interrupted.
using ProgressCallback = std::function<bool(double fraction)>;

/// Whether work should end soon. Asked often, from any thread. That of a std::stop_token is
/// stop_requested_by() (stop_request.h); its header would cost every user of callables as much time
/// as that of the standard's threads.
using StopRequest = std::function<bool()>;

namespace detail {

/// Reports the fraction done. @throws Interrupted if the callback says so.
void report(const ProgressCallback& progress, double fraction);

/// The callback for a part of the work that takes the whole from `begin` to `end`; empty if
/// `progress` is.
ProgressCallback part_of(const ProgressCallback& progress, double begin, double end);

/// Counts finished work in whole numbers, so that it ends at exactly 1, and passes the fraction on
/// from one thread at a time, at most some thousand times. `callback` may be empty and must outlive
/// the counter.
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

}  // namespace detail
}  // namespace hesscope
