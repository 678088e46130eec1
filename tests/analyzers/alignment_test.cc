// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/analyzers/alignment.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/models/signal_noise.h>
#include <hesscope/objective/graph_objective.h>

#include "support/matrices.h"
#include "support/maxima.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr Index kDimension = 7;
constexpr Index kKeys = 5;
constexpr Index kValues = 3;
constexpr Index kSamples = 6;

// Sample i: its signal token y mu e_1 in front where `is_swapped(i)` does not hold.
struct Data {
  explicit Data(bool is_random, bool is_dense = false)
      : objective(
            signal_noise({.dimension = kDimension, .key_neurons = kKeys, .value_neurons = kValues}),
            table(is_random, is_dense),
            {.num_threads = 1}) {}

  static SampleTable table(bool is_random, bool is_dense) {
    std::mt19937 engine(3);
    SampleTable records = SampleTable::Zero(kSamples, 2 * kDimension + 1);
    for (Index i = 0; i < kSamples; ++i) {
      const double y = i % 3 == 0 ? -1 : 1;
      const Index signal = is_random && i % 2 == 1 ? kDimension : 0;
      records(i, signal) = 2.5 * y;
      for (Index k = is_dense ? 0 : 1; k < kDimension; ++k) {
        const double value = static_cast<double>(engine() % 2001) / 1000 - 1;
        if (is_dense) records(i, k) += 0.1 * value;
        records(i, kDimension - signal + k) = k % 3 == 0 && !is_dense ? 0 : value;
      }
      records(i, 2 * kDimension) = y;
    }
    return records;
  }

  Group analyze(const VectorXd& theta) const {
    PointAnalysis point(objective, theta);
    point.set_model_samples({.model = &objective.model(), .samples = &objective.samples()});
    return alignment_analyzer().create({})->analyze(point);
  }

  GraphObjective objective;
};

VectorXd weights() {
  std::mt19937 engine(5);
  VectorXd theta((2 * kKeys + 2 * kValues) * kDimension);
  for (double& x : theta) x = static_cast<double>(engine() % 2001) / 1000 - 1;
  return theta;
}

std::vector<double> values_of(const Group& record, const std::string& name) {
  return record[name].reals();
}

Status status_of(const Group& record, const std::string& name) { return record[name].status(); }

double value_of(const Group& record, const std::string& name) {
  return values_of(record, name).at(0);
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-13);
}

// The same by loops over what the sampler's tokens are made of.
void expect_as_by_loops(const Group& record, const SampleTable& table, const VectorXd& theta) {
  const auto product = [&](Index row, const VectorXd& x) {
    double sum = 0;
    for (Index k = 0; k < kDimension; ++k) sum += theta[row * kDimension + k] * x[k];
    return sum;
  };
  const auto v_product = [&](const VectorXd& x) {
    double sum = 0;
    for (Index r = 0; r < kValues; ++r) {
      sum += product(2 * kKeys + r, x) - product(2 * kKeys + kValues + r, x);
    }
    return sum / static_cast<double>(kValues);
  };
  const VectorXd mu = 2.5 * VectorXd::Unit(kDimension, 0);
  std::vector<double> value_noise;
  std::vector<double> softmax_11;
  std::vector<double> softmax_21;
  std::vector<double> query_noise(kKeys * kSamples);
  std::vector<double> key_noise(kKeys * kSamples);
  double num_aligned = 0;
  for (Index i = 0; i < kSamples; ++i) {
    const double y = table(i, 2 * kDimension);
    const VectorXd first = table.row(i).head(kDimension).transpose();
    const VectorXd second = table.row(i).segment(kDimension, kDimension).transpose();
    const bool is_swapped = second[0] != 0;
    const VectorXd& noise = is_swapped ? first : second;
    const VectorXd& signal = is_swapped ? second : first;
    value_noise.push_back(y * v_product(noise));
    const auto attention = [&](const VectorXd& query) {
      double to_signal = 0;
      double to_noise = 0;
      for (Index s = 0; s < kKeys; ++s) {
        to_signal += product(s, query) * product(kKeys + s, signal);
        to_noise += product(s, query) * product(kKeys + s, noise);
      }
      return std::exp(to_signal) / (std::exp(to_signal) + std::exp(to_noise));
    };
    softmax_11.push_back(attention(signal));
    softmax_21.push_back(attention(noise));
    for (Index s = 0; s < kKeys; ++s) {
      const auto at = static_cast<std::size_t>(s * kSamples + i);
      query_noise[at] = y * product(s, noise);
      key_noise[at] = y * product(kKeys + s, noise);
      num_aligned += (query_noise[at] > 0) == (key_noise[at] > 0) ? 1 : 0;
    }
  }
  expect_near(values_of(record, "value_signal"), {v_product(mu)});
  expect_near(values_of(record, "value_noise"), value_noise);
  expect_near(values_of(record, "softmax_11"), softmax_11);
  expect_near(values_of(record, "softmax_21"), softmax_21);
  expect_near(values_of(record, "query_noise"), query_noise);
  expect_near(values_of(record, "key_noise"), key_noise);
  EXPECT_DOUBLE_EQ(value_of(record, "aligned"), num_aligned / (kKeys * kSamples));
  double num_query = 0;
  double num_key = 0;
  double num_both = 0;
  double num_positive = 0;
  double lowest = kInfinity;
  double sum_negative = 0;
  double num_negative = 0;
  std::vector<double> query_signal;
  for (Index s = 0; s < kKeys; ++s) {
    query_signal.push_back(product(s, mu));
    double keys = 0;
    double queries = 0;
    for (Index i = 0; i < kSamples; ++i) {
      const auto at = static_cast<std::size_t>(s * kSamples + i);
      keys += key_noise[at];
      queries += query_noise[at];
      const double turned = query_signal.back() > 0 ? key_noise[at] : -key_noise[at];
      lowest = test::smaller(lowest, turned);
      num_positive += turned > 0 ? 1 : 0;
      if (turned < 0) {
        sum_negative += turned;
        ++num_negative;
      }
    }
    const bool query_follows = (query_signal.back() > 0) == (keys > 0);
    const bool key_opposes = (product(kKeys + s, mu) > 0) != (queries > 0);
    num_query += query_follows ? 1 : 0;
    num_key += key_opposes ? 1 : 0;
    num_both += query_follows && key_opposes ? 1 : 0;
  }
  expect_near(values_of(record, "query_signal"), query_signal);
  EXPECT_DOUBLE_EQ(value_of(record, "query_majority"), num_query / kKeys);
  EXPECT_DOUBLE_EQ(value_of(record, "key_majority"), num_key / kKeys);
  EXPECT_DOUBLE_EQ(value_of(record, "majority"), num_both / kKeys);
  EXPECT_DOUBLE_EQ(value_of(record, "positive_key_noise"), num_positive / (kKeys * kSamples));
  EXPECT_NEAR(value_of(record, "lowest_key_noise"), lowest, 1e-13);
  ASSERT_GT(num_negative, 0);
  EXPECT_NEAR(value_of(record, "negative_key_noise"), sum_negative / num_negative, 1e-13);
}

