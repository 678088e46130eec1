// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/invariance.h>

namespace hesscope {
namespace {

void require_fit(const AffineGenerator& generator, const char* function, Eigen::Index size) {
  if (!generator.fits(size)) {
    throw PreconditionError(fmt::format(
        "AffineGenerator::{}: an entry is outside of the {} parameters given", function, size));
  }
}

}  // namespace

Eigen::VectorXd AffineGenerator::at(const Eigen::Ref<const Eigen::VectorXd>& theta) const {
  require_fit(*this, "at", theta.size());
  Eigen::VectorXd u = Eigen::VectorXd::Zero(theta.size());
  for (const Linear& entry : linear) u[entry.row] += entry.value * theta[entry.col];
  for (const Constant& entry : constant) u[entry.row] += entry.value;
  return u;
}

Eigen::VectorXd AffineGenerator::transpose_times(const Eigen::Ref<const Eigen::VectorXd>& g) const {
  require_fit(*this, "transpose_times", g.size());
  Eigen::VectorXd product = Eigen::VectorXd::Zero(g.size());
  for (const Linear& entry : linear) product[entry.col] += entry.value * g[entry.row];
  return product;
}

bool AffineGenerator::fits(Eigen::Index size) const {
  const auto within = [size](Eigen::Index i) { return i >= 0 && i < size; };
  return std::all_of(linear.begin(),
                     linear.end(),
                     [&](const Linear& e) { return within(e.row) && within(e.col); }) &&
         std::all_of(
             constant.begin(), constant.end(), [&](const Constant& e) { return within(e.row); });
}

}  // namespace hesscope
