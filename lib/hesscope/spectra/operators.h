// SPDX-License-Identifier: BSD-3-Clause
//
// Symmetric matrices known only by their products with vectors, and operators derived from others.
#pragma once

#include <atomic>
#include <cstdint>

#include <hesscope/core/eigen.h>
#include <hesscope/objective/objective.h>

namespace hesscope {

/// A symmetric H, n x n, that can be applied to vectors. It counts its applications. Operators
/// refer to the objects they are built from, which must outlive them; temporaries are therefore
/// rejected unless the operator keeps them. Const members are safe to call concurrently.
class SymmetricOperator {
 public:
  SymmetricOperator() = default;
  SymmetricOperator(const SymmetricOperator&) = delete;
  SymmetricOperator& operator=(const SymmetricOperator&) = delete;
  virtual ~SymmetricOperator() = default;

  virtual Eigen::Index rows() const = 0;

  /// H V for V of size n x k. Non-finite values are returned, not thrown.
  /// @throws PreconditionError if V does not have n rows, or the implementation's result does not
  ///         have the size of V.
  Eigen::MatrixXd apply(const Eigen::Ref<const Eigen::MatrixXd>& v) const;

  /// Number of calls of apply so far, and the total number of columns of their arguments.
  std::int64_t num_calls() const { return num_calls_.load(std::memory_order_relaxed); }

  std::int64_t num_columns() const { return num_columns_.load(std::memory_order_relaxed); }

 protected:
  virtual Eigen::MatrixXd product(const Eigen::Ref<const Eigen::MatrixXd>& v) const = 0;

 private:
  mutable std::atomic<std::int64_t> num_calls_ = 0;
  mutable std::atomic<std::int64_t> num_columns_ = 0;
};

/// A matrix; only its lower triangle is read.
class MatrixOperator final : public SymmetricOperator {
 public:
  /// Refers to a matrix, or to the data of an Eigen::Ref. @throws PreconditionError if it is not
  /// square, is empty, or exceeds LAPACK's integers.
  explicit MatrixOperator(const Eigen::MatrixXd& hessian);
  explicit MatrixOperator(const Eigen::Ref<const Eigen::MatrixXd>& hessian);

  /// Takes over a matrix. @throws PreconditionError as above.
  explicit MatrixOperator(Eigen::MatrixXd&& hessian);

  /// Keeps a copy of the value of another expression: a block, a product, the transpose.
  /// @throws PreconditionError as above.
  template <typename Expression>
  explicit MatrixOperator(const Eigen::MatrixBase<Expression>& hessian)
      : MatrixOperator(Eigen::MatrixXd(hessian)) {}

  Eigen::Index rows() const override { return hessian_.rows(); }

 protected:
  Eigen::MatrixXd product(const Eigen::Ref<const Eigen::MatrixXd>& v) const override;

 private:
  Eigen::MatrixXd own_;  // empty if it refers to another's
  Eigen::Map<const Eigen::MatrixXd, 0, Eigen::OuterStride<>> hessian_;
};

/// Second derivatives of an objective at theta over a range of samples; derived classes say which.
class CurvatureOperator : public SymmetricOperator {
 public:
  Eigen::Index rows() const final { return theta_.size(); }

 protected:
  /// @throws PreconditionError, with a message that begins with `name`, if theta or the range do
  /// not fit the objective.
  CurvatureOperator(const char* name,
                    const Objective& objective,
                    Eigen::VectorXd theta,
                    SampleRange range);

  const Objective& objective() const { return *objective_; }

  const Eigen::VectorXd& theta() const { return theta_; }

  SampleRange range() const { return range_; }

 private:
  const Objective* objective_;
  Eigen::VectorXd theta_;
  SampleRange range_;
};

/// The Hessian H of an objective at theta over a range of samples, by Hessian-vector products.
class HessianOperator final : public CurvatureOperator {
 public:
  /// @throws PreconditionError if theta or the range do not fit the objective.
  HessianOperator(const Objective& objective, Eigen::VectorXd theta, SampleRange range);
  HessianOperator(const Objective& objective, Eigen::VectorXd theta);
  HessianOperator(const Objective&& objective, Eigen::VectorXd theta, SampleRange range) = delete;
  HessianOperator(const Objective&& objective, Eigen::VectorXd theta) = delete;

