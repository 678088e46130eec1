// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/linalg/internal/lapack.h>
#include <hesscope/linalg/singular_values.h>

namespace hesscope {

SingularValues thin_svd(const Eigen::Ref<const Eigen::MatrixXd>& a) {
  if (a.size() == 0 || std::max(a.rows(), a.cols()) > detail::max_lapack_dimension()) {
    throw PreconditionError(
        fmt::format("thin_svd: the matrix must have entries, and at most {} rows and columns, got "
                    "{} x {}",
                    detail::max_lapack_dimension(),
                    a.rows(),
                    a.cols()));
  }
  SingularValues result;
  if (!a.allFinite()) {
    result.status = Status::kNonFinite;
    return result;
  }
  const detail::SingleThreadedBlas one_thread;
  std::optional<detail::ThinSvd> found = detail::thin_svd(a);
  if (!found) {
    result.status = Status::kFailed;
    return result;
  }
  result.status = Status::kOk;
  result.values = std::move(found->values);
  result.left = std::move(found->left);
  result.right = found->right_transposed.transpose();
  return result;
}

SingularEnds singular_ends(const Eigen::Ref<const Eigen::MatrixXd>& a) {
  const SingularValues svd = thin_svd(a);
  if (svd.status != Status::kOk) return {.status = svd.status};
  const bool is_tall = a.rows() > a.cols();
  return {.status = Status::kOk,
          .smallest = is_tall ? 0 : svd.values[svd.values.size() - 1],
          .largest = svd.values[0]};
}

}  // namespace hesscope
