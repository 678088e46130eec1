// SPDX-License-Identifier: BSD-3-Clause
//
// ADOL-C: one small tape per sample, recorded and evaluated by a dense driver: hessian (one
// direction after the other) or hessian2 (all at once), whichever is faster for the first sample.
// Recording takes a few percent of the time. One thread.
#include <variant>
#include <vector>

#include <adolc/adolc.h>

#include "peer.h"
#include "stopwatch.h"

namespace hesscope::bench {
namespace {

constexpr short kTape = 1;

using Driver = int (*)(short tape, int n, double* x, double** h);

template <typename Loss>
Eigen::MatrixXd hessian_of(const Loss& loss,
                           const Problem& problem,
                           Eigen::Index num_samples,
                           Driver driver) {
  const auto n = static_cast<int>(problem.theta.size());
  Eigen::VectorXd theta = problem.theta;
  Eigen::MatrixXd transposed(n, n);  // the driver writes rows of the lower triangle
  std::vector<double*> rows;
  for (int i = 0; i < n; ++i) rows.push_back(transposed.col(i).data());
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index s = 0; s < num_samples; ++s) {
    trace_on(kTape);
    VectorOf<adouble> variables(n);
    for (int i = 0; i < n; ++i) variables(i) <<= theta(i);
    double value = 0;
    loss(variables, problem.samples.row(s).data()) >>= value;
    trace_off();
    driver(kTape, n, theta.data(), rows.data());
    sum += transposed;
  }
  sum /= static_cast<double>(num_samples);
  return sum.transpose().selfadjointView<Eigen::Lower>();
}

template <typename Loss>
Driver faster_driver(const Loss& loss, const Problem& problem) {
  const auto seconds = [&](Driver driver) {
    return seconds_per_call(0.1, [&] { hessian_of(loss, problem, 1, driver); });
  };
  return seconds(&::hessian) < seconds(&::hessian2) ? &::hessian : &::hessian2;
}

}  // namespace
}  // namespace hesscope::bench

int main(int argc, char** argv) {
  using namespace hesscope::bench;
  Driver driver = nullptr;  // chosen in the first call: a process sees one problem
  return run_peer(
      argc,
      argv,
      "ADOL-C",
      false,
      [&driver](const PeerProblem& peer_problem, const Problem& problem, int /*num_threads*/) {
        return std::visit(
            [&](const auto& loss) {
              if (driver == nullptr) driver = faster_driver(loss, problem);
              return hessian_of(loss, problem, problem.samples.rows(), driver);
            },
            peer_problem.loss);
      });
}
