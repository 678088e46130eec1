// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include <hesscope/problem/internal/parameter_names.h>

namespace hesscope::detail {
namespace {

// Removes what DataParallel, torch.compile, FSDP and activation checkpointing insert into names.
std::string unwrapped_name(std::string_view name) {
  constexpr std::array<std::string_view, 4> kWrappers = {
      "module", "_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"};
  std::string bare;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find('.'), name.size());
    const std::string_view part = name.substr(0, end);
    name.remove_prefix(std::min(end + 1, name.size()));
    if (!name.empty() && std::ranges::find(kWrappers, part) != kWrappers.end()) continue;
    if (!bare.empty()) bare += '.';
    bare += part;
  }
  return bare;
}

// A naming of our parameters, without those that share a name.
using Blocks = std::map<std::string, std::optional<std::size_t>>;

void add(Blocks& blocks, const std::string& name, std::size_t block) {
  const auto [place, is_new] = blocks.emplace(unwrapped_name(name), block);
  if (!is_new) place->second.reset();
}

}  // namespace

std::vector<std::optional<std::size_t>> blocks_by_name(const std::vector<std::string>& theirs,
                                                       const std::vector<NamedParameter>& ours) {
  std::vector<Blocks> ways(1);
  for (const NamedParameter& each : ours) {
    add(ways.front(), each.name, each.block);
    std::size_t begin = 0;
    for (std::size_t num_keys = 0; begin < each.stored_name.size(); ++num_keys) {
      if (ways.size() < num_keys + 2) ways.resize(num_keys + 2);
      add(ways[num_keys + 1], each.stored_name.substr(begin), each.block);
      const std::size_t dot = each.stored_name.find('.', begin);
      if (dot == std::string::npos) break;
      begin = dot + 1;
    }
  }
  std::vector<std::optional<std::size_t>> best(theirs.size());
  std::size_t most = 0;
  for (const Blocks& way : ways) {
    std::vector<std::optional<std::size_t>> found;
    for (const std::string& name : theirs) {
      const auto place = way.find(unwrapped_name(name));
      found.push_back(place == way.end() ? std::nullopt : place->second);
    }
    const auto count = static_cast<std::size_t>(
        std::ranges::count_if(found, [](const auto& block) { return block.has_value(); }));
    if (count <= most) continue;
    most = count;
    best = std::move(found);
  }
  return best;
}

}  // namespace hesscope::detail
