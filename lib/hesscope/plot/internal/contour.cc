// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include <hesscope/core/constants.h>
#include <hesscope/plot/internal/contour.h>

namespace hesscope::plot {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Segments between edges of the grid; each edge has at most two of them.
class Segments {
 public:
  Segments(const Field& field, double level)
      : field_(field),
        level_(level),
        columns_(field.x.size()),
        rows_(field.y.size()),
        neighbours_(2 * columns_ * rows_, {kNone, kNone}) {}

  void collect(bool across_holes) {
    for (std::size_t i = 0; i + 1 < rows_; ++i) {
      for (std::size_t j = 0; j + 1 < columns_; ++j) add_cell(i, j, across_holes);
    }
  }

  // Open lines first, so that the remaining ones are closed.
  std::vector<Polyline> lines() {
    std::vector<Polyline> result;
    for (const bool open : {true, false}) {
      for (std::size_t edge = 0; edge < neighbours_.size(); ++edge) {
        const auto& [first, second] = neighbours_[edge];
        if (first == kNone || (open && second != kNone)) continue;
        result.push_back(follow(edge));
      }
    }
    return result;
  }

 private:
  double at(std::size_t i, std::size_t j) const { return field_.values[i * columns_ + j]; }

  bool is_above(std::size_t i, std::size_t j) const { return at(i, j) >= level_; }  // not NaN

  // The edge from node (i, j) to the right, or down to row i + 1.
  std::size_t right_of(std::size_t i, std::size_t j) const { return 2 * (i * columns_ + j); }

  std::size_t below(std::size_t i, std::size_t j) const { return right_of(i, j) + 1; }

  void connect(std::size_t a, std::size_t b) {
    for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
      auto& [first, second] = neighbours_[from];
      (first == kNone ? first : second) = to;
    }
  }

  void add_cell(std::size_t i, std::size_t j, bool across_holes) {
    const double sum = at(i, j) + at(i, j + 1) + at(i + 1, j) + at(i + 1, j + 1);
    if (!across_holes && std::isnan(sum)) return;
    const unsigned corners = (is_above(i, j) ? 1U : 0U) | (is_above(i, j + 1) ? 2U : 0U) |
                             (is_above(i + 1, j + 1) ? 4U : 0U) | (is_above(i + 1, j) ? 8U : 0U);
    const std::size_t top = right_of(i, j);
    const std::size_t right = below(i, j + 1);
    const std::size_t bottom = right_of(i + 1, j);
    const std::size_t left = below(i, j);
    switch (corners) {
      case 1:
      case 14:
        return connect(left, top);
      case 2:
      case 13:
        return connect(top, right);
      case 4:
      case 11:
        return connect(right, bottom);
      case 8:
      case 7:
        return connect(bottom, left);
      case 3:
      case 12:
        return connect(left, right);
      case 6:
      case 9:
        return connect(top, bottom);
      case 5:
      case 10: {
        const bool joined = (sum / 4 >= level_) == (corners == 5);  // (i, j) with (i + 1, j + 1)
        connect(left, joined ? bottom : top);
        return connect(right, joined ? top : bottom);
      }
      default:
        return;
    }
  }

  // Where the level is crossed; next to a hole, at the existing node.
  Point crossing(std::size_t edge) const {
    const std::size_t i = edge / 2 / columns_;
    const std::size_t j = edge / 2 % columns_;
    const bool is_horizontal = edge % 2 == 0;
    const std::size_t i2 = is_horizontal ? i : i + 1;
    const std::size_t j2 = is_horizontal ? j + 1 : j;
    const double a = at(i, j);
    const double b = at(i2, j2);
    double t = (level_ - a) / (b - a);
    if (!std::isfinite(a) || !std::isfinite(b)) t = std::isfinite(a) ? 0 : 1;
    return {field_.x[j] + t * (field_.x[j2] - field_.x[j]),
            field_.y[i] + t * (field_.y[i2] - field_.y[i])};
  }

  Polyline follow(std::size_t start) {
    Polyline line;
    for (std::size_t edge = start; edge != kNone;) {
      line.push_back(crossing(edge));
      const std::size_t next = neighbours_[edge][0];
      neighbours_[edge][0] = std::exchange(neighbours_[edge][1], kNone);
      if (next != kNone) {
        auto& back = neighbours_[next];
        if (back[0] == edge) back[0] = back[1];
        back[1] = kNone;
      }
      edge = next;
    }
    return line;
  }

  const Field& field_;
  double level_;
  std::size_t columns_;
  std::size_t rows_;
  std::vector<std::array<std::size_t, 2>> neighbours_;
};

// The field surrounded by a border of minus infinity; holes become minus infinity, too.
Field with_border(const Field& field) {
  const double nothing = -kInfinity;
  const std::size_t columns = field.x.size();
  const auto extended = [](const std::vector<double>& axis) {
    std::vector<double> all = {axis.front()};
    all.insert(all.end(), axis.begin(), axis.end());
    all.push_back(axis.back());
    return all;
  };
  Field result{extended(field.x), extended(field.y), {}};
  result.values.assign(result.x.size() * result.y.size(), nothing);
  for (std::size_t i = 0; i < field.y.size(); ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      const double value = field.values[i * columns + j];
      if (!std::isnan(value)) result.values[(i + 1) * result.x.size() + j + 1] = value;
    }
  }
  return result;
}

}  // namespace

std::vector<Polyline> contour_lines(const Field& field, double level) {
  if (field.x.empty() || field.y.empty()) return {};
  Segments segments(field, level);
  segments.collect(false);
  return segments.lines();
}

std::vector<Polyline> superlevel_area(const Field& field, double level) {
  if (field.x.empty() || field.y.empty()) return {};
  const Field bordered = with_border(field);
  Segments segments(bordered, level);
  segments.collect(true);
  return segments.lines();
}

}  // namespace hesscope::plot
