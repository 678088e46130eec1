// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/executor.h>
#include <hesscope/objective/classification.h>
#include <hesscope/objective/gauss_newton_sum.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/objective/progress_counter.h>
#include <hesscope/objective/structured_sums.h>
#include <hesscope/objective/sweep_pool.h>

namespace hesscope {
namespace {

// Samples per block of a sum. Part of the definition of the result's last bits: a function of
// nothing.
constexpr Eigen::Index kSamplesPerBlock = 64;

using detail::Workspace;

}  // namespace

struct GraphObjective::Impl {
  Impl(Model m, SampleTable s, const Options& options)
      : model(std::move(m)),
        samples(std::move(s)),
        executor(options.num_threads),
        instruction_set(options.instruction_set),
        by_factors(options.use_structure && detail::factors_pay(*model.graph)),
        answers(detail::answers_of(model)),
        pool(*model.graph, instruction_set) {
    if (model.structured_loss != nullptr) {
      structured_sums.emplace(model.structured_loss, samples, executor);
    }
  }

  static Eigen::Index num_blocks(SampleRange range) {
    return (range.size() + kSamplesPerBlock - 1) / kSamplesPerBlock;
  }

  Records records(SampleRange range) const {
    const Eigen::Index stride = samples.cols();
    return {samples.data() + range.begin * stride, range.size(), stride};
  }

  Eigen::Index prediction_size() const {
    return model.graph->nodes()[static_cast<std::size_t>(model.graph->prediction())].size();
  }

  Records block(SampleRange range, Eigen::Index b) const {
    const Eigen::Index first = range.begin + b * kSamplesPerBlock;
    return records({first, std::min(first + kSamplesPerBlock, range.end)});
  }

  // Sum over the range, in fixed blocks and a fixed order, of what body adds for a block of
  // samples.
  template <typename F>
  void sum(SampleRange range, std::span<double> result, F body) const {
    executor.sum(num_blocks(range), result, [&](Eigen::Index b, std::span<double> partial) {
      pool.with_sweep([&](Sweep& sweep) { body(sweep, block(range, b), partial); });
    });
  }

  // The same over samples 0, 1, ... that `source` makes.
  template <typename F>
  void sum(Eigen::Index count, const RecordSource& source, std::span<double> result, F body) const {
    const SampleRange range{0, count};
    const Eigen::Index stride = model.record_size();
    executor.sum(num_blocks(range), result, [&](Eigen::Index b, std::span<double> partial) {
      pool.with_workspace([&](Workspace& workspace) {
        const SampleRange block{b * kSamplesPerBlock, std::min((b + 1) * kSamplesPerBlock, count)};
        workspace.records.resize(static_cast<std::size_t>(kSamplesPerBlock * stride));
        const std::span<double> records =
            std::span(workspace.records).first(static_cast<std::size_t>(block.size() * stride));
        source(block, records);
        body(*workspace.sweep, Records{records.data(), block.size(), stride}, partial);
      });
    });
  }

  Model model;
  SampleTable samples;
  Executor executor;
  InstructionSet instruction_set;
  bool by_factors;           // the full Gauss-Newton matrix
  const DataArray* answers;  // of the model; null where it does not classify
  mutable detail::SweepPool pool;
  std::optional<detail::StructuredSums> structured_sums;  // values and gradients, where there are
};

namespace {

std::span<const double> span_of(const Eigen::VectorXd& v) {
  return {v.data(), static_cast<std::size_t>(v.size())};
}

// Sums of gradient and value, in this order, and their means.
class MeanGradient {
 public:
  explicit MeanGradient(const Objective::ConstVectorRef& theta) : point_(theta) {}

  std::size_t size() const { return num_parameters() + 1; }

  auto body() const {
    return [this](Sweep& sweep, Records records, std::span<double> partial) {
      partial.back() +=
          sweep.value_and_gradient(span_of(point_), records, partial.first(num_parameters()));
    };
  }

  Objective::ValueAndGradient of(const std::vector<double>& total, Eigen::Index num_samples) const {
    const double scale = 1.0 / static_cast<double>(num_samples);
    return {total.back() / static_cast<double>(num_samples),
            scale * Eigen::Map<const Eigen::VectorXd>(total.data(), point_.size())};
  }

 private:
  std::size_t num_parameters() const { return static_cast<std::size_t>(point_.size()); }

