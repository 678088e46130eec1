// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <hesscope/optim/update_rule_registry.h>

namespace hesscope::test {

using SettingMap = std::map<std::string, SettingValue>;

/// One vector `x` of n parameters.
inline std::vector<ParameterBlock> one_block(Eigen::Index n) {
  return {{.name = "x", .shape = {n}, .offset = 0, .size = n}};
}

/// A matrix W (3 x 2), a vector b (4), a stack H (2 x 2 x 3), a number s: 23 parameters.
inline std::vector<ParameterBlock> mixed_blocks() {
  return {{.name = "W", .shape = {3, 2}, .offset = 0, .size = 6},
          {.name = "b", .shape = {4}, .offset = 6, .size = 4},
          {.name = "H", .shape = {2, 2, 3}, .offset = 10, .size = 12},
          {.name = "s", .shape = {}, .offset = 22, .size = 1}};
}

inline std::unique_ptr<UpdateRule> rule(const std::string& name,
                                        Eigen::Index n,
                                        const SettingMap& settings = {}) {
  return make_update_rule(name, settings, one_block(n));
}

/// n numbers in [-1, 1), one of them zero; std::mt19937_64 is specified exactly.
inline Eigen::VectorXd numbers(Eigen::Index n, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  Eigen::VectorXd values(n);
  for (double& value : values) value = std::ldexp(static_cast<double>(engine() >> 11), -52) - 1;
  values[n / 2] = 0;
  return values;
}

inline Eigen::VectorXd vector(std::initializer_list<double> values) {
  Eigen::VectorXd result(static_cast<Eigen::Index>(values.size()));
  std::copy(values.begin(), values.end(), result.begin());
  return result;
}

/// Sum of the differences of two vectors of one size; NaN where one has NaN.
inline double distance(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  return (a - b).lpNorm<1>();
}

}  // namespace hesscope::test
