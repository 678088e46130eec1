// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/import/value.h>

namespace hesscope::onnx {

std::int64_t size_of(const Axes& axes) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (std::ranges::any_of(axes, [](const Axis& axis) { return axis.size == 0; })) return 0;
  std::int64_t size = 1;
  for (const Axis& axis : axes) {
    if (size > kMost / axis.size) return kMost;
    size *= axis.size;
  }
  return size;
}

int batch_axis(const Axes& axes) {
  const auto found = std::ranges::find_if(axes, &Axis::has_batch);
  return found == axes.end() ? -1 : static_cast<int>(found - axes.begin());
}

std::string text(const Axes& axes) {
  std::vector<std::string> parts;
  for (const Axis& axis : axes) {
    if (!axis.has_batch) {
      parts.push_back(fmt::format("{}", axis.size));
      continue;
    }
    const std::int64_t after = axis.size / axis.before;
    parts.push_back(fmt::format("{}N{}",
                                axis.before == 1 ? "" : fmt::format("{} ", axis.before),
                                after == 1 ? "" : fmt::format(" {}", after)));
  }
  return fmt::format("({}{})", fmt::join(parts, ", "), parts.size() == 1 ? "," : "");
}

Axes plain_axes(const std::vector<std::int64_t>& shape) {
  Axes axes;
  for (const std::int64_t size : shape) axes.push_back({.size = size});
  return axes;
}

std::vector<std::int64_t> sizes_of(const Axes& axes) {
  std::vector<std::int64_t> sizes;
  for (const Axis& axis : axes) sizes.push_back(axis.size);
  return sizes;
}

std::optional<std::int64_t> Value::single_integer() const {
  const bool is_one = is_known() && integers->base.size() == 1 && batch_axis(axes) < 0;
  if (!is_one || integers->depends_on_batch()) {
    return std::nullopt;
  }
  return integers->base.front();
}

bool Integers::depends_on_batch() const {
  return std::ranges::any_of(per_sample, [](std::int64_t slope) { return slope != 0; });
}

}  // namespace hesscope::onnx
