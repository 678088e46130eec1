// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/structured/structured_hessian.h>

namespace hesscope {

void StructuredHessian::require_fit(Eigen::Index num_parameters,
                                    std::span<const double> theta,
                                    Records records,
                                    const Eigen::Ref<Eigen::MatrixXd>& h) {
  const bool is_square = h.rows() == num_parameters && h.cols() == num_parameters;
  if (std::ssize(theta) == num_parameters && is_square && records.count >= 1) return;
  throw PreconditionError(
      fmt::format("StructuredHessian::mean: theta must have {0} entries, h be {0} x {0}, and there "
                  "must be a record, got {1}, {2} x {3} and {4}",
                  num_parameters,
                  theta.size(),
                  h.rows(),
                  h.cols(),
                  records.count));
}

}  // namespace hesscope
