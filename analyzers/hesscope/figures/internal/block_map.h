// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers of pairs of parameter tensors as a heat map.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hesscope/plot/figure.h>

namespace hesscope::figures {

/// What can be drawn for a pair of tensors.
struct BlockQuantity {
  const char* name;         ///< of the variable of /blocks
  const char* label;        ///< of the colour bar
  const char* description;  ///< of the figure
  bool is_distance;         ///< in [0, sqrt(log 2)], which is then the range of the colours
};

/// The norms of blocks, and the distances between spectra of diagonal blocks.
std::span<const BlockQuantity> block_quantities();

/// nullptr if there is none of this name.
const BlockQuantity* find_block_quantity(const std::string& name);

/// For a variable of /blocks that does not have one number for each pair of tensors.
/// @throws InputError that says so.
[[noreturn]] void refuse_blocks(const std::filesystem::path& file, std::string_view quantity);

/// Rows and columns in the order of the names, as in a matrix; long names lose their middle.
/// @param values  one number for each pair of names, row by row; NaN if there is none.
plot::Panel block_map(const std::vector<std::string>& names,
                      std::vector<double> values,
                      const BlockQuantity& quantity,
                      const std::string& title);

/// The sides in points of a panel with room for that many cells and for the names.
struct BlockMapSize {
  double cells = 0;   ///< of the square
  double beside = 0;  ///< of the names

  double width() const { return cells + beside + 90; }

  double height() const { return cells + beside + 45; }
};

BlockMapSize block_map_size(const std::vector<std::string>& names);

}  // namespace hesscope::figures
