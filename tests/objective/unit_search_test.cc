// SPDX-License-Identifier: BSD-3-Clause
//
// The search finds all units of the model and no others, and exchanging them changes no sample's
// loss at points that the search has not seen.
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/models/attention.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/models/mlp.h>
#include <hesscope/objective/functor_objective.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/objective/unit_search.h>

#include "support/loss_oracle.h"
#include "support/quadratic_objective.h"
#include "support/random_objective.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::random_objective;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> names_of(const std::vector<InterchangeableUnits>& families) {
  std::vector<std::string> names;
  for (const InterchangeableUnits& family : families) names.push_back(family.name);
  return names;
}

// Backwards, with signs in turn where there are any.
VectorXd exchanged(const InterchangeableUnits& units, const VectorXd& theta) {
  std::vector<Index> sources(static_cast<std::size_t>(units.num_units()));
  std::iota(sources.rbegin(), sources.rend(), Index{0});
  std::vector<int> signs(sources.size(), 1);
  for (std::size_t u = 0; u < signs.size() && !units.flips.empty(); u += 2) signs[u] = -1;
  return units.rearranged(theta, sources, signs);
}

// At a point that the search has not seen.
void expect_unnoticed(const Objective& objective,
                      const std::vector<InterchangeableUnits>& families) {
  test::Numbers numbers(29);
  const VectorXd theta = numbers.vector(objective.num_parameters());
  for (const InterchangeableUnits& family : families) {
    SCOPED_TRACE(family.name);
    const VectorXd other = exchanged(family, theta);
    EXPECT_GT((other - theta).norm(), 0.1);
    for (Index s = 0; s < objective.num_samples(); ++s) {
      const double loss = objective.value(theta, {s, s + 1});
      EXPECT_NEAR(objective.value(other, {s, s + 1}), loss, 1e-12 * (1 + std::abs(loss)));
    }
  }
}

// Two hidden layers with the same width, which is also that of the input and of the output: only
// hidden units may change places, and each layer independently.
TEST(UnitSearch, FindsTheHiddenUnitsOfAPerceptron) {
  const GraphObjective objective = random_objective(mlp({.widths = {4, 4, 4, 4}}));
  const std::vector<InterchangeableUnits> found = find_interchangeable_units(objective);
  EXPECT_THAT(names_of(found),
              ElementsAre("layers.0.weight, layers.0.bias, layers.1.weight",
                          "layers.1.weight, layers.1.bias, layers.2.weight"));
  for (const InterchangeableUnits& family : found) {
    EXPECT_EQ(family.num_units(), 4);
    EXPECT_THAT(family.flips, ElementsAre(true, true, true));  // tanh is odd
  }
  expect_unnoticed(objective, found);
}

TEST(UnitSearch, FindsNoSignsAroundWhatIsNotOdd) {
  for (const Activation activation :
       {Activation::kGelu, Activation::kRelu, Activation::kSoftplus}) {
    const GraphObjective objective =
        random_objective(mlp({.widths = {3, 5, 6, 2}, .activation = activation}));
    const std::vector<InterchangeableUnits> found = find_interchangeable_units(objective);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].num_units(), 5);
    EXPECT_EQ(found[1].num_units(), 6);
    EXPECT_THAT(found[0].flips, IsEmpty());
    EXPECT_THAT(found[1].flips, IsEmpty());
    expect_unnoticed(objective, found);
  }
}

// Permutations of 3 of 6 units, or of 2 groups of 3, are among those of all 6.
TEST(UnitSearch, LeavesOutWhatIsPartOfAnother) {
  const GraphObjective objective =
      random_objective(mlp({.widths = {2, 6, 2}, .activation = Activation::kGelu}));
  EXPECT_EQ(find_interchangeable_units(objective).size(), 1U);
}

// A tensor without entries is there in some models, and has no units.
TEST(UnitSearch, DoesNotMindATensorWithoutEntries) {
  const test::QuadraticObjective objective(
      {MatrixXd::Identity(6, 6)},
      {},
      0,
      {{"none", {0, 3}, 0, 0}, {"w", {2, 3}, 0, 6}, {"row", {2, 0}, 6, 0}, {"bias", {0}, 6, 0}});
  EXPECT_FALSE(find_interchangeable_units(objective).empty());
}

