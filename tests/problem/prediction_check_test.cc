// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/problem/internal/prediction_check.h>
#include <hesscope/problem/problem.h>

#include "problem/centred_kind.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

// A kind that other programs write the models of, as far as the check goes.
class PredictionCheckTest : public testing::Test {
 protected:
  PredictionCheckTest() {
    if (find_model_kind("checked") != nullptr) return;
    ModelKind kind = test::centred_kind();
    kind.name = "checked";
    kind.checks_predictions = true;
    register_model_kind(kind);
  }

  // A problem of samples (1, 0) and (0, 3), for which weights (1, 2) predict 1 and 6.
  Problem load(const std::string& kind,
               const std::vector<std::int64_t>& shape,
               const std::vector<double>& predictions) const {
    const std::vector<double> inputs = {1, 0, 0, 3};
    const std::vector<double> target = {0, 1};
    io::write_checkpoint(files_.folder() / "data.h5",
                         {{{"inputs", {2, 2}, inputs},
                           {"target", {2}, target},
                           {"predictions", shape, predictions}}},
                         io::Existing::kReplace);
    std::ofstream(files_.problem())
        << "[model]\nkind = \"" << kind << "\"\n[data]\nfile = \"data.h5\"\n";
    return {read_problem_file(files_.problem()),
            io::open_tensor_file(files_.checkpoint("a.h5", {}))};
  }

  test::CentredFiles files_;
};

TEST_F(PredictionCheckTest, AcceptsPredictionsInAnyShapeToSinglePrecision) {
  EXPECT_TRUE(load("checked", {2}, {1, 6}).remarks().empty());
  EXPECT_TRUE(load("checked", {2, 1, 1}, {1, 6 + 5e-6}).remarks().empty());
}

TEST_F(PredictionCheckTest, WarnsOfNumbersOf64BitsThatAgreeTo32) {
  for (const double off : {0.0005, 1e-5}) {
    EXPECT_THAT(load("checked", {2, 1, 1}, {1 + off, 6}).remarks(),
                testing::ElementsAre(testing::HasSubstr(
                    "data.h5: array 'predictions' holds numbers of 64 bits, but the model's differ "
                    "from them by up to " +
                    std::string(off > 1e-4 ? "8.3e-05" : "1.7e-06"))));
  }
}

TEST_F(PredictionCheckTest, NamesTheSampleAndBothValues) {
  const auto expect_refused = [&](double other, const std::string& text) {
    test::expect_refusal<InputError>(
        [&] {
          load("checked", {2, 1}, {1, other});
        },
        "data.h5: array 'predictions', sample 1: " + text +
            " (number 0 of the sample), but the model predicts 6 at ");
  };
  expect_refused(6.001, "6.001");
  expect_refused(5, "5");
  expect_refused(std::nan(""), "nan");
  test::expect_refusal<InputError>(
      [&] {
        load("checked", {2}, {1.001, 6});
      },
      "leave the array out to go on without this check");
}

// As masked logits are.
TEST(PredictionCheck, TakesEqualInfinitiesForAlikeAndNoNumbersToo) {
  ModelBuilder b("masked");
  const Var z = hadamard(b.parameter("w", {2}), b.array("inputs", {2}));
  b.set_prediction(z);
  const GraphObjective objective(b.finish(sum(z)), SampleTable::Ones(1, 2));
  const auto check = [&](double prediction, double stored) {
    TensorShapes data;
    data.source = "data.npz";
    data.shapes["predictions"] = {1, 2};
    data.read = [&](const std::string& /*name*/) { return std::vector<double>{stored, 3}; };
    return detail::check_predictions(
        objective, Eigen::Vector2d(prediction, 3), data, "a.h5", [] { return Eigen::MatrixXd(); });
  };
  const double nan = std::nan("");
  EXPECT_EQ(check(-kInfinity, -kInfinity), "");
  EXPECT_EQ(check(kInfinity, kInfinity), "");
  EXPECT_EQ(check(nan, nan), "");
  EXPECT_THROW(check(-kInfinity, kInfinity), InputError);
  EXPECT_THROW(check(-kInfinity, 1), InputError);
  EXPECT_THROW(check(1, -kInfinity), InputError);
  EXPECT_THROW(check(nan, kInfinity), InputError);
  EXPECT_THROW(check(1, nan), InputError);
}

