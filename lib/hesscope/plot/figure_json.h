// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <hesscope/core/json.h>
#include <hesscope/plot/figure.h>

namespace hesscope::plot {

/// The numbers of figures that are written as JSON, one list after another. Equal lists are stored
/// once, such as the coordinates that many figures share.
class NumberPool {
 public:
  /// {"at": first, "count": n}: the position of the list in numbers().
  Json add(const std::vector<double>& list);

  std::span<const double> numbers() const { return numbers_; }

 private:
  std::vector<double> numbers_;
  std::multimap<std::size_t, std::pair<std::size_t, std::size_t>> known_;  // places by hash
};

/// The figure for a program that draws it elsewhere, such as a web page: the content of figure.h
/// together with everything that to_svg() derives from the numbers (ranges, thresholds, colours,
/// levels, remarks), so that both drawings show the same.
///
///   {title, description, columns, panels: [{
///      title, note, square, legend: "none", empty,
///      x, y: {label, scale: "linear" | "log" | "signed-log", lower, upper, threshold,
///             ticks: [[value, label], ...], reversed, whole_numbers},
///      colour_bar: {label, scale, lower, upper, threshold, ticks, colours: [...], levels},
///      series: [{kind: "line" | "band" | ..., label, colour, ...}],
///      table: [[text, ...], ...]}]}
///
/// Empty members are omitted. Lists of numbers are places in the pool, where they are exact and
/// include NaN. Colours are "#rrggbb", or "ink", "grey" and "paper", which follow the page's
/// colours.
/// @throws PreconditionError as to_svg().
Json to_json(const Figure& figure, NumberPool& pool);

}  // namespace hesscope::plot