TEST(UnitSearch, FindsHeadsAndWhatIsWithinThem) {
  const GraphObjective objective =
      random_objective(attention({.heads = 3, .embedding = 5, .head_dimension = 2, .sequence = 3}));
  const std::vector<InterchangeableUnits> found = find_interchangeable_units(objective);
  std::size_t num_heads = 0;
  for (const InterchangeableUnits& family : found) {
    if (family.num_units() != 3) continue;
    ++num_heads;
    EXPECT_EQ(family.name, "WQ, WK, WV, WO");
    EXPECT_EQ(family.axes.size(), 4U);
  }
  EXPECT_EQ(num_heads, 1U);
  EXPECT_GT(found.size(), num_heads);  // coordinates of queries and keys, of each head
  expect_unnoticed(objective, found);
}

// Self-attention as PyTorch keeps it: queries, keys and values of all heads in one tensor of 3 x
// heads x width rows, and what comes out of the heads side by side in the columns of the next.
struct FusedAttention {
  static constexpr Index kTokens = 3;
  static constexpr Index kHeads = 2;
  static constexpr Index kWidth = 2;
  static constexpr Index kSize = kHeads * kWidth;
  static constexpr Index kProjections = 3 * kSize * kSize;
  MatrixXd inputs;  // samples x (tokens x size)

  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& theta, Index sample) const {
    using std::exp;
    const auto projected = [&](Index part, Index head, Index row, Index token) {
      const Index first = (part * kSize + head * kWidth + row) * kSize;
      T sum = theta(kProjections + part * kSize + head * kWidth + row);
      for (Index d = 0; d < kSize; ++d) {
        sum = sum + theta(first + d) * inputs(sample, token * kSize + d);
      }
      return sum;
    };
    T output = T(0.0);
    const Index next = kProjections + 3 * kSize;
    for (Index head = 0; head < kHeads; ++head) {
      for (Index t = 0; t < kTokens; ++t) {
        T total = T(0.0);
        Eigen::Matrix<T, Eigen::Dynamic, 1> mean(kWidth);
        for (Index w = 0; w < kWidth; ++w) mean(w) = T(0.0);
        for (Index s = 0; s < kTokens; ++s) {
          T score = T(0.0);
          for (Index w = 0; w < kWidth; ++w) {
            score = score + projected(0, head, w, t) * projected(1, head, w, s);
          }
          const T weight = exp(score);
          total = total + weight;
          for (Index w = 0; w < kWidth; ++w) {
            mean(w) = mean(w) + weight * projected(2, head, w, s);
          }
        }
        for (Index out = 0; out < kSize; ++out) {
          for (Index w = 0; w < kWidth; ++w) {
            const double share =
                1.0 + 0.3 * static_cast<double>(out) + 0.2 * static_cast<double>(t);
            output =
                output + share * theta(next + out * kSize + head * kWidth + w) * (mean(w) / total);
          }
        }
      }
    }
    return (output - 0.5) * (output - 0.5);
  }
};

TEST(UnitSearch, FindsTheHeadsOfFusedProjections) {
  test::Numbers numbers(5);
  const Index rows = 3 * FusedAttention::kSize;
  const auto objective = make_objective(
      FusedAttention{numbers.table(12, 12)},
      76,
      12,
      {.parameter_blocks = {
           {"in", {rows, 4}, 0, 48}, {"in_bias", {rows}, 48, 12}, {"out", {4, 4}, 60, 16}}});
  const std::vector<InterchangeableUnits> found = find_interchangeable_units(objective);
  std::size_t num_heads = 0;
  for (const InterchangeableUnits& family : found) {
    if (family.num_units() != 2 || family.axes.front().cols() != 8) continue;  // two rows of four
    ++num_heads;
    EXPECT_EQ(family.name, "in, in_bias, out");
  }
  EXPECT_EQ(num_heads, 1U);
  expect_unnoticed(objective, found);
}

// s_t = tanh(A s_t-1 + u x_t), y = v . s_T: the units of A are its rows and its columns.
struct Recurrent {
  static constexpr Index kUnits = 3;
  MatrixXd inputs;  // samples x steps

  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& theta, Index sample) const {
    using std::tanh;
    Eigen::Matrix<T, Eigen::Dynamic, 1> state(kUnits);
    for (Index i = 0; i < kUnits; ++i) state(i) = T(0.0);
    for (Index t = 0; t < inputs.cols(); ++t) {
      Eigen::Matrix<T, Eigen::Dynamic, 1> next(kUnits);
      for (Index i = 0; i < kUnits; ++i) {
        T sum = theta(kUnits * kUnits + i) * inputs(sample, t);
        for (Index j = 0; j < kUnits; ++j) sum = sum + theta(i * kUnits + j) * state(j);
        next(i) = tanh(sum);
      }
      state = next;
    }
    T output = T(0.0);
    for (Index i = 0; i < kUnits; ++i) {
      output = output + theta(kUnits * kUnits + kUnits + i) * state(i);
    }
    return (output - 0.5) * (output - 0.5);
  }
};

