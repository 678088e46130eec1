// SPDX-License-Identifier: BSD-3-Clause
#include "json_document.h"

#include <cmath>

#include <fmt/format.h>

namespace hesscope::cli {

Json json_number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

void print_json(const Json& document) {
  fmt::print("{}\n", document.dump(2, ' ', false, Json::error_handler_t::replace));
}

}  // namespace hesscope::cli
