// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <hesscope/dataset/dataset.h>

namespace hesscope::detail {

/// Why the flag meanings of a variable cannot be stored as words separated by blanks: one is empty,
/// contains a blank, or occurs twice. As the end of a sentence; empty if there is no problem.
std::string problem_of_meanings(const Variable& variable);

}  // namespace hesscope::detail
