// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/Core>

#include <hesscope/core/executor.h>

namespace hesscope::detail {

/// sum += D D^T, both triangles, multithreaded.
void add_outer_products(const Eigen::MatrixXd& d, Eigen::MatrixXd& sum, const Executor& executor);

}  // namespace hesscope::detail
