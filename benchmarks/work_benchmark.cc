// SPDX-License-Identifier: BSD-3-Clause
//
// The works under Google Benchmark, each by the structured method and by the generic engine, on one
// and on two threads. Compare times within one run only; --benchmark_filter=W2 selects works.
#include <string>

#include <benchmark/benchmark.h>

#include "works.h"

namespace hesscope::bench {
namespace {

void run(benchmark::State& state, const Work& work, bool use_structure) {
  const Problem problem = work.problem(best_instruction_set());
  const GraphObjective objective(
      problem.model,
      problem.samples,
      {.num_threads = static_cast<int>(state.range(0)), .use_structure = use_structure});
  for (auto _ : state) {
    benchmark::DoNotOptimize(perform(objective, problem.theta, work.quantity));
  }
  state.SetLabel(work.title);
}

void add(const Work& work, const std::string& suffix, bool use_structure) {
  benchmark::RegisterBenchmark(
      (work.name + suffix).c_str(),
      [&work, use_structure](benchmark::State& state) { run(state, work, use_structure); })
      ->ArgName("threads")
      ->Arg(1)
      ->Arg(2)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

}  // namespace
}  // namespace hesscope::bench

int main(int argc, char** argv) {
  using hesscope::bench::Quantity;
  for (const hesscope::bench::Work& work : hesscope::bench::works()) {
    hesscope::bench::add(work, "", true);
    if (work.quantity == Quantity::kHessian) hesscope::bench::add(work, "/generic", false);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