TEST(UnitSearch, FindsUnitsOnBothAxesOfARecurrentTensor) {
  test::Numbers numbers(3);
  const auto objective = make_objective(
      Recurrent{numbers.table(12, 4)},
      15,
      12,
      {.parameter_blocks = {{"A", {3, 3}, 0, 9}, {"u", {3}, 9, 3}, {"v", {3}, 12, 3}}});
  const std::vector<InterchangeableUnits> found = find_interchangeable_units(objective);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "A, u, v");
  EXPECT_EQ(found[0].axes.size(), 4U);
  EXPECT_THAT(found[0].flips, Each(true));
  expect_unnoticed(objective, found);
}

// f_c = a relu-like function of channel c at two positions. Positions follow the channel in the
// weights of the next layer, as in a flattened image: channels are blocks of two entries.
struct Flattened {
  static constexpr Index kChannels = 3;
  static constexpr Index kPositions = 2;
  MatrixXd inputs;  // samples x positions

  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& theta, Index sample) const {
    using std::exp, std::log;
    T output = T(0.0);
    for (Index c = 0; c < kChannels; ++c) {
      for (Index p = 0; p < kPositions; ++p) {
        const T value = log(1.0 + exp(theta(c) * inputs(sample, p) + theta(kChannels + c)));
        output = output + theta(2 * kChannels + c * kPositions + p) * value;
      }
    }
    return (output - 0.3) * (output - 0.3);
  }
};

TEST(UnitSearch, FindsTheChannelsOfAFlattenedImage) {
  test::Numbers numbers(8);
  const auto objective = make_objective(
      Flattened{numbers.table(12, 2)},
      12,
      12,
      {.parameter_blocks = {{"filter", {3}, 0, 3}, {"bias", {3}, 3, 3}, {"next", {1, 6}, 6, 6}}});
  const std::vector<InterchangeableUnits> found = find_interchangeable_units(objective);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "filter, bias, next");
  EXPECT_THAT(found[0].flips, IsEmpty());
  expect_unnoticed(objective, found);
}

// Log-loss of two classes: where their weights are the same, as at points that an exchange of the
// classes leaves as they are, no hidden unit has any effect.
struct TwoClasses {
  MatrixXd inputs;  // samples x 3

  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& theta, Index sample) const {
    using std::exp, std::log, std::tanh;
    T logits[2] = {T(0.0), T(0.0)};
    for (Index unit = 0; unit < 2; ++unit) {
      T sum = T(0.0);
      for (Index d = 0; d < 3; ++d) sum = sum + theta(unit * 3 + d) * inputs(sample, d);
      const T value = tanh(sum);
      for (Index c = 0; c < 2; ++c) logits[c] = logits[c] + theta(6 + c * 2 + unit) * value;
    }
    return log(1.0 + exp(logits[1] - logits[0]));
  }
};

TEST(UnitSearch, FindsHiddenUnitsInFrontOfAsManyClasses) {
  test::Numbers numbers(11);
  const auto objective =
      make_objective(TwoClasses{numbers.table(12, 3)},
                     10,
                     12,
                     {.parameter_blocks = {{"hidden", {2, 3}, 0, 6}, {"classes", {2, 2}, 6, 4}}});
  const std::vector<InterchangeableUnits> found = find_interchangeable_units(objective);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "hidden, classes");
  expect_unnoticed(objective, found);
}

// Weight decay gives axes a curvature that no sample has.
TEST(UnitSearch, FindsThemBesideWeightDecay) {
  Model model = mlp({.widths = {2, 2, 2}});
  model.weight_decay = 1e-3;
  const GraphObjective objective = random_objective(std::move(model));
  const std::vector<InterchangeableUnits> found = find_interchangeable_units(objective);
  EXPECT_THAT(names_of(found), ElementsAre("layers.0.weight, layers.0.bias, layers.1.weight"));
  expect_unnoticed(objective, found);
}

// Beside targets of 1e12, exchanging inputs or outputs changes the twelfth digit of a loss.
TEST(UnitSearch, FindsNoOtherUnitsWhereLossesAreLarge) {
  Model model = mlp({.widths = {3, 3, 3}, .loss = MlpLoss::kMeanSquaredError});
  test::Numbers numbers(11);
  SampleTable samples = numbers.table(40, model.record_size());
  samples.rightCols(3) *= 1e12;
  const GraphObjective objective(std::move(model), std::move(samples));
  const std::vector<InterchangeableUnits> found = find_interchangeable_units(objective);
  EXPECT_THAT(names_of(found), ElementsAre("layers.0.weight, layers.0.bias, layers.1.weight"));
}

