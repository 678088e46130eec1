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

/// Checks what every user of blocks assumes: they follow one another from 0, each is as large as
/// its shape says, and their names are distinct UTF-8 texts without control characters.
/// @param function  the function that received the blocks, for the message.
/// @returns the number of parameters in all blocks.
/// @throws PreconditionError naming the function and the block.
Eigen::Index require_blocks(std::string_view function, std::span<const ParameterBlock> blocks);

/// The same, and checks that they hold num_parameters parameters.
void require_blocks(std::string_view function,
                    std::span<const ParameterBlock> blocks,
                    Eigen::Index num_parameters);

/// Appends a block behind the last one, whatever its offset was.
/// @returns its new offset.
Eigen::Index append_block(std::vector<ParameterBlock>& blocks, ParameterBlock block);

/// The blocks that have entries; a tensor with an extent of 0 has none.
std::vector<ParameterBlock> with_entries(std::span<const ParameterBlock> blocks);

/// Which blocks are named by a list of patterns, which are read as by matches_wildcard(): `*`
/// stands for any characters, `?` for one, `[QK]` for one of these. If a block is called exactly
/// like a pattern, the pattern names that block only.
/// @throws ConfigError naming a pattern that no block's name matches, with the nearest name.
std::vector<bool> blocks_matching(std::span<const ParameterBlock> blocks,
                                  std::span<const std::string> patterns);

}  // namespace hesscope
