// SPDX-License-Identifier: BSD-3-Clause
//
// Each case replaces one good line by a likely mistake; see CMakeLists.txt.
#include <cmath>

#include <Eigen/Core>

#include <hesscope/autodiff/derivatives.h>
#include <hesscope/objective/functor_objective.h>

void compile_failure_cases();

void compile_failure_cases() {
#if defined(HESSCOPE_CASE_NAMES_DOUBLE)
  const auto f = [](const Eigen::VectorXd& x) { return x.squaredNorm(); };
#elif defined(HESSCOPE_CASE_DROPS_DERIVATIVES)
  const auto f = [](const auto& x) { return hesscope::value_of(x(0)); };
#elif defined(HESSCOPE_CASE_NO_ARGUMENT)
  const auto f = [] { return 1.0; };
#elif defined(HESSCOPE_CASE_STD_SIN)
  const auto f = [](const auto& x) { return std::sin(x(0)); };
#elif defined(HESSCOPE_CASE_STD_POW)
  const auto f = [](const auto& x) { return std::pow(x(0), 2); };
#elif defined(HESSCOPE_CASE_STD_LGAMMA)
  const auto f = [](const auto& x) { return std::lgamma(x(0)); };
#elif defined(HESSCOPE_CASE_STD_ATAN2)
  const auto f = [](const auto& x) { return std::atan2(x(0), x(1)); };
#elif defined(HESSCOPE_CASE_STD_FMA)
  const auto f = [](const auto& x) { return std::fma(x(0), 2.0, x(1)); };
#else
  const auto f = [](const auto& x) { return x.squaredNorm(); };
#endif

#if defined(HESSCOPE_CASE_POINT_OF_FLOATS)
  const Eigen::Vector2f x(1.0F, 2.0F);
#else
  const Eigen::Vector2d x(1.0, 2.0);
#endif
  hesscope::hessian(f, x);

#if defined(HESSCOPE_CASE_LOSS_NAMES_DOUBLE)
  const auto loss = [](const Eigen::VectorXd& theta, Eigen::Index) { return theta.squaredNorm(); };
#else
  const auto loss = [](const auto& theta, Eigen::Index) { return theta.squaredNorm(); };
#endif
  hesscope::make_objective(loss, 2, 1);
}
