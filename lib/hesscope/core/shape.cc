// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/shape.h>

namespace hesscope {
namespace {

template <typename Extents>
std::string text_of_extents(const Extents& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

}  // namespace

std::string shape_text(std::span<const std::int64_t> shape) { return text_of_extents(shape); }

std::string shape_text(std::span<const unsigned long long> shape) { return text_of_extents(shape); }

}  // namespace hesscope
