// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hesscope/core/eigen.h>

namespace hesscope {

/// A named tensor's place in the flat parameter vector (row-major inside the block).
struct ParameterBlock {
  std::string name;
  std::vector<std::int64_t> shape;
  Eigen::Index offset = 0;
  Eigen::Index size = 0;
};

/// Checks what every user of blocks assumes: that they follow one another from 0, each as large as
/// its shape says, under names of UTF-8 text without control characters, no two the same.
/// @param function  that was given them, for the message.
/// @returns the number of parameters in them.
/// @throws PreconditionError naming the function and the block.
Eigen::Index require_blocks(std::string_view function, std::span<const ParameterBlock> blocks);

/// The same, and that they hold num_parameters parameters.
void require_blocks(std::string_view function,
                    std::span<const ParameterBlock> blocks,
                    Eigen::Index num_parameters);

/// Puts a block behind the last one, whatever its offset was.
/// @returns its offset there.
Eigen::Index append_block(std::vector<ParameterBlock>& blocks, ParameterBlock block);

/// Those of the blocks that have entries: a tensor with an extent of 0 has none.
std::vector<ParameterBlock> with_entries(std::span<const ParameterBlock> blocks);

/// Which blocks a list of patterns names, as matches_wildcard() reads them: `*` stands for any
/// characters, `?` for one, `[QK]` for one of these. A block of the pattern's own name is the one
/// that it names.
/// @throws ConfigError naming a pattern that no block's name matches, with the nearest name.
std::vector<bool> blocks_matching(std::span<const ParameterBlock> blocks,
                                  std::span<const std::string> patterns);

}  // namespace hesscope
