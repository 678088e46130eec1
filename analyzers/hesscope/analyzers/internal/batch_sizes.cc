// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include <hesscope/analyzers/internal/batch_sizes.h>
#include <hesscope/analyzers/option_error.h>
#include <hesscope/core/parse_number.h>

namespace hesscope::detail {

using Eigen::Index;

std::vector<Index> batch_sizes_from(const Settings& settings, const std::string& option) {
  if (!settings.has(option)) return {};
  const std::string& text = settings.text(option);
  std::vector<Index> sizes;
  std::string_view rest = text;
  for (bool is_last = false; !is_last;) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const auto size = parse_number<Index>(item);
    if (!size || *size < 1 || *size > kMaxBatchSize) {
      throw OptionError(option,
                        fmt::format("must be batch sizes from 1 to {} with commas between them, "
                                    "as in 1,8,64; got '{}'",
                                    kMaxBatchSize,
                                    text));
    }
    if (std::ranges::find(sizes, *size) != sizes.end()) {
      throw OptionError(option, fmt::format("has the batch size {} twice: '{}'", *size, text));
    }
    sizes.push_back(*size);
    is_last = comma == std::string_view::npos;
    if (!is_last) rest.remove_prefix(comma + 1);
  }
  return sizes;
}

}  // namespace hesscope::detail
