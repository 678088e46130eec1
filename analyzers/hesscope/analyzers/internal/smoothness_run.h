// SPDX-License-Identifier: BSD-3-Clause
//
// The (L0, L1) part of /smoothness, which is computed for all checkpoints together.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <hesscope/dataset/dataset.h>

namespace hesscope::detail {

class SmoothnessRun {
 public:
  /// The variables of a checkpoint's answer that it uses, if they are there.
  struct Sources {
    VariableId spectral_norm;
    VariableId gradient_norm;
    VariableId directional_slope;  ///< that of gradient descent, the first, is NaN if g is zero
    VariableId step_norm;
    VariableId gradient;
    VariableId hessian_diagonal;
  };

  /// @param group  where to declare: Analyzer::declaring_of_run().
  SmoothnessRun(Group& group, const Sources& sources);

  /// `result`, which has everything that was declared, with values from the checkpoints' answers.
  Group summarize(Group result, std::span<const Group> answers, std::uint64_t seed) const;

 private:
  // L0 or L1, and both ends of its interval.
  struct Constant {
    VariableId value;
    VariableId lower;
    VariableId upper;
  };

  struct Line {
    Constant l0;
    Constant l1;
  };

  void set_lines(Group& result,
                 std::span<const double> x,
                 std::span<const double> y,
                 std::uint64_t seed) const;
  void set_coordinates(Group& result,
                       const std::vector<const std::vector<double>*>& gradients,
                       const std::vector<const std::vector<double>*>& diagonals,
                       const std::vector<bool>& are_zero) const;

  Sources sources_;
  std::vector<Line> lines_;
  std::array<VariableId, 2> coordinates_;  // L0 and L1 of each parameter
};

}  // namespace hesscope::detail
