// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <vector>

#include <Eigen/Core>
#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/models/internal/linear_attention_layer.h>
#include <hesscope/models/linear_attention_population.h>
#include <hesscope/sampling/linear_regression.h>

namespace hesscope {
namespace {

// T_1, T_2 and T_3 of the header.
struct Terms {
  Var first, second, third;
};

Terms terms_of(ModelBuilder& b, const detail::LinearAttentionHead& head, Eigen::Index d) {
  const auto dimension = static_cast<double>(d);
  const Var p = slice(head.p, d, 0, 1, d);
  const Var p0 = slice(head.p, d, d, 1, 1);
  const Var matrix = slice(head.q, 0, 0, d, d);
  const Var q = slice(head.q, d, 0, 1, d);
  const Var trace = sum(hadamard(matrix, b.constant(Eigen::MatrixXd::Identity(d, d))));
  const Var pulled = matmul(p, matrix);  // (Q^T p)^T
  const Var mixed = hadamard(p0, matmul_nt(pulled, q));
  const Var p0_squared = square(p0);
  const Var p_squared = sum(square(p));
  const Var q_squared = sum(square(q));
  const Var matrix_squared = sum(square(matrix));
  const Var both = hadamard(p_squared, q_squared);
  const Var fourth = (dimension * (dimension + 2)) * hadamard(p0_squared, q_squared);
  return {matmul_nt(p, q) + hadamard(p0, trace),
          sum(square(pulled)) + hadamard(p0_squared, matrix_squared) + both +
              (2 + 2 * dimension) * mixed + fourth,
          hadamard(matrix_squared, p_squared + dimension * p0_squared) + 4.0 * mixed +
              dimension * both + fourth};
}

LinearAttentionPopulationOptions options_from(const Settings& settings, std::int64_t dimension) {
  LinearRegressionOptions data = {.dimension = dimension};
  read_covariates(settings, data);
  const CovariateMoments moments = covariate_moments(data);
  return {.dimension = dimension,
          .parametrization = detail::parametrization_of(settings),
          .second_moment = moments.second,
          .fourth_moment = moments.fourth};
}

std::vector<SettingKey> keys_of_model() {
  std::vector<SettingKey> keys = covariate_keys({"gaussian", "sphere", "gamma"});
  keys.insert(keys.begin(), detail::parametrization_key());
  return keys;
}

}  // namespace

Model linear_attention_population(const LinearAttentionPopulationOptions& options) {
  const double second = options.second_moment;
  const double fourth = options.fourth_moment;
  // On the sphere, both sides are equal up to rounding.
  if (options.dimension < 1 || !(second > 0) || !std::isfinite(fourth) ||
      !(fourth >= second * second * (1 - 1e-12))) {
    throw PreconditionError(fmt::format(
        "linear_attention_population: the dimension must be at least 1 and the moments of a law, "
        "got {}, {} and {}",
        options.dimension,
        second,
        fourth));
  }
  const LinearAttentionOptions layer = {.layers = 1,
                                        .dimension = options.dimension,
                                        .context = 1,
                                        .parametrization = options.parametrization};
  const auto d = static_cast<double>(options.dimension);
  const double s = second / d;
  const double kappa = fourth / (d * (d + 2));

  ModelBuilder b("linear-attention-population");
  const Var context = b.array("context", {});
  const Terms terms = terms_of(b, detail::declare_head(b, layer, 0, 0), options.dimension);
  const Var inverse_n = reciprocal(context);
  const Var constant = b.constant(Eigen::MatrixXd::Constant(1, 1, s * d));
  const Var scatter = kappa * s * (2.0 * terms.second + terms.third) - (s * s * s) * terms.second;
  Model model = b.finish(constant + (2 * s * s) * terms.first + (s * s * s) * terms.second +
                         hadamard(inverse_n, scatter));
  // Maps that change the loss of no prompt do not change its mean.
  model.invariances = linear_attention(layer).invariances;
  return model;
}

ModelKind linear_attention_population_kind() {
  return {
      .name = "linear-attention-population",
      .summary = "one layer of linear attention, its loss the mean over all prompts in closed form",
      .arrays = {"context"},
      .keys = keys_of_model(),
      .size_keys = {size_key("dimension", "d, the dimension of a token", 10000)},
      .build =
          [](const ModelSources& sources, const TensorShapes& checkpoint) {
            const std::int64_t rows = checkpoint.at("layers.0.P", 2, "(d, d) or (d+1, d+1)")[0];
            const bool is_sparse = detail::is_sparse(detail::parametrization_of(sources.settings));
            if (!is_sparse && rows < 2) {
              throw InputError(fmt::format("{}: 'layers.0.P': expected (d+1, d+1) with d >= 1",
                                           checkpoint.source));
            }
            return linear_attention_population(
                options_from(sources.settings, is_sparse ? rows : rows - 1));
          },
      .create =
          [](const ModelSources& sources) {
            return linear_attention_population(
                options_from(sources.settings, sources.settings.integer("dimension")));
          },
  };
}

}  // namespace hesscope
