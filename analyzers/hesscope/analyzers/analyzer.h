// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <hesscope/analyzers/point_analysis.h>
#include <hesscope/analyzers/record.h>

namespace hesscope {

/// Choices that analyzers share.
struct AnalyzerOptions {
  bool save_hessian = false;  ///< store the full matrix
};

/// One question about a checkpoint. Its answer is a group of the result file.
class Analyzer {
 public:
  /// A dimension of the group beyond `checkpoint` and the root's `parameter`.
  struct Dimension {
    std::string name;
    std::int64_t size;
  };

  virtual ~Analyzer() = default;

  /// Dimensions its quantities use, for an objective of this size.
  virtual std::vector<Dimension> dimensions(const Objective& objective) const = 0;

  virtual std::vector<Quantity> quantities() const = 0;

  /// Numbers worth showing in a summary, by name, most important first.
  virtual std::vector<std::string> headline() const = 0;

  /// The answer at one point. Numerical failure is in the record's statuses, not thrown.
  virtual Record analyze(PointAnalysis& point) const = 0;
};

}  // namespace hesscope
