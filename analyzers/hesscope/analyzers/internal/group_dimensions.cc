// SPDX-License-Identifier: BSD-3-Clause
#include <numeric>

#include <hesscope/analyzers/internal/group_dimensions.h>

namespace hesscope::detail {

Dimension rank_dimension(const std::string& name, std::int64_t size, const std::string& order) {
  Dimension dimension{.name = name, .size = size};
  dimension.numbers.resize(static_cast<std::size_t>(size));
  std::iota(dimension.numbers.begin(), dimension.numbers.end(), std::int64_t{0});
  dimension.definition = "position from 0, " + order;
  return dimension;
}

Dimension block_dimension(const std::string& name, const Objective& objective) {
  Dimension dimension{.name = name, .size = 0};
  for (const ParameterBlock& block : objective.parameter_blocks()) {
    dimension.labels.push_back(block.name);
  }
  dimension.size = static_cast<std::int64_t>(dimension.labels.size());
  dimension.definition = "names of the parameter tensors, as /parameter_name";
  return dimension;
}

}  // namespace hesscope::detail
