// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "support/quadratic_objective.h"

namespace hesscope::test {

/// The weighted mean of matrices, plus a weight decay times the identity.
class WeightedMean final : public QuadraticObjective {
 public:
  WeightedMean(const std::vector<Eigen::MatrixXd>& matrices,
               const Eigen::VectorXd& weights,
               double decay)
      : QuadraticObjective(scaled(matrices, weights, decay)),
        weights_(weights / weights.mean()),
        decay_(decay) {}

  double do_sample_weight(SampleRange range) const override {
    return weights_.segment(range.begin, range.size()).sum();
  }

  double weight_decay() const override { return decay_; }

 private:
  static std::vector<Eigen::MatrixXd> scaled(std::vector<Eigen::MatrixXd> matrices,
                                             const Eigen::VectorXd& weights,
                                             double decay) {
    for (std::size_t i = 0; i < matrices.size(); ++i) {
      matrices[i] *= weights[static_cast<Eigen::Index>(i)] / weights.mean();
      matrices[i].diagonal().array() += decay;
    }
    return matrices;
  }

  Eigen::VectorXd weights_;
  double decay_;
};

}  // namespace hesscope::test
