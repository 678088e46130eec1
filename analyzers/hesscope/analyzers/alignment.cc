// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <hesscope/analyzers/alignment.h>
#include <hesscope/analyzers/internal/papers.h>
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

// The tokens of all samples, one per column. Of its two tokens, the signal of a sample is the one
// along the first axis, or the one that is the same in all samples up to their signs; else the
// first.
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
  const auto sign = [&](Index sample) { return table(sample, offset_of("target")); };
  // If `is_signal(sample, t)` holds for some token of every sample, it decides which is the signal.
  const auto tells = [&](const auto& is_signal) {
    for (Index i = 0; i < table.rows(); ++i) {
      if (!is_signal(i, 0) && !is_signal(i, 1)) return false;
    }
    return true;
  };
  const auto is_along_first = [&](Index i, Index t) {
    return is_first_axis(token(i, t)) && !is_first_axis(token(i, 1 - t));
  };
  const auto is_common = [&](Index common) {
    return [&, mu = VectorXd(sign(0) * token(0, common))](Index i, Index t) {
      return token(i, t) == sign(i) * mu;
    };
  };
  std::function<bool(Index, Index)> is_signal = [](Index, Index t) { return t == 0; };
  if (tells(is_along_first)) {
    is_signal = is_along_first;
  } else if (tells(is_common(0))) {
    is_signal = is_common(0);
  } else if (tells(is_common(1))) {
    is_signal = is_common(1);
  }
  Tokens tokens{MatrixXd(d, table.rows()), MatrixXd(d, table.rows()), VectorXd(table.rows())};
  for (Index i = 0; i < table.rows(); ++i) {
    const Index signal = is_signal(i, 0) ? 0 : 1;
    tokens.signal.col(i) = token(i, signal);
    tokens.noise.col(i) = token(i, 1 - signal);
    tokens.sign[i] = sign(i);
  }
  return tokens;
}

// The mean over the entries of x for which `chosen` holds.
void set_mean_where(Variable& variable, const ArrayXXd& x, const Flags& chosen) {
  const Index count = chosen.count();
  if (count == 0) {
    variable.set_missing(Status::kUndefinedZeroDenominator);
  } else {
    variable.set(chosen.select(x, 0.0).sum() / static_cast<double>(count));
  }
}

double share(const Flags& holds) {
  return static_cast<double>(holds.count()) / static_cast<double>(holds.size());
}

// The attention that a query pays to the signal: exp(s) / (exp(s) + exp(n)) of its scores.
ArrayXd attention(const MatrixXd& query, const MatrixXd& signal_key, const MatrixXd& noise_key) {
  const ArrayXd difference =
      (query.array() * (noise_key - signal_key).array()).colwise().sum().transpose();
  return 1 / (1 + difference.exp());
}

class AlignmentAnalyzer final : public Analyzer {
 public:
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

  Group analyze(PointAnalysis& point) const override {
    Group answer = declared();
    const auto& samples = point.model_samples();
    if (!samples || samples->model->kind != "signal-noise") {
      answer.set_rest_missing(Status::kNotComputed);
    } else if (!point.theta().allFinite()) {
      answer.set_rest_missing(Status::kNonFinite);
    } else {
      describe(point, tokens_of(*samples), answer);
    }
    return answer;
  }

