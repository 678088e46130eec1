// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/plot/figure_json.h>
#include <hesscope/plot/internal/panel_scales.h>
#include <hesscope/plot/internal/series_data.h>

namespace hesscope::plot {
namespace {

Json json_colour(Colour colour) {
  if (colour == kInk || colour == Colour{0, 0, 0}) return "ink";
  if (colour == kGrey) return "grey";
  if (colour == Colour{255, 255, 255}) return "paper";
  return hex(colour);
}

const char* dash_name(Dash dash) {
  switch (dash) {
    case Dash::kDashed:
      return "dashed";
    case Dash::kDotted:
      return "dotted";
    case Dash::kSolid:
      break;
  }
  return "solid";
}

const char* reference_name(Reference::Kind kind) {
  switch (kind) {
    case Reference::Kind::kHorizontal:
      return "horizontal";
    case Reference::Kind::kVertical:
      return "vertical";
    case Reference::Kind::kSloped:
      break;
  }
  return "sloped";
}

Json json_pairs(const std::vector<std::pair<double, std::string>>& ticks) {
  Json list = Json::list();
  for (const auto& [value, label] : ticks) {
    Json pair = Json::list();
    pair.push_back(value);
    pair.push_back(label);
    list.push_back(pair);
  }
  return list;
}

// For drawing programs that lack such a scale: on signed scales, and wherever numbers are drawn by
// their places.
Json json_ticks(const Scale& scale, bool whole_numbers) {
  constexpr std::size_t kTarget = 9;
  std::vector<std::pair<double, std::string>> labelled;
  for (const Tick& tick : choose_ticks(scale, kTarget, whole_numbers).ticks) {
    if (!tick.label.empty()) labelled.emplace_back(tick.value, tick.label);
  }
  return json_pairs(labelled);
}

void add_scale(Json& json, const Scale& scale) {
  json["scale"] = to_string(scale.kind());
  json["lower"] = scale.lower();
  json["upper"] = scale.upper();
  if (scale.kind() == ScaleKind::kSignedLog) json["threshold"] = scale.threshold();
}

Json json_axis(const Axis& axis, const Scale& scale) {
  Json json = {{"label", axis.label}};
  add_scale(json, scale);
  if (!axis.ticks.empty()) {
    json["ticks"] = json_pairs(axis.ticks);
  } else if (scale.kind() == ScaleKind::kSignedLog) {
    json["ticks"] = json_ticks(scale, false);
  }
  if (axis.reversed) json["reversed"] = true;
  if (axis.whole_numbers) json["whole_numbers"] = true;
  return json;
}

// The panels of one figure; their numbers go to the pool.
class Describer {
 public:
  explicit Describer(NumberPool& pool) : pool_(pool) {}

  Json panel(const Panel& panel, const std::string& name, bool has_notes) {
    Json json = Json::object();
    const auto add_text = [&](const char* member, const std::string& text) {
      if (!text.empty()) json[member] = text;
    };
    add_text("title", panel.title);
    if (panel.table) {
      json["table"] = panel.table->rows;
      return json;
    }
    const PanelScales scales = panel_scales(panel, name);
    if (has_notes) add_text("note", scales.note);
    if (panel.square) json["square"] = true;
    if (!scales.has_values) json["empty"] = true;
    if (panel.legend == Legend::kNone) json["legend"] = "none";
    json["x"] = json_axis(panel.x, scales.x);
    json["y"] = json_axis(panel.y, scales.y);
    if (scales.colour) json["colour_bar"] = json_colour_bar(*panel.colour_bar, scales);
    Json list = Json::list();
    for (std::size_t i = 0; i < panel.series.size(); ++i) {
      const Series& series = panel.series[i];
      Json each = {{"kind", kind_name(series)}};
      if (!label_of(series).empty()) each["label"] = label_of(series);
      each["colour"] = json_colour(scales.colours[i]);
      std::visit([&](const auto& s) { add(each, s); }, series);
      list.push_back(each);
    }
    json["series"] = list;
    return json;
  }

