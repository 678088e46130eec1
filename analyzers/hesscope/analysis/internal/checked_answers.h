// SPDX-License-Identifier: BSD-3-Clause
//
// Compares answers of analyzers, whoever wrote them, with their declarations as soon as they are
// given, since results are written much later.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <hesscope/analysis/internal/chosen_analyzers.h>
#include <hesscope/dataset/dataset.h>
#include <hesscope/objective/objective.h>

namespace hesscope::detail {

/// The answer at a point, named like its analyzer.
/// @throws PreconditionError naming analyzer and variable, if the variable was not declared, is
///         missing, has another type or another number of values than its dimensions have; and what
///         analyze() throws.
Group answer_at(const ChosenAnalyzer& chosen, PointAnalysis& point);

/// The same for all points together.
Group answer_of_run(const ChosenAnalyzer& chosen,
                    const Objective& objective,
                    std::span<const Group> answers,
                    std::uint64_t seed);

/// Adds labels of the dimensions of one answer that `all` lacks, each before those that follow it
/// in `own`.
void add_labels(const std::vector<Dimension>& own, std::vector<Dimension>& all);

}  // namespace hesscope::detail
