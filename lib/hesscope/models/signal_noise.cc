// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/models/signal_noise.h>

namespace hesscope {

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
  return b.finish(softplus(-hadamard(y, f)));
}

ModelKind signal_noise_kind() {
  return {
      .name = "signal-noise",
      .summary = "two-layer Transformer on a signal-noise data set",
      .keys = {},
      .build =
          [](const Settings& /*settings*/,
             const TensorShapes& checkpoint,
             const TensorShapes& data) {
            const auto& wq = checkpoint.at("WQ", 2, "(m_k, d)");
            const auto& wv = checkpoint.at("WV.pos", 2, "(m_v, d)");
            const auto& inputs = data.at("inputs", 3, "(samples, 2, d)");
            if (inputs[1] != 2 || inputs[2] != wq[1]) {
              throw InputError(fmt::format(
                  "{}: array 'inputs': expected shape (samples, 2, {}) to fit 'WQ' in {}, "
                  "found ({}, {}, {})",
                  data.source,
                  wq[1],
                  checkpoint.source,
                  inputs[0],
                  inputs[1],
                  inputs[2]));
            }
            return signal_noise({.dimension = wq[1], .key_neurons = wq[0], .value_neurons = wv[0]});
          },
  };
}

}  // namespace hesscope
