// SPDX-License-Identifier: BSD-3-Clause
#include <exception>
#include <span>

#include <hesscope/objective/internal/team_calls.h>
#include <hesscope/objective/team_service.h>

namespace hesscope {
namespace detail {
namespace {

// Both sides: the first rank's numbers become those of the others.
template <typename Dense>
void exchange(Team& team, Dense& numbers) {
  if (numbers.size() == 0) return;
  team.broadcast(
      0,
      std::as_writable_bytes(std::span(numbers.data(), static_cast<std::size_t>(numbers.size()))));
}

void make(const TeamCall& call,
          const ServedTask& task,
          const Objective& objective,
          const Objective::Vector& theta,
          const Objective::Matrix& directions) {
  switch (call.kind) {
    case TeamCallKind::kEnd:
      return;
    case TeamCallKind::kValue:
      objective.value(theta, call.range);
      return;
    case TeamCallKind::kValueAndGradient:
      objective.value_and_gradient(theta, call.range);
      return;
    case TeamCallKind::kHessianTimes:
      objective.hessian_times(theta, directions, call.range);
      return;
    case TeamCallKind::kHessian:
      objective.hessian(theta, call.range, {});
      return;
    case TeamCallKind::kGaussNewtonTimes:
      objective.gauss_newton_times(theta, directions, call.range);
      return;
    case TeamCallKind::kGaussNewton:
      objective.gauss_newton(theta, call.range, {});
      return;
    case TeamCallKind::kPredictions:
      objective.predictions(theta, call.range);
      return;
    case TeamCallKind::kPredictionJacobian:
      objective.prediction_jacobian(theta, call.range);
      return;
    case TeamCallKind::kThirdDerivativeTimes:
      objective.third_derivative_times(theta,
                                       directions.leftCols(directions.cols() / 2),
                                       directions.rightCols(directions.cols() / 2),
                                       call.range);
      return;
    case TeamCallKind::kLineDerivatives:
      objective.line_derivatives(theta, directions, call.range);
      return;
    case TeamCallKind::kPerSampleGradients:
      objective.per_sample_gradients(theta, call.range);
      return;
    case TeamCallKind::kPerSampleHessianTimes:
      objective.per_sample_hessian_times(theta, directions, call.range);
      return;
    case TeamCallKind::kTask:
      task(objective, theta, call.range);
      return;
  }
}

}  // namespace

void announce(Team& team,
              const TeamCall& call,
              const Objective::ConstVectorRef& theta,
              const Objective::ConstMatrixRef& directions) {
  TeamCall said = call;
  team.await(std::as_writable_bytes(std::span(&said, 1)));
  if (call.kind == TeamCallKind::kEnd) return;
  Objective::Vector point;
  Objective::Matrix columns;
  team.together([&] {
    point = theta;
    columns = directions;
  });
  exchange(team, point);
  exchange(team, columns);
}

}  // namespace detail

void serve(Team& team, const ServedObjective& objective_of, const ServedTask& task) {
  while (true) {
    detail::TeamCall call;
    team.await(std::as_writable_bytes(std::span(&call, 1)));
    if (call.kind == detail::TeamCallKind::kEnd) return;
    try {
      Objective::Vector theta;
      Objective::Matrix directions;
      team.together([&] {
        theta.resize(call.num_parameters);
        directions.resize(call.num_parameters, call.num_directions);
      });
      detail::exchange(team, theta);
      detail::exchange(team, directions);
      team.call(
          {}, [&] { detail::make(call, task, *objective_of(call.objective), theta, directions); });
    } catch (const std::exception&) {
      // The first rank has heard of it.
    }
  }
}

void end_service(Team& team) {
  detail::announce(team, {}, Objective::Vector(), Objective::Matrix());
}

}  // namespace hesscope
