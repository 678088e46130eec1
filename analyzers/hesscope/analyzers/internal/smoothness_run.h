// SPDX-License-Identifier: BSD-3-Clause
//
// The (L0, L1) part of /smoothness: what is asked of all checkpoints together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <hesscope/analyzers/record.h>

namespace hesscope::detail {

std::vector<Quantity> smoothness_run_quantities();

/// From spectral_norm, gradient_norm, hessian_diagonal and gradient of each checkpoint that has
/// them.
Record summarize_smoothness(std::span<const Record> records, std::uint64_t seed);

}  // namespace hesscope::detail
