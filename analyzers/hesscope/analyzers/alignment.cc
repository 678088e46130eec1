// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <hesscope/analyzers/alignment.h>
#include <hesscope/core/error.h>
#include <hesscope/core/internal/norms.h>

namespace hesscope {
namespace {

using Eigen::ArrayXd;
using Eigen::ArrayXXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Flags = Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic>;
using Rows = Eigen::Map<const RowMajorMatrix>;

const ParameterBlock* find_block(const Objective& objective, const std::string& name) {
  for (const ParameterBlock& block : objective.parameter_blocks()) {
    if (block.name == name) return &block;
  }
  return nullptr;
}

Rows rows_of(const PointAnalysis& point, const std::string& name) {
  const ParameterBlock& block = *find_block(point.objective(), name);
  return {point.theta().data() + block.offset, block.shape[0], block.shape[1]};
}

// The tokens of all samples, one a column.
struct Tokens {
  MatrixXd signal;
  MatrixXd noise;
  VectorXd sign;  // y

  VectorXd mu() const { return signal * sign / static_cast<double>(sign.size()); }
};

bool is_first_axis(const Eigen::Ref<const VectorXd>& token) {
  return token[0] != 0 && (token.tail(token.size() - 1).array() == 0).all();
}

Tokens tokens_of(const ModelSamples& samples) {
  const std::vector<DataArray>& arrays = samples.model->arrays;
  const auto offset_of = [&](const char* name) {
    return std::find_if(arrays.begin(),
                        arrays.end(),
                        [&](const DataArray& array) { return array.name == name; })
        ->offset;
  };
  const SampleTable& table = *samples.samples;
  const Index d = arrays.front().shape[1];
  const Index first = offset_of("inputs");
  const auto token = [&](Index sample, Index t) {
    return Eigen::Map<const VectorXd>(table.row(sample).data() + first + t * d, d);
  };
  bool is_told = true;  // by the first axis
  for (Index i = 0; i < table.rows(); ++i) {
    is_told = is_told && is_first_axis(token(i, 0)) != is_first_axis(token(i, 1));
  }
  Tokens tokens{MatrixXd(d, table.rows()), MatrixXd(d, table.rows()), VectorXd(table.rows())};
  for (Index i = 0; i < table.rows(); ++i) {
    const Index signal = is_told && is_first_axis(token(i, 1)) ? 1 : 0;
    tokens.signal.col(i) = token(i, signal);
    tokens.noise.col(i) = token(i, 1 - signal);
    tokens.sign[i] = table(i, offset_of("target"));
  }
  return tokens;
}

// A mean over those entries of x where `chosen` holds.
void set_mean_where(const std::string& name,
                    const ArrayXXd& x,
                    const Flags& chosen,
                    Group& record) {
  const Index count = chosen.count();
  if (count == 0) {
    record[name].set_missing(Status::kUndefinedZeroDenominator);
  } else {
    record[name].set(chosen.select(x, 0.0).sum() / static_cast<double>(count));
  }
}

double share(const Flags& holds) {
  return static_cast<double>(holds.count()) / static_cast<double>(holds.size());
}

// What attention a query pays to the signal: exp(s) / (exp(s) + exp(n)) of its scores.
ArrayXd attention(const MatrixXd& query, const MatrixXd& signal_key, const MatrixXd& noise_key) {
  const ArrayXd difference =
      (query.array() * (noise_key - signal_key).array()).colwise().sum().transpose();
  return 1 / (1 + difference.exp());
}

class AlignmentAnalyzer final : public Analyzer {
 public:
  AlignmentAnalyzer() { declare_all(quantities(), headline()); }

