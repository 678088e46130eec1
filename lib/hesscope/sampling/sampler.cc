// SPDX-License-Identifier: BSD-3-Clause
#include <functional>
#include <numeric>
#include <utility>

#include <hesscope/sampling/sampler.h>

namespace hesscope {

void Sampler::add_array(std::string name, std::vector<std::int64_t> shape) {
  const std::int64_t size =
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  arrays_.push_back({std::move(name), std::move(shape), record_size_, size});
  record_size_ += size;
}

}  // namespace hesscope
