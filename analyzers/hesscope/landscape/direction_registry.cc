// SPDX-License-Identifier: BSD-3-Clause
//
// The one list of kinds of directions.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>
#include <hesscope/landscape/directions.h>
#include <hesscope/landscape/internal/direction_kinds.h>

namespace hesscope {

std::span<const DirectionKind> direction_kinds() {
  static const std::vector<DirectionKind> kinds = {
      random_directions(),
      eigen_directions(),
      pca_directions(),
      between_directions(),
      update_directions(),
      tensor_directions(),
      file_directions(),
  };
  return kinds;
}

NamedDirections find_direction_kind(const std::string& text) {
  if (text.empty()) {
    throw ConfigError(fmt::format("`directions` must be given; there are {}",
                                  fmt::join(names_of(direction_kinds()), ", ")));
  }
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const std::string argument = colon == std::string::npos ? "" : text.substr(colon + 1);
  const DirectionKind& kind = find_named(direction_kinds(), name, "kind of directions");
  if (kind.argument.empty() && colon != std::string::npos) {
    throw ConfigError(fmt::format("`directions` {}: takes no argument, got '{}'", name, text));
  }
  if (argument.empty() && !kind.argument.empty() && !kind.argument.starts_with('[')) {
    throw ConfigError(
        fmt::format("`directions` {}: needs an argument: {}:{}", name, name, kind.argument));
  }
  return {&kind, argument};
}

std::string to_string(Normalization normalization) {
  return normalization == Normalization::kFilter  ? "filter"
         : normalization == Normalization::kLayer ? "layer"
                                                  : "none";
}

}  // namespace hesscope
