// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/plot/internal/layout.h>
#include <hesscope/plot/internal/series_data.h>

namespace hesscope::plot {
namespace {

class Collector {
 public:
  Collector(const Panel& panel, const std::string& name) : panel_(panel), name_(name) {}

  SeriesData run() {
    for (const Series& series : panel_.series) {
      std::visit([this](const auto& s) { add(s); }, series);
      ++index_;
    }
    return std::move(data_);
  }

 private:
  void require(bool holds, const std::string& what) const {
    if (!holds) {
      throw PreconditionError(fmt::format("to_svg: {}, series {}: {}", name_, index_, what));
    }
  }

  void require_same(std::size_t expected, std::size_t found, const char* what) const {
    require(expected == found,
            fmt::format("{} must have {} entries, as x has, got {}", what, expected, found));
  }

  // Whether a point has a place; otherwise it is counted as missing.
  bool counted(double x, double y) {
    bool placed = true;
    for (const auto& [value, kind] : {std::pair(x, panel_.x.scale), std::pair(y, panel_.y.scale)}) {
      if (!placed || is_drawable(kind, value)) continue;
      placed = false;
      ++(std::isfinite(value) ? data_.num_not_positive : data_.num_missing);
    }
    return placed;
  }

  void add_point(double x, double y) {
    if (!counted(x, y)) return;
    data_.x.push_back(x);
    data_.y.push_back(y);
  }

  void add(const Line& line) {
    require_same(line.x.size(), line.y.size(), "y");
    if (!line.uncertain.empty()) require_same(line.x.size(), line.uncertain.size(), "uncertain");
    for (std::size_t i = 0; i < line.x.size(); ++i) add_point(line.x[i], line.y[i]);
  }

  void add(const Band& band) {
    require_same(band.x.size(), band.low.size(), "low");
    require_same(band.x.size(), band.high.size(), "high");
    // Missing numbers of a band are counted with its line.
    for (std::size_t i = 0; i < band.x.size(); ++i) {
      if (!is_drawable(panel_.x.scale, band.x[i])) continue;
      for (const double y : {band.low[i], band.high[i]}) {
        if (!is_drawable(panel_.y.scale, y)) continue;
        data_.x.push_back(band.x[i]);
        data_.y.push_back(y);
      }
    }
  }

  void add(const Scatter& scatter) {
    require_same(scatter.x.size(), scatter.y.size(), "y");
    if (!scatter.values.empty()) {
      require_same(scatter.x.size(), scatter.values.size(), "values");
      require(panel_.colour_bar.has_value(), "values need a colour bar");
    }
    for (std::size_t i = 0; i < scatter.x.size(); ++i) add_point(scatter.x[i], scatter.y[i]);
    data_.colour.insert(data_.colour.end(), scatter.values.begin(), scatter.values.end());
  }

  void add(const Bars& bars) {
    require(bars.heights.empty() ? bars.edges.size() <= 1
                                 : bars.edges.size() == bars.heights.size() + 1,
            fmt::format("needs one more edge than heights, got {} and {}",
                        bars.edges.size(),
                        bars.heights.size()));
    data_.has_bars = true;
    const bool has_zero = panel_.y.scale != ScaleKind::kLog;
    for (std::size_t i = 0; i < bars.heights.size(); ++i) {
      // An empty bin of a histogram is not missing, although it has no place on a logarithmic axis.
      if (!has_zero && bars.heights[i] == 0) continue;
      if (!counted(bars.edges[i], bars.heights[i])) continue;
      data_.x.insert(data_.x.end(), {bars.edges[i], bars.edges[i + 1]});
      data_.y.push_back(bars.heights[i]);
      if (has_zero) data_.y.push_back(0);
    }
  }

