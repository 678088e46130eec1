// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace hesscope {

/// "an experiment file", "a problem file", "an mlp": the noun with the indefinite article that fits
/// its pronunciation, as far as the spelling shows it. A noun without a vowel is taken to be
/// spelled out.
std::string with_article(std::string_view noun);

}  // namespace hesscope
