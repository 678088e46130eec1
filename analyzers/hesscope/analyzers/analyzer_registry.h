// SPDX-License-Identifier: BSD-3-Clause
//
// The one list of analyzers: the built-in ones, and those that a program adds.
#pragma once

#include <memory>
#include <span>
#include <string>

#include <hesscope/analyzers/analyzer.h>
#include <hesscope/core/settings.h>

namespace hesscope {

/// In the order in which they run and are stored; those that a program adds come last. The span
/// stays valid for good, but does not show analyzers that are registered later.
std::span<const AnalyzerKind> analyzer_kinds();

/// Adds an analyzer for analyze() and run_analysis(), for this process. Safe to call concurrently
/// with everything that reads the list.
/// @throws PreconditionError if its name does not consist of lower-case letters, digits and
///         hyphens, or is the name of another analyzer or of a variable of results; if another
///         analyzer has one of its options, or an option has no fallback of its type; if it has no
///         `create`.
void register_analyzer(AnalyzerKind entry);

/// The entry of this name. @throws ConfigError with the nearest name and the list.
const AnalyzerKind& find_analyzer_kind(const std::string& name);

/// Calls the kind's `create`. @throws PreconditionError if that returns nothing, or declares a
/// variable whose flag meanings are not one word each; and what it throws itself.
std::unique_ptr<Analyzer> create_analyzer(const AnalyzerKind& kind, const Settings& settings);

/// All variables that its group can have, as they are in a result, without values: those that it
/// declares without options, and with each of its flags and choices.
Group declared_quantities(const AnalyzerKind& kind);

}  // namespace hesscope
