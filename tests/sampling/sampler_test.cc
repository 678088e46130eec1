// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/sampling/sampler.h>

#include "support/refusal.h"

namespace hesscope {
namespace {

using test::expect_refusal;

/// What somebody else may have written.
class Zeros final : public Sampler {
 public:
  explicit Zeros(const std::vector<std::pair<std::string, std::vector<std::int64_t>>>& arrays) {
    for (const auto& [name, shape] : arrays) add_array(name, shape);
  }

  void draw(std::uint64_t, Stream, std::uint64_t, std::span<double> record) const override {
    for (double& entry : record) entry = 0;
  }
};

TEST(Sampler, PutsItsArraysSideBySide) {
  const Zeros sampler({{"a", {2, 3}}, {"b", {}}, {"c", {0}}, {"d", {4}}});
  EXPECT_EQ(sampler.record_size(), 11);
  EXPECT_EQ(sampler.arrays()[3].offset, 7);
}

TEST(Sampler, RefusesArraysThatCannotBe) {
  expect_refusal([] { Zeros({{"a", {-2}}}); }, "array 'a' cannot have the shape (-2,)");
  const std::int64_t large = std::int64_t{1} << 40;
  expect_refusal([&] { Zeros({{"a", {large, large}}}); }, "array 'a' cannot have the shape");
  const std::int64_t most = INT64_MAX;
  expect_refusal([&] { Zeros({{"a", {most}}, {"b", {1}}}); }, "array 'b' cannot have the shape");
  expect_refusal([] { Zeros({{"a", {2}}, {"a", {2}}}); }, "there are two arrays 'a'");
}

}  // namespace
}  // namespace hesscope
