// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <vector>

#include <hesscope/autodiff/graph_work.h>
#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/linalg/internal/triangles.h>
#include <hesscope/objective/internal/gauss_newton_mean.h>
#include <hesscope/objective/internal/sweep_sums.h>

namespace hesscope::detail {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

using Eigen::Index;

// Samples per block of a sum: a function of the graph, since the result's last bits depend on it. A
// block has work enough for products of several packs to gain what they can, and for its sums, as
// many as there are parameters, to cost little beside it. Where one sample is much work a block is
// one pack: then few samples serve many threads.
Index samples_per_block(const Graph& graph) {
  constexpr double kWork = 1 << 22;    // multiply-adds of a block
  constexpr double kWorkOfSums = 256;  // for each of its sums
  constexpr double kMost = 64;
  const double work = std::max(kWork, kWorkOfSums * static_cast<double>(graph.num_parameters()));
  const double packs = std::min(work / gradient_multiply_adds(graph), kMost) / Sweep::kPackSamples;
  return Sweep::kPackSamples * std::max(Index{1}, static_cast<Index>(std::ceil(packs)));
}

static_assert(Objective::kColumnGroup == Sweep::kMaxDirections);
static_assert(Objective::kLineOrder == LineSweep::kOrder);

// Sums of gradient and value, in this order, and their means.
class MeanGradient {
 public:
  explicit MeanGradient(const Eigen::VectorXd& theta)
      : theta_(&theta), total_(static_cast<std::size_t>(theta.size()) + 1) {}

  std::span<double> total() { return total_; }

  void add(Sweep& sweep, Records records, std::span<double> partial) const {
    partial.back() +=
        sweep.value_and_gradient(span_of(*theta_), records, partial.first(partial.size() - 1));
  }

  Objective::ValueAndGradient of(Index num_samples) const {
    const double scale = 1.0 / static_cast<double>(num_samples);
    return {total_.back() / static_cast<double>(num_samples),
            scale * Eigen::Map<const Eigen::VectorXd>(total_.data(), theta_->size())};
  }

 private:
  const Eigen::VectorXd* theta_;
  std::vector<double> total_;
};

}  // namespace

SweepSums::SweepSums(const Graph& graph,
                     const SampleTable& samples,
                     const Executor& executor,
                     InstructionSet instruction_set)
    : graph_(&graph),
      samples_(&samples),
      executor_(&executor),
      instruction_set_(instruction_set),
      samples_per_block_(samples_per_block(graph)),
      pool_(graph, instruction_set) {}

Records SweepSums::records(SampleRange range) const {
  const Index stride = samples_->cols();
  return {samples_->data() + range.begin * stride, range.size(), stride};
}

Index SweepSums::num_blocks(Index num_samples) const {
  return ceil_div(num_samples, samples_per_block_);
}

SampleRange SweepSums::block_of(SampleRange range, Index b) const {
  const Index first = range.begin + b * samples_per_block_;
  return {first, std::min(first + samples_per_block_, range.end)};
}

Records SweepSums::block(SampleRange range, Index b) const { return records(block_of(range, b)); }

Index SweepSums::prediction_size() const {
  return graph_->nodes()[static_cast<std::size_t>(graph_->prediction())].size();
}

template <typename F>
Objective::Matrix SweepSums::columns(Index num_rows, SampleRange range, F fill) const {
  Matrix all(num_rows, range.size());
  const auto first_of = [&](Index b) { return b * samples_per_block_; };
  executor_->share(
      num_blocks(range.size()),
      [&](Index b) {
        const Records part = block(range, b);
        const auto size = static_cast<std::size_t>(num_rows * part.count);
        double* first = all.data() + first_of(b) * num_rows;
        pool_.with_sweep(
            [&](Sweep& sweep) { fill(sweep, part, std::span(first, size), first_of(b)); });
      },
      [&](Index begin, Index end) {
        const Index cols = std::min(first_of(end), range.size()) - first_of(begin);
        return MatrixPart{all.data() + first_of(begin) * num_rows, num_rows, cols, num_rows};
      });
  return all;
}