TEST(Alignment, CountsSignsOfProductsThatVanish) {
  const Data data(false);
  const Group wanted = data.analyze(weights());
  for (const double scale : {1e-300, 1e-200, 1e150}) {
    const Group found = data.analyze(scale * weights());
    for (const char* share : {"aligned", "query_majority", "key_majority", "majority"}) {
      EXPECT_EQ(value_of(found, share), value_of(wanted, share)) << share << scale;
    }
    EXPECT_NEAR(value_of(found, "value_signal") / scale, value_of(wanted, "value_signal"), 1e-13);
  }
  EXPECT_GT(value_of(wanted, "aligned"), 0);
}

TEST(Alignment, AgreesWithLoops) {
  for (const bool is_random : {false, true}) {
    const Data data(is_random);
    expect_as_by_loops(data.analyze(weights()), data.objective.samples(), weights());
  }
}

TEST(Alignment, DoesNotDependOnThePlacementOfTheSignal) {
  const Group first = Data(false).analyze(weights());
  const Group random = Data(true).analyze(weights());
  for (const Variable& variable : first.variables) {
    EXPECT_EQ(variable.values, random[variable.name].values) << variable.name;
  }
}

// Tokens and weights turned alike: all products stay, and no token lies along an axis.
TEST(Alignment, DoesNotDependOnTheDirectionOfTheSignal) {
  const Eigen::MatrixXd q = test::random_orthogonal(kDimension, 4);
  Data data(true);
  SampleTable turned = data.objective.samples();
  for (Index i = 0; i < kSamples; ++i) {
    for (Index first : {Index{0}, kDimension}) {
      // Signals are a column times a number, and signs can be taken out of this product.
      const VectorXd token = turned.row(i).segment(first, kDimension).transpose();
      turned.row(i).segment(first, kDimension) = (q * token).transpose();
    }
  }
  VectorXd theta = weights();
  for (Index row = 0; row < theta.size() / kDimension; ++row) {
    theta.segment(row * kDimension, kDimension) =
        (q * weights().segment(row * kDimension, kDimension)).eval();
  }
  const Group wanted = data.analyze(weights());
  const GraphObjective objective(data.objective.model(), turned, {.num_threads = 1});
  PointAnalysis point(objective, theta);
  point.set_model_samples({.model = &objective.model(), .samples = &objective.samples()});
  const Group found = alignment_analyzer().create({})->analyze(point);
  for (const char* name : {"value_signal",
                           "value_noise",
                           "query_signal",
                           "key_signal",
                           "query_noise",
                           "key_noise",
                           "softmax_11",
                           "softmax_21"}) {
    SCOPED_TRACE(name);
    expect_near(values_of(found, name), values_of(wanted, name));
  }
}

