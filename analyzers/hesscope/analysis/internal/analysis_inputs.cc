// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/analysis/internal/analysis_inputs.h>
#include <hesscope/analyzers/analyzer_registry.h>
#include <hesscope/core/error.h>
#include <hesscope/core/name_list.h>
#include <hesscope/problem/checkpoint_buffers.h>
#include <hesscope/spectra/distributed_cost.h>

namespace hesscope::detail {
namespace {

// Warns of analyzers that compare checkpoints, if successive checkpoints hold different buffers.
void warn_of_other_buffers(AnalysisInputs& inputs) {
  const auto differ = [&](std::size_t a, std::size_t b) {
    return are_other_buffers(
        inputs.problem.model(), inputs.buffers[a].get(), inputs.buffers[b].get());
  };
  std::vector<std::size_t> others;  // that differ from the previous one
  for (const CheckpointRun& run : inputs.runs) {
    if (!run.is_ordered) continue;
    for (std::size_t i = run.first + 1; i < run.first + run.size; ++i) {
      if (differ(i, i - 1)) others.push_back(i);
    }
  }
  if (others.empty()) return;
  for (const ChosenAnalyzer& each : inputs.analyzers) {
    const std::string& what = find_analyzer_kind(each.name).on_other_buffers;
    if (what.empty()) continue;
    inputs.warnings.push_back(
        fmt::format("{}{}: other buffers (running statistics, say) than at the checkpoint before; "
                    "in /{} {}",
                    inputs.checkpoints[others.front()].path.string(),
                    and_more(others.size() - 1),
                    each.name,
                    what));
  }
}

}  // namespace

AnalysisInputs open_inputs(const AnalysisRequest& request) {
  if (request.method == SpectrumMethod::kDistributed && request.solver == nullptr &&
      request.foreseen_ranks == 0) {
    throw ConfigError(
        "`method` distributed spreads the Hessian over the ranks of MPI, and this is one process; "
        "use `mpirun -n N hesscope-mpi analyze ...` instead, and see docs/clusters.md");
  }
  std::vector<ChosenAnalyzer> analyzers =
      choose_analyzers(request.only, request.also, request.options);
  const bool proves_fully = need_full_proof(analyzers, request.method);
  if (request.engine() == DistributedEngine::kElpa && !proves_fully) {
    throw ConfigError(
        "`engine` elpa goes with `prove` full: what ELPA finds is taken only with eigenvectors "
        "that "
        "bear it out");
  }
  AnalysisInputs inputs{open_inputs("run_analysis", request, request.threads(), request.stop),
                        std::move(analyzers),
                        proves_fully};
  inputs.require_output_apart(request.output);
  if (request.engine() == DistributedEngine::kElpa) {
    require_grid_for_elpa(inputs.problem.objective().num_parameters(), request.grid());
  }
  const Problem& problem = inputs.problem;
  require_matrix(inputs.analyzers, request.method, problem.objective().num_parameters());
  const std::vector<std::string> remarks =
      remarks_of(inputs.analyzers, inputs.optimizers, problem.objective());
  inputs.warnings.insert(inputs.warnings.end(), remarks.begin(), remarks.end());
  warn_of_other_buffers(inputs);
  for (const ChosenAnalyzer& each : inputs.analyzers) {
    const std::string option = each.analyzer->needs_fresh_samples();
    if (option.empty() || problem.fresh_samples() != nullptr) continue;
    throw ConfigError(fmt::format(
        "{}: {} draws new samples, but the data are those of a file ({}); give [data] a "
        "'kind', a sampler",
        problem.file().path.string(),
        option,
        problem.file().data_path.string()));
  }
  return inputs;
}

io::RunConfiguration AnalysisInputs::configuration(const AnalysisRequest& request) const {
  io::RunConfiguration all = CheckpointInputs::configuration();
  for (auto& entry : configuration_of(analyzers, request.method, request.seed)) {
    all.push_back(std::move(entry));
  }
  // The last bits depend on the library and on the grid of ranks, but not on the number of ranks.
  if (request.solver != nullptr) {
    all.emplace_back("engine", name_of(request.solver->engine()));
    all.emplace_back("grid", fmt::format("{}", request.solver->grid()));
  }
  return all;
}

}  // namespace hesscope::detail
