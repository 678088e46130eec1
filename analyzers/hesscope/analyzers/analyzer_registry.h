// SPDX-License-Identifier: BSD-3-Clause
//
// The one list of analyzers.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

struct AnalyzerEntry {
  std::string name;      ///< on the command line and as the group in the result file
  std::string question;  ///< one line for help
  std::function<std::unique_ptr<Analyzer>(const AnalyzerOptions&)> create;
};

/// In the order they are run and stored.
std::span<const AnalyzerEntry> analyzer_registry();

/// The entry of this name. @throws ConfigError with the nearest name and the list.
const AnalyzerEntry& find_analyzer(const std::string& name);

}  // namespace hesscope
