// SPDX-License-Identifier: BSD-3-Clause
//
// The one list of analyzers.
#pragma once

#include <span>
#include <string>

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// In the order they are run and stored.
std::span<const AnalyzerEntry> analyzer_registry();

/// The entry of this name. @throws ConfigError with the nearest name and the list.
const AnalyzerEntry& find_analyzer(const std::string& name);

}  // namespace hesscope
