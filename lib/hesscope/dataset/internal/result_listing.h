// SPDX-License-Identifier: BSD-3-Clause
//
// What a result file holds, but for its numbers, as bytes from a process that is not trusted.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hesscope/dataset/result_reader.h>

namespace hesscope::io {

struct ResultListing {
  /// More is refused.
  static constexpr std::size_t kMaxBytes = std::size_t{256} << 20;
  static constexpr std::size_t kMaxRank = 32;

  std::vector<Group> groups;  ///< with the values of text

  /// Of all variables of all groups, one after another: why it cannot be read; empty if it can.
  std::vector<std::string> obstacles;
};

std::string encode(const ResultListing& listing);

/// @returns nothing for bytes that encode() does not make.
std::optional<ResultListing> decode_result_listing(std::string_view bytes);

}  // namespace hesscope::io
