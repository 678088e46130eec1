// SPDX-License-Identifier: BSD-3-Clause
//
// What /stability stores.
#pragma once

#include <string>
#include <vector>

#include <hesscope/dataset/dataset.h>

namespace hesscope::detail {

/// Sharpness, thresholds and settings, whatever the preconditioner.
std::vector<Variable> stability_quantities();

/// The preconditioner and what the optimiser sees through it. `prefix` begins the names of its
/// threshold and ratio: "adam", or "optimizer" where it may be any.
std::vector<Variable> preconditioned_quantities(const std::string& prefix);

}  // namespace hesscope::detail
