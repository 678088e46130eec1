// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/models/tensor_copies.h>

namespace hesscope {
namespace {

bool is_same(double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); }

// How many of the sorted values equal another one.
template <typename T>
std::size_t num_repeated(const std::vector<T>& sorted) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const bool is_last_again = i > 0 && sorted[i] == sorted[i - 1];
    const bool is_next_too = i + 1 < sorted.size() && sorted[i] == sorted[i + 1];
    if (is_last_again || is_next_too) ++count;
  }
  return count;
}

}  // namespace

std::vector<double> sorted_entries(std::span<const double> entries) {
  std::vector<double> numbers(entries.begin(), entries.end());
  std::ranges::sort(numbers,
                    [](double x, double y) { return std::is_lt(std::strong_order(x, y)); });
  return numbers;
}

bool are_same(std::span<const double> a, std::span<const double> b) {
  return std::ranges::equal(a, b, is_same);
}

bool are_all_equal(std::span<const double> entries) {
  return std::ranges::all_of(entries, [&](double x) { return x == entries.front(); });
}

bool is_of_few_digits(double x) {
  constexpr int kDigits = 11;
  int exponent = 0;
  const double digits = std::ldexp(std::frexp(x, &exponent), kDigits);
  return digits == std::trunc(digits);
}

bool has_repeated_entries(const ShapedNumbers& tensor) {
  const std::span<const double> entries = tensor.entries;
  if (are_all_equal(entries)) return false;
  const auto is_much = [](std::size_t part, std::size_t of) { return 4 * part >= of; };
  if (!std::ranges::all_of(entries, is_of_few_digits)) {
    return is_much(num_repeated(sorted_entries(entries)), entries.size());
  }
  if (is_much(static_cast<std::size_t>(std::ranges::count(entries, 0.0)), entries.size())) {
    return true;
  }
  const auto num_cols = tensor.shape.empty() ? 1 : static_cast<std::size_t>(tensor.shape.back());
  const std::size_t num_rows = entries.size() / num_cols;
  constexpr std::size_t kFewest = 3;  // shorter ones may be equal by rounding
  if (num_rows < kFewest || num_cols < kFewest) return false;
  std::vector<std::vector<double>> rows(num_rows, std::vector<double>(num_cols));
  std::vector<std::vector<double>> cols(num_cols, std::vector<double>(num_rows));
  for (std::size_t i = 0; i < num_rows; ++i) {
    for (std::size_t j = 0; j < num_cols; ++j) {
      rows[i][j] = cols[j][i] = entries[i * num_cols + j];
    }
  }
  if (rows == cols) return true;
  return std::ranges::any_of(std::array{&rows, &cols}, [&](auto* lines) {
    std::ranges::sort(*lines);
    return is_much(num_repeated(*lines), lines->size());
  });
}

bool are_transposed(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  return a.size() == 2 && b.size() == 2 && a[0] == b[1] && a[1] == b[0];
}

std::vector<std::int32_t> transposition(std::span<const std::int64_t> shape) {
  std::vector<std::int32_t> places;
  for (std::int64_t col = 0; col < shape[1]; ++col) {
    for (std::int64_t row = 0; row < shape[0]; ++row) {
      places.push_back(static_cast<std::int32_t>(row * shape[1] + col));
    }
  }
  return places;
}

CopyKind copy_kind(const ShapedNumbers& copy, const ShapedNumbers& original) {
  const std::span<const double> a = copy.entries;
  const std::span<const double> b = original.entries;
  if (a.size() != b.size() || are_all_equal(a)) return CopyKind::kNone;
  const Sameness found = sameness(copy, original);
  if (found.as_is) return CopyKind::kSame;
  if (found.is_transposed) return CopyKind::kTransposed;
  return sorted_entries(a) == sorted_entries(b) ? CopyKind::kReordered : CopyKind::kNone;
}

Sameness sameness(const ShapedNumbers& copy, const ShapedNumbers& original) {
  const std::span<const double> a = copy.entries;
  const std::span<const double> b = original.entries;
  if (a.size() != b.size() || a.empty()) return {};
  Sameness found{.as_is = are_same(a, b)};
  if (are_transposed(copy.shape, original.shape)) {
    const auto at = [&](std::int32_t place) { return b[static_cast<std::size_t>(place)]; };
    found.is_transposed = std::ranges::equal(a, transposition(original.shape), is_same, {}, at);
  }
  return found;
}

Sameness sameness_in(const TensorShapes& checkpoint, const ModelTie& tie) {
  if (!checkpoint.has(tie.name) || !checkpoint.has(tie.to) || !checkpoint.read) return {};
  const std::vector<double> copy = checkpoint.read(tie.name);
  const std::vector<double> original = checkpoint.read(tie.to);
  return sameness({.shape = checkpoint.at(tie.name), .entries = copy},
                  {.shape = checkpoint.at(tie.to), .entries = original});
}

void require_ties_hold(std::span<const ModelTie> ties, const TensorShapes& checkpoint) {
  for (const ModelTie& tie : ties) {
    if (!checkpoint.has(tie.name) || !checkpoint.has(tie.to) || !checkpoint.read) continue;
    const Sameness found = sameness_in(checkpoint, tie);
    const bool holds = tie.is_transposed ? (*tie.is_transposed ? found.is_transposed : found.as_is)
                                         : found.as_is || found.is_transposed;
    if (holds) continue;
    throw InputError(
        fmt::format("{}: tensors '{}' and '{}' differ, but they are tied: one tensor{}",
                    checkpoint.source,
                    tie.name,
                    tie.to,
                    tie.is_transposed && *tie.is_transposed ? " and its transpose" : ""));
  }
}

}  // namespace hesscope
