// SPDX-License-Identifier: BSD-3-Clause
//
// A DistributedMatrix that lies on one process, by LAPACK: each rank of a team has the whole of it.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include <Eigen/Core>

#include <hesscope/spectra/distributed_spectrum.h>
#include <hesscope/spectra/internal/distributed_matrix.h>
#include <hesscope/spectra/internal/scaled_matrix.h>

#include "support/decompositions.h"

namespace hesscope::test {

class LocalMatrix : public detail::DistributedMatrix {
 public:
  /// @param spoil, spoil_vectors  what a solver that errs makes of T, and of its vectors.
  LocalMatrix(Eigen::Index n,
              std::function<void(detail::Tridiagonal&)> spoil,
              std::function<void(Eigen::MatrixXd&)> spoil_vectors)
      : h_(Eigen::MatrixXd::Zero(n, n)),
        spoil_(std::move(spoil)),
        spoil_vectors_(std::move(spoil_vectors)) {}

  void fill(const Columns& columns, const ProgressCallback& progress) override {
    constexpr Eigen::Index kWidth = 16;
    for (Eigen::Index first = 0; first < h_.cols(); first += kWidth) {
      const Eigen::Index width = std::min(kWidth, h_.cols() - first);
      h_.block(first, first, h_.rows() - first, width) = columns(first, width);
      detail::report(progress, static_cast<double>(first) / static_cast<double>(h_.cols()));
    }
    h_ = Eigen::MatrixXd(h_.selfadjointView<Eigen::Lower>());
  }

  Content content() const override {
    const detail::Survey found = detail::survey(h_);
    return {found.is_finite, found.largest_magnitude, found.num_dead, h_.diagonal()};
  }

  void scale(int exponent) override { h_ = detail::scaled_copy(h_, exponent); }

  double frobenius_norm() const override { return h_.norm(); }

  detail::Tridiagonal tridiagonalize() override {
    reduced_ = h_;
    reduction_ = detail::tridiagonalize(reduced_);
    if (spoil_) spoil_(reduction_.t);
    return reduction_.t;
  }

  Eigen::MatrixXd apply_q(const Eigen::MatrixXd& v) override {
    Eigen::MatrixXd product(v.rows(), v.cols());
    for (Eigen::Index k = 0; k < v.cols(); ++k) {
      product.col(k) = detail::apply_q(reduced_, reduction_.tau, v.col(k));
    }
    return product;
  }

  VectorErrors vector_errors(const Eigen::VectorXd& values) override {
    Eigen::MatrixXd q = apply_q(detail::eigensystem(reduction_.t).value().vectors);
    if (spoil_vectors_) spoil_vectors_(q);
    const Eigen::MatrixXd residual = h_ * q - q * values.asDiagonal();
    const Eigen::Index n = q.cols();
    return {residual.norm(), (q.transpose() * q - Eigen::MatrixXd::Identity(n, n)).norm()};
  }

  Eigen::MatrixXd times(const Eigen::MatrixXd& v) const override { return h_ * v; }

  bool is_positive_definite(double sign, double shift) override {
    Eigen::MatrixXd shifted = h_;
    shifted.diagonal().array() -= shift;
    return test::is_positive_definite(sign * shifted);
  }

 private:
  Eigen::MatrixXd h_;
  Eigen::MatrixXd reduced_;
  detail::Reduction reduction_;
  std::function<void(detail::Tridiagonal&)> spoil_;
  std::function<void(Eigen::MatrixXd&)> spoil_vectors_;
};

class LocalSolver : public DistributedSolver {
 public:
  explicit LocalSolver(std::shared_ptr<Team> team,
                       std::function<void(detail::Tridiagonal&)> spoil = {},
                       std::function<void(Eigen::MatrixXd&)> spoil_vectors = {})
      : team_(std::move(team)),
        spoil_(std::move(spoil)),
        spoil_vectors_(std::move(spoil_vectors)) {}

  Team& team() const override { return *team_; }

  int grid() const override { return 1; }

  DistributedEngine engine() const override { return DistributedEngine::kScalapack; }

  std::unique_ptr<detail::DistributedMatrix> matrix(Eigen::Index n,
                                                    bool /*with_vectors*/) const override {
    return std::make_unique<LocalMatrix>(n, spoil_, spoil_vectors_);
  }

 private:
  std::shared_ptr<Team> team_;
  std::function<void(detail::Tridiagonal&)> spoil_;
  std::function<void(Eigen::MatrixXd&)> spoil_vectors_;
};

}  // namespace hesscope::test
