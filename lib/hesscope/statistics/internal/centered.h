// SPDX-License-Identifier: BSD-3-Clause
//
// A sample represented by its mean and the deviations from it.
#pragma once

#include <cmath>

#include <Eigen/Core>

#include <hesscope/core/internal/wide.h>

namespace hesscope::detail {

/// A running sum that keeps the rounding errors of its additions separately.
/// @source A. Neumaier (1974), Z. Angew. Math. Mech. 54, 39-51.
class CompensatedSum {
 public:
  void add(double x) {
    const double sum = sum_ + x;
    correction_ += std::abs(sum_) >= std::abs(x) ? (sum_ - sum) + x : (x - sum) + sum_;
    sum_ = sum;
  }

  double value() const { return sum_ + correction_; }

 private:
  double sum_ = 0.0;
  double correction_ = 0.0;
};

/// values_i = mean + scale * deviations_i.
struct Centered {
  double mean;
  Wide scale;  ///< largest distance from the mean, may exceed double; 0 if all values are equal
  Eigen::VectorXd deviations;  ///< in [-1, 1], the largest magnitude being 1; zeros for scale 0
};

/// Differences from a value of the sample are formed first, so that they keep their digits however
/// small they are compared with the values, at a scale at which nothing overflows.
/// @param  values  at least one, all finite.
/// @param  reference  one of them, near the middle.
Centered centered(const Eigen::Ref<const Eigen::VectorXd>& values, double reference);

/// The lower median: order statistic floor((n - 1) / 2), counted from 0, of at least one value.
double lower_median_of(Eigen::VectorXd values);

/// @throws PreconditionError if there are fewer than `least` values.
void require_values(const char* function,
                    const Eigen::Ref<const Eigen::VectorXd>& values,
                    Eigen::Index least);

}  // namespace hesscope::detail
