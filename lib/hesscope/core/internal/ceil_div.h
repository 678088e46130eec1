// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <type_traits>

namespace hesscope::detail {

/// a / b rounded up: the number of groups of b that hold a things. a >= 0, b > 0.
template <std::integral A, std::integral B>
constexpr std::common_type_t<A, B> ceil_div(A a, B b) {
  return (a + b - 1) / b;
}

}  // namespace hesscope::detail