 protected:
  Eigen::MatrixXd product(const Eigen::Ref<const Eigen::MatrixXd>& v) const override;
};

/// Its Gauss-Newton part G (Objective::gauss_newton), by products with vectors.
class GaussNewtonOperator final : public CurvatureOperator {
 public:
  /// @throws PreconditionError if theta or the range do not fit the objective, or it has no
  /// Gauss-Newton matrix.
  GaussNewtonOperator(const Objective& objective, Eigen::VectorXd theta, SampleRange range);
  GaussNewtonOperator(const Objective& objective, Eigen::VectorXd theta);
  GaussNewtonOperator(const Objective&&, Eigen::VectorXd theta, SampleRange range) = delete;
  GaussNewtonOperator(const Objective&& objective, Eigen::VectorXd theta) = delete;

 protected:
  Eigen::MatrixXd product(const Eigen::Ref<const Eigen::MatrixXd>& v) const override;
};

/// The residual part R = H - G: the contribution of the second derivatives of the predictions to
/// the Hessian, zero if all residuals are zero. Computed as the difference of two products, so its
/// rounding error is relative to H and G, not to R.
class ResidualOperator final : public CurvatureOperator {
 public:
  /// @throws PreconditionError as GaussNewtonOperator.
  ResidualOperator(const Objective& objective, Eigen::VectorXd theta, SampleRange range);
  ResidualOperator(const Objective& objective, Eigen::VectorXd theta);
  ResidualOperator(const Objective&& objective, Eigen::VectorXd theta, SampleRange range) = delete;
  ResidualOperator(const Objective&& objective, Eigen::VectorXd theta) = delete;

 protected:
  Eigen::MatrixXd product(const Eigen::Ref<const Eigen::MatrixXd>& v) const override;
};

/// The diagonal block of `whole` with rows and columns [offset, offset + size).
class BlockOperator final : public SymmetricOperator {
 public:
  /// @throws PreconditionError if the block is empty or not within `whole`.
  BlockOperator(const SymmetricOperator& whole, Eigen::Index offset, Eigen::Index size);
  BlockOperator(const SymmetricOperator&& whole, Eigen::Index offset, Eigen::Index size) = delete;

  Eigen::Index rows() const override { return size_; }

 protected:
  Eigen::MatrixXd product(const Eigen::Ref<const Eigen::MatrixXd>& v) const override;

 private:
  const SymmetricOperator* whole_;
  Eigen::Index offset_;
  Eigen::Index size_;
};

/// D^-1/2 H D^-1/2 for a diagonal D, such as Adam's preconditioner sqrt(v) + epsilon. Where D is
/// infinite, as for parameters that are not trained, rows and columns are zero.
class PreconditionedOperator final : public SymmetricOperator {
 public:
  /// @param  diagonal  of D: n positive numbers; otherwise PreconditionError.
  PreconditionedOperator(const SymmetricOperator& h, const Eigen::VectorXd& diagonal);
  PreconditionedOperator(const SymmetricOperator&& h, const Eigen::VectorXd& diagonal) = delete;

  Eigen::Index rows() const override { return h_->rows(); }

 protected:
  Eigen::MatrixXd product(const Eigen::Ref<const Eigen::MatrixXd>& v) const override;

 private:
  const SymmetricOperator* h_;
  Eigen::VectorXd scale_;  // diagonal of D^-1/2
};

/// factor H + shift I; the negative of H for factor -1 and shift 0.
class ShiftedOperator final : public SymmetricOperator {
 public:
  ShiftedOperator(const SymmetricOperator& h, double factor, double shift);
  ShiftedOperator(const SymmetricOperator&& h, double factor, double shift) = delete;

  Eigen::Index rows() const override { return h_->rows(); }

 protected:
  Eigen::MatrixXd product(const Eigen::Ref<const Eigen::MatrixXd>& v) const override;

 private:
  const SymmetricOperator* h_;
  double factor_;
  double shift_;
};

/// (I - Q Q^T) H (I - Q Q^T) + value Q Q^T: H with its action on the span of Q's columns, which
/// should be eigenvectors, replaced by `value`.
class DeflatedOperator final : public SymmetricOperator {
 public:
  /// @param  q  n x m with orthonormal columns.
  /// @throws PreconditionError if it does not have n rows.
  DeflatedOperator(const SymmetricOperator& h, Eigen::MatrixXd q, double value);
  DeflatedOperator(const SymmetricOperator&& h, Eigen::MatrixXd q, double value) = delete;

  Eigen::Index rows() const override { return h_->rows(); }

 protected:
  Eigen::MatrixXd product(const Eigen::Ref<const Eigen::MatrixXd>& v) const override;

 private:
  const SymmetricOperator* h_;
  Eigen::MatrixXd q_;
  double value_;
};

}  // namespace hesscope
