// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/autodiff/sweep.h>
#include <hesscope/autodiff/sweep_kernels.h>
#include <hesscope/core/error.h>

namespace hesscope {
namespace {

const detail::SweepKernels& kernels_for(InstructionSet set) {
  require_supported(set);
#ifdef HESSCOPE_X86_KERNELS
  if (set == InstructionSet::kAvx512) return avx512::sweep_kernels();
  if (set == InstructionSet::kAvx2) return avx2::sweep_kernels();
#endif
  return baseline::sweep_kernels();
}

}  // namespace

Sweep::~Sweep() = default;

std::unique_ptr<Sweep> Sweep::create(const Graph& graph, InstructionSet set) {
  if (graph.output() < 0) throw PreconditionError("Sweep: the graph has no output");
  return kernels_for(set).create(graph);
}

double Sweep::workspace_bytes(const Graph& graph, InstructionSet set) {
  double entries = 0;
  for (const Graph::Node& node : graph.nodes()) entries += static_cast<double>(node.size());
  return entries * kernels_for(set).bytes_per_entry;
}

}  // namespace hesscope
