// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/landscape/internal/direction_kinds.h>
#include <hesscope/landscape/internal/direction_tools.h>

namespace hesscope {
namespace {

Directions make_between(const DirectionContext& context) {
  return {.columns =
              detail::with_orthogonal(context, context.checkpoints[1] - context.checkpoints[0])};
}

PreparedDirections prepare_between(const std::string& /*argument*/,
                                   const DirectionContext& context) {
  detail::require_two_parameters(context);
  return {.descriptions = {"the second checkpoint minus the first",
                           "random, orthogonal to direction_1 and of its norm"},
          .path_end = 1,
          .make = [&context] { return make_between(context); }};
}

}  // namespace

DirectionKind between_directions() {
  return {.name = "between",
          .meaning =
              "from the first of two checkpoints to the second, at alpha = 1; for a plane, the "
              "second direction is random and orthogonal to it",
          .min_checkpoints = 2,
          .max_checkpoints = 2,
          .is_centre_first = true,
          .prepare = prepare_between};
}

}  // namespace hesscope
