// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /condition: the four numbers of condition_numbers().
AnalyzerKind condition_analyzer();

}  // namespace hesscope
