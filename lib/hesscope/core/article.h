// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace hesscope {

/// "an experiment file", "a problem file", "an mlp": the noun after the article that goes with how
/// it sounds, as far as its letters tell: one without a vowel is spelled out.
std::string with_article(std::string_view noun);

}  // namespace hesscope
