// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <utility>

#include <Eigen/Core>
#ifdef HESSCOPE_BENCH_HAS_ADOLC
#include <adolc/adolc.h>
#endif

#include <hesscope/autodiff/derivatives.h>

#include "functor_times.h"
#include "functors.h"
#include "nested_ceres.h"
#include "statistics.h"

namespace hesscope::bench {

namespace {

template <int N>
Eigen::Matrix<double, N, 1> point() {
  Eigen::Matrix<double, N, 1> x;
  for (int i = 0; i < N; ++i) x(i) = 0.3 + 0.4 * std::cos(1.7 * i);
  return x;
}

template <int N, typename F>
Eigen::MatrixXd nested_ceres_hessian(const F& f, const Eigen::VectorXd& x) {
  using Outer = NestedJet<N>;
  Eigen::Matrix<Outer, Eigen::Dynamic, 1> seeded(N);
  for (int i = 0; i < N; ++i) seeded(i) = nested_variable<N>(x(i), i, i);
  const Outer y = f(seeded);
  Eigen::MatrixXd h(N, N);
  for (int i = 0; i < N; ++i) h.col(i) = y.v(i).v;
  return h;
}

// A method for the Hessian, how often it runs in a round, and the seconds per run in each round.
struct Way {
  std::function<Eigen::MatrixXd()> hessian;
  std::vector<double> seconds = {};
  int repeats = 0;

  double seconds_per_run() const {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) {
      const Eigen::MatrixXd h = hessian();
      asm volatile("" : : "r"(h.data()) : "memory");
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() /
           repeats;
  }
};

constexpr double kSecondsPerRound = 0.01;

void alternate(std::vector<Way>& ways, int num_rounds) {
  for (Way& way : ways) {
    way.repeats = 1;
    way.repeats = std::max(1, static_cast<int>(kSecondsPerRound / way.seconds_per_run()));
  }
  for (int round = 0; round < num_rounds; ++round) {
    for (Way& way : ways) way.seconds.push_back(way.seconds_per_run());
  }
}

#ifdef HESSCOPE_BENCH_HAS_ADOLC

constexpr short kTape = 1;

template <typename F>
void record(const F& f, Eigen::VectorXd x) {
  trace_on(kTape);
  Eigen::Matrix<adouble, Eigen::Dynamic, 1> variables(x.size());
  for (Eigen::Index i = 0; i < x.size(); ++i) variables(i) <<= x(i);
  double value = 0;
  f(variables) >>= value;
  trace_off();
}

// The lower triangle, as returned by ADOL-C's dense drivers, and its mirror image.
Eigen::MatrixXd adolc_hessian(int (*driver)(short, int, double*, double**), Eigen::VectorXd x) {
  const auto n = static_cast<int>(x.size());
  Eigen::MatrixXd transposed(n, n);
  std::vector<double*> rows;
  for (int i = 0; i < n; ++i) rows.push_back(transposed.col(i).data());
  driver(kTape, n, x.data(), rows.data());
  return Eigen::MatrixXd(transposed.transpose().selfadjointView<Eigen::Lower>());
}

#endif

template <int N, typename F>
FunctorTimes times_of(const F& f, int num_rounds) {
  const Eigen::Matrix<double, N, 1> fixed = point<N>();
  const Eigen::VectorXd x = fixed;
  std::vector<Way> ways;
  ways.push_back({[&] { return hesscope::hessian(f, x); }});
  ways.push_back({[&] { return hesscope::hessian(f, fixed); }});
  ways.push_back({[&] { return nested_ceres_hessian<N>(f, x); }});
#ifdef HESSCOPE_BENCH_HAS_ADOLC
  record(f, x);
  ways.push_back({[&] { return adolc_hessian(&::hessian, x); }});
  ways.push_back({[&] { return adolc_hessian(&::hessian2, x); }});
#endif
  alternate(ways, num_rounds);

  FunctorTimes times;
  times.function = F::kName;
  times.num_variables = N;
  const auto nanoseconds = [&](std::size_t way) { return 1e9 * median(ways[way].seconds); };
  times.hesscope = nanoseconds(0);
  times.hesscope_fixed = nanoseconds(1);
  times.nested_ceres = nanoseconds(2);
  if (ways.size() > 3) times.adolc = std::min(nanoseconds(3), nanoseconds(4));
  const Eigen::MatrixXd h = ways[0].hessian();
  for (const Way& way : ways) {
    const double difference = (way.hessian() - h).cwiseAbs().maxCoeff() / h.norm();
    if (!(difference <= times.largest_difference)) times.largest_difference = difference;
  }
  return times;
}

}  // namespace

std::vector<FunctorTimes> functor_times(int num_rounds) {
  return {times_of<4>(RosenbrockChain(), num_rounds),
          times_of<10>(RosenbrockChain(), num_rounds),
          times_of<30>(RosenbrockChain(), num_rounds),
          times_of<4>(LogSumExp(), num_rounds),
          times_of<10>(LogSumExp(), num_rounds),
          times_of<30>(LogSumExp(), num_rounds)};
}

}  // namespace hesscope::bench
