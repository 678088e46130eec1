// SPDX-License-Identifier: BSD-3-Clause
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

 private:
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