TEST(Alignment, OfTokensThatAreAllDenseTakesTheFirstAsSignal) {
  const Data data(false, true);
  const Group record = data.analyze(weights());
  const SampleTable& table = data.objective.samples();
  VectorXd mu = VectorXd::Zero(kDimension);
  for (Index i = 0; i < kSamples; ++i) {
    mu += table(i, 2 * kDimension) * table.row(i).head(kDimension).transpose() / kSamples;
  }
  const VectorXd theta = weights();
  for (Index s = 0; s < kKeys; ++s) {
    EXPECT_NEAR(values_of(record, "query_signal")[static_cast<std::size_t>(s)],
                theta.segment(s * kDimension, kDimension).dot(mu),
                1e-13);
  }
}

TEST(Alignment, OfAFlippedNeuronFlips) {
  const Data data(true);
  constexpr Index kFlipped = 2;
  VectorXd theta = weights();
  const Group before = data.analyze(theta);
  theta.segment(kFlipped * kDimension, kDimension) *= -1;
  const Group of_query = data.analyze(theta);
  theta.segment((kKeys + kFlipped) * kDimension, kDimension) *= -1;
  const Group of_both = data.analyze(theta);
  double num_aligned = 0;
  for (Index i = 0; i < kSamples; ++i) {
    const auto at = static_cast<std::size_t>(kFlipped * kSamples + i);
    EXPECT_EQ(values_of(of_query, "query_noise")[at], -values_of(before, "query_noise")[at]);
    EXPECT_EQ(values_of(of_query, "key_noise")[at], values_of(before, "key_noise")[at]);
    EXPECT_EQ(values_of(of_both, "key_noise")[at], -values_of(before, "key_noise")[at]);
    num_aligned +=
        values_of(before, "query_noise")[at] * values_of(before, "key_noise")[at] > 0 ? 1 : 0;
  }
  // A neuron turned as a whole is the same neuron; turned by half, its aligned pairs are not.
  for (const char* name : {"softmax_11",
                           "softmax_21",
                           "aligned",
                           "majority",
                           "lowest_query_noise",
                           "negative_key_noise",
                           "positive_query_noise"}) {
    EXPECT_EQ(values_of(of_both, name), values_of(before, name)) << name;
  }
  EXPECT_NEAR(value_of(of_query, "aligned") - value_of(before, "aligned"),
              (kSamples - 2 * num_aligned) / (kKeys * kSamples),
              1e-15);
}

TEST(Alignment, HasNoMeanOfNegativeNoiseWhereNoneIsNegative) {
  const Data data(false);
  VectorXd theta = VectorXd::Zero(weights().size());
  for (Index s = 0; s < 2 * kKeys; ++s) theta[s * kDimension] = 1;  // signals alone
  const Group record = data.analyze(theta);
  EXPECT_EQ(status_of(record, "negative_query_noise"), Status::kUndefinedZeroDenominator);
  EXPECT_EQ(value_of(record, "lowest_query_noise"), 0);
  EXPECT_EQ(value_of(record, "positive_query_noise"), 0);
}

TEST(Alignment, SaysWhyItIsNotThere) {
  const Data data(false);
  VectorXd theta = weights();
  theta[3] = kNaN;
  EXPECT_EQ(status_of(data.analyze(theta), "aligned"), Status::kNonFinite);

  const auto analyzer = alignment_analyzer().create({});
  PointAnalysis alone(data.objective, weights());  // nobody says of which model
  EXPECT_EQ(status_of(analyzer->analyze(alone), "aligned"), Status::kNotComputed);
  const Model other = linear_attention({.layers = 1, .dimension = 2, .context = 3});
  const GraphObjective objective(other, SampleTable::Ones(4, other.record_size()));
  PointAnalysis point(objective, VectorXd::Ones(other.num_parameters()));
  point.set_model_samples({.model = &objective.model(), .samples = &objective.samples()});
  const Group record = analyzer->analyze(point);
  for (const Variable& quantity : analyzer->declared().variables) {
    EXPECT_EQ(status_of(record, quantity.name), Status::kNotComputed) << quantity.name;
  }
}

TEST(Alignment, RefusesModelsWithoutItsTensors) {
  const Model other = linear_attention({.layers = 1, .dimension = 2, .context = 3});
  const GraphObjective objective(other, SampleTable::Ones(4, other.record_size()));
  EXPECT_THROW(alignment_analyzer().create({})->dimensions(objective), ConfigError);
}

}  // namespace
}  // namespace hesscope
