// SPDX-License-Identifier: BSD-3-Clause
//
// What /stability stores.
#pragma once

#include <string>
#include <vector>

#include <hesscope/analyzers/record.h>

namespace hesscope::detail {

/// Sharpness, thresholds and settings, whatever the preconditioner.
std::vector<Quantity> stability_quantities();

/// The preconditioner and what the optimiser sees through it. `prefix` begins the names of its
/// threshold and ratio: "adam", or "optimizer" where it may be any.
std::vector<Quantity> preconditioned_quantities(const std::string& prefix);

}  // namespace hesscope::detail
