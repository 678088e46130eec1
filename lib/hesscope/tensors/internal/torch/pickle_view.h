// SPDX-License-Identifier: BSD-3-Clause
//
// Base of code that examines a pickle and may have to refuse it.
#pragma once

#include <string>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/tensors/internal/torch/pickle_nodes.h>

namespace hesscope::io {

class PickleView {
 protected:
  /// @param where  what the pickle is, for messages; both must outlive the view.
  PickleView(const std::string& where, const PickleDocument& document)
      : where_(where), document_(document) {}

  /// @throws InputError that names the byte where the node `at` was made.
  template <typename... Args>
  [[noreturn]] void refuse(PickleIndex at,
                           fmt::format_string<Args...> format,
                           Args&&... args) const {
    throw InputError(fmt::format("{}: {} (at byte {} of the member)",
                                 where_,
                                 fmt::format(format, std::forward<Args>(args)...),
                                 document_.offset(at)));
  }

  const std::string& where_;
  const PickleDocument& document_;
};

}  // namespace hesscope::io
