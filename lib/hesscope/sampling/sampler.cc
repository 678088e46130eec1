// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/extents.h>
#include <hesscope/core/shape.h>
#include <hesscope/sampling/sampler.h>

namespace hesscope {

void Sampler::add_array(std::string name, std::vector<std::int64_t> shape) {
  const std::optional<std::int64_t> size = detail::num_entries(shape);
  std::int64_t record_size = 0;
  if (!size || __builtin_add_overflow(record_size_, *size, &record_size)) {
    throw PreconditionError(
        fmt::format("Sampler: array '{}' cannot have the shape {}", name, shape_text(shape)));
  }
  if (std::ranges::find(arrays_, name, &SampledArray::name) != arrays_.end()) {
    throw PreconditionError(fmt::format("Sampler: there are two arrays '{}'", name));
  }
  arrays_.push_back({std::move(name), std::move(shape), record_size_, *size});
  record_size_ = record_size;
}

}  // namespace hesscope