 private:
  Json json_colour_bar(const ColourBar& bar, const PanelScales& scales) {
    constexpr int kStops = 24;
    Json json = {{"label", bar.label}};
    add_scale(json, *scales.colour);
    if (scales.colour->kind() != ScaleKind::kLinear) {
      json["ticks"] = json_ticks(*scales.colour, bar.whole_numbers);
    }
    if (bar.whole_numbers) json["whole_numbers"] = true;
    Json colours = Json::list();
    for (int k = 0; k <= kStops; ++k) {
      colours.push_back(hex(colour_at(bar.map, static_cast<double>(k) / kStops)));
    }
    json["colours"] = colours;
    if (!scales.levels.empty()) json["levels"] = pool_.add(scales.levels);
    return json;
  }

  void add_grid(Json& json, const Grid& grid) {
    json["x"] = pool_.add(grid.x);
    json["y"] = pool_.add(grid.y);
    json["values"] = pool_.add(grid.values);
  }

  void add(Json& json, const Line& line) {
    json["x"] = pool_.add(line.x);
    json["y"] = pool_.add(line.y);
    json["width"] = line.width;
    if (line.dash != Dash::kSolid) json["dash"] = dash_name(line.dash);
    if (line.markers) json["markers"] = true;
    if (line.steps) json["steps"] = true;
    Json uncertain = Json::list();
    for (std::size_t i = 0; i < line.uncertain.size(); ++i) {
      if (line.uncertain[i]) uncertain.push_back(i);
    }
    if (std::ranges::find(line.uncertain, true) != line.uncertain.end()) {
      json["uncertain"] = uncertain;
    }
  }

  void add(Json& json, const Band& band) {
    json["x"] = pool_.add(band.x);
    json["low"] = pool_.add(band.low);
    json["high"] = pool_.add(band.high);
  }

  void add(Json& json, const Scatter& scatter) {
    json["x"] = pool_.add(scatter.x);
    json["y"] = pool_.add(scatter.y);
    if (!scatter.values.empty()) json["values"] = pool_.add(scatter.values);
    json["radius"] = scatter.radius;
    if (scatter.opacity < 1) json["opacity"] = scatter.opacity;
  }

  void add(Json& json, const Bars& bars) {
    json["edges"] = pool_.add(bars.edges);
    json["heights"] = pool_.add(bars.heights);
  }

  void add(Json& json, const HeatMap& map) {
    add_grid(json, map.grid);
    if (map.numbers) json["numbers"] = true;
  }

  void add(Json& json, const FilledContours& contours) {
    add_grid(json, contours.grid);
    if (contours.lines) json["lines"] = true;
  }

  void add(Json& json, const ContourLines& contours) {
    add_grid(json, contours.grid);
    json["levels"] = pool_.add(contours.levels);
  }

  void add(Json& json, const Reference& reference) {
    json["direction"] = reference_name(reference.kind);
    json["intercept"] = reference.intercept;
    if (reference.kind == Reference::Kind::kSloped) json["slope"] = reference.slope;
    json["dash"] = dash_name(reference.dash);
  }

  void add(Json& json, const Marks& marks) { json["x"] = pool_.add(marks.x); }

  NumberPool& pool_;
};

}  // namespace

Json NumberPool::add(const std::vector<double>& list) {
  const std::string_view bytes(reinterpret_cast<const char*>(list.data()),
                               list.size() * sizeof(double));
  const std::size_t hash = std::hash<std::string_view>()(bytes);
  const auto place = [](std::size_t at, std::size_t count) -> Json {
    return {{"at", at}, {"count", count}};
  };
  const auto [first, last] = known_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    const auto& [at, count] = it->second;
    // Compared bytewise: NaN equals NaN, and 0 differs from -0.
    if (count != list.size()) continue;
    const bool is_same =
        list.empty() || std::memcmp(numbers_.data() + at, list.data(), bytes.size()) == 0;
    if (is_same) return place(at, count);
  }
  const std::size_t at = numbers_.size();
  numbers_.insert(numbers_.end(), list.begin(), list.end());
  known_.emplace(hash, std::pair(at, list.size()));
  return place(at, list.size());
}

Json to_json(const Figure& figure, NumberPool& pool) {
  if (figure.panels.empty()) throw PreconditionError("to_json: the figure has no panels");
  Describer describer(pool);
  Json panels = Json::list();
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    panels.push_back(describer.panel(figure.panels[i], fmt::format("panel {}", i), figure.notes));
  }
  Json json = Json::object();
  if (!figure.title.empty()) json["title"] = figure.title;
  json["description"] = figure.description;
  if (figure.columns > 0) json["columns"] = figure.columns;
  json["panels"] = panels;
  return json;
}

}  // namespace hesscope::plot
