// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>
#include <vector>

#include <hesscope/core/executor.h>
#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/objective/internal/structured_sums.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;

// Part of the definition of the result's last bits: a function of nothing. A multiple of any number
// of samples in a pack.
constexpr Index kSamplesPerPackBlock = 128;

constexpr Index aligned(Index num_doubles) { return (num_doubles + 7) / 8 * 8; }

Index num_pack_blocks(Index num_samples) { return ceil_div(num_samples, kSamplesPerPackBlock); }

SampleRange pack_block(Index num_samples, Index b) {
  return {b * kSamplesPerPackBlock, std::min((b + 1) * kSamplesPerPackBlock, num_samples)};
}

}  // namespace

StructuredSums::StructuredSums(std::shared_ptr<const StructuredLoss> loss,
                               const SampleTable& samples,
                               const Executor& executor)
    : loss_(std::move(loss)), samples_(&samples), executor_(&executor), pool_(workspace_size()) {}

// Doubles of packs that hold so many samples.
Index StructuredSums::packs_size(Index num_samples) const {
  const Index lanes = loss_->pack_samples();
  return aligned(ceil_div(num_samples, lanes) * loss_->pack_size());
}

std::size_t StructuredSums::workspace_size() const {
  return static_cast<std::size_t>(aligned(loss_->scratch_size()) +
                                  packs_size(kSamplesPerPackBlock) +
                                  kSamplesPerPackBlock * samples_->cols());
}

double StructuredSums::workspace_bytes(int num_threads) const {
  const double threads = num_threads * static_cast<double>(workspace_size());
  return (static_cast<double>(packs_size(samples_->rows())) + threads) * sizeof(double);
}

template <typename F>
void StructuredSums::with_workspace(F use) const {
  pool_.with_buffer([&](double* buffer) {
    double* packs = buffer + aligned(loss_->scratch_size());
    use(Workspace{
        .scratch = buffer, .packs = packs, .records = packs + packs_size(kSamplesPerPackBlock)});
  });
}

StructuredLoss::Packs StructuredSums::condensed(Records records, const Workspace& workspace) const {
  loss_->condense(records, workspace.packs, workspace.scratch);
  return {workspace.packs, records.count};
}

// Blocks of the table's rows in the range. Where packs do not begin and end with it, they are made
// again: a sample's condensed form is the same wherever it stands.
StructuredSums::PackSource StructuredSums::packs_in(SampleRange range) const {
  const Index lanes = loss_->pack_samples();
  const Index stride = samples_->cols();
  const auto is_end = [&](Index i) { return i % lanes == 0 || i == samples_->rows(); };
  if (!is_end(range.begin) || !is_end(range.end)) {
    return [this, range, stride](SampleRange block, const Workspace& workspace) {
      const double* first = samples_->data() + (range.begin + block.begin) * stride;
      return condensed({first, block.size(), stride}, workspace);
    };
  }
  // On this thread alone: others may wait for it, and must not be given work meanwhile.
  std::call_once(is_condensed_, [&] {
    AlignedBuffer packs(static_cast<std::size_t>(packs_size(samples_->rows())));
    with_workspace([&](const Workspace& workspace) {
      loss_->condense(
          {samples_->data(), samples_->rows(), stride}, packs.data(), workspace.scratch);
    });
    condensed_ = std::move(packs);
  });
  const double* first = condensed_->data() + range.begin / lanes * loss_->pack_size();
  return [this, first, lanes](SampleRange block, const Workspace&) {
    return StructuredLoss::Packs{first + block.begin / lanes * loss_->pack_size(), block.size()};
  };
}

double StructuredSums::value(const Eigen::VectorXd& theta, SampleRange range) const {
  const auto point = loss_->at(span_of(theta));
  const PackSource packs = packs_in(range);
  double total = 0;
  executor_->sum(
      num_pack_blocks(range.size()), {&total, 1}, [&](Index b, std::span<double> partial) {
        with_workspace([&](const Workspace& workspace) {
          partial[0] +=
              point->value(packs(pack_block(range.size(), b), workspace), workspace.scratch);
        });
      });
  return total / static_cast<double>(range.size());
}

Objective::ValueAndGradient StructuredSums::value_and_gradient(const Eigen::VectorXd& theta,
                                                               SampleRange range) const {
  return mean_gradient(theta, range.size(), packs_in(range), *executor_);
}

Objective::ValueAndGradient StructuredSums::value_and_gradient_of(
    const Eigen::VectorXd& theta, Index num_samples, const RecordSource& source) const {
  const Index stride = samples_->cols();
  const auto packs = [&](SampleRange block, const Workspace& workspace) {
    const auto size = static_cast<std::size_t>(block.size() * stride);
    source(block, {workspace.records, size});
    return condensed({workspace.records, block.size(), stride}, workspace);
  };
  // What makes the samples is known to this process alone.
  return mean_gradient(theta, num_samples, packs, executor_->alone());
}

Objective::ValueAndGradient StructuredSums::mean_gradient(const Eigen::VectorXd& theta,
                                                          Index num_samples,
                                                          const PackSource& packs,
                                                          const Executor& executor) const {
  const auto point = loss_->at(span_of(theta));
  const auto sums = static_cast<std::size_t>(loss_->num_sums());
  std::vector<double> total(sums + 1);  // then the value
  executor.sum(num_pack_blocks(num_samples), total, [&](Index b, std::span<double> partial) {
    with_workspace([&](const Workspace& workspace) {
      partial[sums] += point->value_and_gradient(
          packs(pack_block(num_samples, b), workspace), workspace.scratch, partial.first(sums));
    });
  });
  Eigen::VectorXd gradient(theta.size());
  point->gradient(std::span(total).first(sums),
                  {gradient.data(), static_cast<std::size_t>(gradient.size())});
  gradient *= 1.0 / static_cast<double>(num_samples);
  return {total[sums] / static_cast<double>(num_samples), std::move(gradient)};
}

}  // namespace hesscope::detail
