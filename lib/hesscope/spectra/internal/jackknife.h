// SPDX-License-Identifier: BSD-3-Clause
//
// The delete-one-block jackknife for blocks of unequal sizes.
//
// Notation: N samples in B blocks of N_j; theta from all of them, theta_(-j) from those outside
// block j; h_j = N / N_j. With the pseudo-values p_j = h_j theta - (h_j - 1) theta_(-j),
//   bias     = theta - theta_J, theta_J = B theta - sum_j (1 - 1 / h_j) theta_(-j),
//   variance = (1 / B) sum_j (p_j - theta_J)^2 / (h_j - 1).
// For equal blocks these are (B - 1) (m - theta) and (B - 1) / B sum_j (theta_(-j) - m)^2, m the
// mean of the theta_(-j).
// Source: F. Busing, E. Meijer & R. van der Leeden (1999), Statistics and Computing 9, 3-8.
#pragma once

#include <vector>

#include <Eigen/Core>

#include <hesscope/objective/objective.h>

namespace hesscope::detail {

/// [0, num_samples) in blocks of consecutive samples whose sizes differ by at most one, the larger
/// ones first. Requires 1 <= num_blocks <= num_samples.
std::vector<SampleRange> sample_blocks(Eigen::Index num_samples, Eigen::Index num_blocks);

struct Jackknife {
  double bias;
  double standard_error;
};

/// @param  leave_one_out  theta_(-j), one for each block.
Jackknife jackknife(double theta,
                    const Eigen::Ref<const Eigen::VectorXd>& leave_one_out,
                    const std::vector<SampleRange>& blocks);

/// t with P(|T| <= t) = level for Student's T. Requires 0 < level < 1.
double two_sided_t(double level, double degrees_of_freedom);

}  // namespace hesscope::detail
