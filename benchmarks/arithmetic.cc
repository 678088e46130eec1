// SPDX-License-Identifier: BSD-3-Clause
#include "arithmetic.h"

#include <memory>

#include <hesscope/autodiff/graph_work.h>
#include <hesscope/structured/graph_hessian.h>

namespace hesscope::bench {

std::optional<double> arithmetic_gflop(const Problem& problem,
                                       Quantity quantity,
                                       InstructionSet set) {
  const double gflop_of_one = 2e-9 * static_cast<double>(problem.samples.rows());
  const Model& model = problem.model;
  if (quantity == Quantity::kGradient && model.structured_loss == nullptr) {
    return gflop_of_one * gradient_multiply_adds(*model.graph);
  }
  if (quantity != Quantity::kHessian || model.structured_hessian != nullptr) return std::nullopt;
  const std::shared_ptr<const GraphHessian> found = graph_hessian(model.graph, set);
  if (found == nullptr) return std::nullopt;
  const HessianPlan& plan = found->plan();
  return gflop_of_one * (plan.sweep_multiply_adds + plan.product_multiply_adds);
}

}  // namespace hesscope::bench
