// SPDX-License-Identifier: BSD-3-Clause
#include "support/graph_oracle.h"

#include <string>
#include <vector>

#include <boost/math/constants/constants.hpp>
#include <boost/math/special_functions/acosh.hpp>
#include <boost/math/special_functions/asinh.hpp>
#include <boost/math/special_functions/atanh.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/expm1.hpp>
#include <boost/math/special_functions/log1p.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>

#include <hesscope/autodiff/internal/tape.h>
#include <hesscope/core/error.h>

#include "support/line_differences.h"

namespace hesscope {
namespace detail {

// Expression templates off: Eigen and Jets need operators that return numbers.
using Real50 = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<50>,
                                             boost::multiprecision::et_off>;

template <>
struct BaseConstants<Real50> {
  static const Real50& inverse_root_two_pi() {
    static const Real50 value = 1 / sqrt(2 * boost::math::constants::pi<Real50>());
    return value;
  }

  static const Real50& two_over_root_pi() {
    static const Real50 value = 2 / sqrt(boost::math::constants::pi<Real50>());
    return value;
  }

  static const Real50& root_half() {
    static const Real50 value = sqrt(Real50(1) / 2);
    return value;
  }
};

}  // namespace detail

namespace {

void require_input(const char* function,
                   const Graph& graph,
                   std::span<const double> theta,
                   Records records) {
  if (graph.output() < 0 || static_cast<Eigen::Index>(theta.size()) != graph.num_parameters() ||
      records.count < 1) {
    throw PreconditionError(std::string(function) +
                            ": needs a graph with an output, a theta of its size and a sample");
  }
}

}  // namespace

MultiprecisionDerivatives multiprecision_derivatives(const Graph& graph,
                                                     std::span<const double> theta,
                                                     Records records,
                                                     Curvature curvature) {
  using detail::Real50;
  constexpr int kWidth = 4;
  using Tape = detail::Tape<Real50, ceres::Jet<Real50, kWidth>>;

  const Eigen::Index n = graph.num_parameters();
  require_input("multiprecision_derivatives", graph, theta, records);
  Tape tape(graph);
  tape.set_parameters([&](Eigen::Index j) { return Real50(theta[static_cast<std::size_t>(j)]); });
  Real50 value = 0;
  std::vector<Real50> gradient(static_cast<std::size_t>(n));
  std::vector<Real50> hessian(static_cast<std::size_t>(n * n));
  const detail::SweepPlan all = detail::plan_sweep(graph, 0, n, 0);
  for (Eigen::Index i = 0; i < records.count; ++i) {
    tape.set_inputs([&](Eigen::Index e) { return Real50(records.data[i * records.stride + e]); });
    tape.forward();
    tape.reverse(all, Real50(1));
    value += tape.output();
    tape.visit_adjoints([&](Eigen::Index j, const Real50& adjoint) {
      gradient[static_cast<std::size_t>(j)] += adjoint;
    });
    // Computes all rows of all columns, without using symmetry as the double-precision engine does.
    for (Eigen::Index first = 0; first < n; first += kWidth) {
      const detail::SweepPlan plan = detail::plan_sweep(graph, first, first + kWidth, 0, curvature);
      tape.seed(plan, [&](Eigen::Index j, const Real50& entry) {
        Tape::Jet jet(entry);
        if (j >= first && j < first + kWidth) jet.v[j - first] = 1;
        return jet;
      });
      tape.forward_jets(plan);
      tape.reverse_jets(plan, Real50(1));
      tape.visit_adjoint_jets(0, [&](Eigen::Index j, const Tape::Jet& adjoint) {
        for (int k = 0; k < kWidth && first + k < n; ++k) {
          hessian[static_cast<std::size_t>((first + k) * n + j)] += adjoint.v[k];
        }
      });
    }
  }
  const Real50 count = records.count;
  MultiprecisionDerivatives result{
      static_cast<double>(Real50(value / count)), Eigen::VectorXd(n), Eigen::MatrixXd(n, n)};
  for (Eigen::Index j = 0; j < n; ++j) {
    result.gradient(j) = static_cast<double>(Real50(gradient[static_cast<std::size_t>(j)] / count));
    for (Eigen::Index i = 0; i < n; ++i) {
      result.hessian(i, j) =
          static_cast<double>(Real50(hessian[static_cast<std::size_t>(j * n + i)] / count));
    }
  }
  return result;
}

Eigen::MatrixXd multiprecision_third_derivative_times(const Graph& graph,
                                                      std::span<const double> theta,
                                                      Records records,
                                                      const Eigen::MatrixXd& u,
                                                      const Eigen::MatrixXd& v) {
  using detail::Real50;
  using Jet = ceres::Jet<Real50, 1>;
  const Real50 step("1e-15");
  const Eigen::Index n = graph.num_parameters();
  require_input("multiprecision_third_derivative_times", graph, theta, records);
  detail::Tape<Real50, Jet> tape(graph);
  const detail::SweepPlan all = detail::plan_sweep(graph, 0, n, 0);
  Eigen::MatrixXd result(n, u.cols());
  for (Eigen::Index k = 0; k < u.cols(); ++k) {
    std::vector<Real50> difference(static_cast<std::size_t>(n));
    for (const int side : {1, -1}) {
      tape.set_parameters([&](Eigen::Index j) {
        return Real50(theta[static_cast<std::size_t>(j)]) + side * step * Real50(u(j, k));
      });
      tape.seed(all, [&](Eigen::Index j, const Real50& value) {
        Jet jet(value);
        jet.v[0] = v(j, k);
        return jet;
      });
      for (Eigen::Index i = 0; i < records.count; ++i) {
        tape.set_inputs(
            [&](Eigen::Index e) { return Real50(records.data[i * records.stride + e]); });
        tape.forward_jets(all);
        tape.reverse_jets(all, Real50(1));
        tape.visit_adjoint_jets(0, [&](Eigen::Index j, const Jet& adjoint) {
          difference[static_cast<std::size_t>(j)] += side * adjoint.v[0];
        });
      }
    }
    for (Eigen::Index j = 0; j < n; ++j) {
      result(j, k) = static_cast<double>(
          Real50(difference[static_cast<std::size_t>(j)] / (2 * step * Real50(records.count))));
    }
  }
  return result;
}

Eigen::MatrixXd multiprecision_line_derivatives(const Graph& graph,
                                                std::span<const double> theta,
                                                Records records,
                                                const Eigen::MatrixXd& v) {
  using detail::Real50;
  require_input("multiprecision_line_derivatives", graph, theta, records);
  detail::Tape<Real50, ceres::Jet<Real50, 1>> tape(graph);
  return test::differences_along_lines(v.cols(), [&](Eigen::Index k, const Real50& t) {
    tape.set_parameters([&](Eigen::Index j) {
      return Real50(theta[static_cast<std::size_t>(j)]) + t * Real50(v(j, k));
    });
    Real50 total = 0;
    for (Eigen::Index i = 0; i < records.count; ++i) {
      tape.set_inputs([&](Eigen::Index e) { return Real50(records.data[i * records.stride + e]); });
      tape.forward();
      total += tape.output();
    }
    return Real50(total / Real50(records.count));
  });
}

}  // namespace hesscope
