// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace hesscope::io {

/// The name after a key and its separator, as in TensorFile::part(); empty if the name is not under
/// the key.
inline std::string_view name_under(std::string_view key, std::string_view name) {
  const bool is_under = name.size() > key.size() + 1 && name.starts_with(key) &&
                        (name[key.size()] == '.' || name[key.size()] == '/');
  return is_under ? name.substr(key.size() + 1) : std::string_view();
}

}  // namespace hesscope::io
