// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/models/attention.h>
#include <hesscope/models/invariances.h>

#include "models/invariance_cases.h"
#include "models/model_oracle.h"
#include "support/decompositions.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using test::InvarianceCase;

// Where the flow of theta' = B theta + b is after time t: the exponential series.
Eigen::VectorXd flow(const AffineGenerator& generator, const Eigen::VectorXd& theta, double t) {
  AffineGenerator linear = generator;
  linear.constant.clear();
  Eigen::VectorXd term = t * generator.at(theta);
  Eigen::VectorXd sum = theta + term;
  for (int k = 2; k <= 30; ++k) {
    term = t / k * linear.at(term);
    sum += term;
  }
  return sum;
}

class ModelInvariances : public testing::TestWithParam<InvarianceCase> {
 protected:
  template <typename Use>
  void for_each_generator(const Use& use) const {
    for (const Invariance& family : model.invariances) {
      for (Eigen::Index k = 0; k < family.num_generators; ++k) {
        SCOPED_TRACE(family.name + ", generator " + std::to_string(k));
        use(family.generator(k));
      }
    }
  }

  const Model& model = GetParam().model;
  const Eigen::VectorXd theta = test::Numbers(51).vector(model.num_parameters());
};

TEST_P(ModelInvariances, AreAsManyAsTheirFamiliesHave) {
  std::vector<Eigen::Index> counts;
  for (const Invariance& family : model.invariances) {
    counts.push_back(family.num_generators);
    EXPECT_FALSE(family.name.empty());
  }
  EXPECT_EQ(counts, GetParam().num_generators);
  for_each_generator([&](const AffineGenerator& g) {
    EXPECT_TRUE(g.fits(theta.size()));
    EXPECT_GT(g.at(theta).norm(), 0);
  });
}

TEST_P(ModelInvariances, LeaveTheLossAsItIs) {
  const GraphObjective objective = test::objective_of(model, test::random_samples(model, 9, 52));
  const double value = objective.value(theta);
  for_each_generator([&](const AffineGenerator& generator) {
    for (const double t : {0.5, -1.25}) {
      const Eigen::VectorXd moved = flow(generator, theta, t);
      EXPECT_GT((moved - theta).norm(), 1e-3);
      const double error = std::abs(objective.value(moved) - value);
      EXPECT_TRUE(error <= 1e-13 * (1 + std::abs(value))) << error << " at t = " << t;
    }
  });
}

TEST_P(ModelInvariances, HaveTheSecondDerivativeThatFollows) {
  const GraphObjective objective = test::objective_of(model, test::random_samples(model, 9, 53));
  const auto [value, g, H] = test::from_objective(objective, theta);
  for_each_generator([&, &gradient = g, &hessian = H](const AffineGenerator& generator) {
    const Eigen::VectorXd u = generator.at(theta);
    EXPECT_TRUE(std::abs(u.dot(gradient)) <= 1e-13 * u.norm() * gradient.norm());
    const double error = (hessian * u + generator.transpose_times(gradient)).norm();
    EXPECT_TRUE(error <= 1e-13 * hessian.norm() * u.norm()) << error;
  });
}

// Singular values above 1e-12 of the norm. Those of a random point are either well above or of
// rounding, which is checked.
Eigen::Index rank(const Eigen::MatrixXd& a) {
  if (a.cols() == 0) return 0;
  const Eigen::VectorXd s = test::singular_values(a) / a.norm();
  const Eigen::Index found = (s.array() > 1e-12).count();
  EXPECT_GT(s[found - 1], 1e-10);
  if (found < s.size()) {
    EXPECT_LT(s[found], 1e-14);
  }
  return found;
}

// A map that changes no sample's loss moves theta orthogonally to all samples' gradients. If these
// and the known generators together span all parameters, there is no further map.
TEST_P(ModelInvariances, AreAllThereAre) {
  const Eigen::Index n = theta.size();
  const GraphObjective objective =
      test::objective_of(model, test::random_samples(model, 8 * n, 54));
  Eigen::VectorXd spread = 2 * theta;  // more of what is nonlinear
  for (const ParameterBlock& block : model.parameters) {
    // A unit that is on for every sample is linear and has its own invariances.
    if (block.name.ends_with(".bias")) spread.segment(block.offset, block.size) /= 16;
  }
  Eigen::MatrixXd gradients = objective.per_sample_gradients(spread, objective.all_samples());
  gradients.rowwise().normalize();
  std::vector<Eigen::Index> live;
  for (Eigen::Index i = 0; i < n; ++i) {
    if (gradients.row(i).norm() > 0) live.push_back(i);
  }
  std::vector<Eigen::VectorXd> found;
  for_each_generator([&](const AffineGenerator& g) { found.emplace_back(g.at(spread)(live)); });
  Eigen::MatrixXd generators(live.size(), found.size());
  for (Eigen::Index k = 0; k < generators.cols(); ++k) {
    generators.col(k) = found[static_cast<std::size_t>(k)];
  }
  const Eigen::MatrixXd seen = gradients(live, Eigen::all);
  EXPECT_EQ(rank(seen) + rank(generators) + GetParam().beyond_affine,
            static_cast<Eigen::Index>(live.size()));
}

INSTANTIATE_TEST_SUITE_P(Models,
                         ModelInvariances,
                         testing::ValuesIn(test::invariance_cases()),
                         [](const auto& instance) { return instance.param.name; });

TEST(MatrixView, FindsAParameter) {
  const Model model = attention({2, 4, 3, 5, AttentionKernel::kSoftmax});
  const MatrixView k = matrix_view(model, "WK", 1);
  EXPECT_EQ(k.index(0, 0), 36);
  EXPECT_EQ(k.index(2, 1), 36 + 7);
  EXPECT_EQ(k.transposed().index(1, 2), 36 + 7);
  EXPECT_EQ(k.transposed().rows, 3);
  EXPECT_EQ(k.middle_rows(2, 2).index(0, 1), 36 + 7);
  const MatrixView o = matrix_view(model, "WO");
  EXPECT_EQ(o.rows, 6);
  EXPECT_EQ(o.cols, 1);
  EXPECT_EQ(o.index(5, 0), 77);
}

TEST(MatrixView, RefusesWhatIsNotThere) {
  const Model model = attention({2, 4, 3, 5, AttentionKernel::kSoftmax});
  test::expect_refusal([&] { matrix_view(model, "WX"); }, "has no parameter 'WX'");
  test::expect_refusal([&] { matrix_view(model, "WK", 2); }, "'WK' has 2 matrices, got index 2");
  test::expect_refusal([&] { matrix_view(model, "WO", 1); }, "'WO' has 1 matrices");
}

TEST(InvarianceFamilies, RefuseMatricesThatDoNotFit) {
  const MatrixView tall{0, 3, 2, 2, 1};
  const MatrixView wide{6, 2, 3, 3, 1};
  test::expect_refusal([&] { change_of_basis({tall}, {wide}); }, "change_of_basis: x and y");
  test::expect_refusal([&] { change_of_basis({tall, wide}, {tall}); }, "one common number of rows");
  test::expect_refusal([&] { rotation({}); }, "rotation: the matrices must have one");
  test::expect_refusal([&] { addition_across({tall}, wide); }, "a column of 3 entries, got 2x3");
  test::expect_refusal([&] { rescaling_of_units(tall, tall, wide); }, "rescaling_of_units: 3x2");
  test::expect_refusal([&] { translation(tall, wide, tall); }, "translation: w must be");
}

}  // namespace
}  // namespace hesscope