// Bodies that call sum() or executor_->sum(): those that ranks share follow each other.
template <typename F>
void SweepSums::for_each_sum(Index count, F body) const {
  if (executor_->team() == nullptr) {
    executor_->for_each(count, body);
  } else {
    for (Index i = 0; i < count; ++i) body(i);
  }
}

template <typename F>
void SweepSums::sum(SampleRange range, std::span<double> result, F body) const {
  executor_->sum(num_blocks(range.size()), result, [&](Index b, std::span<double> partial) {
    pool_.with_sweep([&](Sweep& sweep) { body(sweep, block(range, b), partial); });
  });
}

double SweepSums::value(const Eigen::VectorXd& theta, SampleRange range) const {
  double total = 0;
  sum(range, {&total, 1}, [&](Sweep& sweep, Records records, std::span<double> partial) {
    partial[0] += sweep.value(span_of(theta), records);
  });
  return total / static_cast<double>(range.size());
}

Objective::ValueAndGradient SweepSums::value_and_gradient(const Eigen::VectorXd& theta,
                                                          SampleRange range) const {
  MeanGradient mean(theta);
  sum(range, mean.total(), [&](Sweep& sweep, Records records, std::span<double> partial) {
    mean.add(sweep, records, partial);
  });
  return mean.of(range.size());
}

Objective::ValueAndGradient SweepSums::value_and_gradient_of(const Eigen::VectorXd& theta,
                                                             Index num_samples,
                                                             const RecordSource& source) const {
  const Index stride = samples_->cols();
  MeanGradient mean(theta);
  // What makes the samples is known to this process alone.
  executor_->alone().sum(
      num_blocks(num_samples), mean.total(), [&](Index b, std::span<double> partial) {
        pool_.with_workspace([&](Workspace& workspace) {
          const SampleRange made = block_of({0, num_samples}, b);
          workspace.records.resize(static_cast<std::size_t>(samples_per_block_ * stride));
          const std::span<double> records =
              std::span(workspace.records).first(static_cast<std::size_t>(made.size() * stride));
          source(made, records);
          mean.add(*workspace.sweep, {records.data(), made.size(), stride}, partial);
        });
      });
  return mean.of(num_samples);
}

template <typename F>
Objective::Matrix SweepSums::columns_in_groups(
    Index num_rows, Index num_columns, Index width, SampleRange range, F add) const {
  const double scale = 1.0 / static_cast<double>(range.size());
  Matrix result(num_rows, num_columns);
  for_each_sum(ceil_div(num_columns, width), [&](Index group) {
    const Index first = group * width;
    const Index count = std::min(width, num_columns - first);
    RowMajor product(num_rows, count);
    add(first, count, std::span(product.data(), static_cast<std::size_t>(product.size())));
    result.middleCols(first, count) = scale * product;
  });
  return result;
}

Objective::Matrix SweepSums::curvature_times(Curvature curvature,
                                             const Eigen::VectorXd& theta,
                                             const Objective::ConstMatrixRef& directions,
                                             SampleRange range) const {
  const auto add = [&](Index first, Index count, std::span<double> product) {
    const RowMajor v = directions.middleCols(first, count);
    sum(range, product, [&](Sweep& sweep, Records records, std::span<double> partial) {
      sweep.curvature_times(curvature,
                            span_of(theta),
                            records,
                            {v.data(), product.size()},
                            static_cast<int>(count),
                            partial);
    });
  };
  return columns_in_groups(num_parameters(), directions.cols(), Sweep::kMaxDirections, range, add);
}

Objective::Matrix SweepSums::third_derivative_times(const Eigen::VectorXd& theta,
                                                    const Objective::ConstMatrixRef& u,
                                                    const Objective::ConstMatrixRef& v,
                                                    SampleRange range) const {
  const auto add = [&](Index first, Index count, std::span<double> product) {
    const RowMajor left = u.middleCols(first, count);
    const RowMajor right = v.middleCols(first, count);
    const ThirdOrderSweep::Pairs pairs{
        {left.data(), product.size()}, {right.data(), product.size()}, static_cast<int>(count)};
    executor_->sum(num_blocks(range.size()), product, [&](Index b, std::span<double> partial) {
      pool_.with_third_order_sweep([&](ThirdOrderSweep& sweep) {
        sweep.third_derivative_times(span_of(theta), block(range, b), pairs, partial);
      });
    });
  };
  return columns_in_groups(num_parameters(), u.cols(), ThirdOrderSweep::kMaxPairs, range, add);
}

