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

#include "support/refusal.h"

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

TEST(SampleTable, RefusesAModelWhoseArraysAreNotThoseOfARecord) {
  const auto refused = [](std::size_t array, auto change) {
    Model model = small_model();
    change(model.arrays.at(array));
    test::expect_refusal(
        [&] {
          make_sample_table(
              model, 1, [](const std::string&) { return std::vector<double>(1); }, "d.npz");
        },
        "make_sample_table: array '" + model.arrays[array].name + "' of the model has the offset");
  };
  refused(0, [](DataArray& x) { x.offset = 1 << 20; });
  refused(0, [](DataArray& x) { x.shape = {3}; });
  refused(0, [](DataArray& x) { x.shape = {-2}; });
  refused(1, [](DataArray& c) { c.offset = 0; });
  refused(1, [](DataArray& c) { c.width = 0; });
  refused(2, [](DataArray& y) { y.width = 2; });
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

// Records of (2 x 2 classes of 3 | 2 indices from -1 to 4 | 2 signs).
SampleTable table_of_shapes(const ArraysByName& arrays) {
  ModelBuilder b("shapes");
  const Var w = b.parameter("w", {1});
  const Var c = b.one_hot("c", {2, 2}, 3);
  const Var i = b.integers("i", {2}, -1, 4);
  const Var s = b.array("s", {2}, DataArray::Content::kSign);
  return make_sample_table(
      b.finish(w + sum(c) + sum(i) + sum(s)),
      2,
      [&](const std::string& name) { return arrays.at(name); },
      "d.npz");
}

TEST(SampleTable, ExpandsEachClassOfAnArrayAndKeepsIndices) {
  SampleTable expected(2, 16);
  expected << 0, 0, 1, 1, 0, 0, 0, 1, 0, 1, 0, 0, -1, 4, 1, -1,  //
      1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 3, -1, -1;
  EXPECT_EQ(table_of_shapes(
                {{"c", {2, 0, 1, 0, 0, 0, 2, 2}}, {"i", {-1, 4, 0, 3}}, {"s", {1, -1, -1, -1}}}),
            expected);
}

TEST(SampleTable, RefusesAnyEntryOutOfRange) {
  const ArraysByName fine = {{"c", std::vector<double>(8, 0.0)},
                             {"i", std::vector<double>(4, 0.0)},
                             {"s", std::vector<double>(4, 1.0)}};
  const auto refused = [&](const std::string& name, double value, const std::string& message) {
    ArraysByName arrays = fine;
    arrays.at(name).back() = value;
    try {
      table_of_shapes(arrays);
      ADD_FAILURE() << "not refused; expected: " << message;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(message));
    }
  };
  refused("c", 3, "d.npz: array 'c', sample 1: expected a class index 0 ... 2, found 3");
  refused("i", 5, "d.npz: array 'i', sample 1: expected a whole number -1 ... 4, found 5");
  for (const std::string name : {"c", "i"}) {
    refused(name, -100, "(`ignore_index = -100` in [model] leaves such targets out), found -100");
  }
  refused("i", 0.5, "expected a whole number -1 ... 4, found 0.5");
  refused("i", std::nan(""), "expected a whole number -1 ... 4, found nan");
  refused("s", 0, "d.npz: array 's', sample 1: expected +1 or -1, found 0");
}

TEST(SampleTable, TakesProbabilitiesAsTheyAreAndRefusesWhatIsNone) {
  const auto table_of = [](const std::vector<double>& values) {
    ModelBuilder b("probabilities");
    const Var w = b.parameter("w", {1});
    const Var p = b.array("p", {2}, DataArray::Content::kProbability);
    return make_sample_table(
        b.finish(w + sum(p)), 2, [&](const std::string& /*name*/) { return values; }, "d.npz");
  };
  SampleTable expected(2, 2);
  expected << 0, 1, 0.25, 0.5;  // of any sum
  EXPECT_EQ(table_of({0, 1, 0.25, 0.5}), expected);
  for (const double p : {-0.5, 1.0000001, 7.0, HUGE_VAL, std::nan("")}) {
    SCOPED_TRACE(p);
    test::expect_refusal<InputError>(
        [&] {
          table_of({0, 1, 0.25, p});
        },
        "d.npz: array 'p', sample 1: expected a probability, from 0 to 1, found ");
  }
}

TEST(SampleTable, RefusesArraysOfAnotherLength) {
  expect_refused_arrays({{"x", {1, 2, 3}}, {"c", {0, 1}}, {"y", {1, 1}}},
                        "d.npz: array 'x': expected 4 numbers, found 3");
  expect_refused_arrays({{"x", {1, 2, 3, 4}}, {"c", {0, 1, 2}}, {"y", {1, 1}}},
                        "d.npz: array 'c': expected 2 numbers, found 3");
}

TEST(SampleTable, NeedsAReader) {
  test::expect_refusal([] { make_sample_table(Model(), 2, {}, "d.npz"); },
                       "make_sample_table: expected a function `read`");
  test::expect_refusal(
      [] {
        make_sample_table(
            Model(), -1, [](const auto&) { return std::vector<double>(); }, "");
      },
      "got -1 samples");
}

}  // namespace
}  // namespace hesscope
