// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stop_token>
#include <utility>

#include <hesscope/core/progress.h>

namespace hesscope {

/// A StopRequest that asks the token whether a stop has been requested.
inline StopRequest stop_requested_by(std::stop_token token) {
  if (!token.stop_possible()) return {};
  return [token = std::move(token)] { return token.stop_requested(); };
}

}  // namespace hesscope
