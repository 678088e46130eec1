// SPDX-License-Identifier: BSD-3-Clause
//
// Operators that fail after some products, to test the reports of failure.
#pragma once

#include <stdexcept>

#include <Eigen/Core>

#include <hesscope/core/constants.h>
#include <hesscope/spectra/operators.h>

namespace hesscope::test {

/// H for a number of products, and then with one entry in the last column that is not finite.
class BecomesBad final : public SymmetricOperator {
 public:
  /// `h` must outlive this.
  BecomesBad(const Eigen::MatrixXd& h, int num_good, double bad = kNaN)
      : h_(h), num_good_(num_good), bad_(bad) {}

  Eigen::Index rows() const override { return h_.rows(); }

 protected:
  Eigen::MatrixXd product(const Eigen::Ref<const Eigen::MatrixXd>& v) const override {
    if (num_calls() > 1000) throw std::runtime_error("does not stop");
    Eigen::MatrixXd result = h_ * v;
    if (num_calls() > num_good_) result(0, v.cols() - 1) = bad_;
    return result;
  }

 private:
  const Eigen::MatrixXd& h_;
  int num_good_;
  double bad_;
};

/// Twice the identity for a number of products with 400 rows, and then an exception.
class ThrowsAfter final : public SymmetricOperator {
 public:
  explicit ThrowsAfter(int num_good) : num_good_(num_good) {}

  Eigen::Index rows() const override { return 400; }

 protected:
  Eigen::MatrixXd product(const Eigen::Ref<const Eigen::MatrixXd>& v) const override {
    if (num_calls() > num_good_) throw std::runtime_error("stop");
    return 2.0 * v;
  }

 private:
  int num_good_;
};

}  // namespace hesscope::test
