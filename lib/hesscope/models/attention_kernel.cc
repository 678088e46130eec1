// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <hesscope/models/attention_kernel.h>

namespace hesscope {

Var kernel_matrix(AttentionKernel kernel, Var queries, Var keys) {
  const double inverse_root_d = 1.0 / std::sqrt(static_cast<double>(queries.cols()));
  return kernel == AttentionKernel::kSoftmax
             ? softmax_rows(inverse_root_d * matmul_nt(queries, keys))
             : exp((-0.5 * inverse_root_d) * squared_distances(queries, keys));
}

Invariance kernel_invariance(AttentionKernel kernel, const MatrixView& wq, const MatrixView& wk) {
  const MatrixView q = wq.transposed();
  const MatrixView k = wk.transposed();
  return kernel == AttentionKernel::kSoftmax ? change_of_basis({q}, {k}) : rotation({q, k});
}

SettingKey kernel_key() {
  return {.name = "kernel", .meaning = "the attention kernel", .choices = {"softmax", "gaussian"}};
}

AttentionKernel kernel_named(const std::string& name) {
  return name == "softmax" ? AttentionKernel::kSoftmax : AttentionKernel::kGaussian;
}

}  // namespace hesscope
