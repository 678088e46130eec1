// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <hesscope/analysis/internal/checkpoint_names.h>
#include <hesscope/analysis/internal/run_evidence.h>
#include <hesscope/core/error.h>
#include <hesscope/problem/training_counters.h>

namespace hesscope::detail {
namespace {

std::optional<std::int64_t> as_step(double number) {
  const bool is_step = number == std::floor(number) &&
                       std::abs(number) <= static_cast<double>(kLargestStep);  // false for NaN
  return is_step ? std::optional(static_cast<std::int64_t>(number)) : std::nullopt;
}

bool all_names(const RunEvidence& run, bool (*says)(const NumberedName&)) {
  for (std::size_t i = 0; i < run.size(); ++i) {
    if (!says(numbered_name(run.at(i).file.path))) return false;
  }
  return true;
}

}  // namespace

std::vector<std::size_t> sorted_by(const Steps& steps) {
  std::vector<std::size_t> order(steps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return steps[i]; });
  return order;
}

bool goes_back(const Steps& coarse, const Steps& fine) {
  const std::vector<std::size_t> order = sorted_by(coarse);
  std::optional<std::int64_t> before;  // the largest where `coarse` is smaller than here
  for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
    std::int64_t smallest = fine[order[first]];
    std::int64_t largest = smallest;
    for (; end < order.size() && coarse[order[end]] == coarse[order[first]]; ++end) {
      smallest = std::min(smallest, fine[order[end]]);
      largest = std::max(largest, fine[order[end]]);
    }
    if (before && smallest <= *before) return true;
    before = before ? std::max(*before, largest) : largest;
  }
  return false;
}

RunEvidence::RunEvidence(std::span<const CheckpointEvidence> given,
                         std::vector<std::size_t> members)
    : given_(given), members_(std::move(members)) {}

template <typename StepOf>
std::optional<Steps> RunEvidence::collect(StepOf step_of) const {
  Steps steps;
  for (std::size_t i = 0; i < size(); ++i) {
    const std::optional<std::int64_t> step = step_of(i);
    if (!step) return std::nullopt;
    steps.push_back(*step);
  }
  return steps;
}

std::optional<std::int64_t> RunEvidence::counter_of(std::size_t i, const std::string& key) const {
  const auto found = at(i).counters.find(key);
  return found == at(i).counters.end() ? std::nullopt : as_step(found->second);
}

std::optional<Steps> RunEvidence::counter(const std::string& key) const {
  return collect([&](std::size_t i) { return counter_of(i, key); });
}

Steps RunEvidence::counter_asked_for(const std::string& key) const {
  Steps steps;
  for (std::size_t i = 0; i < size(); ++i) {
    const auto step = counter_of(i, key);
    if (!step) {
      const auto& counters = at(i).counters;
      const auto found = counters.find(key);
      throw InputError(fmt::format(
          "{}: `step_key` asks for the number '{}', {}",
          name(i),
          key,
          found == counters.end()
              ? std::string("which is not in the checkpoint")
              : fmt::format("which is {}; steps are whole numbers up to 2^53", found->second)));
    }
    steps.push_back(*step);
  }
  return steps;
}

std::vector<std::string> RunEvidence::partial_counters() const {
  std::vector<std::string> keys;
  for (const std::string_view each : counter_names()) {
    const std::string key(each);
    std::size_t count = 0;
    for (std::size_t i = 0; i < size(); ++i) count += at(i).counters.contains(key) ? 1 : 0;
    if (count > 0 && !counter(key)) keys.push_back(key);
  }
  return keys;
}

std::optional<Steps> RunEvidence::steps_of_convention() const {
  return collect([&](std::size_t i) {
    const auto step = step_of_convention(at(i).file.path);
    return step == at(i).file.step ? step : std::nullopt;
  });
}

bool RunEvidence::names_steps() const { return all_names(*this, counts_steps); }

bool RunEvidence::names_epochs() const { return all_names(*this, counts_epochs); }

std::optional<Steps> RunEvidence::steps_in_names() const {
  std::vector<NumberedName> names;
  for (std::size_t i = 0; i < size(); ++i) names.push_back(numbered_name(at(i).file.path));
  const bool are_alike =
      !names.front().numbers.empty() && std::ranges::all_of(names, [&](const NumberedName& each) {
        return each.pattern == names.front().pattern;
      });
  const auto is_said_by_name = [&](std::size_t i) {
    return std::ranges::find(names[i].numbers, at(i).file.step) != names[i].numbers.end();
  };
  std::vector<std::size_t> all(size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (!are_alike && !are_comparable(names)) return std::nullopt;
  if (!are_alike || !std::ranges::all_of(all, is_said_by_name)) {
    return collect([&](std::size_t i) { return at(i).file.step; });
  }
  const auto numbers_at = [&](std::size_t position) {
    return collect([&](std::size_t i) { return names[i].numbers[position]; });
  };
  const std::size_t position = step_position(names);
  std::optional<Steps> steps = numbers_at(position);
  for (std::size_t earlier = 0; steps && earlier < position; ++earlier) {
    const bool is_other =
        is_of_step(names.front(), position) && !is_of_step(names.front(), earlier);
    if (is_other) continue;  // a score, a seed
    const std::optional<Steps> coarse = numbers_at(earlier);
    if (coarse && goes_back(*coarse, *steps)) return std::nullopt;
  }
  return steps;
}

bool RunEvidence::has_too_large_numbers() const {
  return std::ranges::any_of(members_, [&](std::size_t member) {
    const NumberedName name = numbered_name(given_[member].file.path);
    return std::ranges::any_of(name.numbers, [](const auto& number) { return !number; });
  });
}

}  // namespace hesscope::detail
