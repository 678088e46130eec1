// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/objective/sample_table.h>

namespace hesscope {
namespace {

[[noreturn]] void fail(const std::string& source,
                       const DataArray& array,
                       Eigen::Index sample,
                       double value,
                       const std::string& expected) {
  throw InputError(fmt::format("{}: array '{}', sample {}: expected {}, found {}",
                               source,
                               array.name,
                               sample,
                               expected,
                               value));
}

}  // namespace

SampleTable make_sample_table(
    const Model& model,
    Eigen::Index num_samples,
    const std::function<std::vector<double>(const std::string& name)>& read,
    const std::string& source) {
  SampleTable table = SampleTable::Zero(num_samples, model.record_size());
  for (const DataArray& array : model.arrays) {
    const std::vector<double> values = read(array.name);
    const bool is_class = array.content == DataArray::Content::kClass;
    const Eigen::Index per_sample = is_class ? 1 : array.width;
    if (static_cast<Eigen::Index>(values.size()) != num_samples * per_sample) {
      throw InputError(fmt::format("{}: array '{}': expected {} numbers, found {}",
                                   source,
                                   array.name,
                                   num_samples * per_sample,
                                   values.size()));
    }
    for (Eigen::Index i = 0; i < num_samples; ++i) {
      const double* sample = values.data() + i * per_sample;
      if (is_class) {
        const double c = sample[0];
        if (!(c >= 0 && c < static_cast<double>(array.width) && c == std::floor(c))) {
          fail(source, array, i, c, fmt::format("a class index 0 ... {}", array.width - 1));
        }
        table(i, array.offset + static_cast<Eigen::Index>(c)) = 1;
        continue;
      }
      if (array.content == DataArray::Content::kSign && !(std::abs(sample[0]) == 1)) {
        fail(source, array, i, sample[0], "+1 or -1");
      }
      for (Eigen::Index e = 0; e < array.width; ++e) {
        if (array.content == DataArray::Content::kInteger &&
            !(sample[e] >= static_cast<double>(array.minimum) &&
              sample[e] <= static_cast<double>(array.maximum) &&
              sample[e] == std::floor(sample[e]))) {
          fail(source,
               array,
               i,
               sample[e],
               fmt::format("whole numbers {} ... {}", array.minimum, array.maximum));
        }
        if (!std::isfinite(sample[e])) fail(source, array, i, sample[e], "finite numbers");
        table(i, array.offset + e) = sample[e];
      }
    }
  }
  return table;
}

}  // namespace hesscope