 private:
  void describe(const PointAnalysis& point, const Tokens& tokens, Group& answer) const {
    const VectorXd mu = tokens.mu();
    const ArrayXd y = tokens.sign.array();
    const VectorXd v =
        (rows_of(point, "WV.pos").colwise().mean() - rows_of(point, "WV.neg").colwise().mean())
            .transpose();
    const ArrayXd value_noise = (tokens.noise.transpose() * v).array() * y;
    answer[value_signal_].set(detail::dot(v, mu).value());
    answer[value_noise_].set(value_noise.matrix());
    answer[mean_value_noise_].set(value_noise.mean());
    answer[positive_value_noise_].set(share(value_noise > 0));

    const Rows wq = rows_of(point, "WQ");
    const Rows wk = rows_of(point, "WK");
    const MatrixXd noise_queries = wq * tokens.noise;  // neuron x sample
    const MatrixXd noise_keys = wk * tokens.noise;
    const MatrixXd signal_keys = wk * tokens.signal;
    const ArrayXd softmax_11 = attention(wq * tokens.signal, signal_keys, noise_keys);
    const ArrayXd softmax_21 = attention(noise_queries, signal_keys, noise_keys);
    answer[softmax_11_].set(softmax_11.matrix());
    answer[softmax_21_].set(softmax_21.matrix());
    answer[mean_softmax_11_].set(softmax_11.mean());
    answer[mean_softmax_21_].set(softmax_21.mean());

    const VectorXd query_signal = wq * mu;
    const VectorXd key_signal = wk * mu;
    const MatrixXd query_noise = noise_queries * tokens.sign.asDiagonal();
    const MatrixXd key_noise = noise_keys * tokens.sign.asDiagonal();
    answer[query_signal_].set(query_signal);
    answer[key_signal_].set(key_signal);
    answer[query_noise_].set_rows(query_noise);
    answer[key_noise_].set_rows(key_noise);
    answer[aligned_].set(share(query_noise.array().sign() * key_noise.array().sign() > 0));
    // By signs, because products of small numbers may underflow.
    const Flags query_follows =
        query_signal.array().sign() * key_noise.rowwise().sum().array().sign() > 0;
    const Flags key_opposes =
        key_signal.array().sign() * query_noise.rowwise().sum().array().sign() < 0;
    answer[query_majority_].set(share(query_follows));
    answer[key_majority_].set(share(key_opposes));
    answer[majority_].set(share(query_follows && key_opposes));
    set_against_signal(query_, query_signal, query_noise, answer);
    set_against_signal(key_, query_signal, key_noise, answer);
  }

  // Noise of each neuron, positive if it has the sign of the neuron's query signal.
  struct AgainstSignal {
    VariableId positive;
    VariableId lowest;
    VariableId negative;
  };

  AgainstSignal declare_against_signal(const std::string& of) {
    const std::string counted =
        of + "_noise, counted positive where it has the sign of the neuron's query_signal";
    return {
        declare({.name = "positive_" + of + "_noise",
                 .long_name = "share of positive " + of + " noise",
                 .definition = "share of pairs of a neuron and a sample whose " + of +
                               "_noise has the sign of the neuron's query_signal",
                 .references = {papers::kLi2025}}),
        declare({.name = "lowest_" + of + "_noise",
                 .long_name = "lowest " + of + " noise",
                 .definition = "least " + counted,
                 .references = {papers::kLi2025}}),
        declare({.name = "negative_" + of + "_noise",
                 .long_name = "mean negative " + of + " noise",
                 .definition = "mean of " + counted +
                               ", over the pairs where it is negative; undefined if there are none",
                 .references = {papers::kLi2025},
                 .undefined = {Status::kUndefinedZeroDenominator}})};
  }

  static void set_against_signal(const AgainstSignal& ids,
                                 const VectorXd& query_signal,
                                 const MatrixXd& noise,
                                 Group& answer) {
    const ArrayXXd turned = (query_signal.cwiseSign().asDiagonal() * noise).array();
    answer[ids.positive].set(share(turned > 0));
    answer[ids.lowest].set(turned.minCoeff<Eigen::PropagateNaN>());
    set_mean_where(answer[ids.negative], turned, turned < 0);
  }

