// SPDX-License-Identifier: BSD-3-Clause
//
// Continuous invariances of a function of n parameters, by their generators.
//
// A one-parameter family of affine maps has the generator u(theta) = B theta + b: its orbits solve
// theta' = u(theta). If f is constant along them, u . g = 0 for the gradient g, and differentiating
// this with respect to theta gives
//
//   H u + B^T g = 0.
//
// Example: f(p, q) = phi(p q) is constant along (p, q) = (c p, q / c); u = (p, -q), B = diag(1,
// -1).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <hesscope/core/eigen.h>

namespace hesscope {

/// u(theta) = B theta + b, both sparse. Entries at the same position add up.
struct AffineGenerator {
  struct Linear {
    Eigen::Index row = 0;
    Eigen::Index col = 0;
    double value = 0;
  };

  struct Constant {
    Eigen::Index row = 0;
    double value = 0;
  };

  std::vector<Linear> linear;      ///< B
  std::vector<Constant> constant;  ///< b

  /// B theta + b. @throws PreconditionError if an entry is outside of theta.
  Eigen::VectorXd at(const Eigen::Ref<const Eigen::VectorXd>& theta) const;

  /// B^T g. @throws PreconditionError if an entry is outside of g.
  Eigen::VectorXd transpose_times(const Eigen::Ref<const Eigen::VectorXd>& g) const;

  /// Whether every entry is within a vector of `size` entries.
  bool fits(Eigen::Index size) const;
};

/// A family of generators of one kind, such as "rescaling of P and Q". Each is made on request,
/// because there can be many: changes of basis in m dimensions have m^2.
struct Invariance {
  std::string name;
  Eigen::Index num_generators = 0;
  /// Generator k, 0 <= k < num_generators. Safe to call concurrently.
  std::function<AffineGenerator(Eigen::Index k)> generator;
};

}  // namespace hesscope
