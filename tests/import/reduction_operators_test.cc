// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/operator_fixture.h"

namespace hesscope {
namespace {

using onnx::text;
using test::OperatorFixture;

using WholeNumbers = std::vector<std::int64_t>;

struct ReductionCase {
  std::string op;
  std::function<double(double)> expected;
};

// What is made of each term stays, and so does what is made of their sum (opset 18).
TEST(Reductions, OverNoAxesAreOfOneTermEach) {
  const auto same = [](double x) { return x; };
  const std::vector<ReductionCase> cases = {{"ReduceL1", [](double x) { return std::abs(x); }},
                                            {"ReduceL2", [](double x) { return std::abs(x); }},
                                            {"ReduceLogSum", [](double x) { return std::log(x); }},
                                            {"ReduceLogSumExp", same},
                                            {"ReduceMax", same},
                                            {"ReduceMean", same},
                                            {"ReduceMin", same},
                                            {"ReduceProd", same},
                                            {"ReduceSum", same},
                                            {"ReduceSumSquare", [](double x) { return x * x; }}};
  const std::vector<double> inputs = {2, 0.25, 3, -1.5};
  for (const ReductionCase& c : cases) {
    OperatorFixture op(c.op, 18);
    const onnx::Value y = op.with("noop_with_empty_axes", 1).numbers({2, 2}, inputs).result();
    EXPECT_EQ(text(y.axes), "(2, 2)") << c.op;
    const auto entries = op.graph().constant_value(*y.var);
    ASSERT_EQ(entries.size(), inputs.size()) << c.op;
    for (std::size_t e = 0; e < inputs.size(); ++e) {
      if (c.op == "ReduceLogSum" && inputs[e] < 0) continue;
      EXPECT_DOUBLE_EQ(entries[e], c.expected(inputs[e])) << c.op;
    }
  }
}

TEST(Reductions, OfKnownIntegersOverNoAxesAreOfOneTermEach) {
  const auto reduced = [](const std::string& name) {
    OperatorFixture op(name, 18);
    return op.with("noop_with_empty_axes", 1).integers({2}, {3, -4}).result().integers->base;
  };
  EXPECT_EQ(reduced("ReduceL1"), (WholeNumbers{3, 4}));
  EXPECT_EQ(reduced("ReduceSumSquare"), (WholeNumbers{9, 16}));
  EXPECT_EQ(reduced("ReduceMean"), (WholeNumbers{3, -4}));
  EXPECT_EQ(reduced("ReduceSum"), (WholeNumbers{3, -4}));
}

}  // namespace
}  // namespace hesscope
