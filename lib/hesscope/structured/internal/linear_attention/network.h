// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace hesscope::detail {

/// The network as kernels see it. e = d + 1.
struct LinearAttentionNetwork {
  int e;
  int layers;
  int trained;      ///< P and Q are trained in their leading trained x trained part: d or e
  int context;      ///< n
  const double* p;  ///< layers x e x e: P / n
  const double* q;  ///< layers x e x e
};

}  // namespace hesscope::detail
