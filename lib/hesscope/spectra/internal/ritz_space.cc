// SPDX-License-Identifier: BSD-3-Clause
#include <optional>

#include <hesscope/core/internal/norms.h>
#include <hesscope/linalg/internal/lapack.h>
#include <hesscope/spectra/internal/ritz_space.h>

namespace hesscope::detail {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

VectorXd residual_norms(const MatrixXd& v, const MatrixXd& h_times_v, const VectorXd& theta) {
  const MatrixXd errors = h_times_v - v * theta.asDiagonal();
  VectorXd norms(theta.size());
  for (Index j = 0; j < norms.size(); ++j) norms[j] = detail::norm(errors.col(j));
  return norms;
}

RitzSpace::RitzSpace(const SymmetricOperator& h) : h_(h), v_(h.rows(), 0), hv_(h.rows(), 0) {}

Status RitzSpace::add(const MatrixXd& columns) {
  const Index n = v_.rows();
  const Index q = v_.cols();
  MatrixXd v(n, q + columns.cols());
  v.leftCols(q) = v_;
  Index num_kept = q;
  for (Index j = 0; j < columns.cols(); ++j) {
    VectorXd column = columns.col(j).normalized();
    for (int pass = 0; pass < 2; ++pass) {
      column -= v.leftCols(num_kept) * (v.leftCols(num_kept).transpose() * column);
    }
    // A new column lies almost entirely outside V.
    if (column.norm() > 0.5) v.col(num_kept++) = column.normalized();
  }
  v.conservativeResize(Eigen::NoChange, num_kept);
  MatrixXd hv(n, num_kept);
  hv.leftCols(q) = hv_;
  hv.rightCols(num_kept - q) = h_.apply(v.rightCols(num_kept - q));
  if (!hv.allFinite()) return Status::kNonFinite;
  const SingleThreadedBlas one_thread;
  const std::optional<EigenDecomposition> small = eigensystem(v.transpose() * hv);
  if (!small) return Status::kFailed;
  theta_ = small->values;
  v_ = v * small->vectors;
  hv_ = hv * small->vectors;
  return Status::kOk;
}

}  // namespace hesscope::detail