TEST(UnitSearch, FindsTheSignOfAUnitThatIsAlone) {
  const auto single_units_of = [](Activation activation) {
    const GraphObjective objective =
        random_objective(mlp({.widths = {3, 4, 1, 4, 3}, .activation = activation}));
    std::vector<InterchangeableUnits> found = find_interchangeable_units(objective);
    expect_unnoticed(objective, found);
    EXPECT_EQ(std::erase_if(found, [](const auto& each) { return each.num_units() > 1; }), 2U);
    return found;
  };
  const std::vector<InterchangeableUnits> odd = single_units_of(Activation::kTanh);
  EXPECT_THAT(names_of(odd), ElementsAre("layers.1.weight, layers.1.bias, layers.2.weight"));
  EXPECT_THAT(odd[0].flips, ElementsAre(true, true, true));
  EXPECT_THAT(single_units_of(Activation::kGelu), IsEmpty());
}

// Tensors of their own.
TEST(UnitSearch, FindsHeadsOfLinearAttention) {
  const GraphObjective objective =
      random_objective(linear_attention({.layers = 2,
                                         .dimension = 2,
                                         .context = 5,
                                         .parametrization = LinearAttentionParametrization::kFull,
                                         .heads = 3}));
  const std::vector<InterchangeableUnits> found = find_interchangeable_units(objective);
  std::vector<std::string> of_heads;
  for (const InterchangeableUnits& family : found) {
    if (family.name.find("heads.*") == std::string::npos) continue;
    EXPECT_EQ(family.num_units(), 3);
    of_heads.push_back(family.name);
  }
  EXPECT_THAT(of_heads,
              ElementsAre("layers.0.heads.*.P, layers.0.heads.*.Q",
                          "layers.1.heads.*.P, layers.1.heads.*.Q"));
  expect_unnoticed(objective, found);
}

// Without biases the signs of all hidden units behind one input are one sign of two tensors.
TEST(UnitSearch, LeavesOutASignOfAllUnitsAtOnce) {
  const GraphObjective objective =
      random_objective(mlp({.widths = {1, 3, 1}, .loss = MlpLoss::kMeanSquaredError}));
  const std::vector<InterchangeableUnits> found = find_interchangeable_units(objective);
  EXPECT_THAT(names_of(found), ElementsAre("layers.0.weight, layers.0.bias, layers.1.weight"));
}

TEST(UnitSearch, FindsNothingWhereThereIsNothing) {
  MatrixXd h(4, 4);
  h << 2, 1, 0, 0, 1, 3, 0, 1, 0, 0, 5, 0, 0, 1, 0, 7;
  EXPECT_THAT(find_interchangeable_units(test::QuadraticObjective({h})), IsEmpty());
}

TEST(UnitSearch, RearrangesAsItSays) {
  InterchangeableUnits units{
      .name = "w", .axes = {InterchangeableUnits::Axis(2, 2)}, .flips = {true}};
  units.axes[0] << 0, 1, 2, 3;
  VectorXd theta(5);
  theta << 1, 2, 3, 4, 5;
  const std::vector<Index> sources = {1, 0};
  VectorXd wanted(5);
  wanted << -3, -4, 1, 2, 5;
  EXPECT_EQ(units.rearranged(theta, sources, std::vector<int>{-1, 1}), wanted);
  EXPECT_THROW(units.rearranged(theta, sources, std::vector<int>{1}), PreconditionError);
}

TEST(UnitSearch, RefusesBlocksThatDoNotFit) {
  const test::QuadraticObjective misshapen(
      {MatrixXd::Identity(3, 3)}, {}, 0, {{"w", {7, 9}, 0, 3}});
  test::expect_refusal([&] { find_interchangeable_units(misshapen); },
                       "find_interchangeable_units: parameter block 'w' has the size 3");
}

TEST(UnitSearch, RefusesToLookAtNoSamples) {
  const test::QuadraticObjective objective({Eigen::MatrixXd::Identity(3, 3)});
  for (const Eigen::Index none : {0, -1}) {
    test::expect_refusal([&] { find_interchangeable_units(objective, {.max_samples = none}); },
                         "find_interchangeable_units: max_samples must be at least 1, got ");
  }
}

}  // namespace
}  // namespace hesscope
