// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/extents.h>
#include <hesscope/core/parameter_block.h>
#include <hesscope/core/printable.h>
#include <hesscope/core/shape.h>
#include <hesscope/core/suggest.h>
#include <hesscope/core/wildcard.h>

namespace hesscope {
Eigen::Index require_blocks(std::string_view function, std::span<const ParameterBlock> blocks) {
  std::unordered_set<std::string_view> names;
  Eigen::Index next = 0;
  for (const ParameterBlock& block : blocks) {
    const auto refuse = [&](const std::string& why) {
      throw PreconditionError(
          fmt::format("{}: parameter block '{}' {}", function, printable(block.name), why));
    };
    if (block.name.empty() || !is_printable_utf8(block.name)) {
      refuse("needs a name of UTF-8 text without control characters");
    }
    if (!names.insert(block.name).second) refuse("is there twice");
    const std::optional<std::int64_t> size = detail::num_entries(block.shape);
    if (!size) refuse(fmt::format("cannot have the shape {}", shape_text(block.shape)));
    if (block.size != *size) {
      refuse(fmt::format(
          "has the size {}, but its shape {} says {}", block.size, shape_text(block.shape), *size));
    }
    if (block.offset != next) {
      refuse(fmt::format(
          "has the offset {}, expected {}: blocks follow one another from 0", block.offset, next));
    }
    if (__builtin_add_overflow(next, block.size, &next)) refuse("ends where no index reaches");
  }
  return next;
}

void require_blocks(std::string_view function,
                    std::span<const ParameterBlock> blocks,
                    Eigen::Index num_parameters) {
  const Eigen::Index found = require_blocks(function, blocks);
  if (found == num_parameters) return;
  throw PreconditionError(fmt::format(
      "{}: parameter blocks hold {} parameters, expected {}", function, found, num_parameters));
}

Eigen::Index append_block(std::vector<ParameterBlock>& blocks, ParameterBlock block) {
  block.offset = blocks.empty() ? 0 : blocks.back().offset + blocks.back().size;
  blocks.push_back(std::move(block));
  return blocks.back().offset;
}

std::vector<ParameterBlock> with_entries(std::span<const ParameterBlock> blocks) {
  std::vector<ParameterBlock> filled;
  std::ranges::copy_if(blocks, std::back_inserter(filled), [](const ParameterBlock& block) {
    return block.size > 0;
  });
  return filled;
}

std::vector<bool> blocks_matching(std::span<const ParameterBlock> blocks,
                                  std::span<const std::string> patterns) {
  std::vector<bool> matching(blocks.size());
  for (const std::string& pattern : patterns) {
    bool is_used = false;
    const bool is_name = std::ranges::find(blocks, pattern, &ParameterBlock::name) != blocks.end();
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const std::string& name = blocks[b].name;
      if (is_name ? name != pattern : !matches_wildcard(pattern, name)) continue;
      matching[b] = true;
      is_used = true;
    }
    if (is_used) continue;
    std::vector<std::string> names;
    for (const ParameterBlock& block : blocks) names.push_back(block.name);
    throw ConfigError(
        fmt::format("no parameter is named '{}'{}", pattern, did_you_mean(pattern, names)));
  }
  return matching;
}

}  // namespace hesscope
