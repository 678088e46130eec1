// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/executor.h>
#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/objective/fresh_samples.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/objective/sampled_records.h>

namespace hesscope {
namespace {

class FreshGraphSamples final : public FreshSamples {
 public:
  FreshGraphSamples(const GraphObjective& objective,
                    const Sampler& sampler,
                    const std::string& source)
      : objective_(&objective), records_(objective.model(), sampler, source) {}

  Eigen::Index num_parameters() const override { return objective_->num_parameters(); }

  Objective::ValueAndGradient value_and_gradient(const Objective::ConstVectorRef& theta,
                                                 const Range& range) const override {
    return objective_->value_and_gradient_of(
        theta, range.count, [&](SampleRange block, std::span<double> records) {
          records_.write(range.seed,
                         range.stream,
                         range.first + static_cast<std::uint64_t>(block.begin),
                         records);
        });
  }

  Eigen::MatrixXd hessian(const Objective::ConstVectorRef& theta,
                          const Range& range,
                          const ProgressCallback& progress) const override {
    Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(num_parameters(), num_parameters());
    constexpr Eigen::Index kSamplesAtOnce = 16'384;
    for_each_part(range, kSamplesAtOnce, [&](const GraphObjective& some, Eigen::Index first) {
      const auto count = static_cast<double>(range.count);
      const auto begin = static_cast<double>(first) / count;
      const auto share = static_cast<double>(some.num_samples()) / count;
      sum +=
          share *
          some.hessian(theta, some.all_samples(), detail::part_of(progress, begin, begin + share));
    });
    return sum;
  }

  Eigen::VectorXd hessian_entries(const Objective::ConstVectorRef& theta,
                                  const Range& range,
                                  Eigen::Index i) const override {
    if (i < 0 || i >= num_parameters()) {
      throw PreconditionError(fmt::format(
          "FreshSamples::hessian_entries: i must be in [0, {}), got {}", num_parameters(), i));
    }
    constexpr Eigen::Index kSamplesAtOnce = 2'048;  // so that few directions are held
    Eigen::VectorXd entries(std::max<Eigen::Index>(range.count, 0));
    for_each_part(range, kSamplesAtOnce, [&](const GraphObjective& some, Eigen::Index first) {
      const Eigen::Index count = some.num_samples();
      Eigen::MatrixXd directions = Eigen::MatrixXd::Zero(num_parameters(), count);
      directions.row(i).setOnes();
      entries.segment(first, count) =
          some.per_sample_hessian_times(theta, directions, some.all_samples()).row(i).transpose();
    });
    return entries;
  }

 private:
  // Calls use(objective, first) for objectives that hold the samples of the range from `first` on,
  // at most so many at once.
  template <typename Use>
  void for_each_part(const Range& range, Eigen::Index most, const Use& use) const {
    if (range.count < 1) {
      throw PreconditionError(
          fmt::format("FreshSamples: a range must have samples, got {}", range.count));
    }
    const Executor& executor = objective_->executor();
    for (Eigen::Index first = 0; first < range.count; first += most) {
      SampleTable table(std::min(most, range.count - first), records_.record_size());
      constexpr Eigen::Index kSamplesPerTask = 64;
      executor.for_each(detail::ceil_div(table.rows(), kSamplesPerTask), [&](Eigen::Index task) {
        const Eigen::Index begin = task * kSamplesPerTask;
        auto rows = table.middleRows(begin, std::min(kSamplesPerTask, table.rows() - begin));
        records_.write(range.seed,
                       range.stream,
                       range.first + static_cast<std::uint64_t>(first + begin),
                       {rows.data(), static_cast<std::size_t>(rows.size())});
      });
      const GraphObjective some(objective_->model(), std::move(table), objective_->options_alone());
      use(some, first);
    }
  }

  const GraphObjective* objective_;
  SampledRecords records_;
};

}  // namespace

std::unique_ptr<FreshSamples> fresh_samples(const GraphObjective& objective,
                                            const Sampler& sampler,
                                            const std::string& source) {
  return std::make_unique<FreshGraphSamples>(objective, sampler, source);
}

}  // namespace hesscope
