// SPDX-License-Identifier: BSD-3-Clause
//
// Options that are lists of batch sizes.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include <hesscope/core/settings.h>

namespace hesscope::detail {

inline constexpr Eigen::Index kMaxBatchSize = 1'000'000'000;

/// The sizes in the text of `option`, as in "1,8,64"; none if it is not given.
/// @throws OptionError, naming the option.
std::vector<Eigen::Index> batch_sizes_from(const Settings& settings, const std::string& option);

}  // namespace hesscope::detail
