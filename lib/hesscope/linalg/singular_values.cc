// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/linalg/internal/lapack.h>
#include <hesscope/linalg/singular_values.h>

namespace hesscope {
namespace {

void require_size(std::string_view function, const Eigen::Ref<const Eigen::MatrixXd>& a) {
  if (a.size() > 0 && std::max(a.rows(), a.cols()) <= detail::max_lapack_dimension() &&
      std::min(a.rows(), a.cols()) <= detail::max_svd_rank()) {
    return;
  }
  throw PreconditionError(
      fmt::format("{}: the matrix must have entries, at most {} rows and columns, and at most {} "
                  "of either, got {} x {}",
                  function,
                  detail::max_lapack_dimension(),
                  detail::max_svd_rank(),
                  a.rows(),
                  a.cols()));
}

}  // namespace

SingularValues thin_svd(const Eigen::Ref<const Eigen::MatrixXd>& a) {
  require_size("thin_svd", a);
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
  require_size("singular_ends", a);
  if (!a.allFinite()) return {.status = Status::kNonFinite};
  const detail::SingleThreadedBlas one_thread;
  const std::optional<Eigen::VectorXd> values = detail::singular_values(a);
  if (!values) return {.status = Status::kFailed};
  const double largest = (*values)[0];
  const double smallest = a.rows() > a.cols() ? 0 : (*values)[values->size() - 1];
  const double rounding =
      static_cast<double>(std::max(a.rows(), a.cols()) + 10) * kEpsilon * largest;
  return {
      .status = Status::kOk, .smallest = smallest > rounding ? smallest : 0, .largest = largest};
}

}  // namespace hesscope
