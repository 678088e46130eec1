// SPDX-License-Identifier: BSD-3-Clause
//
// The one list of analyzers: those built in, and those that a program adds.
#pragma once

#include <memory>
#include <span>
#include <string>

#include <hesscope/analyzers/analyzer.h>
#include <hesscope/core/settings.h>

namespace hesscope {

/// In the order they are run and stored, those that a program adds last. Valid for good, and
/// without those that are registered later.
std::span<const AnalyzerKind> analyzer_kinds();

/// Adds an analyzer for analyze() and run_analysis(), for this process. Safe to call concurrently
/// with all that looks at analyzers.
/// @throws PreconditionError if its name is not made of lower-case letters, digits and hyphens, or
///         names another analyzer or a variable of results; if one of its options is another's, or
///         has no fallback of its type; if it has no `create`.
void register_analyzer(AnalyzerKind entry);

/// The entry of this name. @throws ConfigError with the nearest name and the list.
const AnalyzerKind& find_analyzer_kind(const std::string& name);

/// By the kind's `create`. @throws PreconditionError if that makes nothing, or declares a variable
/// whose flag meanings are not one word each; what it throws itself.
std::unique_ptr<Analyzer> create_analyzer(const AnalyzerKind& kind, const Settings& settings);

/// All variables that its group can have, as they lie in a result, without values: those that it
/// declares without options and with each of its flags and choices.
Group declared_quantities(const AnalyzerKind& kind);

}  // namespace hesscope
