// SPDX-License-Identifier: BSD-3-Clause
//
// The parts of a page about results.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <hesscope/figures/figure_registry.h>
#include <hesscope/report/page.h>

namespace hesscope::report {

/// "spectrum/lambda_max", "/loss": the id of a variable's definition.
std::string definition_id(const std::string& group, const std::string& name);

/// The origin of a result: program, command, problem, data, checkpoints; with its warnings.
Card provenance_of(const figures::Source& source);

/// Pictures of a kind of figure, for the sources that have what it needs. Empty if there are none.
std::vector<Picture> pictures_of(const figures::FigureKind& kind,
                                 std::span<const figures::Source> sources);

/// The numbers of a group by checkpoint; without rows if no source has any.
Table numbers_of(const std::string& group, std::span<const figures::Source> sources);

/// The numbers of a group that describe a whole run.
Table run_numbers_of(const std::string& group, std::span<const figures::Source> sources);

/// Which numbers are missing or unproved, how many, and why.
Table gaps_of(std::span<const figures::Source> sources);

/// The definitions of all variables, by group.
std::vector<Definition> definitions_of(std::span<const figures::Source> sources);

}  // namespace hesscope::report
