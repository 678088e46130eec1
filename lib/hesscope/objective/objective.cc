// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/objective/objective.h>

namespace hesscope {

void require_point(const Objective& objective,
                   const char* function,
                   const Objective::ConstVectorRef& theta,
                   SampleRange range) {
  if (theta.size() != objective.num_parameters()) {
    throw PreconditionError(fmt::format("{}: theta must have {} entries, got {}",
                                        function,
                                        objective.num_parameters(),
                                        theta.size()));
  }
  if (range.begin < 0 || range.end > objective.num_samples() || range.begin >= range.end) {
    throw PreconditionError(fmt::format("{}: [{}, {}) is not a non-empty range of the {} samples",
                                        function,
                                        range.begin,
                                        range.end,
                                        objective.num_samples()));
  }
}

}  // namespace hesscope
