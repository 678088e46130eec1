// SPDX-License-Identifier: BSD-3-Clause
//
// Copies of one network, whatever was done to them that no sample notices, are brought back onto
// it.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/models/attention.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/models/mlp.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/paths/alignment.h>
#include <hesscope/paths/internal/orbit.h>
#include <hesscope/paths/straight_path.h>

#include "support/loss_oracle.h"
#include "support/maxima.h"
#include "support/quadratic_objective.h"
#include "support/random_objective.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::random_objective;

// All units in another order, with signs by chance where there are any.
VectorXd shuffled(const std::vector<InterchangeableUnits>& families,
                  VectorXd theta,
                  std::mt19937_64& engine) {
  for (const InterchangeableUnits& family : families) {
    std::vector<Index> sources(static_cast<std::size_t>(family.num_units()));
    std::iota(sources.begin(), sources.end(), Index{0});
    std::ranges::shuffle(sources, engine);
    std::vector<int> signs(sources.size(), 1);
    for (int& sign : signs) {
      if (!family.flips.empty() && engine() % 2 == 0) sign = -1;
    }
    theta = family.rearranged(theta, sources, signs);
  }
  return theta;
}

// Along random directions of all generators at once.
VectorXd moved(const std::vector<Invariance>& invariances, double size, const VectorXd& theta) {
  std::vector<AffineGenerator> generators;
  for (const Invariance& family : invariances) {
    for (Index k = 0; k < family.num_generators; ++k) generators.push_back(family.generator(k));
  }
  test::Numbers numbers(17);
  return detail::flowed(
      generators, size * numbers.vector(static_cast<Index>(generators.size())), theta);
}

void expect_aligned(const Objective& objective,
                    const VectorXd& reference,
                    const VectorXd& copy,
                    double tolerance) {
  const Alignment found = align(objective, alignment_maps(objective), reference, copy);
  EXPECT_GT(found.distance_before, 0.1 * reference.norm());
  EXPECT_LE(found.distance, tolerance * reference.norm());
  EXPECT_EQ(found.distance, detail::norm(reference - found.theta));
  const StraightPath path = straight_path(objective, reference, found.theta, 21);
  EXPECT_EQ(path.status, Status::kOk);
  EXPECT_LE(path.barrier, 1e-12 * (1 + std::abs(path.losses[0])));
}

TEST(Alignment, BringsShuffledPerceptronsBack) {
  for (const Activation activation :
       {Activation::kTanh, Activation::kGelu, Activation::kSoftplus}) {
    const GraphObjective objective =
        random_objective(mlp({.widths = {5, 12, 12, 12, 4}, .activation = activation}));
    std::mt19937_64 engine(5);
    test::Numbers numbers(2);
    const VectorXd reference = numbers.vector(objective.num_parameters());
    const AlignmentMaps maps = alignment_maps(objective);
    ASSERT_EQ(maps.units.size(), 3U);
    const VectorXd copy = shuffled(maps.units, reference, engine);
    const double loss = objective.value(reference);
    EXPECT_NEAR(objective.value(copy), loss, 1e-12 * loss);
    const StraightPath unaligned = straight_path(objective, reference, copy, 21);
    EXPECT_GT(test::largest_magnitude(unaligned.losses.array() - loss), 1e-3);
    expect_aligned(objective, reference, copy, 1e-13);
  }
}

TEST(Alignment, BringsARescaledAndShuffledPerceptronBack) {
  const GraphObjective objective =
      random_objective(mlp({.widths = {4, 9, 8, 3}, .activation = Activation::kRelu}));
  std::mt19937_64 engine(6);
  test::Numbers numbers(3);
  const VectorXd reference = numbers.vector(objective.num_parameters());
  const AlignmentMaps maps = alignment_maps(objective);
  ASSERT_EQ(maps.units.size(), 2U);
  const VectorXd scaled = moved(maps.invariances, 1.0, reference);
  expect_aligned(objective, reference, scaled, 1e-7);
  expect_aligned(objective, reference, shuffled(maps.units, scaled, engine), 1e-7);
}

TEST(Alignment, BringsAnotherBasisOfQueriesAndKeysBack) {
  const GraphObjective objective = random_objective(
      linear_attention({.layers = 2,
                        .dimension = 2,
                        .context = 4,
                        .parametrization = LinearAttentionParametrization::kSplitQk}));
  test::Numbers numbers(7);
  const VectorXd reference = numbers.vector(objective.num_parameters());
  expect_aligned(
      objective, reference, moved(alignment_maps(objective).invariances, 0.5, reference), 1e-7);
}

TEST(Alignment, BringsShuffledHeadsBack) {
  const GraphObjective objective =
      random_objective(attention({.heads = 4, .embedding = 5, .head_dimension = 2, .sequence = 3}));
  std::mt19937_64 engine(9);
  test::Numbers numbers(8);
  const VectorXd reference = numbers.vector(objective.num_parameters());
  expect_aligned(
      objective, reference, shuffled(alignment_maps(objective).units, reference, engine), 1e-7);
}

// Two networks that have nothing in common keep their losses, and are no further apart than before.
TEST(Alignment, KeepsTheLossOfAnotherNetwork) {
  const GraphObjective objective = random_objective(mlp({.widths = {4, 10, 10, 3}}));
  test::Numbers numbers(12);
  const VectorXd first = numbers.vector(objective.num_parameters());
  const VectorXd second = numbers.vector(objective.num_parameters());
  const Alignment found = align(objective, alignment_maps(objective), first, second);
  EXPECT_LT(found.distance, found.distance_before);
  EXPECT_GT(found.num_moved, 0);
  const double loss = objective.value(second);
  EXPECT_NEAR(objective.value(found.theta), loss, 1e-12 * loss);
  // And again: it is where it should be.
  const Alignment again = align(objective, alignment_maps(objective), first, found.theta);
  EXPECT_LE(again.distance, found.distance);
}

TEST(Alignment, WithoutMapsIsThePoint) {
  const test::QuadraticObjective objective({MatrixXd::Identity(3, 3)});
  test::Numbers numbers(1);
  const VectorXd first = numbers.vector(3);
  const VectorXd second = numbers.vector(3);
  const Alignment found = align(objective, {}, first, second);
  EXPECT_EQ(found.theta, second);
  EXPECT_EQ(found.distance, found.distance_before);
}

TEST(Alignment, LeavesOutFamiliesThatAreTooLarge) {
  const test::QuadraticObjective objective({MatrixXd::Identity(3, 3)});
  AlignmentMaps maps;
  maps.invariances.push_back(
      {.name = "endless", .num_generators = 10'000'000, .generator = [](Index) {
         ADD_FAILURE() << "asked for";
         return AffineGenerator{};
       }});
  const Alignment found = align(objective, maps, VectorXd::Ones(3), VectorXd::Zero(3));
  EXPECT_THAT(found.left_out, testing::ElementsAre("endless"));
}

TEST(Alignment, RefusesWhatIsNoPoint) {
  const test::QuadraticObjective objective({MatrixXd::Identity(3, 3)});
  EXPECT_THROW(align(objective, {}, VectorXd::Ones(2), VectorXd::Zero(3)), PreconditionError);
  EXPECT_THROW(align(objective, {}, VectorXd::Ones(3), VectorXd::Constant(3, kNaN)),
               PreconditionError);
}

}  // namespace
}  // namespace hesscope
