// SPDX-License-Identifier: BSD-3-Clause
//
// The numbers of a panel's series, however they are drawn.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <hesscope/plot/figure.h>

namespace hesscope::plot {

/// Numbers of a panel by the axis on which they need room, and how many are missing.
struct SeriesData {
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> colour;
  std::size_t num_missing = 0;       ///< NaN or infinite
  std::size_t num_not_positive = 0;  ///< on a logarithmic axis
  std::size_t num_references = 0;    ///< of y: constants that are not part of the drawn data
  bool has_field = false;
  bool has_bars = false;
};

/// @throws PreconditionError if the parts of a series do not fit together.
SeriesData collect(const Panel& panel, const std::string& name);

/// The text of a series in the legend.
const std::string& label_of(const Series& series);

/// "line", "heat-map", ...
const char* kind_name(const Series& series);

}  // namespace hesscope::plot
