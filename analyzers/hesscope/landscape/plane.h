// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/core/eigen.h>

namespace hesscope {

/// A line or a plane in the space of n parameters: centre + alpha d1 + beta d2.
struct Plane {
  Eigen::VectorXd centre;      ///< n
  Eigen::MatrixXd directions;  ///< n x 1 or n x 2, the columns d1 and d2

  /// The point with these coordinates: (centre + alpha d1) + beta d2. A term with coefficient 0 is
  /// left out, so that (0, 0) is the centre to the last bit. @throws PreconditionError if beta is
  /// not 0 and there is no d2, and unless there are one or two directions of n numbers.
  Eigen::VectorXd at(double alpha, double beta) const;

  /// Coordinates of the point of the plane nearest to theta, and the distance of theta from it;
  /// beta is 0 without d2. The centre itself has 0, 0 and 0. NaN if theta is not finite. @throws
  /// PreconditionError if theta does not have n numbers or the directions are not linearly
  /// independent.
  struct Projection {
    double alpha;
    double beta;
    double residual;
  };

  Projection project(const Eigen::Ref<const Eigen::VectorXd>& theta) const;

  /// Orthonormal columns with the same span as the directions. @throws PreconditionError if these
  /// are not linearly independent.
  Eigen::MatrixXd basis() const;
};

/// a^T b / (|a| |b|). @throws PreconditionError for vectors of different sizes.
double cosine(const Eigen::Ref<const Eigen::VectorXd>& a,
              const Eigen::Ref<const Eigen::VectorXd>& b);

}  // namespace hesscope
