// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/linalg/internal/triangles.h>
#include <hesscope/structured/internal/graph/composed_hessian.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;

constexpr Index kRecordsOfBlock = 1024;
constexpr Index kWeightsOfBlock = 64;
constexpr Index kColumnsOfBlock = 16;

// w and dw/dtheta, the latter as the nonzero entries of its columns.
struct Weights {
  Eigen::VectorXd values;
  std::vector<Index> first;  // for each column; ends with the end of the last
  std::vector<Index> rows;
  std::vector<double> entries;
  bool is_finite = true;
};

class ComposedHessian final : public GraphHessian {
 public:
  ComposedHessian(ComputedWeights weights,
                  std::shared_ptr<const GraphHessian> outer,
                  std::shared_ptr<const GraphHessian> inner,
                  std::shared_ptr<const GraphHessian> direct,
                  InstructionSet set)
      : weights_(std::move(weights)),
        outer_(std::move(outer)),
        inner_(std::move(inner)),
        direct_(std::move(direct)),
        set_(set) {}

  const HessianPlan& plan() const override { return outer_->plan(); }

  bool mean(std::span<const double> theta,
            Records records,
            const Executor& executor,
            const ProgressCallback& progress,
            Eigen::Ref<Eigen::MatrixXd> h) const override;

  double workspace_bytes(int num_threads) const override {
    const auto n = static_cast<double>(weights_.num_weights());
    const auto parameters = static_cast<double>(weights_.inner->num_parameters());
    // For J: by rows, then by columns, with an entry and its place each.
    const double own = n * n + 4 * weights_.max_slopes + parameters * parameters;
    const double of_outer = own * sizeof(double) + outer_->workspace_bytes(num_threads) +
                            inner_->workspace_bytes(num_threads);
    return direct_ == nullptr ? of_outer
                              : std::max(of_outer, direct_->workspace_bytes(num_threads));
  }

 private:
  Weights weights_at(std::span<const double> theta, const Executor& executor) const;
  Eigen::VectorXd slopes_at(std::span<const double> w,
                            Records records,
                            const Executor& executor) const;
  bool pays(const Weights& w, Index num_parameters, Index num_samples) const;

  ComputedWeights weights_;
  std::shared_ptr<const GraphHessian> outer_;
  std::shared_ptr<const GraphHessian> inner_;
  std::shared_ptr<const GraphHessian> direct_;
  InstructionSet set_;
};

Weights ComposedHessian::weights_at(std::span<const double> theta, const Executor& executor) const {
  const Graph& inner = *weights_.inner;
  const auto num_kept = std::ssize(weights_.kept);
  const Index count = weights_.num_computed;
  const Index n = inner.num_parameters();
  const auto own = theta.first(at(n));
  Weights w;
  w.values.resize(weights_.num_weights());
  for (Index k = 0; k < num_kept; ++k) w.values(k) = theta[at(weights_.kept[at(k)])];
  const std::vector<double> none(at(count), 0.0);
  Sweep::create(inner, set_)
      ->predictions(own, {none.data(), 1, count}, {w.values.data() + num_kept, at(count)});
  // For each computed weight, the entries of its gradient.
  std::vector<std::vector<std::pair<Index, double>>> gradients(at(count));
  const Index num_blocks = ceil_div(count, kWeightsOfBlock);
  executor.for_each(num_blocks, [&](Index block) {
    const Index begin = block * kWeightsOfBlock;
    const Index size = std::min(kWeightsOfBlock, count - begin);
    std::vector<double> lambda(at(size * count), 0.0);
    std::vector<double> rows(at(size * n));
    for (Index k = 0; k < size; ++k) lambda[at(k * count + begin + k)] = 1;
    Sweep::create(inner, set_)->per_sample_gradients(own, {lambda.data(), size, count}, rows);
    for (Index k = 0; k < size; ++k) {
      for (Index j = 0; j < n; ++j) {
        const double slope = rows[at(k * n + j)];
        if (slope != 0) gradients[at(begin + k)].emplace_back(j, slope);
      }
    }
  });
  std::vector<Index> counts(theta.size() + 1, 0);
  for (const Index parameter : weights_.kept) ++counts[at(parameter + 1)];
  for (const auto& gradient : gradients) {
    for (const auto& [parameter, slope] : gradient) ++counts[at(parameter + 1)];
  }
  for (std::size_t j = 1; j < counts.size(); ++j) counts[j] += counts[j - 1];
  w.first = counts;
  w.rows.resize(at(counts.back()));
  w.entries.resize(at(counts.back()));
  const auto add = [&](Index row, Index column, double entry) {
    const std::size_t place = at(counts[at(column)]++);
    w.rows[place] = row;
    w.entries[place] = entry;
  };
  for (Index k = 0; k < num_kept; ++k) add(k, weights_.kept[at(k)], 1);
  for (Index k = 0; k < count; ++k) {
    for (const auto& [parameter, slope] : gradients[at(k)]) add(num_kept + k, parameter, slope);
  }
  w.is_finite = w.values.allFinite() &&
                std::ranges::all_of(w.entries, [](double x) { return std::isfinite(x); });
  return w;
}

