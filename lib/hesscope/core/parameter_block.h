// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <hesscope/core/eigen.h>

namespace hesscope {

/// A named tensor's place in the flat parameter vector (row-major inside the block).
struct ParameterBlock {
  std::string name;
  std::vector<std::int64_t> shape;
  Eigen::Index offset = 0;
  Eigen::Index size = 0;
};

}  // namespace hesscope