  VariableId value_signal_ = declare(
      {.name = "value_signal",
       .long_name = "signal in the values",
       .definition =
           "<v, mu>; v: mean row of WV.pos minus that of WV.neg; mu: mean of y_i times the signal "
           "token, which is the token along the first axis or else the one that is the same in all "
           "samples up to the factor y_i; if neither decides, the first of the two",
       .references = {papers::kLi2025}});
  VariableId value_noise_ =
      declare({.name = "value_noise",
               .dimensions = {"sample"},
               .long_name = "noise in the values",
               .definition = "<v, y_i xi_i>; xi_i: the noise token of a sample, y_i its sign",
               .references = {papers::kLi2025}});
  VariableId query_signal_ = declare({.name = "query_signal",
                                      .dimensions = {"neuron"},
                                      .long_name = "signal in the queries",
                                      .definition = "<w_Q, mu>; w_Q: a row of WQ",
                                      .references = {papers::kLi2025}});
  VariableId key_signal_ = declare({.name = "key_signal",
                                    .dimensions = {"neuron"},
                                    .long_name = "signal in the keys",
                                    .definition = "<w_K, mu>; w_K: a row of WK",
                                    .references = {papers::kLi2025}});
  VariableId query_noise_ = declare({.name = "query_noise",
                                     .dimensions = {"neuron", "sample"},
                                     .long_name = "noise in the queries",
                                     .definition = "<w_Q, y_i xi_i>",
                                     .references = {papers::kLi2025}});
  VariableId key_noise_ = declare({.name = "key_noise",
                                   .dimensions = {"neuron", "sample"},
                                   .long_name = "noise in the keys",
                                   .definition = "<w_K, y_i xi_i>",
                                   .references = {papers::kLi2025}});
  VariableId softmax_11_ =
      declare({.name = "softmax_11",
               .dimensions = {"sample"},
               .long_name = "attention of the signal to the signal",
               .definition = "softmax output s_11: query the signal token, key the signal token",
               .references = {papers::kLi2025}});
  VariableId softmax_21_ =
      declare({.name = "softmax_21",
               .dimensions = {"sample"},
               .long_name = "attention of the noise to the signal",
               .definition = "softmax output s_21: query the noise token, key the signal token",
               .references = {papers::kLi2025}});
  VariableId mean_softmax_11_ = declare({.name = "mean_softmax_11",
                                         .long_name = "mean attention of the signal to the signal",
                                         .definition = "mean of softmax_11 over samples",
                                         .headline = 3});
  VariableId mean_softmax_21_ = declare({.name = "mean_softmax_21",
                                         .long_name = "mean attention of the noise to the signal",
                                         .definition = "mean of softmax_21 over samples",
                                         .headline = 4});
  VariableId mean_value_noise_ = declare({.name = "mean_value_noise",
                                          .long_name = "mean noise in the values",
                                          .definition = "mean of value_noise over samples"});
  VariableId positive_value_noise_ =
      declare({.name = "positive_value_noise",
               .long_name = "share of samples with positive noise in the values",
               .definition = "share of samples with value_noise > 0",
               .headline = 2});
  VariableId aligned_ = declare(
      {.name = "aligned",
       .long_name = "share of aligned pairs",
       .definition =
           "share of pairs of a neuron and a sample whose query noise and key noise have the "
           "same sign",
       .references = {papers::kLi2025},
       .headline = 1});
  VariableId query_majority_ = declare(
      {.name = "query_majority",
       .long_name = "share of neurons whose query signal follows their key noise",
       .definition = "share of neurons whose query_signal has the sign of the sum over samples of "
                     "key_noise",
       .references = {papers::kLi2025}});
  VariableId key_majority_ = declare(
      {.name = "key_majority",
       .long_name = "share of neurons whose key signal opposes their query noise",
       .definition =
           "share of neurons whose key_signal has the sign opposite to that of the sum over "
           "samples of query_noise",
       .references = {papers::kLi2025}});
  VariableId majority_ =
      declare({.name = "majority",
               .long_name = "share of neurons whose signals have the signs of the majority",
               .definition = "share of neurons that count in both query_majority and key_majority",
               .references = {papers::kLi2025}});
  AgainstSignal query_ = declare_against_signal("query");
  AgainstSignal key_ = declare_against_signal("key");
};

}  // namespace

AnalyzerKind alignment_analyzer() {
  return {.name = "alignment",
          .question = "the signs of a signal-noise model's weights along signal and noise",
          .by_default = false,
          .options = {},
          .create = [](const Settings&) { return std::make_unique<AlignmentAnalyzer>(); }};
}

}  // namespace hesscope
