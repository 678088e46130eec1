// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <hesscope/dataset/dataset.h>

namespace hesscope::detail {

/// Why the flag meanings of a variable cannot be stored, where blanks stand between them: one is
/// empty, has a blank, or is there twice. As the end of a sentence; empty where all is well.
std::string problem_of_meanings(const Variable& variable);

}  // namespace hesscope::detail
