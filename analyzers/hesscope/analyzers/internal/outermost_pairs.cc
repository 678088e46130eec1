// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>

#include <hesscope/analyzers/internal/group_dimensions.h>
#include <hesscope/analyzers/internal/outermost_pairs.h>
#include <hesscope/spectra/spectrum.h>

namespace hesscope::detail {

Dimension pair_dimension(std::int64_t count, const Objective& objective) {
  const std::int64_t size = std::min<std::int64_t>(count, objective.num_parameters());
  return rank_dimension("pair", size, "the outermost first");
}

Analyzer::Cost cost_of_pairs(std::int64_t count, const Objective& objective) {
  const auto n = static_cast<double>(objective.num_parameters());
  const double searches = 1 + static_cast<double>(count) / 4;
  return {.asks_hessian = true,
          .matrices = 1,
          .numbers = 512 * n,
          .searches = searches,
          .matrix_operations = searches * 200 * n * n + n * n * n / 15};
}

Variable of_end(Variable variable, const std::string& end) {
  variable.name += "_" + end;
  if (variable.type != VariableType::kInt8) variable.long_name += " (" + end + " eigenvalues)";
  return variable;
}

Variable outermost_eigenvalues() {
  return {.name = "eigenvalues",
          .dimensions = {"pair"},
          .long_name = "outermost eigenvalues",
          .definition = "the outermost first"};
}

Variable error_bound_of_end() {
  return {.name = "error_bound",
          .long_name = "bound on the eigenvalues' errors",
          .definition =
              "each eigenvalue is within this distance of the eigenvalue of H of the same rank; "
              "without a matrix, unless the search missed an eigenvalue"};
}

Variable proof_of_end() {
  return {.name = "proof",
          .type = VariableType::kInt8,
          .long_name = "how the eigenvalues were established",
          .definition = "as /spectrum/proof, each within the error bound",
          .flag_meanings = {std::begin(kProofMeanings), std::end(kProofMeanings)}};
}

}  // namespace hesscope::detail
