// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace hesscope::bench {

/// The type of constants that mix with scalar T; specialised if it is not double.
template <typename T>
struct ConstantOf {
  using Type = double;
};

}  // namespace hesscope::bench
