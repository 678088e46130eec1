// SPDX-License-Identifier: BSD-3-Clause
//
// What a landscape is made from: its inputs, opened and checked against each other.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <hesscope/analysis/internal/checkpoint_inputs.h>
#include <hesscope/analyzers/point_analysis.h>
#include <hesscope/landscape/directions.h>
#include <hesscope/landscape/landscape.h>
#include <hesscope/storage/run_configuration.h>

namespace hesscope::detail {

class LandscapeInputs {
 public:
  /// Opens everything, prepares the directions. `follow` is asked during the work at the centre.
  /// @throws ConfigError, InputError, PreconditionError.
  LandscapeInputs(const LandscapeRequest& request, ProgressCallback follow);
  LandscapeInputs(const LandscapeInputs&) = delete;
  LandscapeInputs& operator=(const LandscapeInputs&) = delete;

  /// All that a result depends on.
  io::RunConfiguration configuration(const LandscapeRequest& request) const;

  const DirectionKind& kind() const { return *named_.kind; }

  const std::string& argument() const { return named_.argument; }

  const CheckpointInputs& files() const { return files_; }

  /// That of the centre.
  const Objective& objective() const { return *centre_objective_.objective; }

  std::size_t centre_index() const { return centre_index_; }

  PointAnalysis& centre() { return centre_; }

  const DirectionContext& context() const { return context_; }

  const PreparedDirections& prepared() const { return prepared_; }

  /// SHA-256 of the files that the directions are read from, taken when they were.
  const std::vector<std::string>& direction_digests() const { return prepared_.digests; }

  /// Whether the grid is laid around the checkpoints once their places are known.
  bool is_framed(const LandscapeRequest& request) const {
    return request.has_default_span && kind().frames_trajectory;
  }

  /// As results record it; empty for kinds that scale nothing.
  std::string normalization() const;

 private:
  void warn_of_other_buffers();

  NamedDirections named_;
  CheckpointInputs files_;
  std::size_t centre_index_;
  CheckpointObjective centre_objective_;
  PointAnalysis centre_;
  DirectionContext context_;
  PreparedDirections prepared_;
};

}  // namespace hesscope::detail