  std::vector<Dimension> dimensions(const Objective& objective) const override {
    for (const char* name : {"WQ", "WK", "WV.pos", "WV.neg"}) {
      const ParameterBlock* block = find_block(objective, name);
      if (block != nullptr && block->shape.size() == 2) continue;
      throw ConfigError(
          "'alignment': is of the model 'signal-noise', with WQ, WK (m_k, d) and WV.pos, WV.neg "
          "(m_v, d)");
    }
    return {{.name = "neuron", .size = find_block(objective, "WQ")->shape[0]},
            {.name = "sample", .size = objective.num_samples()}};
  }

  std::vector<Variable> quantities() const;

  std::vector<std::string> headline() const {
    return {"aligned", "positive_value_noise", "mean_softmax_11", "mean_softmax_21"};
  }

  Group analyze(PointAnalysis& point) const override {
    Group record = declared();
    const auto& samples = point.model_samples();
    if (!samples || samples->model->kind != "signal-noise") {
      record.set_rest_missing(Status::kNotComputed);
    } else if (!point.theta().allFinite()) {
      record.set_rest_missing(Status::kNonFinite);
    } else {
      describe(point, tokens_of(*samples), record);
    }
    return record;
  }

 private:
  static void describe(const PointAnalysis& point, const Tokens& tokens, Group& record) {
    const VectorXd mu = tokens.mu();
    const ArrayXd y = tokens.sign.array();
    const VectorXd v =
        (rows_of(point, "WV.pos").colwise().mean() - rows_of(point, "WV.neg").colwise().mean())
            .transpose();
    const ArrayXd value_noise = (tokens.noise.transpose() * v).array() * y;
    record["value_signal"].set(detail::dot(v, mu).value());
    record["value_noise"].set(value_noise.matrix());
    record["mean_value_noise"].set(value_noise.mean());
    record["positive_value_noise"].set(share(value_noise > 0));

    const Rows wq = rows_of(point, "WQ");
    const Rows wk = rows_of(point, "WK");
    const MatrixXd noise_queries = wq * tokens.noise;  // neuron x sample
    const MatrixXd noise_keys = wk * tokens.noise;
    const MatrixXd signal_keys = wk * tokens.signal;
    const ArrayXd softmax_11 = attention(wq * tokens.signal, signal_keys, noise_keys);
    const ArrayXd softmax_21 = attention(noise_queries, signal_keys, noise_keys);
    record["softmax_11"].set(softmax_11.matrix());
    record["softmax_21"].set(softmax_21.matrix());
    record["mean_softmax_11"].set(softmax_11.mean());
    record["mean_softmax_21"].set(softmax_21.mean());

    const VectorXd query_signal = wq * mu;
    const VectorXd key_signal = wk * mu;
    const MatrixXd query_noise = noise_queries * tokens.sign.asDiagonal();
    const MatrixXd key_noise = noise_keys * tokens.sign.asDiagonal();
    record["query_signal"].set(query_signal);
    record["key_signal"].set(key_signal);
    record["query_noise"].set_rows(query_noise);
    record["key_noise"].set_rows(key_noise);
    record["aligned"].set(share(query_noise.array().sign() * key_noise.array().sign() > 0));
    // By signs: products of small numbers may underflow.
    const Flags query_follows =
        query_signal.array().sign() * key_noise.rowwise().sum().array().sign() > 0;
    const Flags key_opposes =
        key_signal.array().sign() * query_noise.rowwise().sum().array().sign() < 0;
    record["query_majority"].set(share(query_follows));
    record["key_majority"].set(share(key_opposes));
    record["majority"].set(share(query_follows && key_opposes));
    set_against_signal("query", query_signal, query_noise, record);
    set_against_signal("key", query_signal, key_noise, record);
  }

