// SPDX-License-Identifier: BSD-3-Clause
//
// Points of an objective of one's own, and what results say about them: the library's counterpart
// of CheckpointInputs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <hesscope/analysis/analyze.h>
#include <hesscope/analysis/checkpoints.h>
#include <hesscope/analysis/internal/checkpoint_result.h>
#include <hesscope/objective/fresh_samples.h>
#include <hesscope/objective/objective.h>
#include <hesscope/objective/sample_table.h>
#include <hesscope/storage/run_configuration.h>

namespace hesscope::detail {

/// The objective that points belong to, with what is known about it. Must not outlive its source.
class PointSubject {
 public:
  /// @throws as require_objective().
  explicit PointSubject(const Objective& objective);
  explicit PointSubject(const Problem& problem);
  PointSubject(const PointSubject&) = delete;
  PointSubject& operator=(const PointSubject&) = delete;

  const Objective& objective() const { return *objective_; }

  ResultSubject described;
  std::optional<ModelSamples> model_samples = {};
  const FreshSamples* fresh_samples = nullptr;

 private:
  const Objective* objective_;
};

/// @param function  begins the messages.
/// @throws PreconditionError if there are no points, or if names, sizes or optimisers do not fit.
void require_points(const std::string& function,
                    const Objective& objective,
                    const std::vector<NamedPoint>& points);

/// Their names and steps, as the root of a result has them.
std::vector<CheckpointFile> files_of(const std::vector<NamedPoint>& points);

/// Digests of their parameters.
std::vector<std::string> digests_of(const std::vector<NamedPoint>& points);

/// How the root of a result describes these points.
CheckpointDefinitions definitions_of_points();

/// What every result about such points depends on.
io::RunConfiguration configuration_of_points(const ResultSubject& subject,
                                             const std::vector<NamedPoint>& points,
                                             const std::vector<std::string>& digests);

}  // namespace hesscope::detail
