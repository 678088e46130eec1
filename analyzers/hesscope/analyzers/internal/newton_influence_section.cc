// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <utility>

#include <hesscope/analyzers/internal/newton_influence_section.h>
#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/core/constants.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;

Variable of_newton_step(Variable variable) {
  variable.undefined = {
      Status::kUndefinedNotStationary, Status::kUndefinedSingular, Status::kUndefinedOtherInertia};
  return variable;
}

}  // namespace

NewtonInfluenceSection::NewtonInfluenceSection(Group& declaring)
    : change_(declaring.add(of_newton_step(
          {.name = "newton_parameter_change",
           .dimensions = {"influential", "parameter"},
           .long_name = "how the parameters move without a sample, by a Newton step",
           .definition = "(H - h_i / N)^+ g_i / N: a Newton step on the loss of the other samples, "
                         "on the same space as H^+; undefined_other_inertia where H - h_i / N has "
                         "a different number of negative eigenvalues there than H; "
                         "undefined_singular where it is singular to rounding or where the step p "
                         "of num_zero changes its curvature along the Newton step by half or more",
           .references = {papers::kPregibon}}))),
      self_influence_(declaring.add(of_newton_step(
          {.name = "newton_self_influence",
           .dimensions = {"influential"},
           .long_name = "self-influence by a Newton step",
           .definition =
               "loss of the sample at theta + newton_parameter_change minus that at theta",
           .references = {papers::kPregibon}}))) {}

void NewtonInfluenceSection::set(const PointAnalysis& point,
                                 const UnexplainedHessian& hessian,
                                 const UnexplainedInverse& inverse,
                                 const std::vector<Index>& samples,
                                 const Eigen::MatrixXd& gradients,
                                 const ProgressCallback& progress,
                                 Group& answer) const {
  const Objective& objective = point.objective();
  const Index count = gradients.cols();
  const auto n = static_cast<std::size_t>(point.theta().size());
  std::vector<double> steps;
  std::vector<Status> step_statuses;
  std::vector<double> own;
  std::vector<Status> own_statuses;
  for (Index k = 0; k < count; ++k) {
    const Index i = samples[static_cast<std::size_t>(k)];
    const SampleRange range = {i, i + 1};
    const NewtonStep step =
        newton_step_without_sample(objective, point.theta(), hessian, inverse, i, gradients.col(k));
    if (step.status == Status::kOk) {
      steps.insert(steps.end(), step.change.begin(), step.change.end());
      own.push_back(objective.value(point.theta() + step.change, range) -
                    objective.value(point.theta(), range));
    } else {
      steps.insert(steps.end(), n, kNaN);
      own.push_back(kNaN);
    }
    const auto status_of = [&](double number) {
      if (step.status != Status::kOk) return step.status;
      return std::isfinite(number) ? Status::kOk : Status::kNonFinite;
    };
    own_statuses.push_back(status_of(own.back()));
    for (std::size_t j = steps.size() - n; j < steps.size(); ++j) {
      step_statuses.push_back(status_of(steps[j]));
    }
    report(progress, static_cast<double>(k + 1) / static_cast<double>(count));
  }
  answer[change_].set_numbers(std::move(steps), std::move(step_statuses));
  answer[self_influence_].set_numbers(std::move(own), std::move(own_statuses));
}

}  // namespace hesscope::detail