  // Noise of each neuron counted positive where it has the sign of the neuron's query signal.
  static void set_against_signal(const std::string& of,
                                 const VectorXd& query_signal,
                                 const MatrixXd& noise,
                                 Group& record) {
    const ArrayXXd turned = (query_signal.cwiseSign().asDiagonal() * noise).array();
    record["positive_" + of + "_noise"].set(share(turned > 0));
    record["lowest_" + of + "_noise"].set(turned.minCoeff());
    set_mean_where("negative_" + of + "_noise", turned, turned < 0, record);
  }
};

std::vector<Variable> AlignmentAnalyzer::quantities() const {
  const auto scalar = [](const char* name, const std::string& long_name, const char* definition) {
    return Variable{.name = name, .long_name = long_name, .definition = definition};
  };
  const auto array = [](const char* name,
                        std::vector<std::string> dimensions,
                        const char* long_name,
                        const char* definition) {
    return Variable{.name = name,
                    .dimensions = std::move(dimensions),
                    .long_name = long_name,
                    .definition = definition};
  };
  std::vector<Variable> all = {
      scalar("value_signal",
             "signal in the values",
             "<v, mu>; v: mean row of WV.pos less that of WV.neg; mu: mean of y_i times the signal "
             "token"),
      array("value_noise",
            {"sample"},
            "noise in the values",
            "<v, y_i xi_i>; xi_i: the noise token of a sample, y_i its sign"),
      array("query_signal", {"neuron"}, "signal in the queries", "<w_Q, mu>; w_Q: a row of WQ"),
      array("key_signal", {"neuron"}, "signal in the keys", "<w_K, mu>; w_K: a row of WK"),
      array("query_noise", {"neuron", "sample"}, "noise in the queries", "<w_Q, y_i xi_i>"),
      array("key_noise", {"neuron", "sample"}, "noise in the keys", "<w_K, y_i xi_i>"),
      array("softmax_11",
            {"sample"},
            "attention of the signal to the signal",
            "softmax output s_11: query the signal token, key the signal token"),
      array("softmax_21",
            {"sample"},
            "attention of the noise to the signal",
            "softmax output s_21: query the noise token, key the signal token"),
      scalar("mean_softmax_11", "mean attention of the signal to the signal", "over samples"),
      scalar("mean_softmax_21", "mean attention of the noise to the signal", "over samples"),
      scalar("mean_value_noise", "mean noise in the values", "mean of value_noise over samples"),
      scalar("positive_value_noise",
             "share of samples with positive noise in the values",
             "share of samples with value_noise > 0"),
      scalar("aligned",
             "share of aligned pairs",
             "share of pairs of a neuron and a sample whose query noise and key noise have the "
             "same sign"),
      scalar("query_majority",
             "share of neurons whose query signal follows their key noise",
             "share of neurons whose query_signal has the sign of the sum over samples of "
             "key_noise"),
      scalar("key_majority",
             "share of neurons whose key signal opposes their query noise",
             "share of neurons whose key_signal has the sign opposite to that of the sum over "
             "samples of query_noise"),
      scalar("majority",
             "share of neurons whose signals have the signs of the majority",
             "share of neurons of which both query_majority and key_majority tell")};
  for (const std::string of : {"query", "key"}) {
    const std::string noise = of + " noise";
    const std::string counted =
        ", counted positive where it has the sign of the neuron's "
        "query_signal";
    all.push_back({.name = "positive_" + of + "_noise",
                   .long_name = "share of positive " + noise,
                   .definition = "share of pairs of a neuron and a sample whose " + of +
                                 "_noise has the sign of the neuron's query_signal"});
    all.push_back({.name = "lowest_" + of + "_noise",
                   .long_name = "lowest " + noise,
                   .definition = "least " + of + "_noise" + counted});
    all.push_back({.name = "negative_" + of + "_noise",
                   .long_name = "mean negative " + noise,
                   .definition = "mean of " + of + "_noise" + counted +
                                 ", over the pairs where it is negative; undefined where none is"});
  }
  return all;
}

}  // namespace

AnalyzerKind alignment_analyzer() {
  return {.name = "alignment",
          .question = "of signal-noise models: the signs of their weights along signal and noise",
          .by_default = false,
          .options = {},
          .create = [](const Settings&) { return std::make_unique<AlignmentAnalyzer>(); }};
}

}  // namespace hesscope
