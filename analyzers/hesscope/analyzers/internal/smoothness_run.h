// SPDX-License-Identifier: BSD-3-Clause
//
// The (L0, L1) part of /smoothness: what is asked of all checkpoints together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <hesscope/dataset/dataset.h>

namespace hesscope::detail {

std::vector<Variable> smoothness_run_quantities();

/// `result`, variables of smoothness_run_quantities(), with values from spectral_norm, gradient_norm, hessian_diagonal and gradient of each checkpoint that has
/// them.
Group summarize_smoothness(Group result, std::span<const Group> records, std::uint64_t seed);

}  // namespace hesscope::detail
