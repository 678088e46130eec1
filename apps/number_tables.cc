// SPDX-License-Identifier: BSD-3-Clause
#include "number_tables.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include <hesscope/analyzers/analyzer_registry.h>
#include <hesscope/core/distinct_names.h>
#include <hesscope/core/suggest.h>

#include "table.h"

namespace hesscope::cli {
namespace {

// What a table shows instead of a number, and what a line below the table says about it; empty if
// other lines do.
struct StatusText {
  Status status;
  std::string_view cell;
  std::string_view meaning;
};

constexpr StatusText kStatusTexts[] = {
    {Status::kNotComputed, "-", ""},
    {Status::kNotStored, "not stored", ""},
    {Status::kUndefinedTooFewPoints, "too few points", ""},
    {Status::kUndefinedZeroMedian,
     "zero median",
     "the median is zero within rounding, so the ratio is undefined"},
    {Status::kUndefinedNotPositiveDefinite,
     "not-p.d.",
     "the smallest eigenvalue is not above zero beyond rounding"},
    {Status::kUndefinedNotStationary,
     "not stationary",
     "what is asked holds where the gradient is zero, and it is not"},
    {Status::kUndefinedZeroDenominator, "zero divisor", "the ratio is by a number that is zero"},
    {Status::kUndefinedNoOrder, "no order", "nothing tells the order of the checkpoints"},
    {Status::kUndefinedSingular, "singular", "the inverse that it needs does not exist"},
    {Status::kUndefinedOtherInertia,
     "other index",
     "the point without a sample has another number of negative eigenvalues"},
    {Status::kUndefinedNoPass, "no pass", "no place on the path is higher than both its ends"},
};

// Shown instead of digits that are rounding.
constexpr const char* kZero = "~0";

// A word of a flag, and what a line below a table says about it.
struct WordText {
  std::string_view word;
  std::string_view meaning;
};

constexpr WordText kWordTexts[] = {
    {"crowded",
     "others lie so close to this number that its interval misses the population's far more often "
     "than its level says"},
    {"crowded_median",
     "others lie so close to this median, or the one in the ratio, that the interval may be too "
     "wide or too narrow"},
};

std::string_view short_text(Status status) {
  const auto* const text = std::ranges::find(kStatusTexts, status, &StatusText::status);
  return text == std::end(kStatusTexts) ? to_string(status) : text->cell;
}

// A line for each analyzer with numbers of this status, with what it says about them.
std::string lines_on(Status status,
                     std::span<const HeadlineNumber> numbers,
                     std::string_view form,
                     std::string AnalyzerKind::*takes,
                     const std::string& otherwise = {}) {
  std::set<std::string> groups;
  for (const HeadlineNumber& number : numbers) {
    if (number.status == status) groups.insert(number.analyzer);
  }
  std::string text;
  for (const std::string& group : groups) {
    text += fmt::format(fmt::runtime(form), group);
    const AnalyzerKind* const kind = find_or_null(analyzer_kinds(), group);
    const std::string& what = kind != nullptr ? kind->*takes : otherwise;
    if (!what.empty()) text += "; " + what;
    text += '\n';
  }
  return text;
}

}  // namespace

std::string cell_text(double value, Status status) {
  return status == Status::kOk ? number_text(value) : std::string(short_text(status));
}

std::string cell_text(const HeadlineNumber& number) {
  if (!number.word.empty()) return number.word;
  return number.is_zero ? kZero : cell_text(number.value, number.status);
}

Status loss_status(const CheckpointSummary& summary) {
  return std::isfinite(summary.loss) ? Status::kOk : summary.status;
}

std::vector<std::vector<std::string>> loss_rows(std::span<const CheckpointSummary> checkpoints) {
  std::vector<std::filesystem::path> files;
  for (const CheckpointSummary& summary : checkpoints) files.push_back(summary.checkpoint.path);
  const std::vector<std::string> names = distinct_names(files);
  std::vector<std::vector<std::string>> rows = {{"/", "loss", "gradient_norm"}};
  for (std::size_t i = 0; i < names.size(); ++i) {
    rows.push_back({names[i],
                    cell_text(checkpoints[i].loss, loss_status(checkpoints[i])),
                    cell_text(checkpoints[i].gradient_norm, checkpoints[i].status)});
  }
  return rows;
}

std::string legend_text(std::span<const HeadlineNumber> numbers, const std::string& takes) {
  std::string text = lines_on(
      Status::kNotComputed, numbers, "- in /{}: not computed", &AnalyzerKind::on_missing, takes);
  text += lines_on(Status::kNotStored,
                   numbers,
                   "not stored in /{}: the checkpoint does not hold what the number is made from",
                   &AnalyzerKind::on_not_stored);
  for (const auto& [status, cell, meaning] : kStatusTexts) {
    const bool is_there =
        std::ranges::find(numbers, status, &HeadlineNumber::status) != numbers.end();
    if (is_there && !meaning.empty()) text += fmt::format("{}: {}\n", cell, meaning);
  }
  const auto is_any = [&](const auto& is_so) { return std::ranges::any_of(numbers, is_so); };
  if (is_any([](const HeadlineNumber& number) { return number.is_zero; })) {
    text += fmt::format("{}: zero within rounding\n", kZero);
  }
  for (const auto& [word, meaning] : kWordTexts) {
    const auto is_word = [word = word](const HeadlineNumber& number) {
      return number.word == word;
    };
    if (is_any(is_word)) text += fmt::format("{}: {}\n", word, meaning);
  }
  return text;
}

}  // namespace hesscope::cli
