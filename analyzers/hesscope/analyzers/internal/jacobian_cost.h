// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/analyzer.h>

namespace hesscope::detail {

/// The cost of the Jacobian of all predictions, a copy of it, and its singular values.
Analyzer::Cost jacobian_cost(const Objective& objective);

}  // namespace hesscope::detail
