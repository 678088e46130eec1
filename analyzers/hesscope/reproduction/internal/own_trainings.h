// SPDX-License-Identifier: BSD-3-Clause
//
// Which trainings of experiments belong to a part, when a scheduler runs them in parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <hesscope/reproduction/internal/experiment_catalog.h>
#include <hesscope/storage/part.h>

namespace hesscope::detail {

/// All trainings, or those of a part. A training that starts where another ends is in the part of
/// that one.
class OwnTrainings {
 public:
  OwnTrainings(const std::vector<NamedExperiment>& all, const std::optional<io::Part>& part);

  bool has(const ExperimentDocument& document,
           const std::string& variant,
           const std::string& run,
           std::uint64_t seed) const {
    return own_.contains({document.name, variant, run, seed});
  }

  /// Whether any run of the variant is one of them.
  bool has_any_of(const ExperimentDocument& document, const ExperimentVariant& variant) const;

  std::size_t num_all() const { return num_all_; }

  std::size_t num_own() const { return own_.size(); }

 private:
  std::size_t num_all_ = 0;
  std::set<std::tuple<std::string, std::string, std::string, std::uint64_t>> own_;
};

}  // namespace hesscope::detail
