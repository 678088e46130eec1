// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/linalg/internal/lapack.h>
#include <hesscope/linalg/positive_definite.h>

namespace hesscope {

std::optional<Eigen::VectorXd> solve_positive_definite(const Eigen::Ref<const Eigen::MatrixXd>& a,
                                                       const Eigen::Ref<const Eigen::VectorXd>& b) {
  if (a.rows() != a.cols() || b.size() != a.rows() || a.rows() > detail::max_lapack_dimension()) {
    throw PreconditionError(
        fmt::format("solve_positive_definite: the matrix must be square, with as many rows as the "
                    "right side has, and at most {}, got {} x {} and {}",
                    detail::max_lapack_dimension(),
                    a.rows(),
                    a.cols(),
                    b.size()));
  }
  if (!a.allFinite()) return std::nullopt;
  const detail::SingleThreadedBlas one_thread;
  return detail::solve_positive_definite(a, b);
}

}  // namespace hesscope