Objective::Matrix SweepSums::line_derivatives(const Eigen::VectorXd& theta,
                                              const Objective::ConstMatrixRef& directions,
                                              SampleRange range) const {
  const auto add = [&](Index first, Index count, std::span<double> product) {
    const RowMajor v = directions.middleCols(first, count);
    const auto size = static_cast<std::size_t>(v.size());
    executor_->sum(num_blocks(range.size()), product, [&](Index b, std::span<double> partial) {
      pool_.with_line_sweep([&](LineSweep& sweep) {
        sweep.line_derivatives(
            span_of(theta), block(range, b), {v.data(), size}, static_cast<int>(count), partial);
      });
    });
  };
  return columns_in_groups(
      LineSweep::kOrder + 1, directions.cols(), LineSweep::kMaxLines, range, add);
}

template <typename F>
std::vector<double> SweepSums::column_group(Curvature curvature,
                                            const Eigen::VectorXd& theta,
                                            SampleRange range,
                                            Index first,
                                            Index width,
                                            F on_block) const {
  std::vector<double> columns(static_cast<std::size_t>((num_parameters() - first) * width));
  executor_->alone().sum(
      num_blocks(range.size()), columns, [&](Index b, std::span<double> partial) {
        const Records records = block(range, b);
        pool_.with_sweep([&](Sweep& sweep) {
          sweep.curvature_columns(
              curvature, span_of(theta), records, first, static_cast<int>(width), partial);
        });
        on_block(records.count);
      });
  return columns;
}

Objective::Matrix SweepSums::curvature_columns(Curvature curvature,
                                               const Eigen::VectorXd& theta,
                                               SampleRange range,
                                               Index first,
                                               Index width) const {
  const Index n = num_parameters();
  const double scale = 1.0 / static_cast<double>(range.size());
  constexpr Index kWidth = Objective::kColumnGroup;
  Matrix result = Matrix::Zero(n - first, width);
  executor_->alone().for_each(ceil_div(width, kWidth), [&](Index group) {
    const Index begin = group * kWidth;
    const Index count = std::min(kWidth, width - begin);
    const std::vector<double> columns =
        column_group(curvature, theta, range, first + begin, count, [](Index) {});
    result.block(begin, begin, n - first - begin, count) =
        scale * Eigen::Map<const RowMajor>(columns.data(), n - first - begin, count);
  });
  return result;
}

Objective::Matrix SweepSums::curvature(Curvature curvature,
                                       const Eigen::VectorXd& theta,
                                       SampleRange range,
                                       const ProgressCallback& progress) const {
  const Index n = num_parameters();
  constexpr Index kWidth = Sweep::kMaxDirections;
  // Work is counted in entries times samples.
  const auto entries = [&](Index first) { return (n - first) * std::min(kWidth, n - first); };
  const Index num_groups = ceil_div(n, kWidth);
  const auto work = [&](Index group) { return static_cast<double>(entries(group * kWidth)); };
  const BlockRange own = executor_->own(num_groups, work);
  Index total = 0;
  for (Index group = own.begin; group < own.end; ++group) total += entries(group * kWidth);
  ProgressCounter counter(progress, total * range.size());
  Matrix h(n, n);
  // One task per block of columns: it computes the rows from the diagonal block down. No two tasks
  // write the same entry, and ranks have neighbouring blocks.
  const auto add_columns = [&](Index group) {
    const Index first = group * kWidth;
    const Index width = std::min(kWidth, n - first);
    const std::vector<double> columns =
        column_group(curvature, theta, range, first, width, [&](Index num_samples) {
          counter.advance(entries(first) * num_samples);
        });
    for (Index k = 0; k < width; ++k) {
      for (Index i = first + k; i < n; ++i) {
        h(i, first + k) = columns[static_cast<std::size_t>((i - first) * width + k)];
      }
    }
  };
  const auto part = [&](Index begin, Index end) {
    const Index first = begin * kWidth;
    return MatrixPart{&h(first, first), n - first, std::min(end * kWidth, n) - first, n};
  };
  executor_->share(num_groups, add_columns, part, work);
  fill_triangles(*executor_, Triangle::kLower, 1.0 / static_cast<double>(range.size()), h);
  return h;
}

