// SPDX-License-Identifier: BSD-3-Clause
//
// What a panel's numbers need in any drawing: ranges, colours, levels, and a remark on what cannot
// be shown.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <hesscope/plot/scale.h>

namespace hesscope::plot {

struct PanelScales {
  Scale x;
  Scale y;
  bool has_values = false;       ///< there is something to draw
  bool has_field = false;        ///< the plot is filled to its edges
  std::string note;              ///< the panel's own, and about missing numbers
  std::vector<Colour> colours;   ///< of each series
  std::optional<Scale> colour;   ///< of the colour bar, if there is something to draw
  std::vector<double> levels{};  ///< of filled contours, ascending; equally spaced on the scale
};

/// @throws PreconditionError as to_svg(). `name` is the panel's in messages.
PanelScales panel_scales(const Panel& panel, const std::string& name);

}  // namespace hesscope::plot
