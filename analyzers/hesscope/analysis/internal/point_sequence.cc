// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include <hesscope/analysis/internal/point_sequence.h>

namespace hesscope::detail {

namespace {

// Several runs may follow each other: steps increase within one run.
std::vector<CheckpointRun> runs_by_steps(const std::vector<SequencePoint>& points) {
  std::vector<CheckpointRun> runs;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& step = points[i].step;
    const bool is_new = i == 0 || (points[i - 1].step && step && *step <= *points[i - 1].step);
    if (is_new) runs.push_back({.first = i});
    ++runs.back().size;
  }
  return runs;
}

}  // namespace

PointSequence::PointSequence(SequenceContext context,
                             std::span<const Eigen::VectorXd> thetas,
                             std::vector<SequencePoint> points)
    : context_(std::move(context)), thetas_(thetas), points_(std::move(points)) {
  if (context_.runs.empty()) context_.runs = runs_by_steps(points_);
}

std::shared_ptr<PointAnalysis> PointSequence::visit(std::size_t i) {
  std::shared_ptr<PointAnalysis> point = make_point(i);
  if (point->index() == 0) {
    last_.reset();  // previous points belong to another run
  } else if (last_ == nullptr) {
    last_ = make_point(i - 1);
  }
  point->set_previous(std::exchange(last_, point));
  return point;
}

std::shared_ptr<PointAnalysis> PointSequence::make_point(std::size_t i) {
  PointAnalysis::Options options = {.method = context_.method,
                                    .seed = context_.seed,
                                    .costs = costs_,
                                    .solver = context_.solver,
                                    .proves_fully = context_.proves_fully};
  if (context_.progress) {
    options.progress = [this, i](double fraction) { return context_.progress(i, fraction); };
  }
  const auto make = [&](const Objective& objective) {
    return std::make_shared<PointAnalysis>(objective, thetas_[i], std::move(options));
  };
  std::shared_ptr<PointAnalysis> point;
  if (context_.objective_at) {
    const auto own = std::make_shared<const CheckpointObjective>(context_.objective_at(i));
    point = make(*own->objective);
    point->set_fresh_samples(own->fresh_samples.get());
    point->set_model_samples({&own->objective->model(), &own->objective->samples()});
    point->keep(own);
  } else {
    point = make(*context_.objective);
    point->set_fresh_samples(context_.fresh_samples);
    if (context_.model_samples) point->set_model_samples(*context_.model_samples);
  }
  point->set_optimizer(points_[i].optimizer);
  point->set_given_settings(context_.given_settings);
  find_trajectory(i);
  point->set_trajectory(trajectory_, i - first_of_trajectory_);
  return point;
}

void PointSequence::find_trajectory(std::size_t i) {
  if (trajectory_ != nullptr && i >= first_of_trajectory_ &&
      i < first_of_trajectory_ + trajectory_->size()) {
    return;
  }
  const auto run = std::ranges::find_if(context_.runs, [i](const CheckpointRun& each) {
    return i >= each.first && i < each.first + each.size;
  });
  // Without an order, each point stands alone.
  first_of_trajectory_ = run->is_ordered ? run->first : i;
  Trajectory::ObjectiveAt objective_at;
  if (context_.objective_at) {
    objective_at = [at = context_.objective_at, first = first_of_trajectory_](std::size_t k) {
      return at(first + k).objective;
    };
  }
  trajectory_ = std::make_shared<Trajectory>(
      thetas_.subspan(first_of_trajectory_, run->is_ordered ? run->size : 1),
      run->is_ordered ? KnownOfRun::kAll : KnownOfRun::kAlone,
      std::move(objective_at));
}

}  // namespace hesscope::detail
