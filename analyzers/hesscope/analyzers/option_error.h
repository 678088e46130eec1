// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <hesscope/core/error.h>

namespace hesscope {

/// An analyzer's option has a value that the analyzer cannot take, though it is of the right type.
class OptionError : public ConfigError {
 public:
  /// @param problem  "must be above 0, got -1".
  OptionError(const std::string& key, const std::string& problem)
      : ConfigError("'" + key + "' " + problem), key_(key), problem_(problem) {}

  const std::string& key() const { return key_; }

  const std::string& problem() const { return problem_; }

 private:
  std::string key_;
  std::string problem_;
};

}  // namespace hesscope
