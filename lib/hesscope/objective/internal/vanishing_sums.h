// SPDX-License-Identifier: BSD-3-Clause
//
// Sums of terms, with whole coefficients, that vanish whatever the point and the sample.
#pragma once

#include <vector>

#include <Eigen/Core>

namespace hesscope::detail {

/// A row for each sample at each point, a column for each term.
struct SumTerms {
  Eigen::MatrixXd values;
  Eigen::MatrixXd magnitudes;  ///< of the parts of each term, added up
  Eigen::Index num_finding;    ///< rows to find sums with, from the first; the others verify them
};

/// A basis of the coefficients whose sums vanish: reduced to as few terms as there can be,
/// multiples of a sixth, and verified in all rows.
/// @param tolerance  of a sum, relative to the sum of its terms' magnitudes.
/// @cost  a decomposition of num_finding x terms.
std::vector<Eigen::VectorXd> vanishing_sums(const SumTerms& terms, double tolerance);

}  // namespace hesscope::detail
