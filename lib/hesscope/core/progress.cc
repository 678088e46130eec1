// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <mutex>

#include <hesscope/core/progress.h>

namespace hesscope::detail {

void report(const ProgressCallback& progress, double fraction) {
  if (progress && !progress(fraction)) throw Interrupted();
}

ProgressCallback part_of(const ProgressCallback& progress, double begin, double end) {
  if (!progress) return {};
  return
      [progress, begin, end](double fraction) { return progress(std::lerp(begin, end, fraction)); };
}

struct ProgressCounter::Impl {
  const ProgressCallback* callback;
  Eigen::Index total;
  std::mutex mutex = {};
  Eigen::Index done = 0;
  bool is_stopped = false;

  double fraction() const { return static_cast<double>(done) / static_cast<double>(total); }
};

ProgressCounter::ProgressCounter(const ProgressCallback& callback, Eigen::Index total)
    : impl_(new Impl{&callback, total}) {}

ProgressCounter::~ProgressCounter() = default;

void ProgressCounter::advance(Eigen::Index work) {
  Impl& impl = *impl_;
  if (!*impl.callback) return;
  const std::lock_guard lock(impl.mutex);
  if (impl.is_stopped) throw Interrupted();
  // A call costs more than some of the counted units of work.
  constexpr double kCalls = 4096;
  const double call_before = std::floor(kCalls * impl.fraction());
  impl.done += work;
  if (impl.done < impl.total && std::floor(kCalls * impl.fraction()) == call_before) return;
  impl.is_stopped = !(*impl.callback)(impl.fraction());
  if (impl.is_stopped) throw Interrupted();
}

}  // namespace hesscope::detail
