// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>

#include <hesscope/dataset/internal/dataset_bytes.h>
#include <hesscope/dataset/internal/result_listing.h>

namespace hesscope::io {

std::string encode(const ResultListing& listing) {
  ByteWriter out;
  out.add(std::uint64_t{listing.groups.size()});
  for (const Group& group : listing.groups) put(out, group);
  out.add(std::uint64_t{listing.obstacles.size()});
  for (const std::string& obstacle : listing.obstacles) out.add(obstacle);
  return out.take();
}

std::optional<ResultListing> decode_result_listing(std::string_view bytes) {
  ByteReader in(bytes);
  ResultListing listing;
  std::uint64_t count = 0;
  if (!in.take(count) || count > in.size()) return std::nullopt;
  std::size_t num_variables = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    Group& group = listing.groups.emplace_back();
    if (!take(in, group)) return std::nullopt;
    num_variables += group.variables.size();
    for (const Variable& variable : group.variables) {
      if (variable.dimensions.size() != variable.shape.size()) return std::nullopt;
    }
  }
  if (!in.take(count) || count != num_variables) return std::nullopt;
  for (const Group& group : listing.groups) {
    for (const Variable& variable : group.variables) {
      std::string& obstacle = listing.obstacles.emplace_back();
      if (!in.take(obstacle)) return std::nullopt;
      const bool has_text = std::holds_alternative<std::vector<std::string>>(variable.values);
      if (variable.type == VariableType::kText && obstacle.empty() && !has_text) {
        return std::nullopt;
      }
    }
  }
  if (!in.is_at_end()) return std::nullopt;
  return listing;
}

}  // namespace hesscope::io
