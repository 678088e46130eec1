// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <boost/math/distributions/students_t.hpp>

#include <hesscope/core/internal/wide.h>
#include <hesscope/spectra/internal/jackknife.h>

namespace hesscope::detail {

std::vector<SampleRange> sample_blocks(Eigen::Index num_samples, Eigen::Index num_blocks) {
  const Eigen::Index size = num_samples / num_blocks;
  const Eigen::Index num_larger = num_samples % num_blocks;
  std::vector<SampleRange> blocks;
  Eigen::Index begin = 0;
  for (Eigen::Index b = 0; b < num_blocks; ++b) {
    const Eigen::Index end = begin + size + (b < num_larger ? 1 : 0);
    blocks.push_back({begin, end});
    begin = end;
  }
  return blocks;
}

// With d_j = theta_(-j) - theta: bias = sum_j (1 - 1 / h_j) d_j, since sum_j 1 / h_j = 1, and p_j -
// theta_J = bias - (h_j - 1) d_j. Differences from theta lose no digits if all theta_(-j) are near
// it.
Jackknife jackknife(double theta,
                    const Eigen::Ref<const Eigen::VectorXd>& leave_one_out,
                    const std::vector<SampleRange>& blocks) {
  const auto num_samples = static_cast<double>(blocks.back().end);
  const Eigen::Index num_blocks = leave_one_out.size();
  const auto h = [&](Eigen::Index j) {
    return num_samples / static_cast<double>(blocks[static_cast<std::size_t>(j)].size());
  };
  double bias = 0.0;
  for (Eigen::Index j = 0; j < num_blocks; ++j) {
    bias += (1.0 - 1.0 / h(j)) * (leave_one_out[j] - theta);
  }
  Wide sum;  // deviations are small, and their squares smaller
  for (Eigen::Index j = 0; j < num_blocks; ++j) {
    const double deviation = bias - (h(j) - 1.0) * (leave_one_out[j] - theta);
    sum += Wide(deviation) * deviation / (h(j) - 1.0);
  }
  return {bias, sqrt(sum / static_cast<double>(num_blocks)).value()};
}

double two_sided_t(double level, double degrees_of_freedom) {
  const boost::math::students_t distribution(degrees_of_freedom);
  return boost::math::quantile(boost::math::complement(distribution, (1.0 - level) / 2.0));
}

}  // namespace hesscope::detail
