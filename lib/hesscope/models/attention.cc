// SPDX-License-Identifier: BSD-3-Clause
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/models/attention.h>
#include <hesscope/models/invariances.h>

namespace hesscope {
namespace {

// The weights depend on queries and keys; the output depends on WV_h WO_h.
std::vector<Invariance> invariances_of(const Model& model, const AttentionOptions& options) {
  const std::int64_t d = options.head_dimension;
  std::vector<Invariance> scores;
  std::vector<Invariance> values;
  for (std::int64_t h = 0; h < options.heads; ++h) {
    const MatrixView v = matrix_view(model, "WV", h).transposed();
    const MatrixView o = matrix_view(model, "WO").middle_rows(h * d, d);
    scores.push_back(kernel_invariance(
        options.kernel, matrix_view(model, "WQ", h), matrix_view(model, "WK", h)));
    values.push_back(change_of_basis({v}, {o}));
    values.push_back(addition_across({v}, o));
  }
  return {joined("basis of queries and keys", std::move(scores)),
          joined("factors of values times output", std::move(values))};
}

Model sized(const Settings& settings,
            std::int64_t heads,
            std::int64_t head_dimension,
            const TensorShapes& data) {
  const auto& inputs = data.at("inputs", 3, "(samples, n, D)");
  return attention({.heads = heads,
                    .embedding = inputs[2],
                    .head_dimension = head_dimension,
                    .sequence = inputs[1],
                    .kernel = kernel_named(settings.text("kernel"))});
}

}  // namespace

Model attention(const AttentionOptions& options) {
  const std::int64_t d = options.head_dimension;
  if (options.heads < 1 || options.embedding < 1 || d < 1 || options.sequence < 1) {
    throw PreconditionError("attention: every size must be at least 1");
  }

  ModelBuilder b("attention");
  const auto wq = b.parameter_stack("WQ", options.heads, options.embedding, d);
  const auto wk = b.parameter_stack("WK", options.heads, options.embedding, d);
  const auto wv = b.parameter_stack("WV", options.heads, options.embedding, d);
  const Var wo = b.parameter("WO", {options.heads * d});
  const Var x = b.array("inputs", {options.sequence, options.embedding});
  const Var target = b.array("target", {options.sequence});

  std::optional<Var> residual;
  for (std::int64_t h = 0; h < options.heads; ++h) {
    const auto i = static_cast<std::size_t>(h);
    const Var s = kernel_matrix(options.kernel, matmul(x, wq[i]), matmul(x, wk[i]));
    // S_h (X (WV_h WO_h)), one number per token and head.
    const Var output = matmul(s, matmul(x, matmul(wv[i], slice(wo, h * d, 0, d, 1))));
    residual = residual ? *residual + output : output - target;
  }
  b.set_prediction(*residual);  // MH - y: has the same curvature as MH
  Model model = b.finish(sum(square(*residual)));
  model.invariances = invariances_of(model, options);
  return model;
}

ModelKind attention_kind() {
  return {
      .name = "attention",
      .summary = "one layer of multi-head attention, softmax or Gaussian kernel",
      .arrays = {"inputs", "target"},
      .keys = {kernel_key()},
      .size_keys = {size_key("heads", "number of heads"), size_key("head_width", "d, of one head")},
      .build =
          [](const ModelSources& sources, const TensorShapes& checkpoint) {
            const auto& wq = checkpoint.at("WQ", 3, "(heads, D, d)");
            const auto& inputs = sources.data.at("inputs", 3, "(samples, n, D)");
            if (inputs[2] != wq[1]) {
              throw InputError(fmt::format(
                  "{}: array 'inputs': expected shape (samples, n, {}) to fit 'WQ' in {}, "
                  "found ({}, {}, {})",
                  sources.data.source,
                  wq[1],
                  checkpoint.source,
                  inputs[0],
                  inputs[1],
                  inputs[2]));
            }
            return sized(sources.settings, wq[0], wq[2], sources.data);
          },
      .create =
          [](const ModelSources& sources) {
            return sized(sources.settings,
                         sources.settings.integer("heads"),
                         sources.settings.integer("head_width"),
                         sources.data);
          },
  };
}

}  // namespace hesscope