  void add_grid(const Grid& grid) {
    require(grid.values.size() == grid.x.size() * grid.y.size(),
            fmt::format("a grid of {} columns and {} rows must have {} values, got {}",
                        grid.x.size(),
                        grid.y.size(),
                        grid.x.size() * grid.y.size(),
                        grid.values.size()));
    for (const auto& [axis, kind] :
         {std::pair(&grid.x, panel_.x.scale), std::pair(&grid.y, panel_.y.scale)}) {
      for (std::size_t i = 0; i < axis->size(); ++i) {
        require(is_drawable(kind, (*axis)[i]) && (i == 0 || (*axis)[i - 1] < (*axis)[i]),
                "x and y of a grid must ascend and have a place on their axes");
      }
    }
  }

  void add(const HeatMap& map) {
    add_grid(map.grid);
    require(panel_.colour_bar.has_value(), "a heat map needs a colour bar");
    add_values(map.grid);
    if (map.grid.values.empty()) return;
    const auto edges_x = cell_edges(map.grid.x, panel_.x.scale);
    const auto edges_y = cell_edges(map.grid.y, panel_.y.scale);
    data_.x.insert(data_.x.end(), edges_x.begin(), edges_x.end());
    data_.y.insert(data_.y.end(), edges_y.begin(), edges_y.end());
  }

  void add(const FilledContours& contours) {
    add_grid(contours.grid);
    require(panel_.colour_bar.has_value(), "filled contours need a colour bar");
    add_values(contours.grid);
    data_.x.insert(data_.x.end(), contours.grid.x.begin(), contours.grid.x.end());
    data_.y.insert(data_.y.end(), contours.grid.y.begin(), contours.grid.y.end());
  }

  void add(const ContourLines& contours) {
    add_grid(contours.grid);
    data_.x.insert(data_.x.end(), contours.grid.x.begin(), contours.grid.x.end());
    data_.y.insert(data_.y.end(), contours.grid.y.begin(), contours.grid.y.end());
  }

  void add(const Reference& reference) {
    if (!reference.is_in_range || reference.kind != Reference::Kind::kHorizontal) return;
    if (!is_drawable(panel_.y.scale, reference.intercept)) return;
    data_.y.push_back(reference.intercept);
    ++data_.num_references;
  }

  void add(const Marks& marks) {
    for (const double x : marks.x) {
      if (is_drawable(panel_.x.scale, x)) data_.x.push_back(x);
    }
  }

  void add_values(const Grid& grid) {
    data_.has_field = true;
    for (const double value : grid.values) {
      if (!std::isfinite(value)) {
        ++data_.num_missing;
      } else if (!is_drawable(panel_.colour_bar->scale, value)) {
        ++data_.num_not_positive;
      } else {
        data_.colour.push_back(value);
      }
    }
  }

  const Panel& panel_;
  const std::string& name_;
  std::size_t index_ = 0;
  SeriesData data_;
};

}  // namespace

SeriesData collect(const Panel& panel, const std::string& name) {
  return Collector(panel, name).run();
}

bool has_numbers(const Figure& figure) {
  return std::any_of(figure.panels.begin(), figure.panels.end(), [](const Panel& panel) {
    if (panel.table) return true;
    const SeriesData data = collect(panel, "a panel");
    return data.has_field ? !data.colour.empty() : data.y.size() > data.num_references;
  });
}

bool has_unplaced_numbers(const Figure& figure) {
  return std::any_of(figure.panels.begin(), figure.panels.end(), [](const Panel& panel) {
    return !panel.table && collect(panel, "a panel").num_not_positive > 0;
  });
}

const std::string& label_of(const Series& series) {
  static const std::string none;
  return std::visit(
      [](const auto& s) -> const std::string& {
        if constexpr (requires { s.label; }) {
          return s.label;
        } else {
          return none;
        }
      },
      series);
}

const char* kind_name(const Series& series) {
  constexpr std::array<const char*, 9> kNames = {"line",
                                                 "band",
                                                 "scatter",
                                                 "bars",
                                                 "heat-map",
                                                 "filled-contours",
                                                 "contour-lines",
                                                 "reference",
                                                 "marks"};
  static_assert(kNames.size() == std::variant_size_v<Series>);
  return kNames[series.index()];
}

}  // namespace hesscope::plot
