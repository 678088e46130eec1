// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/ascii.h>
#include <hesscope/core/suggest.h>

namespace hesscope {
namespace {

// Optimal string alignment distance: three rows of the dynamic programme.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

constexpr std::size_t kLeastLetters = 3;

// The first candidate that begins with `word`, as "--problem" does with "--prob"; else empty.
std::string begun_by(std::string_view word, std::span<const std::string> candidates) {
  const std::size_t first_letter = std::min(word.find_first_not_of('-'), word.size());
  if (word.size() - first_letter < kLeastLetters) return {};
  const auto begins = [&](const std::string& each) { return each.starts_with(word); };
  const auto found = std::ranges::find_if(candidates, begins);
  return found == candidates.end() ? std::string() : *found;
}

// Whether `word` is a part of the name, as "kernel" is a part of "tangent-kernel".
bool is_part_of(std::string_view word, std::string_view name) {
  constexpr std::string_view kSeparators = "-_.";
  if (word.size() < kLeastLetters) return false;
  const auto ends_at = [&](std::size_t place) {
    return place == name.size() || kSeparators.find(name[place]) != std::string_view::npos;
  };
  for (std::size_t at = name.find(word); at != std::string_view::npos;
       at = name.find(word, at + 1)) {
    if ((at == 0 || ends_at(at - 1)) && ends_at(at + word.size())) return true;
  }
  return false;
}

// Whether both are single letters that differ by more than case: one edit apart, but not similar.
bool are_different_letters(std::string_view a, std::string_view b) {
  return a.size() == 1 && b.size() == 1 && lower_case(a[0]) != lower_case(b[0]);
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  std::size_t best_distance = (word.size() + 2) / 3 + 1;
  std::string best;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance && !are_different_letters(word, candidate)) {
      best_distance = distance;
      best = candidate;
    }
  }
  if (best.empty() || best_distance > 1) {
    if (std::string longer = begun_by(word, candidates); !longer.empty()) return longer;
  }
  if (!best.empty()) return best;
  const auto longer = std::ranges::find_if(
      candidates, [&](const std::string& each) { return is_part_of(word, each); });
  return longer == candidates.end() ? best : *longer;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const std::string candidate = nearest(word, candidates);
  return candidate.empty() ? std::string() : " (did you mean '" + candidate + "'?)";
}

std::string name_among(std::string_view name, std::span<const std::string> names) {
  return fmt::format(
      "'{}'{}; there are {}", name, did_you_mean(name, names), fmt::join(names, ", "));
}

std::string unknown_name(std::string_view what,
                         std::string_view name,
                         std::span<const std::string> names) {
  return fmt::format("unknown {} {}", what, name_among(name, names));
}

}  // namespace hesscope
