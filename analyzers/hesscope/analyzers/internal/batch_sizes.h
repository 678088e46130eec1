// SPDX-License-Identifier: BSD-3-Clause
//
// Options that are lists of batch sizes, and what definitions say of minibatches.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include <hesscope/core/settings.h>

namespace hesscope::detail {

inline constexpr Eigen::Index kMaxBatchSize = 1'000'000'000;

/// In definitions of what minibatches have.
inline constexpr char kMinibatchLossInWords[] =
    "with class_weights or ignore_index, the loss of a minibatch is divided by the number of its "
    "samples and the mean weight of all samples, not by its own weights as in PyTorch";

/// The sizes in the text of `option`, as in "1,8,64"; none if it is not given.
/// @throws OptionError, naming the option.
std::vector<Eigen::Index> batch_sizes_from(const Settings& settings, const std::string& option);

}  // namespace hesscope::detail
