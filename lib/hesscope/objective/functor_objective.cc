// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/objective/functor_objective.h>

namespace hesscope::detail {
namespace {

std::vector<ParameterBlock> checked_blocks(std::vector<ParameterBlock> blocks,
                                           Eigen::Index num_parameters) {
  if (blocks.empty()) return {{"theta", {num_parameters}, 0, num_parameters}};
  Eigen::Index next = 0;
  for (const ParameterBlock& block : blocks) {
    if (block.offset != next || block.size < 0) {
      throw PreconditionError(fmt::format(
          "FunctorObjective: parameter_blocks must follow one another from 0; block '{}' "
          "has offset {} and size {}, expected offset {}",
          block.name,
          block.offset,
          block.size,
          next));
    }
    next += block.size;
  }
  if (next != num_parameters) {
    throw PreconditionError(
        fmt::format("FunctorObjective: parameter_blocks hold {} parameters, expected {}",
                    next,
                    num_parameters));
  }
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
      executor_(options.num_threads) {}

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

}  // namespace hesscope::detail
