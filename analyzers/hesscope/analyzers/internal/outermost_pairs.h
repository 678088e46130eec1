// SPDX-License-Identifier: BSD-3-Clause
//
// What analyzers of the outermost eigenpairs share (PointAnalysis::extremes).
#pragma once

#include <cstdint>
#include <string>

#include <hesscope/analyzers/analyzer.h>

namespace hesscope::detail {

/// "pair", of `count` eigenvalues at either end, or of all there are.
Dimension pair_dimension(std::int64_t count, const Objective& objective);

/// Of finding `count` eigenpairs at both ends: a search by products with the matrix and two counts;
/// without the matrix, a search that finds more than one pair at each end.
Analyzer::Cost cost_of_pairs(std::int64_t count, const Objective& objective);

/// A variable of the end "largest" or "smallest": that ends its name, and stands in its meaning
/// unless it is a flag.
Variable of_end(Variable variable, const std::string& end);

/// "eigenvalues", "error_bound" and "proof" of an end.
Variable outermost_eigenvalues();
Variable error_bound_of_end();
Variable proof_of_end();

}  // namespace hesscope::detail