  Eigen::VectorXd point_;
};

}  // namespace

GraphObjective::GraphObjective(Model model, SampleTable samples, Options options) {
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
  if (samples.rows() < 1 || samples.cols() != model.record_size()) {
    throw PreconditionError(
        fmt::format("GraphObjective: samples must be a non-empty table of {} columns, got {} x {}",
                    model.record_size(),
                    samples.rows(),
                    samples.cols()));
  }
  if (!options.use_structure) {
    model.structured_hessian = nullptr;
    model.structured_loss = nullptr;
  }
  require_supported(options.instruction_set);
  impl_ = std::make_unique<Impl>(std::move(model), std::move(samples), options);
}

GraphObjective::GraphObjective(Model model, SampleTable samples)
    : GraphObjective(std::move(model), std::move(samples), Options()) {}

GraphObjective::~GraphObjective() = default;

const Model& GraphObjective::model() const { return impl_->model; }

const Executor& GraphObjective::executor() const { return impl_->executor; }

Eigen::Index GraphObjective::num_parameters() const { return impl_->model.num_parameters(); }

const SampleTable& GraphObjective::samples() const { return impl_->samples; }

Eigen::Index GraphObjective::num_samples() const { return impl_->samples.rows(); }

std::span<const ParameterBlock> GraphObjective::parameter_blocks() const {
  return impl_->model.parameters;
}

double GraphObjective::value(const ConstVectorRef& theta, SampleRange range) const {
  require_point(*this, "value", theta, range);
  const Vector point = theta;
  if (impl_->structured_sums) return impl_->structured_sums->value(point, range);
  double total = 0;
  impl_->sum(range, {&total, 1}, [&](Sweep& sweep, Records records, std::span<double> partial) {
    partial[0] += sweep.value(span_of(point), records);
  });
  return total / static_cast<double>(range.size());
}

Objective::ValueAndGradient GraphObjective::value_and_gradient(const ConstVectorRef& theta,
                                                               SampleRange range) const {
  require_point(*this, "value_and_gradient", theta, range);
  if (impl_->structured_sums) return impl_->structured_sums->value_and_gradient(theta, range);
  const MeanGradient mean(theta);
  std::vector<double> total(mean.size());
  impl_->sum(range, total, mean.body());
  return mean.of(total, range.size());
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
  if (impl_->structured_sums) {
    return impl_->structured_sums->value_and_gradient_of(theta, num_samples, source);
  }
  const MeanGradient mean(theta);
  std::vector<double> total(mean.size());
  impl_->sum(num_samples, source, total, mean.body());
  return mean.of(total, num_samples);
}

Objective::Matrix GraphObjective::hessian_times(const ConstVectorRef& theta,
                                                const ConstMatrixRef& directions,
                                                SampleRange range) const {
  require_point(*this, "hessian_times", theta, range);
  return products("hessian_times", Curvature::kHessian, theta, directions, range);
}

bool GraphObjective::has_gauss_newton() const { return impl_->model.graph->prediction() >= 0; }

Objective::Matrix GraphObjective::gauss_newton_times(const ConstVectorRef& theta,
                                                     const ConstMatrixRef& directions,
                                                     SampleRange range) const {
  require_gauss_newton(*this, "gauss_newton_times");
  require_point(*this, "gauss_newton_times", theta, range);
  return products("gauss_newton_times", Curvature::kGaussNewton, theta, directions, range);
}

Objective::Matrix GraphObjective::products(const char* function,
                                           Curvature curvature,
                                           const ConstVectorRef& theta,
                                           const ConstMatrixRef& directions,
                                           SampleRange range) const {
  const Eigen::Index n = num_parameters();
  if (directions.rows() != n) {
    throw PreconditionError(
        fmt::format("{}: directions must have {} rows, got {}", function, n, directions.rows()));
  }
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Vector point = theta;
  const double scale = 1.0 / static_cast<double>(range.size());
  constexpr Eigen::Index kWidth = Sweep::kMaxDirections;
  Matrix result(n, directions.cols());
  impl_->executor.for_each((directions.cols() + kWidth - 1) / kWidth, [&](Eigen::Index group) {
    const Eigen::Index first = group * kWidth;
    const Eigen::Index width = std::min(kWidth, directions.cols() - first);
    const RowMajor v = directions.middleCols(first, width);
    RowMajor product(n, width);
    impl_->sum(range,
               {product.data(), static_cast<std::size_t>(product.size())},
               [&](Sweep& sweep, Records records, std::span<double> partial) {
                 sweep.curvature_times(curvature,
                                       span_of(point),
                                       records,
                                       {v.data(), static_cast<std::size_t>(v.size())},
                                       static_cast<int>(width),
                                       partial);
               });
    result.middleCols(first, width) = scale * product;
  });
  return result;
}

Objective::Matrix GraphObjective::hessian(const ConstVectorRef& theta,
                                          SampleRange range,
                                          const ProgressCallback& progress) const {
  require_point(*this, "hessian", theta, range);
  if (impl_->model.structured_hessian == nullptr) {
    return matrix(Curvature::kHessian, theta, range, progress);
  }
  const Vector point = theta;
  Matrix h(num_parameters(), num_parameters());
  detail::ProgressCounter counter(progress, range.size());
  impl_->model.structured_hessian->sum(
      span_of(point),
      impl_->records(range),
      impl_->executor,
      [&](Eigen::Index num_samples) { counter.advance(num_samples); },
      h);
  h *= 1.0 / static_cast<double>(range.size());
  return h;
}

Objective::Matrix GraphObjective::gauss_newton(const ConstVectorRef& theta,
                                               SampleRange range,
                                               const ProgressCallback& progress) const {
  require_gauss_newton(*this, "gauss_newton");
  require_point(*this, "gauss_newton", theta, range);
  if (!impl_->by_factors) return matrix(Curvature::kGaussNewton, theta, range, progress);
  const Vector point = theta;
  Matrix g(num_parameters(), num_parameters());
  detail::ProgressCounter counter(progress, range.size());
  detail::gauss_newton_sum(
      *impl_->model.graph,
      impl_->records(range),
      [&](Records records, GaussNewtonFactors out) {
        impl_->pool.with_sweep(
            [&](Sweep& sweep) { sweep.gauss_newton_factors(span_of(point), records, out); });
      },
      impl_->executor,
      impl_->instruction_set,
      [&](Eigen::Index num_samples) { counter.advance(num_samples); },
      g);
  g *= 1.0 / static_cast<double>(range.size());
  return g;
}

Objective::Matrix GraphObjective::matrix(Curvature curvature,
                                         const ConstVectorRef& theta,
                                         SampleRange range,
                                         const ProgressCallback& progress) const {
  const Eigen::Index n = num_parameters();
  const Vector point = theta;
  const double scale = 1.0 / static_cast<double>(range.size());
  constexpr Eigen::Index kWidth = Sweep::kMaxDirections;
  // Work is counted in entries times samples.
  const auto entries = [&](Eigen::Index first) {
    return (n - first) * std::min(kWidth, n - first);
  };
  Eigen::Index total = 0;
  for (Eigen::Index first = 0; first < n; first += kWidth) total += entries(first);
  detail::ProgressCounter counter(progress, total * range.size());
  Matrix h(n, n);
  // One task per block of columns: it computes the rows from the diagonal block down and writes
  // them and their mirror image; no two tasks write the same entry.
  impl_->executor.for_each((n + kWidth - 1) / kWidth, [&](Eigen::Index group) {
    const Eigen::Index first = group * kWidth;
    const Eigen::Index width = std::min(kWidth, n - first);
    std::vector<double> columns(static_cast<std::size_t>((n - first) * width));
    impl_->sum(range, columns, [&](Sweep& sweep, Records records, std::span<double> partial) {
      sweep.curvature_columns(
          curvature, span_of(point), records, first, static_cast<int>(width), partial);
      counter.advance(entries(first) * records.count);
    });
    for (Eigen::Index k = 0; k < width; ++k) {
      for (Eigen::Index i = first + k; i < n; ++i) {
        const double entry = scale * columns[static_cast<std::size_t>((i - first) * width + k)];
        h(i, first + k) = entry;
        h(first + k, i) = entry;
      }
    }
  });
  return h;
}

Objective::Matrix GraphObjective::predictions(const ConstVectorRef& theta,
                                              SampleRange range) const {
  if (!has_gauss_newton()) return Objective::predictions(theta, range);  // refuses
  require_point(*this, "predictions", theta, range);
  const Vector point = theta;
  const Eigen::Index m = impl_->prediction_size();
  Matrix all(m, range.size());
  impl_->executor.for_each(Impl::num_blocks(range), [&](Eigen::Index b) {
    const Records records = impl_->block(range, b);
    double* first = all.data() + b * kSamplesPerBlock * m;
    impl_->pool.with_sweep([&](Sweep& sweep) {
      sweep.predictions(
          span_of(point), records, {first, static_cast<std::size_t>(records.count * m)});
    });
  });
  return all;
}

Objective::Matrix GraphObjective::prediction_jacobian(const ConstVectorRef& theta,
                                                      SampleRange range) const {
  if (!has_gauss_newton()) return Objective::prediction_jacobian(theta, range);  // refuses
  require_point(*this, "prediction_jacobian", theta, range);
  const Vector point = theta;
  const Eigen::Index n = num_parameters();
  const Eigen::Index m = impl_->prediction_size();
  constexpr Eigen::Index kPack = Sweep::kPackSamples;
  Matrix all(m * range.size(), n);
  impl_->executor.for_each((range.size() + kPack - 1) / kPack, [&](Eigen::Index pack) {
    const Eigen::Index first = range.begin + pack * kPack;
    const SampleRange part{first, std::min(first + kPack, range.end)};
    std::vector<double> jacobian(static_cast<std::size_t>(m * n * kPack));
    std::vector<double> weighted(jacobian.size());
    impl_->pool.with_sweep([&](Sweep& sweep) {
      sweep.gauss_newton_factors(span_of(point), impl_->records(part), {jacobian, weighted});
    });
    for (Eigen::Index k = 0; k < m; ++k) {
      for (Eigen::Index j = 0; j < n; ++j) {
        const double* lanes = jacobian.data() + (k * n + j) * kPack;
        for (Eigen::Index i = 0; i < part.size(); ++i) {
          all((pack * kPack + i) * m + k, j) = lanes[i];
        }
      }
    }
  });
  return all;
}

bool GraphObjective::has_accuracy() const { return impl_->answers != nullptr; }

double GraphObjective::accuracy(const ConstVectorRef& theta, SampleRange range) const {
  if (!has_accuracy()) {
    throw PreconditionError(
        fmt::format("accuracy: needs a model that predicts classes or signs that its data hold, "
                    "got a {} model that does not",
                    model().kind));
  }
  const Matrix z = predictions(theta, range);
  Eigen::Index num_correct = 0;
  for (Eigen::Index i = 0; i < range.size(); ++i) {
    const double* record = impl_->records({range.begin + i, range.end}).data;
    if (detail::is_correct(z.col(i), *impl_->answers, record + impl_->answers->offset))
      ++num_correct;
  }
  return static_cast<double>(num_correct) / static_cast<double>(range.size());
}

Objective::Matrix GraphObjective::per_sample_gradients(const ConstVectorRef& theta,
                                                       SampleRange range) const {
  require_point(*this, "per_sample_gradients", theta, range);
  const Vector point = theta;
  const Eigen::Index n = num_parameters();
  Matrix gradients(n, range.size());
  impl_->executor.for_each(Impl::num_blocks(range), [&](Eigen::Index b) {
    const Records records = impl_->block(range, b);
    double* first = gradients.data() + b * kSamplesPerBlock * n;
    impl_->pool.with_sweep([&](Sweep& sweep) {
      sweep.per_sample_gradients(
          span_of(point), records, {first, static_cast<std::size_t>(records.count * n)});
    });
  });
  return gradients;
}

std::vector<Invariance> GraphObjective::invariances() const { return impl_->model.invariances; }

double GraphObjective::workspace_bytes() const {
  // Per thread: a Sweep, and per level of the summation tree a block of columns.
  const double block_bytes =
      static_cast<double>(num_parameters() * Sweep::kMaxDirections) * sizeof(double);
  const double levels = 2 + std::log2(static_cast<double>(Impl::num_blocks(all_samples())));
  const int num_threads = impl_->executor.num_threads();
  const double scratch_bytes =
      impl_->model.structured_hessian != nullptr
          ? impl_->model.structured_hessian->workspace_bytes(num_threads)
          : num_threads * (Sweep::workspace_bytes(*impl_->model.graph, impl_->instruction_set) +
                           levels * block_bytes);
  const double condensed_bytes =
      impl_->structured_sums ? impl_->structured_sums->workspace_bytes(num_threads) : 0.0;
  return static_cast<double>(impl_->samples.size()) * sizeof(double) + scratch_bytes +
         condensed_bytes;
}

}  // namespace hesscope
