// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/article.h>
#include <hesscope/core/error.h>
#include <hesscope/core/executor.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/objective/internal/classification.h>
#include <hesscope/objective/internal/graph_objective_impl.h>
#include <hesscope/objective/invariance_search.h>

namespace hesscope {

namespace {

// What is not finite by a faster way, though all inputs are, is asked of the generic engine: a
// product of inputs of 1e160 overflows there that is multiplied by a curvature of 0 first here.
bool is_finite(const Objective::ValueAndGradient& found) {
  return std::isfinite(found.value) && found.gradient.allFinite();
}

}  // namespace

GraphObjective::GraphObjective(Model model, SampleTable samples, const Options& options)
    : GraphObjective(
          std::move(model), std::make_shared<const SampleTable>(std::move(samples)), options) {}

GraphObjective::GraphObjective(Model model,
                               std::shared_ptr<const SampleTable> samples,
                               const Options& options) {
  if (samples == nullptr) throw PreconditionError("GraphObjective: there is no table of samples");
  if (model.graph == nullptr || model.num_parameters() < 1) {
    throw PreconditionError("GraphObjective: the model must have a graph and parameters");
  }
  if (model.graph->num_parameters() != model.num_parameters() ||
      model.graph->record_size() > model.record_size()) {
    throw PreconditionError(
        fmt::format("GraphObjective: the model declares {} parameters and {} numbers a sample, its "
                    "graph uses {} and {}",
                    model.num_parameters(),
                    model.record_size(),
                    model.graph->num_parameters(),
                    model.graph->record_size()));
  }
  require_blocks("GraphObjective", model.parameters);
  if (samples->rows() < 1 || samples->cols() != model.record_size()) {
    throw PreconditionError(
        fmt::format("GraphObjective: samples must be a non-empty table of {} columns, got {} x {}",
                    model.record_size(),
                    samples->rows(),
                    samples->cols()));
  }
  if (!options.use_structure) {
    model.structured_hessian = nullptr;
    model.structured_loss = nullptr;
  }
  if (!(model.weight_decay >= 0 && std::isfinite(model.weight_decay))) {
    throw PreconditionError(fmt::format(
        "GraphObjective: weight_decay must be at least 0 and finite, got {}", model.weight_decay));
  }
  // The term sees the norm of the parameters, which what the model is invariant to changes.
  if (model.weight_decay != 0) {
    model.invariances.clear();
    model.searches_invariances = false;
  }
  require_supported(options.instruction_set);
  impl_ = std::make_unique<Impl>(std::move(model), std::move(samples), options);
}

GraphObjective::GraphObjective(Model model, SampleTable samples)
    : GraphObjective(std::move(model), std::move(samples), Options()) {}

GraphObjective::~GraphObjective() = default;

const Model& GraphObjective::model() const { return impl_->model; }

const Executor& GraphObjective::executor() const { return impl_->executor; }

GraphObjective::Options GraphObjective::options_alone() const {
  return {.num_threads = impl_->executor.num_threads(),
          .use_structure = impl_->use_structure,
          .instruction_set = impl_->instruction_set,
          .stop = impl_->executor.stop()};
}

Eigen::Index GraphObjective::num_parameters() const { return impl_->model.num_parameters(); }

const SampleTable& GraphObjective::samples() const { return *impl_->samples; }

const std::shared_ptr<const SampleTable>& GraphObjective::shared_samples() const {
  return impl_->samples;
}

Eigen::Index GraphObjective::num_samples() const { return impl_->samples->rows(); }

std::span<const ParameterBlock> GraphObjective::parameter_blocks() const {
  return impl_->model.parameters;
}

double GraphObjective::do_sample_weight(SampleRange range) const {
  if (!impl_->model.sample_weight) return Objective::do_sample_weight(range);
  double sum = 0;
  for (Eigen::Index i = range.begin; i < range.end; ++i) {
    const auto record = impl_->samples->row(i);
    sum += impl_->model.sample_weight({record.data(), static_cast<std::size_t>(record.size())});
  }
  return sum;
}

double GraphObjective::weight_decay() const { return impl_->model.weight_decay; }

double GraphObjective::do_value(const ConstVectorRef& theta, SampleRange range) const {
  return impl_->shared(detail::TeamCallKind::kValue, theta, range, [&] {
    return impl_->mean_loss(theta, range) + impl_->decay(theta);
  });
}

Objective::ValueAndGradient GraphObjective::do_value_and_gradient(const ConstVectorRef& theta,
                                                                  SampleRange range) const {
  const auto of_graph = [&] {
    if (impl_->structured_sums) {
      ValueAndGradient found = impl_->structured_sums->value_and_gradient(theta, range);
      if (is_finite(found) || !impl_->has_finite_inputs(theta, range)) return found;
    }
    return impl_->sums.value_and_gradient(theta, range);
  };
  return impl_->shared(detail::TeamCallKind::kValueAndGradient, theta, range, [&] {
    return impl_->with_decay(theta, of_graph);
  });
}

Objective::ValueAndGradient GraphObjective::value_and_gradient_of(
    const ConstVectorRef& theta, Eigen::Index num_samples, const RecordSource& source) const {
  if (theta.size() != num_parameters() || num_samples < 1) {
    throw PreconditionError(
        fmt::format("value_and_gradient_of: theta must have {} entries and there must be samples, "
                    "got {} and {}",
                    num_parameters(),
                    theta.size(),
                    num_samples));
  }
  if (!source) throw PreconditionError("value_and_gradient_of: source must not be empty");
  return impl_->with_decay(theta, [&] {
    if (impl_->structured_sums) {
      ValueAndGradient found =
          impl_->structured_sums->value_and_gradient_of(theta, num_samples, source);
      if (is_finite(found) || !theta.allFinite()) return found;
    }
    return impl_->sums.value_and_gradient_of(theta, num_samples, source);
  });
}

Objective::Matrix GraphObjective::do_hessian_times(const ConstVectorRef& theta,
                                                   const ConstMatrixRef& directions,
                                                   SampleRange range) const {
  Matrix result = products(Curvature::kHessian, theta, directions, range);
  if (impl_->model.weight_decay != 0) result += impl_->model.weight_decay * directions;
  return result;
}

Objective::Matrix GraphObjective::do_third_derivative_times(const ConstVectorRef& theta,
                                                            const ConstMatrixRef& u,
                                                            const ConstMatrixRef& v,
                                                            SampleRange range) const {
  Matrix pairs(u.rows(), 2 * u.cols());
  pairs << u, v;
  const auto compute = [&] { return impl_->sums.third_derivative_times(theta, u, v, range); };
  return impl_->shared(detail::TeamCallKind::kThirdDerivativeTimes, theta, range, compute, pairs);
}

Objective::Matrix GraphObjective::do_line_derivatives(const ConstVectorRef& theta,
                                                      const ConstMatrixRef& directions,
                                                      SampleRange range) const {
  const auto compute = [&] { return impl_->sums.line_derivatives(theta, directions, range); };
  Matrix result =
      impl_->shared(detail::TeamCallKind::kLineDerivatives, theta, range, compute, directions);
  const double w = impl_->model.weight_decay;
  if (w == 0) return result;
  // w/2 |theta + t v|^2; of copies, as in decay().
  const Vector point = theta;
  for (Eigen::Index k = 0; k < directions.cols(); ++k) {
    const Vector v = directions.col(k);
    result(0, k) += impl_->decay(theta);
    result(1, k) += w * point.dot(v);
    result(2, k) += w * v.squaredNorm();
  }
  return result;
}

bool GraphObjective::has_gauss_newton() const { return impl_->model.graph->prediction() >= 0; }

Objective::Matrix GraphObjective::do_gauss_newton_times(const ConstVectorRef& theta,
                                                        const ConstMatrixRef& directions,
                                                        SampleRange range) const {
  return products(Curvature::kGaussNewton, theta, directions, range);
}

Objective::Matrix GraphObjective::products(Curvature curvature,
                                           const ConstVectorRef& theta,
                                           const ConstMatrixRef& directions,
                                           SampleRange range) const {
  const auto kind = curvature == Curvature::kHessian ? detail::TeamCallKind::kHessianTimes
                                                     : detail::TeamCallKind::kGaussNewtonTimes;
  const auto compute = [&] {
    return impl_->sums.curvature_times(curvature, theta, directions, range);
  };
  return impl_->shared(kind, theta, range, compute, directions);
}

Objective::Matrix GraphObjective::do_hessian(const ConstVectorRef& theta,
                                             SampleRange range,
                                             const ProgressCallback& progress) const {
  Matrix h = impl_->shared(detail::TeamCallKind::kHessian, theta, range, [&] {
    return impl_->mean_hessian(theta, range, progress);
  });
  if (impl_->model.weight_decay != 0) h.diagonal().array() += impl_->model.weight_decay;
  return h;
}

Objective::Matrix GraphObjective::do_hessian_columns(const ConstVectorRef& theta,
                                                     SampleRange range,
                                                     Eigen::Index first,
                                                     Eigen::Index width) const {
  Matrix columns = impl_->sums.curvature_columns(Curvature::kHessian, theta, range, first, width);
  if (impl_->model.weight_decay != 0) {
    columns.diagonal().array() += impl_->model.weight_decay;
  }
  return columns;
}

void GraphObjective::do_with_ranks(const ConstVectorRef& theta,
                                   SampleRange range,
                                   const std::function<void()>& body) const {
  impl_->shared(detail::TeamCallKind::kTask, theta, range, [&] {
    body();
    return true;
  });
}

Objective::Matrix GraphObjective::do_gauss_newton(const ConstVectorRef& theta,
                                                  SampleRange range,
                                                  const ProgressCallback& progress) const {
  return impl_->shared(detail::TeamCallKind::kGaussNewton, theta, range, [&] {
    if (impl_->by_factors) {
      Matrix g(theta.size(), theta.size());
      if (impl_->sums.gauss_newton_by_factors(theta, range, progress, g) ||
          !impl_->has_finite_inputs(theta, range)) {
        return g;
      }
    }
    return impl_->sums.curvature(Curvature::kGaussNewton, theta, range, progress);
  });
}

Objective::Matrix GraphObjective::do_predictions(const ConstVectorRef& theta,
                                                 SampleRange range) const {
  return impl_->shared(detail::TeamCallKind::kPredictions, theta, range, [&] {
    return impl_->sums.predictions(theta, range);
  });
}

Objective::Matrix GraphObjective::do_prediction_jacobian(const ConstVectorRef& theta,
                                                         SampleRange range) const {
  return impl_->shared(detail::TeamCallKind::kPredictionJacobian, theta, range, [&] {
    return impl_->sums.prediction_jacobian(theta, range);
  });
}

bool GraphObjective::has_accuracy() const { return impl_->answers != nullptr; }

double GraphObjective::accuracy(const ConstVectorRef& theta, SampleRange range) const {
  if (!has_accuracy()) {
    throw PreconditionError(
        fmt::format("accuracy: needs a model that predicts classes or signs that its data hold, "
                    "got {} model that does not",
                    with_article(model().kind)));
  }
  require_point(*this, "accuracy", theta, range);
  const Matrix z = predictions(theta, range);
  Eigen::Index num_correct = 0;
  for (Eigen::Index i = 0; i < range.size(); ++i) {
    const double* record = impl_->sums.records({range.begin + i, range.end}).data;
    if (detail::is_correct(z.col(i), *impl_->answers, record + impl_->answers->offset))
      ++num_correct;
  }
  return static_cast<double>(num_correct) / static_cast<double>(range.size());
}

Objective::Matrix GraphObjective::do_per_sample_gradients(const ConstVectorRef& theta,
                                                          SampleRange range) const {
  Matrix gradients = impl_->shared(detail::TeamCallKind::kPerSampleGradients, theta, range, [&] {
    return impl_->sums.per_sample_gradients(theta, range);
  });
  if (impl_->model.weight_decay != 0) {
    gradients.colwise() += impl_->model.weight_decay * Vector(theta);
  }
  return gradients;
}

Objective::Matrix GraphObjective::do_per_sample_hessian_times(const ConstVectorRef& theta,
                                                              const ConstMatrixRef& directions,
                                                              SampleRange range) const {
  const auto compute = [&] {
    return impl_->sums.per_sample_hessian_times(theta, directions, range);
  };
  Matrix products = impl_->shared(
      detail::TeamCallKind::kPerSampleHessianTimes, theta, range, compute, directions);
  if (impl_->model.weight_decay != 0) products += impl_->model.weight_decay * directions;
  return products;
}

std::vector<Invariance> GraphObjective::invariances() const {
  if (!impl_->model.searches_invariances) return impl_->model.invariances;
  std::call_once(impl_->is_searched, [&] { impl_->found_invariances = find_invariances(*this); });
  return impl_->found_invariances;
}

std::optional<HessianPlan> GraphObjective::hessian_plan() const {
  impl_->structured_hessian();
  if (impl_->found_hessian == nullptr) return std::nullopt;
  return impl_->found_hessian->plan();
}

double GraphObjective::workspace_bytes() const {
  const int num_threads = impl_->executor.num_threads();
  const StructuredHessian* const structured = impl_->structured_hessian();
  const double scratch_bytes = structured != nullptr ? structured->workspace_bytes(num_threads)
                                                     : num_threads * impl_->sums.workspace_bytes();
  const double condensed_bytes =
      impl_->structured_sums ? impl_->structured_sums->workspace_bytes(num_threads) : 0.0;
  return static_cast<double>(impl_->samples->size()) * sizeof(double) + scratch_bytes +
         condensed_bytes;
}

}  // namespace hesscope