bool SweepSums::gauss_newton_by_factors(const Eigen::VectorXd& theta,
                                        SampleRange range,
                                        const ProgressCallback& progress,
                                        Eigen::Ref<Matrix> g) const {
  return gauss_newton_mean(
      *graph_,
      records(range),
      [&](Records records, GaussNewtonFactors out) {
        pool_.with_sweep(
            [&](Sweep& sweep) { sweep.gauss_newton_factors(span_of(theta), records, out); });
      },
      *executor_,
      instruction_set_,
      progress,
      g);
}

Objective::Matrix SweepSums::predictions(const Eigen::VectorXd& theta, SampleRange range) const {
  return columns(prediction_size(),
                 range,
                 [&](Sweep& sweep, Records records, std::span<double> out, Index /*first*/) {
                   sweep.predictions(span_of(theta), records, out);
                 });
}

Objective::Matrix SweepSums::per_sample_gradients(const Eigen::VectorXd& theta,
                                                  SampleRange range) const {
  return columns(num_parameters(),
                 range,
                 [&](Sweep& sweep, Records records, std::span<double> out, Index /*first*/) {
                   sweep.per_sample_gradients(span_of(theta), records, out);
                 });
}

Objective::Matrix SweepSums::per_sample_hessian_times(const Eigen::VectorXd& theta,
                                                      const Matrix& directions,
                                                      SampleRange range) const {
  return columns(num_parameters(),
                 range,
                 [&](Sweep& sweep, Records records, std::span<double> out, Index first) {
                   sweep.per_sample_hessian_times(
                       span_of(theta), records, {directions.col(first).data(), out.size()}, out);
                 });
}

Objective::Matrix SweepSums::prediction_jacobian(const Eigen::VectorXd& theta,
                                                 SampleRange range) const {
  const Index n = num_parameters();
  const Index m = prediction_size();
  constexpr Index kPack = Sweep::kPackSamples;
  Matrix all(m * range.size(), n);
  const auto fill_pack = [&](Index pack) {
    const Index first = range.begin + pack * kPack;
    const SampleRange part{first, std::min(first + kPack, range.end)};
    std::vector<double> jacobian(static_cast<std::size_t>(m * n * kPack));
    std::vector<double> weighted(jacobian.size());
    pool_.with_sweep([&](Sweep& sweep) {
      sweep.gauss_newton_factors(span_of(theta), records(part), {jacobian, weighted});
    });
    for (Index k = 0; k < m; ++k) {
      for (Index j = 0; j < n; ++j) {
        const double* lanes = jacobian.data() + (k * n + j) * kPack;
        for (Index i = 0; i < part.size(); ++i) all((pack * kPack + i) * m + k, j) = lanes[i];
      }
    }
  };
  const auto rows = [&](Index begin, Index end) {
    const Index first = begin * kPack * m;
    const Index last = std::min(end * kPack, range.size()) * m;
    return MatrixPart{all.data() + first, last - first, n, all.rows()};
  };
  executor_->share(ceil_div(range.size(), kPack), fill_pack, rows);
  return all;
}

double SweepSums::workspace_bytes() const {
  // A Sweep, and per level of the summation tree a block of columns.
  const double block_bytes =
      static_cast<double>(num_parameters() * Sweep::kMaxDirections) * sizeof(double);
  const double levels = 2 + std::log2(static_cast<double>(num_blocks(samples_->rows())));
  return Sweep::workspace_bytes(*graph_, instruction_set_) + levels * block_bytes;
}

}  // namespace hesscope::detail
