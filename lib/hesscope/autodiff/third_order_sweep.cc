// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/autodiff/internal/third_order_kernels.h>
#include <hesscope/autodiff/third_order_sweep.h>
#include <hesscope/core/error.h>

namespace hesscope {

ThirdOrderSweep::~ThirdOrderSweep() = default;

std::unique_ptr<ThirdOrderSweep> ThirdOrderSweep::create(const Graph& graph, InstructionSet set) {
  if (graph.output() < 0) throw PreconditionError("ThirdOrderSweep: the graph has no output");
  return HESSCOPE_KERNELS(third_order_kernels, set).create(graph);
}

double ThirdOrderSweep::workspace_bytes(const Graph& graph, InstructionSet set) {
  return HESSCOPE_KERNELS(third_order_kernels, set).bytes(graph);
}

}  // namespace hesscope
