// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <hesscope/core/team.h>
#include <hesscope/objective/objective.h>

namespace hesscope::detail {

/// A member of Objective; kEnd is none.
enum class TeamCallKind : std::int64_t {
  kEnd,
  kValue,
  kValueAndGradient,
  kHessianTimes,
  kHessian,
  kGaussNewtonTimes,
  kGaussNewton,
  kPredictions,
  kPredictionJacobian,
  kPerSampleGradients,
  kPerSampleHessianTimes,
  kThirdDerivativeTimes,  ///< directions: U, then V
  kLineDerivatives,
  kTask,  ///< with_ranks()
};

/// What of a call comes before its vectors.
struct TeamCall {
  TeamCallKind kind = TeamCallKind::kEnd;
  std::int64_t objective = 0;
  SampleRange range = {};
  std::int64_t num_parameters = 0;
  std::int64_t num_directions = 0;
};

/// On the first rank.
void announce(Team& team,
              const TeamCall& call,
              const Objective::ConstVectorRef& theta,
              const Objective::ConstMatrixRef& directions);

}  // namespace hesscope::detail
