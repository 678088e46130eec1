// SPDX-License-Identifier: BSD-3-Clause
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/models/invariances.h>
#include <hesscope/models/signal_noise.h>

namespace hesscope {
namespace {

// The scores depend on WK^T WQ; the values depend, in each column, on the sum of WV.pos minus that
// of WV.neg.
std::vector<Invariance> invariances_of(const Model& model, const SignalNoiseOptions& options) {
  const MatrixView pos = matrix_view(model, "WV.pos");
  const MatrixView neg = matrix_view(model, "WV.neg");
  std::vector<std::vector<AffineGenerator::Constant>> directions;
  for (std::int64_t c = 0; c < options.dimension; ++c) {
    for (std::int64_t r = 1; r < options.value_neurons; ++r) {
      directions.push_back({{pos.index(r - 1, c), 1.0}, {pos.index(r, c), -1.0}});
      directions.push_back({{neg.index(r - 1, c), 1.0}, {neg.index(r, c), -1.0}});
    }
    directions.push_back({{pos.index(0, c), 1.0}, {neg.index(0, c), 1.0}});
  }
  return {joined("basis of queries and keys",
                 {change_of_basis({matrix_view(model, "WQ")}, {matrix_view(model, "WK")})}),
          joined("shift within the sum of values", {shifts(std::move(directions))})};
}

constexpr const char* kTokensShape = "(samples, 2, d)";

Model sized(std::int64_t key_neurons, std::int64_t value_neurons, const TensorShapes& data) {
  return signal_noise({.dimension = data.at("inputs", 3, kTokensShape)[2],
                       .key_neurons = key_neurons,
                       .value_neurons = value_neurons});
}

}  // namespace

Model signal_noise(const SignalNoiseOptions& options) {
  const std::int64_t d = options.dimension;
  if (d < 1 || options.key_neurons < 1 || options.value_neurons < 1) {
    throw PreconditionError("signal_noise: every size must be at least 1");
  }
  ModelBuilder b("signal-noise");
  const Var wq = b.parameter("WQ", {options.key_neurons, d});
  const Var wk = b.parameter("WK", {options.key_neurons, d});
  const Var wv_pos = b.parameter("WV.pos", {options.value_neurons, d});
  const Var wv_neg = b.parameter("WV.neg", {options.value_neurons, d});
  const Var x = b.array("inputs", {2, d});
  const Var y = b.array("target", {}, DataArray::Content::kSign);

  // Row l of `weights` is softmax(X WK^T WQ x^(l)).
  const Var weights = softmax_rows(matmul_nt(matmul_nt(x, wq), matmul_nt(x, wk)));
  const Var mixed = matmul(weights, x);
  const Var f = (1.0 / static_cast<double>(options.value_neurons)) *
                (sum(matmul_nt(mixed, wv_pos)) - sum(matmul_nt(mixed, wv_neg)));
  b.set_prediction(f);
  Model model = b.finish(softplus(-hadamard(y, f)));
  model.invariances = invariances_of(model, options);
  return model;
}

ModelKind signal_noise_kind() {
  return {
      .name = "signal-noise",
      .summary = "two-layer Transformer on a signal-noise data set",
      .arrays = {"inputs", "target"},
      .keys = {},
      .size_keys = {size_key("key_width", "m_k, rows of WQ and WK"),
                    size_key("value_width", "m_v, rows of WV.pos and WV.neg")},
      .build =
          [](const ModelSources& sources, const TensorShapes& checkpoint) {
            const auto& wq = checkpoint.at("WQ", 2, "(m_k, d)");
            const auto& wv = checkpoint.at("WV.pos", 2, "(m_v, d)");
            const auto& inputs = sources.data.at("inputs", 3, kTokensShape);
            if (inputs[1] != 2 || inputs[2] != wq[1]) {
              throw InputError(fmt::format(
                  "{}: array 'inputs': expected shape (samples, 2, {}) to fit 'WQ' in {}, "
                  "found ({}, {}, {})",
                  sources.data.source,
                  wq[1],
                  checkpoint.source,
                  inputs[0],
                  inputs[1],
                  inputs[2]));
            }
            return sized(wq[0], wv[0], sources.data);
          },
      .create =
          [](const ModelSources& sources) {
            return sized(sources.settings.integer("key_width"),
                         sources.settings.integer("value_width"),
                         sources.data);
          },
  };
}

}  // namespace hesscope
