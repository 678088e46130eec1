// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/reproduction/internal/document_merge.h>
#include <hesscope/reproduction/internal/document_overrides.h>

namespace hesscope::detail {
namespace {

// A value that is not TOML is text: a path without quotes.
TomlTable table_of(const std::string& key, const std::string& value) {
  const std::string name = fmt::format("`overrides` {}={}", key, value);
  try {
    return parse_toml(fmt::format("{} = {}", key, value), name);
  } catch (const ConfigError&) {
    return parse_toml(fmt::format("{} = {}", key, toml_text(SettingValue(value))), name);
  }
}

}  // namespace

TomlTable overrides_from(const std::vector<std::string>& texts) {
  TomlTable all;
  for (const std::string& text : texts) {
    const std::size_t sign = text.find('=');
    if (sign == std::string::npos || sign == 0 || text.find('\n') != std::string::npos) {
      throw ConfigError(
          fmt::format("`overrides` must be KEY=VALUE, as in training.steps=100 or "
                      "data.images=my/images.idx; got '{}'",
                      text));
    }
    merge_into(all, table_of(text.substr(0, sign), text.substr(sign + 1)));
  }
  return all;
}

}  // namespace hesscope::detail
