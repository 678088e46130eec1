// SPDX-License-Identifier: BSD-3-Clause
#include <mutex>

#include <hesscope/objective/progress_counter.h>

namespace hesscope::detail {

struct ProgressCounter::Impl {
  const ProgressCallback* callback;
  Eigen::Index total;
  std::mutex mutex = {};
  Eigen::Index done = 0;
  bool is_stopped = false;
};

ProgressCounter::ProgressCounter(const ProgressCallback& callback, Eigen::Index total)
    : impl_(new Impl{&callback, total}) {}

ProgressCounter::~ProgressCounter() = default;

void ProgressCounter::advance(Eigen::Index work) {
  Impl& impl = *impl_;
  if (!*impl.callback) return;
  const std::scoped_lock lock(impl.mutex);
  impl.done += work;
  const double fraction = static_cast<double>(impl.done) / static_cast<double>(impl.total);
  impl.is_stopped = impl.is_stopped || !(*impl.callback)(fraction);
  if (impl.is_stopped) throw Interrupted{};
}

}  // namespace hesscope::detail
