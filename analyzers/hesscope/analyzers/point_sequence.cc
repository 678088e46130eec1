// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include <hesscope/analyzers/point_sequence.h>

namespace hesscope::detail {

PointSequence::PointSequence(SequenceContext context,
                             std::span<const Eigen::VectorXd> thetas,
                             std::vector<SequencePoint> points)
    : context_(std::move(context)), thetas_(thetas), points_(std::move(points)) {}

std::shared_ptr<PointAnalysis> PointSequence::visit(std::size_t i) {
  std::shared_ptr<PointAnalysis> point = make_point(i);
  if (point->index() == 0) {
    last_.reset();  // what came before is of another run
  } else if (last_ == nullptr) {
    last_ = make_point(i - 1);
  }
  point->set_previous(std::exchange(last_, point));
  return point;
}

std::shared_ptr<PointAnalysis> PointSequence::make_point(std::size_t i) {
  PointAnalysis::Options options = {.method = context_.method, .seed = context_.seed};
  if (context_.progress) {
    options.progress = [this, i](double fraction) { return context_.progress(i, fraction); };
  }
  auto point = std::make_shared<PointAnalysis>(*context_.objective, thetas_[i], std::move(options));
  point->set_optimizer(points_[i].optimizer);
  point->set_fresh_samples(context_.fresh_samples);
  if (context_.model_samples) point->set_model_samples(*context_.model_samples);
  find_trajectory(i);
  point->set_trajectory(trajectory_, i - first_of_trajectory_);
  return point;
}

void PointSequence::find_trajectory(std::size_t i) {
  if (trajectory_ != nullptr && i >= first_of_trajectory_ &&
      i < first_of_trajectory_ + trajectory_->size()) {
    return;
  }
  const auto begins_anew = [this](std::size_t k) {
    const auto& before = points_[k - 1].step;
    const auto& step = points_[k].step;
    return before && step && *step <= *before;
  };
  std::size_t first = i;
  while (first > 0 && !begins_anew(first)) --first;
  std::size_t end = i + 1;
  while (end < thetas_.size() && !begins_anew(end)) ++end;
  trajectory_ = std::make_shared<Trajectory>(thetas_.subspan(first, end - first));
  first_of_trajectory_ = first;
}

}  // namespace hesscope::detail