TEST(PredictionCheck, TakesTheNearerOfTheCheckpointAndTheFilesOwn) {
  ModelBuilder b("scaled");
  const Var z = hadamard(b.parameter("w", {1}), b.array("inputs", {1}));
  b.set_prediction(z);
  const GraphObjective objective(b.finish(sum(z)), SampleTable::Ones(1, 1));
  const auto check = [&](double own, io::ElementType type) {
    TensorShapes data;
    data.source = "data.npz";
    data.shapes["predictions"] = {1, 1};
    data.types["predictions"] = type;
    data.read = [](const std::string& /*name*/) { return std::vector<double>{1}; };
    return detail::check_predictions(
        objective, Eigen::VectorXd::Constant(1, 1 + 5e-5), data, "a.h5", [&] {
          return Eigen::MatrixXd::Constant(1, 1, own);
        });
  };
  EXPECT_EQ(check(1, io::ElementType::kFloat64), "");
  EXPECT_EQ(check(2, io::ElementType::kFloat32), "");
  EXPECT_NE(check(2, io::ElementType::kFloat64).find("5.0e-05"), std::string::npos);
  EXPECT_NE(check(1 + 2e-5, io::ElementType::kFloat64).find("2.0e-05"), std::string::npos);
}

// Losses w x of x = 1 and 3, and a weight decay that is no part of what is compared.
TEST(MeanLossCheck, TakesTheMeanOrEachSamplesLoss) {
  ModelBuilder b("own loss");
  const Var z = hadamard(b.parameter("w", {1}), b.array("inputs", {1}));
  Model model = b.finish(sum(z));
  model.weight_decay = 0.5;
  const GraphObjective objective(std::move(model), (SampleTable(2, 1) << 1, 3).finished());
  const auto check = [&](const std::vector<double>& stored, double own) {
    TensorShapes data;
    data.source = "data.npz";
    data.shapes["predictions"] = {static_cast<std::int64_t>(stored.size())};
    data.read = [&](const std::string& /*name*/) { return stored; };
    return detail::check_mean_loss(
        objective, Eigen::VectorXd::Constant(1, 2), data, "a.h5", [&] { return own; });
  };
  EXPECT_EQ(check({4}, kNaN), "");
  EXPECT_EQ(check({2, 6}, kNaN), "");
  EXPECT_EQ(check({5}, 5), "");
  EXPECT_EQ(check({4 * (1 + 5e-5)}, kNaN), "");
  EXPECT_THAT(check({1, 2, 3}, kNaN),
              testing::HasSubstr("was not compared with the model's losses"));
  test::expect_refusal<InputError>([&] { check({4.1}, kNaN); },
                                   "data.npz: array 'predictions' says that the mean loss is 4.1, "
                                   "but the model has 4 at a.h5. ");
  test::expect_refusal<InputError>([&] { check({kNaN}, 5); },
                                   "and 5 at the parameters in its own file");
}

TEST_F(PredictionCheckTest, SaysWhatItDidNotCompare) {
  EXPECT_THAT(load("checked", {3}, {1, 6, 0}).remarks(),
              testing::ElementsAre(testing::HasSubstr(
                  "array 'predictions' of shape (3) was not compared with the model's")));
}

TEST_F(PredictionCheckTest, IsForKindsThatAskForIt) {
  EXPECT_TRUE(load("centred", {2}, {0, 0}).remarks().empty());
}

TEST(ModelKinds, ThatBuildNoGraphAreRefusedByName) {
  ModelKind kind = test::centred_kind();
  kind.name = "without-a-graph";
  kind.build = [](const ModelSources&, const TensorShapes&) { return Model(); };
  if (find_model_kind(kind.name) == nullptr) register_model_kind(kind);
  const test::CentredFiles files;
  std::ofstream(files.problem())
      << "[model]\nkind = \"without-a-graph\"\n[data]\nfile = \"data.h5\"\n";
  test::expect_refusal(
      [&] {
        Problem(read_problem_file(files.problem()),
                io::open_tensor_file(files.checkpoint("a.h5", {}, {1, 2})));
      },
      "model kind 'without-a-graph' has built a model without a graph");
}

// Weights (1, 2) predict 1 and 6, (-1, -2) what is the logarithm of probabilities.
TEST(LogProbabilities, AreAtMostZero) {
  ModelKind kind = test::centred_kind();
  kind.name = "log-probabilities";
  kind.build = [build = kind.build](const ModelSources& sources, const TensorShapes& checkpoint) {
    Model model = build(sources, checkpoint);
    model.predicts_log_probabilities = true;
    return model;
  };
  if (find_model_kind(kind.name) == nullptr) register_model_kind(kind);
  const test::CentredFiles files;
  std::ofstream(files.problem())
      << "[model]\nkind = \"log-probabilities\"\n[data]\nfile = \"data.h5\"\n";
  const auto remarks_at = [&](const std::vector<double>& weight) {
    return Problem(read_problem_file(files.problem()),
                   io::open_tensor_file(files.checkpoint("a.h5", {}, weight)))
        .remarks();
  };
  EXPECT_THAT(remarks_at({-1, -2}), testing::IsEmpty());
  EXPECT_THAT(remarks_at({-1, 1e-9}), testing::IsEmpty());  // rounding
  EXPECT_THAT(remarks_at({-1, 2}),
              testing::ElementsAre(testing::HasSubstr(
                  "a.h5: sample 1: loss = \"nll\" takes what the model gives for logarithms of "
                  "probabilities, but it gives 6, above 0")));
}

}  // namespace
}  // namespace hesscope
