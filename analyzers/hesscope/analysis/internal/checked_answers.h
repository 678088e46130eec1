// SPDX-License-Identifier: BSD-3-Clause
//
// Answers of analyzers, whoever wrote them, compared with what they have declared as soon as they
// are given: a result is written long after.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <hesscope/analysis/internal/chosen_analyzers.h>
#include <hesscope/dataset/dataset.h>
#include <hesscope/objective/objective.h>

namespace hesscope::detail {

/// The answer at a point, named as its analyzer.
/// @throws PreconditionError naming analyzer and variable: one that was not declared or is not
///         there, of another type, or with another number of values than its dimensions have; what
///         analyze() throws.
Group answer_at(const ChosenAnalyzer& chosen, PointAnalysis& point);

/// The same of all points together.
Group answer_of_run(const ChosenAnalyzer& chosen,
                    const Objective& objective,
                    std::span<const Group> answers,
                    std::uint64_t seed);

/// Adds the labels that `all` has not, each before those that follow it in `own`: of the dimensions
/// of two answers.
void add_labels(const std::vector<Dimension>& own, std::vector<Dimension>& all);

}  // namespace hesscope::detail
