// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <hesscope/core/constants.h>
#include <hesscope/plot/internal/refined_field.h>

namespace hesscope::plot {
namespace {

constexpr double kMostParts = 16;
// Per axis: more than a screen has, even if one cell of many is wide.
constexpr double kMostPlaces = 2000;

std::size_t parts_of(const std::vector<double>& places, double largest) {
  double widest = 0;
  for (std::size_t i = 0; i + 1 < places.size(); ++i) {
    widest = std::max(widest, std::abs(places[i + 1] - places[i]));
  }
  const double parts = std::ceil(widest / largest);
  const double most = std::min(kMostParts, kMostPlaces / static_cast<double>(places.size()));
  return parts > 1 && most > 1 ? static_cast<std::size_t>(std::min(parts, most)) : 1;
}

std::vector<double> divided(const std::vector<double>& places, std::size_t parts) {
  std::vector<double> all;
  for (std::size_t i = 0; i + 1 < places.size(); ++i) {
    const double step = (places[i + 1] - places[i]) / static_cast<double>(parts);
    for (std::size_t k = 0; k < parts; ++k) {
      all.push_back(places[i] + static_cast<double>(k) * step);
    }
  }
  if (!places.empty()) all.push_back(places.back());
  return all;
}

// Numbers at places; NaN if missing.
class Section {
 public:
  Section(const std::vector<double>& places, std::vector<double> values)
      : places_(places), values_(std::move(values)) {}

  std::vector<double> divided(std::size_t parts) const {
    std::vector<double> all;
    for (std::size_t i = 0; i + 1 < values_.size(); ++i) {
      all.push_back(values_[i]);
      for (std::size_t k = 1; k < parts; ++k) {
        all.push_back(between(i, static_cast<double>(k) / static_cast<double>(parts)));
      }
    }
    if (!values_.empty()) all.push_back(values_.back());
    return all;
  }

 private:
  double width(std::size_t i) const { return places_[i + 1] - places_[i]; }

  // The slope between places i and i + 1, if both have a number.
  std::optional<double> secant(std::size_t i) const {
    if (i + 1 >= values_.size()) return std::nullopt;
    const double slope = (values_[i + 1] - values_[i]) / width(i);
    return std::isfinite(slope) ? std::optional(slope) : std::nullopt;
  }

  // The slope of the parabola through places i - 1, i and i + 1.
  std::optional<double> inner_slope(std::size_t i) const {
    if (i == 0) return std::nullopt;
    const std::optional<double> left = secant(i - 1);
    const std::optional<double> right = secant(i);
    if (!left || !right) return std::nullopt;
    return (*left * width(i) + *right * width(i - 1)) / (width(i - 1) + width(i));
  }

  // The slope at one end of the piece from place i to i + 1, whose secant is known. The secant of a
  // parabola is the mean of its slopes at both ends.
  double slope_at(std::size_t end, std::size_t other, double secant) const {
    if (const std::optional<double> own = inner_slope(end)) return *own;
    const std::optional<double> opposite = inner_slope(other);
    return opposite ? 2 * secant - *opposite : secant;
  }

  double between(std::size_t i, double u) const {
    const std::optional<double> rise = secant(i);
    if (!rise) return kNaN;
    const double h = width(i);
    const double s = h * slope_at(i, i + 1, *rise);
    const double t = h * slope_at(i + 1, i, *rise);
    const double d = values_[i + 1] - values_[i];
    return values_[i] + u * (s + u * (3 * d - (2 * s + t) + u * (s + t - 2 * d)));
  }

  const std::vector<double>& places_;
  std::vector<double> values_;
};

}  // namespace

Field refined(const Field& field, double largest) {
  const std::size_t columns = field.x.size();
  const std::size_t rows = field.y.size();
  const std::size_t across = parts_of(field.x, largest);
  const std::size_t down = parts_of(field.y, largest);
  Field fine{.x = divided(field.x, across), .y = divided(field.y, down), .values = {}};
  std::vector<std::vector<double>> by_row;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto first = field.values.begin() + static_cast<std::ptrdiff_t>(i * columns);
    const auto last = first + static_cast<std::ptrdiff_t>(columns);
    by_row.push_back(Section(field.x, {first, last}).divided(across));
  }
  const std::size_t width = fine.x.size();
  fine.values.resize(width * fine.y.size());
  for (std::size_t j = 0; j < width; ++j) {
    std::vector<double> column;
    for (const std::vector<double>& row : by_row) column.push_back(row[j]);
    const std::vector<double> all = Section(field.y, std::move(column)).divided(down);
    for (std::size_t i = 0; i < all.size(); ++i) fine.values[i * width + j] = all[i];
  }
  return fine;
}

}  // namespace hesscope::plot
