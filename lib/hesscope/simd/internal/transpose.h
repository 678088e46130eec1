// SPDX-License-Identifier: BSD-3-Clause
//
// For kernel sources only (lane.h): transposes a square of doubles, held in as many registers as a
// register has lanes.
#pragma once

#include <hesscope/simd/internal/lane.h>

namespace hesscope::HESSCOPE_ISA {

/// The registers whose lanes are the columns of x.
[[gnu::always_inline]] inline void transpose(Lane (&x)[kLanes]) {
#if HESSCOPE_LANES == 8  // perfect shuffles
  for (int stage = 1; stage < kLanes; stage *= 2) {
    Lane y[kLanes];
    for (int i = 0; i < kLanes / 2; ++i) {
      const Lane a = x[i];
      const Lane b = x[i + kLanes / 2];
      y[2 * i] = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
      y[2 * i + 1] = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
    }
    for (int i = 0; i < kLanes; ++i) x[i] = y[i];
  }
#elif HESSCOPE_LANES == 4  // within halves, then of halves
  const Lane even_01 = __builtin_shufflevector(x[0], x[1], 0, 4, 2, 6);
  const Lane odd_01 = __builtin_shufflevector(x[0], x[1], 1, 5, 3, 7);
  const Lane even_23 = __builtin_shufflevector(x[2], x[3], 0, 4, 2, 6);
  const Lane odd_23 = __builtin_shufflevector(x[2], x[3], 1, 5, 3, 7);
  x[0] = __builtin_shufflevector(even_01, even_23, 0, 1, 4, 5);
  x[1] = __builtin_shufflevector(odd_01, odd_23, 0, 1, 4, 5);
  x[2] = __builtin_shufflevector(even_01, even_23, 2, 3, 6, 7);
  x[3] = __builtin_shufflevector(odd_01, odd_23, 2, 3, 6, 7);
#else
  const Lane first = __builtin_shufflevector(x[0], x[1], 0, 2);
  x[1] = __builtin_shufflevector(x[0], x[1], 1, 3);
  x[0] = first;
#endif
}

}  // namespace hesscope::HESSCOPE_ISA