// The mean of dL/dw.
Eigen::VectorXd ComposedHessian::slopes_at(std::span<const double> w,
                                           Records records,
                                           const Executor& executor) const {
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(std::ssize(w));
  executor.sum(ceil_div(records.count, kRecordsOfBlock),
               {sum.data(), w.size()},
               [&](Index block, std::span<double> partial) {
                 const Index begin = block * kRecordsOfBlock;
                 const Records part{records.data + begin * records.stride,
                                    std::min(kRecordsOfBlock, records.count - begin),
                                    records.stride};
                 Sweep::create(*weights_.outer, set_)->value_and_gradient(w, part, partial);
               });
  return sum / static_cast<double>(records.count);
}

// Whether this takes less work than direct_; processing an entry of J, at a random place, takes as
// long as several other operations.
bool ComposedHessian::pays(const Weights& w, Index num_parameters, Index num_samples) const {
  constexpr double kPerEntry = 4;
  const auto n = static_cast<double>(weights_.num_weights() + num_parameters);
  const double products = kPerEntry * static_cast<double>(w.entries.size()) * n;
  const double gain = direct_->plan().multiply_adds() - outer_->plan().multiply_adds();
  return products + inner_->plan().multiply_adds() < gain * static_cast<double>(num_samples);
}

bool ComposedHessian::mean(std::span<const double> theta,
                           Records records,
                           const Executor& executor,
                           const ProgressCallback& progress,
                           Eigen::Ref<Eigen::MatrixXd> h) const {
  require_fit(weights_.num_parameters, theta, records, h);
  const Executor alone = executor.alone();
  const Weights w = weights_at(theta, alone);
  if (direct_ != nullptr && !(w.is_finite && pays(w, h.cols(), records.count))) {
    return direct_->mean(theta, records, executor, progress, h);
  }
  if (!w.is_finite) {
    h.setConstant(kNaN);
    return false;
  }
  const Index num_weights = weights_.num_weights();
  const std::span<const double> values(w.values.data(), at(num_weights));
  Eigen::MatrixXd of_weights(num_weights, num_weights);
  bool is_finite = outer_->mean(values, records, executor, progress, of_weights);
  const Eigen::VectorXd slopes = slopes_at(values, records, alone);
  const Index inner_parameters = weights_.inner->num_parameters();
  Eigen::MatrixXd bends(inner_parameters, inner_parameters);
  const Index num_kept = std::ssize(weights_.kept);
  is_finite = inner_->mean(theta.first(at(inner_parameters)),
                           {slopes.data() + num_kept, 1, weights_.num_computed},
                           alone,
                           {},
                           bends) &&
              is_finite;
  if (!is_finite) {
    h.setConstant(kNaN);
    return false;
  }
  const auto column_of = [&](Index j, auto visit) {
    for (Index e = w.first[at(j)]; e < w.first[at(j + 1)]; ++e)
      visit(w.rows[at(e)], w.entries[at(e)]);
  };
  const Index n = h.cols();
  alone.for_each(ceil_div(n, kColumnsOfBlock), [&](Index block) {
    Eigen::VectorXd column(num_weights);
    for (Index j = block * kColumnsOfBlock; j < std::min((block + 1) * kColumnsOfBlock, n); ++j) {
      column.setZero();
      column_of(j, [&](Index k, double entry) { column += entry * of_weights.col(k); });
      for (Index i = j; i < n; ++i) {
        double sum = i < inner_parameters ? bends(i, j) : 0;
        column_of(i, [&](Index k, double entry) { sum += entry * column(k); });
        h(i, j) = sum;
      }
    }
  });
  return fill_triangles(alone, Triangle::kLower, 1, h);
}

}  // namespace

std::shared_ptr<const GraphHessian> composed_hessian(ComputedWeights weights,
                                                     std::shared_ptr<const GraphHessian> outer,
                                                     std::shared_ptr<const GraphHessian> inner,
                                                     std::shared_ptr<const GraphHessian> direct,
                                                     InstructionSet set) {
  return std::make_shared<ComposedHessian>(
      std::move(weights), std::move(outer), std::move(inner), std::move(direct), set);
}

}  // namespace hesscope::detail
