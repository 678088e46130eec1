// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>

#include <hesscope/spectra/counts.h>
#include <hesscope/spectra/internal/counted_bound.h>

namespace hesscope::detail {

// In the outward direction, with t_i the values: beyond a sigma >= t_last + 2 d with no t_i within
// d of it, the count must equal the number of t_i > sigma. The eigenvalues of the other ranks then
// lie between t_last - d and sigma + d.
std::optional<double> counted_bound(const Eigen::Ref<const Eigen::MatrixXd>& hessian,
                                    double direction,
                                    const Eigen::VectorXd& values,
                                    double d,
                                    const ProgressCallback& progress) {
  const Eigen::VectorXd t = direction * values;
  const Eigen::Index last = t.size() - 1;
  double sigma = t[last] + 2.0 * d;
  for (Eigen::Index i = last; i >= 0; --i) {
    if (t[i] <= sigma + d) sigma = std::max(sigma, t[i] + 2.0 * d);
  }
  const ShiftedFactorization factorization(hessian, direction * sigma, progress);
  const Inertia& inertia = factorization.inertia();
  const std::int64_t num_beyond = direction > 0.0 ? inertia.num_above : inertia.num_below;
  if (factorization.status() != Status::kOk || num_beyond != (t.array() > sigma).count()) {
    return std::nullopt;
  }
  return sigma + d - t[last];
}

}  // namespace hesscope::detail
