// SPDX-License-Identifier: BSD-3-Clause
//
// Errors for requests that do not fit a graph.
#pragma once

#include <string>

#include <fmt/format.h>

#include <hesscope/autodiff/graph.h>
#include <hesscope/core/error.h>

namespace hesscope::detail {

[[noreturn]] inline void fail(const char* operation, const std::string& what) {
  throw PreconditionError(fmt::format("{}: {}", operation, what));
}

inline std::string shape(Var a) { return fmt::format("{} x {}", a.rows(), a.cols()); }

}  // namespace hesscope::detail
