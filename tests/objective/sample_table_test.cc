// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/objective/sample_table.h>

namespace hesscope {
namespace {

using ArraysByName = std::map<std::string, std::vector<double>>;

// Records of (x0, x1 | class 0, 1, 2 | sign).
Model small_model() {
  ModelBuilder b("table");
  const Var w = b.parameter("w", {2});
  const Var x = b.array("x", {2});
  const Var c = b.one_hot("c", 3);
  const Var y = b.array("y", {}, DataArray::Content::kSign);
  return b.finish(matmul_tn(w, x) + sum(c) + y);
}

SampleTable table(const ArraysByName& arrays, Eigen::Index samples = 2) {
  return make_sample_table(
      small_model(), samples, [&](const std::string& name) { return arrays.at(name); }, "d.npz");
}

void expect_refused_arrays(const ArraysByName& arrays, const std::string& message) {
  try {
    table(arrays);
    ADD_FAILURE() << "not refused; expected: " << message;
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(message));
  }
}

TEST(SampleTable, PutsArraysSideBySideAndExpandsClasses) {
  SampleTable expected(2, 6);
  expected << 1, 2, 0, 0, 1, -1,  //
      3, 4, 1, 0, 0, 1;
  EXPECT_EQ(table({{"x", {1, 2, 3, 4}}, {"c", {2, 0}}, {"y", {-1, 1}}}), expected);
}

TEST(SampleTable, RefusesWhatIsNotFinite) {
  expect_refused_arrays({{"x", {1, 2, 3, std::nan("")}}, {"c", {2, 0}}, {"y", {-1, 1}}},
                        "d.npz: array 'x', sample 1: expected finite numbers, found nan");
  expect_refused_arrays({{"x", {1, -HUGE_VAL, 3, 4}}, {"c", {2, 0}}, {"y", {-1, 1}}},
                        "d.npz: array 'x', sample 0: expected finite numbers, found -inf");
}

TEST(SampleTable, RefusesWhatIsNoClass) {
  for (const double c : {3.0, -1.0, 0.5, 1e300, -HUGE_VAL}) {
    SCOPED_TRACE(c);
    expect_refused_arrays({{"x", {1, 2, 3, 4}}, {"c", {0, c}}, {"y", {1, 1}}},
                          "d.npz: array 'c', sample 1: expected a class index 0 ... 2, found ");
  }
  expect_refused_arrays({{"x", {1, 2, 3, 4}}, {"c", {0, std::nan("")}}, {"y", {1, 1}}},
                        "sample 1: expected a class");
}

TEST(SampleTable, RefusesWhatIsNoSign) {
  for (const double y : {0.0, 2.0, -0.5}) {
    SCOPED_TRACE(y);
    expect_refused_arrays({{"x", {1, 2, 3, 4}}, {"c", {0, 1}}, {"y", {y, 1}}},
                          "d.npz: array 'y', sample 0: expected +1 or -1, found ");
  }
  expect_refused_arrays({{"x", {1, 2, 3, 4}}, {"c", {0, 1}}, {"y", {1, std::nan("")}}},
                        "sample 1: expected +1 or -1");
}

TEST(SampleTable, RefusesArraysOfAnotherLength) {
  expect_refused_arrays({{"x", {1, 2, 3}}, {"c", {0, 1}}, {"y", {1, 1}}},
                        "d.npz: array 'x': expected 4 numbers, found 3");
  expect_refused_arrays({{"x", {1, 2, 3, 4}}, {"c", {0, 1, 2}}, {"y", {1, 1}}},
                        "d.npz: array 'c': expected 2 numbers, found 3");
}

}  // namespace
}  // namespace hesscope
