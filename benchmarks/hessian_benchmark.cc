// SPDX-License-Identifier: BSD-3-Clause
//
// The generic engine on the models' usual sizes: one gradient, eight Hessian-vector products, and
// the full Hessian, on one thread. Compare times within one run only.
#include <cstdint>

#include <benchmark/benchmark.h>

#include <hesscope/models/attention.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/models/mlp.h>
#include <hesscope/objective/graph_objective.h>

namespace {

using hesscope::GraphObjective;
using hesscope::Model;

// Numbers in [-1, 1] from a fixed linear congruence: the cost does not depend on them.
class Numbers {
 public:
  double operator()() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(static_cast<std::int64_t>(state_)) * 0x1p-63;
  }

 private:
  std::uint64_t state_ = 1;
};

Model model_of(std::int64_t kind) {
  switch (kind) {
    case 0:
      return hesscope::linear_attention({.layers = 3, .dimension = 5, .context = 20});
    case 1:
      return hesscope::mlp({.widths = {2, 16, 16, 3}});
    default:
      return hesscope::attention({.heads = 2, .embedding = 4, .head_dimension = 3, .sequence = 6});
  }
}

struct Case {
  explicit Case(benchmark::State& state)
      : model(model_of(state.range(0))),
        theta(model.num_parameters()),
        objective(model, table(), {.num_threads = 1}) {
    Numbers number;
    for (double& entry : theta) entry = 0.1 * number();
    state.SetLabel(model.kind);
  }

  hesscope::SampleTable table() const {
    Numbers number;
    hesscope::SampleTable samples(256, model.record_size());
    for (double& entry : samples.reshaped()) entry = number();
    return samples;
  }

  Model model;
  Eigen::VectorXd theta;
  GraphObjective objective;
};

void BM_Gradient(benchmark::State& state) {
  const Case c(state);
  for (auto _ : state) benchmark::DoNotOptimize(c.objective.gradient(c.theta).norm());
}

void BM_HessianTimesEight(benchmark::State& state) {
  const Case c(state);
  const Eigen::MatrixXd v = Eigen::MatrixXd::Identity(c.theta.size(), 8);
  for (auto _ : state) benchmark::DoNotOptimize(c.objective.hessian_times(c.theta, v).norm());
}

void BM_Hessian(benchmark::State& state) {
  const Case c(state);
  for (auto _ : state) benchmark::DoNotOptimize(c.objective.hessian(c.theta).norm());
}

BENCHMARK(BM_Gradient)->DenseRange(0, 2)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_HessianTimesEight)->DenseRange(0, 2)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Hessian)->DenseRange(0, 2)->Unit(benchmark::kMillisecond);

}  // namespace
