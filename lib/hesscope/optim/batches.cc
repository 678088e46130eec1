// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/objective/fresh_samples.h>
#include <hesscope/optim/batches.h>
#include <hesscope/sampling/random_stream.h>

namespace hesscope {
namespace {

using ConstVectorRef = Objective::ConstVectorRef;
using ValueAndGradient = Objective::ValueAndGradient;

void require_step(std::int64_t step) {
  if (step >= 0) return;
  throw PreconditionError(fmt::format("BatchLoss: steps count from 0, got {}", step));
}

void require_batch(const char* function, Eigen::Index batch_size) {
  if (batch_size >= 1) return;
  throw PreconditionError(
      fmt::format("{}: batch_size must be at least 1, got {}", function, batch_size));
}

class FullBatches final : public BatchLoss {
 public:
  explicit FullBatches(const Objective& objective) : objective_(&objective) {}

  std::span<const ParameterBlock> parameter_blocks() const override {
    return objective_->parameter_blocks();
  }

  ValueAndGradient value_and_gradient(const ConstVectorRef& theta, std::int64_t) override {
    return objective_->value_and_gradient(theta, objective_->all_samples());
  }

 private:
  const Objective* objective_;
};

class FreshBatches final : public BatchLoss {
 public:
  FreshBatches(const GraphObjective& objective,
               const Sampler& sampler,
               std::uint64_t seed,
               Eigen::Index batch_size)
      : objective_(&objective),
        samples_(fresh_samples(objective, sampler, "the sampler")),
        seed_(seed),
        batch_size_(batch_size) {}

  std::span<const ParameterBlock> parameter_blocks() const override {
    return objective_->parameter_blocks();
  }

  ValueAndGradient value_and_gradient(const ConstVectorRef& theta, std::int64_t step) override {
    require_step(step);
    const std::uint64_t first =
        static_cast<std::uint64_t>(step) * static_cast<std::uint64_t>(batch_size_);
    return samples_->value_and_gradient(theta, {seed_, Stream::kTraining, first, batch_size_});
  }

 private:
  const GraphObjective* objective_;
  std::unique_ptr<FreshSamples> samples_;
  std::uint64_t seed_;
  Eigen::Index batch_size_;
};

class ShuffledBatches final : public BatchLoss {
 public:
  ShuffledBatches(const GraphObjective& objective,
                  std::shared_ptr<const SampleTable> samples,
                  std::uint64_t seed,
                  Eigen::Index batch_size)
      : objective_(&objective),
        samples_(std::move(samples)),
        seed_(seed),
        batch_size_(std::min(batch_size, samples_->rows())),
        order_(static_cast<std::size_t>(samples_->rows())) {}

  std::span<const ParameterBlock> parameter_blocks() const override {
    return objective_->parameter_blocks();
  }

  ValueAndGradient value_and_gradient(const ConstVectorRef& theta, std::int64_t step) override {
    require_step(step);
    const Eigen::Index num_batches = detail::ceil_div(samples_->rows(), batch_size_);
    shuffle(step / num_batches);
    const Eigen::Index first = step % num_batches * batch_size_;
    const Eigen::Index count = std::min(batch_size_, samples_->rows() - first);
    const Eigen::Index size = samples_->cols();
    return objective_->value_and_gradient_of(
        theta, count, [&](SampleRange range, std::span<double> records) {
          double* record = records.data();
          for (Eigen::Index i = range.begin; i < range.end; ++i, record += size) {
            const Eigen::Index row = order_[static_cast<std::size_t>(first + i)];
            std::copy_n(samples_->data() + row * size, size, record);
          }
        });
  }

 private:
  // Fisher-Yates.
  void shuffle(std::int64_t epoch) {
    if (epoch == epoch_) return;
    epoch_ = epoch;
    std::iota(order_.begin(), order_.end(), Eigen::Index{0});
    if (batch_size_ == samples_->rows()) return;
    RandomStream stream(seed_, Stream::kOrder, static_cast<std::uint64_t>(epoch));
    for (std::size_t i = order_.size(); i > 1; --i)
      std::swap(order_[i - 1], order_[stream.below(i)]);
  }

  const GraphObjective* objective_;
  std::shared_ptr<const SampleTable> samples_;
  std::uint64_t seed_;
  Eigen::Index batch_size_;
  std::vector<Eigen::Index> order_;  // of epoch_
  std::int64_t epoch_ = -1;
};

}  // namespace

std::unique_ptr<BatchLoss> full_batches(const Objective& objective) {
  return std::make_unique<FullBatches>(objective);
}

std::unique_ptr<BatchLoss> fresh_batches(const GraphObjective& objective,
                                         const Sampler& sampler,
                                         std::uint64_t seed,
                                         Eigen::Index batch_size) {
  require_batch("fresh_batches", batch_size);
  return std::make_unique<FreshBatches>(objective, sampler, seed, batch_size);
}

std::unique_ptr<BatchLoss> shuffled_batches(const GraphObjective& objective,
                                            std::shared_ptr<const SampleTable> samples,
                                            std::uint64_t seed,
                                            Eigen::Index batch_size) {
  require_batch("shuffled_batches", batch_size);
  const Eigen::Index columns = objective.model().record_size();
  if (samples == nullptr || samples->rows() < 1 || samples->cols() != columns) {
    throw PreconditionError(
        fmt::format("shuffled_batches: samples must be a non-empty table of {} columns", columns));
  }
  return std::make_unique<ShuffledBatches>(objective, std::move(samples), seed, batch_size);
}

}  // namespace hesscope
