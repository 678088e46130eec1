// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/sampling/sampler_registry.h>

namespace hesscope::test {

/// Sample `index` of seed 99, in an otherwise impossible record.
inline std::vector<double> draw(const Sampler& sampler, std::uint64_t index) {
  std::vector<double> record(static_cast<std::size_t>(sampler.record_size()), 1e302);
  sampler.draw(99, Stream::kEvaluation, index, record);
  return record;
}

/// That arrays lie side by side, have the sizes of their shapes, and every entry is written again.
inline void expect_tiled(const Sampler& sampler) {
  std::int64_t end = 0;
  for (const SampledArray& array : sampler.arrays()) {
    EXPECT_EQ(array.offset, end);
    EXPECT_EQ(array.size,
              std::accumulate(
                  array.shape.begin(), array.shape.end(), std::int64_t{1}, std::multiplies<>()));
    end += array.size;
  }
  EXPECT_EQ(sampler.record_size(), end);
  const std::vector<double> record = draw(sampler, 5);
  for (const double x : record) EXPECT_LT(std::abs(x), 1e300);
  EXPECT_EQ(draw(sampler, 5), record);
  EXPECT_NE(draw(sampler, 6), record);
}

/// By its name, as a problem file makes it.
inline std::unique_ptr<Sampler> make_sampler(const std::string& name,
                                             const std::map<std::string, SettingValue>& values,
                                             const std::filesystem::path& folder = {}) {
  const SamplerKind* kind = find_sampler_kind(name);
  if (kind == nullptr) throw std::runtime_error("no sampler " + name);
  return kind->create(Settings::checked(values, kind->keys, "sampler '" + name + "'"), folder);
}

}  // namespace hesscope::test
