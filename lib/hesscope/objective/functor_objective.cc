// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <cmath>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/objective/functor_objective.h>

namespace hesscope::detail {
namespace {

std::vector<ParameterBlock> checked_blocks(std::vector<ParameterBlock> blocks,
                                           Eigen::Index num_parameters) {
  if (blocks.empty()) return {{"theta", {num_parameters}, 0, num_parameters}};
  require_blocks("FunctorObjective", blocks, num_parameters);
  return blocks;
}

Eigen::Index at_least_one(const char* name, Eigen::Index number) {
  if (number < 1) {
    throw PreconditionError(
        fmt::format("FunctorObjective: {} must be at least 1, got {}", name, number));
  }
  return number;
}

}  // namespace

FunctorObjectiveBase::FunctorObjectiveBase(Eigen::Index num_parameters,
                                           Eigen::Index num_samples,
                                           FunctorObjectiveOptions options)
    : num_parameters_(at_least_one("num_parameters", num_parameters)),
      num_samples_(at_least_one("num_samples", num_samples)),
      samples_per_block_(at_least_one("samples_per_block", options.samples_per_block)),
      blocks_(checked_blocks(std::move(options.parameter_blocks), num_parameters)),
      executor_(options.num_threads, std::move(options.stop)) {}

std::span<const ParameterBlock> FunctorObjectiveBase::parameter_blocks() const { return blocks_; }

// Per thread: the parameters as Jets, and one partial sum for each level of the tree over sample
// blocks.
double FunctorObjectiveBase::workspace_bytes() const {
  std::size_t jet_bytes = 0;
  with_hessian_jet<Eigen::Dynamic>(num_parameters_, [&]<AnyJet J>() { jet_bytes = sizeof(J); });
  const double levels = 1.0 + std::ceil(std::log2(static_cast<double>(num_blocks(all_samples()))));
  return executor_.num_threads() * (static_cast<double>(num_parameters_) + levels) *
         static_cast<double>(jet_bytes);
}

Eigen::Index FunctorObjectiveBase::num_blocks(SampleRange range) const {
  return (range.size() - 1) / samples_per_block_ + 1;
}

SampleRange FunctorObjectiveBase::block(SampleRange range, Eigen::Index index) const {
  const Eigen::Index begin = range.begin + index * samples_per_block_;
  return {begin, begin + std::min(samples_per_block_, range.end - begin)};
}

void FunctorObjectiveBase::sum_blocks(SampleRange range,
                                      std::span<double> result,
                                      const BlockSum& add) const {
  executor_.sum(num_blocks(range), result, [&](Eigen::Index b, std::span<double> partial) {
    add(block(range, b), partial);
  });
}

void FunctorObjectiveBase::for_each(std::size_t count,
                                    const std::function<void(std::size_t)>& body) const {
  executor_.for_each(static_cast<Eigen::Index>(count),
                     [&](Eigen::Index i) { body(static_cast<std::size_t>(i)); });
}

bool FunctorObjectiveBase::gradient_recorded(const Vector& theta,
                                             SampleRange range,
                                             const Recording& record_loss,
                                             ValueAndGradient& result) const {
  const Eigen::Index n = theta.size();
  std::atomic<bool> is_valid = true;
  std::vector<double> sums(static_cast<std::size_t>(n + 1));  // gradient, then value
  sum_blocks(range, sums, [&](SampleRange samples, std::span<double> partial) {
    JetTape tape(n);
    Vector gradient(n);
    for (Eigen::Index i = samples.begin; i < samples.end && is_valid; ++i) {
      tape.clear();
      const RecordedJet y = record_loss(theta, tape, i);
      if (!tape.differentiate(y.step(), gradient.data(), nullptr)) is_valid = false;
      Eigen::Map<Vector>(partial.data(), n) += gradient;
      partial.back() += y.value;
    }
  });
  const auto count = static_cast<double>(range.size());
  result = {sums.back() / count, Eigen::Map<const Vector>(sums.data(), n) / count};
  return is_valid && std::isfinite(result.value);
}

bool FunctorObjectiveBase::hessian_recorded(const Vector& theta,
                                            SampleRange range,
                                            const Recording& record_loss,
                                            const ProgressCallback& progress,
                                            Matrix& result) const {
  constexpr Eigen::Index kWidth = JetTape::kWidth;
  const Eigen::Index n = theta.size();
  const Eigen::Index num_sweeps = ceil_div(n, kWidth);
  const auto count = static_cast<double>(range.size());
  ProgressCounter counter(progress, num_sweeps * num_blocks(range));
  std::atomic<bool> is_valid = true;
  for_each(static_cast<std::size_t>(num_sweeps), [&](std::size_t s) {
    const Eigen::Index first = static_cast<Eigen::Index>(s) * kWidth;
    std::vector<double> sums(static_cast<std::size_t>((n - first) * kWidth));
    sum_blocks(range, sums, [&](SampleRange samples, std::span<double> partial) {
      JetTape tape(n);
      for (Eigen::Index i = samples.begin; i < samples.end && is_valid; ++i) {
        tape.clear();
        const RecordedJet y = record_loss(theta, tape, i);
        const auto column = static_cast<JetTape::Index>(first);
        if (!std::isfinite(y.value) ||
            !tape.add_hessian_columns(y.step(), column, partial.data())) {
          is_valid = false;
        }
      }
      if (is_valid) counter.advance();
    });
    for (Eigen::Index i = first; i < n; ++i) {
      for (Eigen::Index j = first; j < std::min(first + kWidth, i + 1); ++j) {
        const double entry = sums[static_cast<std::size_t>((i - first) * kWidth + j - first)];
        result(i, j) = result(j, i) = entry / count;
      }
    }
  });
  return is_valid;
}

bool FunctorObjectiveBase::hessian_times_recorded(const Vector& theta,
                                                  const Matrix& directions,
                                                  SampleRange range,
                                                  const Recording& record_loss,
                                                  Matrix& result) const {
  constexpr Eigen::Index kWidth = JetTape::kWidth;
  const Eigen::Index n = theta.size();
  std::atomic<bool> is_valid = true;
  for_each(static_cast<std::size_t>(ceil_div(directions.cols(), kWidth)), [&](std::size_t s) {
    const Eigen::Index first = static_cast<Eigen::Index>(s) * kWidth;
    const auto some = directions.middleCols(first, std::min(kWidth, directions.cols() - first));
    std::vector<double> sums(static_cast<std::size_t>(some.size()));
    sum_blocks(range, sums, [&](SampleRange samples, std::span<double> partial) {
      JetTape tape(n);
      for (Eigen::Index i = samples.begin; i < samples.end && is_valid; ++i) {
        tape.clear();
        const RecordedJet y = record_loss(theta, tape, i);
        if (!std::isfinite(y.value) || !tape.add_hessian_times(y.step(), some, partial.data())) {
          is_valid = false;
        }
      }
    });
    result.middleCols(first, some.cols()) =
        Eigen::Map<const Matrix>(sums.data(), n, some.cols()) / static_cast<double>(range.size());
  });
  return is_valid;
}

bool FunctorObjectiveBase::per_sample_gradients_recorded(const Vector& theta,
                                                         SampleRange range,
                                                         const Recording& record_loss,
                                                         Matrix& result) const {
  std::atomic<bool> is_valid = true;
  for_each(static_cast<std::size_t>(num_blocks(range)), [&](std::size_t b) {
    const SampleRange samples = block(range, static_cast<Eigen::Index>(b));
    JetTape tape(theta.size());
    for (Eigen::Index i = samples.begin; i < samples.end && is_valid; ++i) {
      tape.clear();
      const RecordedJet y = record_loss(theta, tape, i);
      double* const gradient = result.col(i - range.begin).data();
      if (!std::isfinite(y.value) || !tape.differentiate(y.step(), gradient, nullptr)) {
        is_valid = false;
      }
    }
  });
  return is_valid;
}

}  // namespace hesscope::detail
