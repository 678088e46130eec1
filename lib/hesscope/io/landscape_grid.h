// SPDX-License-Identifier: BSD-3-Clause
//
// The grid of a result's /landscape. Private to the exports.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <hesscope/io/result_reader.h>

namespace hesscope::io {

struct LandscapeGrid {
  std::vector<double> alpha;
  std::vector<double> beta;

  /// Variables over (beta, alpha), the loss first: entry (b, a) at [b * alpha.size() + a].
  std::vector<std::pair<std::string, std::vector<double>>> fields;

  const std::vector<double>& loss() const { return fields.front().second; }
};

/// Whether there is one.
bool has_landscape(const ResultReader& result);

/// @throws InputError naming the file if there is none.
LandscapeGrid read_landscape(const ResultReader& result);

}  // namespace hesscope::io
