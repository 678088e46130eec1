// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/analyzers/internal/counted_index.h>
#include <hesscope/spectra/counts.h>

namespace hesscope::detail {

CountedIndex counted_index(const UnexplainedHessian& hessian,
                           const ProgressCallback& progress,
                           double largest_zero) {
  const double band = largest_zero + counting_band(hessian.matrix.rows(), hessian.norm);
  const ShiftedFactorization below(hessian.matrix, -band, part_of(progress, 0, 0.2));
  const ShiftedFactorization above(hessian.matrix, band, part_of(progress, 0.2, 0.4));
  EigenvalueCounter counter(hessian.matrix, part_of(progress, 0.4, 1));
  for (const Status status : {below.status(), above.status(), counter.status()}) {
    if (status != Status::kOk) return {.status = status};
  }
  CountedIndex found{.status = Status::kOk,
                     .num_negative = below.inertia().num_below,
                     .num_zero = above.inertia().num_below - below.inertia().num_below};
  const bool is_agreed = counter.num_below(-band) == found.num_negative &&
                         counter.num_below(band) == found.num_negative + found.num_zero;
  if (!is_agreed) return {.status = Status::kFailed};
  if (hessian.num_explained() == hessian.matrix.rows()) return found;  // a plane
  const RankedEigenvalue smallest = counter.eigenvalue(0);
  if (smallest.status != Status::kOk) return {.status = smallest.status};
  found.lambda_min = smallest.eigenvalue.value;
  return found;
}

}  // namespace hesscope::detail
