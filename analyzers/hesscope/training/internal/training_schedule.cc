// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <vector>

#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/training/internal/training_schedule.h>

namespace hesscope::detail {

bool TrainingSchedule::is_due(std::int64_t step, std::int64_t every) const {
  return step == 0 || step == experiment_->num_steps || (every > 0 && step % every == 0);
}

bool TrainingSchedule::is_row_due(std::int64_t step) const {
  const std::vector<std::int64_t>& listed = experiment_->history_steps;
  return is_due(step, experiment_->history_every) ||
         std::binary_search(listed.begin(), listed.end(), step);
}

std::size_t TrainingSchedule::rows_before(std::int64_t step) const {
  const std::int64_t every = experiment_->history_every;
  const std::int64_t count = every > 0 ? ceil_div(step, every) : std::min<std::int64_t>(step, 1);
  const auto is_another = [&](std::int64_t listed) {
    return listed < step && !is_due(listed, every);
  };
  const auto others = std::count_if(
      experiment_->history_steps.begin(), experiment_->history_steps.end(), is_another);
  return static_cast<std::size_t>(count + others);
}

}  // namespace hesscope::detail
