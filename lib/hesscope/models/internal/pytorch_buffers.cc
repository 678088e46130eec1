// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include <hesscope/models/internal/pytorch_buffers.h>

namespace hesscope::detail {
namespace {

std::string_view last_component(std::string_view name) {
  return name.substr(name.rfind('.') + 1);  // of npos: all
}

// "PREFIX.parametrizations.NAME.original" for "PREFIX.parametrizations.NAME.INDEX._u"; empty for
// what is no part of a parametrization.
std::string original_of(std::string_view name) {
  constexpr std::string_view kParametrizations = "parametrizations.";
  const std::size_t index_end = name.rfind('.');
  if (index_end == std::string_view::npos) return {};
  const std::size_t index = name.substr(0, index_end).rfind('.');
  if (index == std::string_view::npos ||
      name.substr(0, index).find(kParametrizations) == std::string_view::npos) {
    return {};
  }
  return fmt::format("{}.original", name.substr(0, index));
}

}  // namespace

std::string buffer_next_to_a_parameter(const std::string& name,
                                       const std::function<bool(const std::string&)>& has) {
  const auto stem = [&](std::string_view ending) {
    return name.ends_with(ending) ? name.substr(0, name.size() - ending.size()) : std::string();
  };
  const auto said_of = [&](std::string_view what, const std::string& parameter) {
    return has(parameter) ? fmt::format("{} of {}", what, parameter) : std::string();
  };
  constexpr std::string_view kVector = "a vector of the spectral normalisation";
  if (const std::string pruned = stem("_mask"); !pruned.empty()) {
    return said_of("the mask", pruned + "_orig");
  }
  const std::string_view last = last_component(name);
  if (last == "_u" || last == "_v") {
    const std::string original = original_of(name);
    return original.empty() ? std::string() : said_of(kVector, original);
  }
  for (const std::string_view ending : {"_u", "_v"}) {
    if (const std::string normalized = stem(ending); !normalized.empty()) {
      return said_of(kVector, normalized + "_orig");
    }
  }
  return {};
}

bool is_name_of_buffers(const std::string& name) {
  constexpr std::array<std::string_view, 5> kNames = {
      "inv_freq", "mean", "running_mean", "running_var", "std"};
  return std::ranges::find(kNames, last_component(name)) != kNames.end();
}

}  // namespace hesscope::detail
