// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/autodiff/internal/line_kernels.h>
#include <hesscope/autodiff/line_sweep.h>
#include <hesscope/core/error.h>

namespace hesscope {

LineSweep::~LineSweep() = default;

std::unique_ptr<LineSweep> LineSweep::create(const Graph& graph, InstructionSet set) {
  if (graph.output() < 0) throw PreconditionError("LineSweep: the graph has no output");
  return HESSCOPE_KERNELS(line_kernels, set).create(graph);
}

double LineSweep::workspace_bytes(const Graph& graph, InstructionSet set) {
  return HESSCOPE_KERNELS(line_kernels, set).bytes(graph);
}

}  // namespace hesscope
