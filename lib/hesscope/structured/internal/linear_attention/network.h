// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace hesscope::detail {

/// The network as passed to kernels. e = d + 1.
struct LinearAttentionNetwork {
  int e;
  int layers;
  int trained;      ///< the trained part of P and Q is the leading trained x trained one: d or e
  int context;      ///< n
  const double* p;  ///< layers x e x e: P / n
  const double* q;  ///< layers x e x e
};

}  // namespace hesscope::detail
