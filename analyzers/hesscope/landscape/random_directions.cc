// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/landscape/internal/direction_kinds.h>
#include <hesscope/landscape/internal/direction_tools.h>

namespace hesscope {
namespace {

Directions make_random(const DirectionContext& context) {
  const Eigen::VectorXd& theta = context.centre.theta();
  detail::DirectionSource source(context.seed);
  Eigen::MatrixXd columns(theta.size(), context.needs_second ? 2 : 1);
  for (auto column : columns.colwise()) {
    Eigen::VectorXd direction = source.normal(theta.size());
    for (const ParameterBlock& block : context.centre.objective().parameter_blocks()) {
      detail::normalize(block, theta, context.normalization, context.leaves_out_vectors, direction);
    }
    column = direction;
  }
  return {.columns = std::move(columns)};
}

PreparedDirections prepare_random(const std::string& /*argument*/,
                                  const DirectionContext& context) {
  detail::require_two_parameters(context);
  const std::string what =
      detail::description_of(context.normalization, context.leaves_out_vectors);
  return {.descriptions = {what, what}, .make = [&context] { return make_random(context); }};
}

}  // namespace

DirectionKind random_directions() {
  return {.name = "random",
          .meaning = "normal numbers, scaled by the weights",
          .normalization = Normalization::kFilter,
          .prepare = prepare_random};
}

}  // namespace hesscope
