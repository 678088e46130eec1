// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <hesscope/models/internal/related_tensors.h>

namespace hesscope::detail {
namespace {

using Line = std::vector<double>;

bool says_something(std::span<const double> numbers) {
  constexpr std::size_t kFewest = 3;
  constexpr std::size_t kFewestOfFewDigits = 6;
  const bool has_few_digits = std::ranges::all_of(numbers, is_of_few_digits);
  if (numbers.size() < (has_few_digits ? kFewestOfFewDigits : kFewest)) return false;
  return std::ranges::any_of(numbers,
                             [&](double x) { return std::abs(x) != std::abs(numbers.front()); }) &&
         std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); });
}

// Visits the rows and columns that are conclusive.
template <typename F>
void for_lines(const ShapedNumbers& tensor, F visit) {
  if (tensor.shape.size() < 2 || tensor.entries.empty()) return;
  const auto cols = static_cast<std::size_t>(tensor.shape.back());
  const std::size_t rows = tensor.entries.size() / cols;
  const auto take = [&](std::size_t first, std::size_t step, std::size_t count) {
    Line line(count);
    for (std::size_t k = 0; k < count; ++k) line[k] = tensor.entries[first + k * step];
    if (says_something(line)) visit(std::move(line));
  };
  for (std::size_t i = 0; i < rows; ++i) take(i * cols, 1, cols);
  for (std::size_t j = 0; j < cols; ++j) take(j, cols, rows);
}

// Whether a_k = c b_(place(k)) with a single c.
template <typename Place>
bool is_multiple(std::span<const double> a, std::span<const double> b, Place place) {
  constexpr double kRounding = 0x1p-21;
  double factor = 0;
  double largest = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double of_b = b[place(k)];
    if (!(std::abs(of_b) > largest)) continue;
    largest = std::abs(of_b);
    factor = a[k] / of_b;
  }
  if (factor == 0 || !std::isfinite(factor)) return false;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double expected = factor * b[place(k)];
    if (!(std::abs(a[k] - expected) <= kRounding * std::abs(expected))) return false;
  }
  return true;
}

bool is_multiple(const ShapedNumbers& a, const ShapedNumbers& b) {
  if (a.entries.size() != b.entries.size()) return false;
  if (!says_something(a.entries) || !says_something(b.entries)) return false;
  if (std::ranges::equal(a.shape, b.shape)) {
    if (is_multiple(a.entries, b.entries, [](std::size_t k) { return k; })) return true;
  }
  if (!are_transposed(a.shape, b.shape)) return false;
  const std::vector<std::int32_t> places = transposition(b.shape);
  return is_multiple(
      a.entries, b.entries, [&](std::size_t k) { return static_cast<std::size_t>(places[k]); });
}

}  // namespace

std::vector<std::optional<std::size_t>> related_tensors(std::span<const ShapedNumbers> tensors) {
  std::vector<std::optional<std::size_t>> related(tensors.size());
  std::map<Line, std::size_t> known;  // the first tensor that has it
  const auto relate = [&](std::size_t i, std::size_t j) {
    if (!related[i]) related[i] = j;
    if (!related[j]) related[j] = i;
  };
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    for_lines(tensors[i], [&](Line line) {
      const auto [found, is_new] = known.try_emplace(std::move(line), i);
      if (!is_new && found->second != i) relate(i, found->second);
    });
    for (std::size_t j = 0; j < i; ++j) {
      if (is_multiple(tensors[i], tensors[j])) relate(i, j);
    }
  }
  return related;
}

}  // namespace hesscope::detail
