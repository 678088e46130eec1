// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <utility>

#include <hesscope/core/memory.h>
#include <hesscope/objective/hessian_error.h>
#include <hesscope/objective/internal/classification.h>
#include <hesscope/objective/internal/gauss_newton_mean.h>
#include <hesscope/objective/internal/graph_objective_impl.h>

namespace hesscope {

GraphObjective::Impl::Impl(Model m, std::shared_ptr<const SampleTable> s, const Options& options)
    : model(std::move(m)),
      samples(std::move(s)),
      executor(options.num_threads, options.stop),
      team(options.team),
      team_number(options.team_number),
      ranks(executor.with(team.get())),
      by_factors(options.use_structure && detail::factors_pay(*model.graph)),
      answers(detail::answers_of(model)),
      sums(*model.graph, *samples, ranks, options.instruction_set),
      use_structure(options.use_structure),
      instruction_set(options.instruction_set) {
  if (model.structured_loss != nullptr) {
    structured_sums.emplace(model.structured_loss, *samples, ranks);
  }
}

double GraphObjective::Impl::mean_loss(const ConstVectorRef& theta, SampleRange range) const {
  if (structured_sums) {
    const double found = structured_sums->value(theta, range);
    if (std::isfinite(found) || !has_finite_inputs(theta, range)) return found;
  }
  return sums.value(theta, range);
}

Objective::Matrix GraphObjective::Impl::mean_hessian(const ConstVectorRef& theta,
                                                     SampleRange range,
                                                     const ProgressCallback& progress) const {
  const StructuredHessian* const structured = structured_hessian();
  if (structured == nullptr) {
    return sums.curvature(Curvature::kHessian, theta, range, progress);
  }
  const Vector point = theta;
  Matrix h(model.num_parameters(), model.num_parameters());
  const bool is_finite = structured->mean({point.data(), static_cast<std::size_t>(point.size())},
                                          sums.records(range),
                                          ranks,
                                          progress,
                                          h);
  const bool is_good = is_finite ? is_exact(theta, range, h) : !has_finite_inputs(theta, range);
  if (is_good) return h;
  h.resize(0, 0);
  return sums.curvature(Curvature::kHessian, theta, range, progress);
}

bool GraphObjective::Impl::is_exact(const ConstVectorRef& theta,
                                    SampleRange range,
                                    const Matrix& h) const {
  if (model.structured_hessian != nullptr) return true;
  const Vector product =
      sums.curvature_times(Curvature::kHessian, theta, sign_probe(theta.size()), range);
  constexpr double kMostError = 1e-10;  // of the norm: far above any rounding without cancellation
  const bool is_exact = has_small_error(h, product, kMostError, ranks);
  Team* const others = ranks.team();
  return others == nullptr ? is_exact : others->smallest(is_exact ? 1 : 0) != 0;
}

bool GraphObjective::Impl::has_room_for_hessian() const {
  const auto n = static_cast<double>(model.num_parameters());
  return n * n * sizeof(double) <= memory_limit_bytes();
}

const StructuredHessian* GraphObjective::Impl::structured_hessian() const {
  if (model.structured_hessian != nullptr) return model.structured_hessian.get();
  if (!use_structure || !has_room_for_hessian()) return nullptr;
  std::call_once(is_planned, [&] { found_hessian = graph_hessian(model.graph, instruction_set); });
  return found_hessian.get();
}

double GraphObjective::Impl::decay(const ConstVectorRef& theta) const {
  return model.weight_decay == 0 ? 0 : model.weight_decay / 2 * Vector(theta).squaredNorm();
}

bool GraphObjective::Impl::has_finite_inputs(const ConstVectorRef& theta, SampleRange range) const {
  return theta.allFinite() && samples->middleRows(range.begin, range.size()).allFinite();
}

}  // namespace hesscope
