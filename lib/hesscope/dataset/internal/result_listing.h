// SPDX-License-Identifier: BSD-3-Clause
//
// The contents of a result file, except its numbers, as bytes from an untrusted process.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hesscope/dataset/result_reader.h>

namespace hesscope::io {

struct ResultListing {
  /// Larger listings are refused.
  static constexpr std::size_t kMaxBytes = std::size_t{256} << 20;
  static constexpr std::size_t kMaxRank = 32;

  std::vector<Group> groups;  ///< with the values of text

  /// For all variables of all groups, one after another: why it cannot be read; empty if it can.
  std::vector<std::string> obstacles;
};

std::string encode(const ResultListing& listing);

/// @returns nothing for bytes that encode() cannot have written.
std::optional<ResultListing> decode_result_listing(std::string_view bytes);

}  // namespace hesscope::io
