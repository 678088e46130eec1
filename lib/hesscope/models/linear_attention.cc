// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/models/invariances.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/structured/linear_attention_hessian.h>

namespace hesscope {
namespace {

using Parametrization = LinearAttentionParametrization;

struct Layer {
  Var p;
  Var q;
};

// Declares a layer's parameters and returns P_full and Q_full, both e x e with e = d + 1.
Layer declare_layer(ModelBuilder& b, const LinearAttentionOptions& options, std::int64_t l) {
  const auto name = [l](const char* matrix) { return fmt::format("layers.{}.{}", l, matrix); };
  const std::int64_t d = options.dimension;
  const std::int64_t e = d + 1;
  switch (options.parametrization) {
    case Parametrization::kSparse: {
      Eigen::MatrixXd corner = Eigen::MatrixXd::Zero(e, e);
      corner(d, d) = 1;
      const Var p = b.parameter(name("P"), {d, d});
      const Var q = b.parameter(name("Q"), {d, d});
      return {embed(p, 0, 0, e, e) + b.constant(corner), embed(q, 0, 0, e, e)};
    }
    case Parametrization::kFull: {
      const Var p = b.parameter(name("P"), {e, e});
      const Var q = b.parameter(name("Q"), {e, e});
      return {p, q};
    }
    case Parametrization::kSplitQk: {
      const Var p = b.parameter(name("P"), {e, e});
      const Var wq = b.parameter(name("WQ"), {e, e});
      const Var wk = b.parameter(name("WK"), {e, e});
      return {p, matmul_tn(wk, wq)};
    }
  }
  throw PreconditionError("linear_attention: unknown parametrization");
}

// A layer sees the products P_ij Q_kl only, and Q = WK^T WQ.
//
// The sparse form has no invariance: one that holds for every prompt would have a generator
// orthogonal to every prompt's gradient, and at a generic point those span all parameters but the
// last layer's P, which is dead. (The fixed 1 in P_full leaves no scale free.)
std::vector<Invariance> invariances_of(const Model& model, const LinearAttentionOptions& options) {
  if (options.parametrization == Parametrization::kSparse) return {};
  const bool is_split = options.parametrization == Parametrization::kSplitQk;
  std::vector<Invariance> scales;
  std::vector<Invariance> bases;
  for (std::int64_t l = 0; l < options.layers; ++l) {
    const auto view = [&](const char* matrix) {
      return matrix_view(model, fmt::format("layers.{}.{}", l, matrix));
    };
    scales.push_back(rescaling({view("P")}, {view(is_split ? "WQ" : "Q")}));
    if (is_split) bases.push_back(change_of_basis({view("WQ")}, {view("WK")}));
  }
  std::vector<Invariance> found = {
      joined(is_split ? "rescaling of P and WQ" : "rescaling of P and Q", std::move(scales))};
  if (is_split) found.push_back(joined("basis of queries and keys", std::move(bases)));
  return found;
}

LinearAttentionStructure::Parametrization structure_of(Parametrization parametrization) {
  using Structure = LinearAttentionStructure::Parametrization;
  switch (parametrization) {
    case Parametrization::kSparse:
      return Structure::kSparse;
    case Parametrization::kFull:
      return Structure::kFull;
    case Parametrization::kSplitQk:
      return Structure::kSplitQk;
  }
  throw PreconditionError("linear_attention: unknown parametrization");
}

Parametrization parametrization_named(const std::string& name) {
  if (name == "full") return Parametrization::kFull;
  if (name == "split-qk") return Parametrization::kSplitQk;
  return Parametrization::kSparse;
}

Model sized(const Settings& settings, const TensorShapes& data) {
  const auto& z = data.at("Z", 3, "(samples, d+1, n+1)");
  if (z[1] < 2 || z[2] < 2) {
    throw InputError(fmt::format(
        "{}: array 'Z': expected shape (samples, d+1, n+1) with d >= 1 and n >= 1, found "
        "({}, {}, {})",
        data.source,
        z[0],
        z[1],
        z[2]));
  }
  return linear_attention(
      {.layers = settings.integer("layers"),
       .dimension = z[1] - 1,
       .context = z[2] - 1,
       .parametrization = parametrization_named(settings.text("parametrization"))});
}

}  // namespace

Model linear_attention(const LinearAttentionOptions& options) {
  if (options.layers < 1 || options.dimension < 1 || options.context < 1) {
    throw PreconditionError("linear_attention: layers, dimension and context must be at least 1");
  }
  const std::int64_t e = options.dimension + 1;
  const std::int64_t n = options.context;
  const double inverse_n = 1.0 / static_cast<double>(n);

  ModelBuilder b("linear-attention");
  const Var z = b.array("Z", {e, n + 1});
  const Var target = b.array("target", {});
  const Var context = slice(z, 0, 0, e, n);
  const Var identity = b.constant(Eigen::MatrixXd::Identity(e, e));
  Var s = matmul_nt(context, context);
  Var q = slice(z, 0, n, e, 1);
  for (std::int64_t l = 0; l < options.layers; ++l) {
    const Layer layer = declare_layer(b, options, l);
    q = q + inverse_n * matmul(layer.p, matmul(s, matmul(layer.q, q)));
    if (l + 1 < options.layers) {
      const Var a = identity + inverse_n * matmul(layer.p, matmul(s, layer.q));
      s = matmul_nt(matmul(a, s), a);
    }
  }
  const Var prediction = -slice(q, e - 1, 0, 1, 1);
  b.set_prediction(prediction);
  Model model = b.finish(square(prediction - target));
  model.structured_hessian =
      linear_attention_hessian({.layers = options.layers,
                                .dimension = options.dimension,
                                .context = n,
                                .parametrization = structure_of(options.parametrization),
                                .z_offset = model.arrays[0].offset,
                                .target_offset = model.arrays[1].offset});
  model.invariances = invariances_of(model, options);
  return model;
}

ModelKind linear_attention_kind() {
  return {
      .name = "linear-attention",
      .summary = "linear attention on in-context linear regression",
      .keys = {{.name = "layers",
                .type = SettingKey::Type::kInteger,
                .meaning = "number of layers",
                .minimum = 1,
                .maximum = 1000},
               {.name = "parametrization",
                .meaning = "what is trained in a layer",
                .choices = {"sparse", "full", "split-qk"},
                .fallback = SettingValue(std::string("sparse"))}},
      .size_keys = {},
      .build = [](const Settings& settings,
                  const TensorShapes& /*checkpoint*/,
                  const TensorShapes& data) { return sized(settings, data); },
      .create = sized,
  };
}

}  // namespace hesscope
