// SPDX-License-Identifier: BSD-3-Clause
//
// Shared by the analyzers of the outermost eigenpairs (PointAnalysis::extremes).
#pragma once

#include <cstdint>
#include <string>

#include <hesscope/analyzers/analyzer.h>

namespace hesscope::detail {

/// The dimension "pair" for `count` eigenvalues at each end, or for all eigenvalues if there are
/// fewer.
Dimension pair_dimension(std::int64_t count, const Objective& objective);

/// The cost of `count` eigenpairs at both ends: with the matrix, a search by products with it and
/// two counts; without it, a search that finds more than one pair at each end.
Analyzer::Cost cost_of_pairs(std::int64_t count, const Objective& objective);

/// The variable for the end "largest" or "smallest": `end` becomes the suffix of its name and,
/// unless it is a flag, part of its definition.
Variable of_end(Variable variable, const std::string& end);

/// The variables "eigenvalues", "error_bound" and "proof" of an end.
Variable outermost_eigenvalues();
Variable error_bound_of_end();
Variable proof_of_end();

}  // namespace hesscope::detail
