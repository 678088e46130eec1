// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/objective/progress_counter.h>

namespace hesscope::detail {

ProgressCounter::ProgressCounter(const ProgressCallback& callback, Eigen::Index total)
    : callback_(&callback), total_(total) {}

void ProgressCounter::advance(Eigen::Index work) {
  if (!*callback_) return;
  const std::scoped_lock lock(mutex_);
  done_ += work;
  stopped_ = stopped_ || !(*callback_)(static_cast<double>(done_) / static_cast<double>(total_));
  if (stopped_) throw Interrupted{};
}

}  // namespace hesscope::detail
