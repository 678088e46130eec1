// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/plot/internal/panel_scales.h>
#include <hesscope/plot/shared_axes.h>

namespace hesscope::plot {
namespace {

// The range that contains all ranges.
class Union {
 public:
  void add(const Scale& scale) {
    if (!range_) {
      range_ = scale;
      shortest_ = scale.upper() - scale.lower();
      return;
    }
    is_one_ = is_one_ && scale.kind() == range_->kind();
    if (!is_one_) return;  // no range contains those of two kinds
    shortest_ = std::min(shortest_, scale.upper() - scale.lower());
    range_ = Scale(range_->kind(),
                   std::min(range_->lower(), scale.lower()),
                   std::max(range_->upper(), scale.upper()),
                   std::min(range_->threshold(), scale.threshold()));
  }

  bool is_shared() const {
    constexpr double kLeast = 0.05;  // of a linear range: shorter ones would be invisible
    return range_ && is_one_ &&
           (range_->kind() != ScaleKind::kLinear ||
            shortest_ >= kLeast * (range_->upper() - range_->lower()));
  }

  // Axis or ColourBar.
  template <typename Described>
  void give(Described& described) const {
    described.lower = range_->lower();
    described.upper = range_->upper();
    if (range_->kind() == ScaleKind::kSignedLog) described.threshold = range_->threshold();
  }

 private:
  std::optional<Scale> range_;
  bool is_one_ = true;
  double shortest_ = 0;  // of the ranges
};

// Gives these panels the same ranges.
void share(const std::vector<Panel*>& panels) {
  Union x;
  Union y;
  Union colour;
  for (std::size_t p = 0; p < panels.size(); ++p) {
    if (panels[p]->table) continue;
    const PanelScales scales = panel_scales(*panels[p], fmt::format("panel {}", p));
    if (!scales.has_values) continue;
    x.add(scales.x);
    y.add(scales.y);
    if (scales.colour) colour.add(*scales.colour);
  }
  for (Panel* panel : panels) {
    if (x.is_shared()) x.give(panel->x);
    if (y.is_shared()) y.give(panel->y);
    if (colour.is_shared() && panel->colour_bar) colour.give(*panel->colour_bar);
  }
}

}  // namespace

void share_axes(std::vector<Figure>& figures) {
  if (figures.size() < 2) return;
  const std::size_t num_panels = figures.front().panels.size();
  for (const Figure& figure : figures) {
    if (figure.panels.size() == num_panels) continue;
    throw PreconditionError(fmt::format(
        "share_axes: a figure has {} panels, another {}", num_panels, figure.panels.size()));
  }
  for (std::size_t p = 0; p < num_panels; ++p) {
    std::vector<Panel*> panels;
    for (Figure& figure : figures) panels.push_back(&figure.panels[p]);
    share(panels);
  }
}

void share_axes(Figure& figure) {
  std::vector<Panel*> panels;
  for (Panel& panel : figure.panels) panels.push_back(&panel);
  share(panels);
}

}  // namespace hesscope::plot
