// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/autodiff/internal/sweep_kernels.h>
#include <hesscope/autodiff/sweep.h>
#include <hesscope/core/error.h>

namespace hesscope {

Sweep::~Sweep() = default;

std::unique_ptr<Sweep> Sweep::create(const Graph& graph, InstructionSet set) {
  if (graph.output() < 0) throw PreconditionError("Sweep: the graph has no output");
  return HESSCOPE_KERNELS(sweep_kernels, set).create(graph);
}

double Sweep::workspace_bytes(const Graph& graph, InstructionSet set) {
  return HESSCOPE_KERNELS(sweep_kernels, set).bytes(graph);
}

}  // namespace hesscope
