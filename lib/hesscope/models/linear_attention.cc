// SPDX-License-Identifier: BSD-3-Clause
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/models/internal/linear_attention_layer.h>
#include <hesscope/models/invariances.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/structured/linear_attention_hessian.h>
#include <hesscope/structured/linear_attention_loss.h>

namespace hesscope {
namespace {

using detail::declare_head;
using detail::is_sparse;
using detail::is_split;
using detail::parameter_name;
using Head = detail::LinearAttentionHead;

// The sum of of_head() over the heads of a layer.
template <typename OfHead>
Var sum_over_heads(const std::vector<Head>& heads, const OfHead& of_head) {
  Var sum = of_head(heads.front());
  for (std::size_t h = 1; h < heads.size(); ++h) sum = sum + of_head(heads[h]);
  return sum;
}

std::vector<Head> declare_layer(ModelBuilder& b,
                                const LinearAttentionOptions& options,
                                std::int64_t l) {
  std::vector<Head> heads;
  for (std::int64_t h = 0; h < options.heads; ++h) heads.push_back(declare_head(b, options, l, h));
  return heads;
}

// One matrix of all heads of a layer, as one row per head.
MatrixView stack_of_heads(const Model& model,
                          const LinearAttentionOptions& options,
                          std::int64_t l,
                          const char* matrix) {
  const auto view = [&](std::int64_t h) {
    return matrix_view(model, parameter_name(options, l, h, matrix));
  };
  const MatrixView first = view(0);
  return {.offset = first.offset,
          .rows = options.heads,
          .cols = first.rows * first.cols,
          .row_stride = view(1).offset - first.offset,
          .col_stride = 1};
}

// From the last layer's P_h, only the rows p_h that determine the label matter, through sum_h p_h'
// S Q_h with S symmetric. Q_a -> Q_a + p_b w', Q_b -> Q_b - p_a w' changes this by (p_a' S p_b -
// p_b' S p_a) w', which is 0.
Invariance addition_across_heads(const Model& model, const LinearAttentionOptions& options) {
  struct Rows {
    MatrixView p;  // p_h, as a row
    MatrixView q;
  };

  std::vector<Rows> heads;
  for (std::int64_t h = 0; h < options.heads; ++h) {
    const auto view = [&](const char* matrix) {
      return matrix_view(model, parameter_name(options, options.layers - 1, h, matrix));
    };
    heads.push_back({view("P").middle_rows(options.dimension, 1), view("Q")});
  }
  const Eigen::Index e = options.dimension + 1;
  std::vector<Invariance> pairs;
  for (std::size_t a = 0; a < heads.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      pairs.push_back({"", e, [x = heads[a], y = heads[b], e](Eigen::Index w) {
                         AffineGenerator generator;
                         for (Eigen::Index r = 0; r < e; ++r) {
                           generator.linear.push_back({x.q.index(r, w), y.p.index(0, r), 1.0});
                           generator.linear.push_back({y.q.index(r, w), x.p.index(0, r), -1.0});
                         }
                         return generator;
                       }});
    }
  }
  return joined("addition across heads", std::move(pairs));
}

// A layer depends only on the products P_ij Q_kl, and Q = WK^T WQ. The softmax depends on Q itself.
// With several heads, only the sum over h of the products (P_h)_ij (Q_h)_kl matters.
//
// The sparse form has no invariance of its own: one that holds for every prompt would have a
// generator orthogonal to every prompt's gradient, and at a generic point those span all parameters
// except the last layer's P, which is dead. (The fixed 1 in P_full leaves no scale free.)
std::vector<Invariance> layer_invariances(const Model& model,
                                          const LinearAttentionOptions& options) {
  const bool has_split = is_split(options.parametrization);
  std::vector<Invariance> scales;
  std::vector<Invariance> bases;
  for (std::int64_t l = 0; l < options.layers; ++l) {
    if (options.heads > 1) {
      bases.push_back(change_of_basis({stack_of_heads(model, options, l, "P")},
                                      {stack_of_heads(model, options, l, "Q")}));
      continue;
    }
    const auto view = [&](const char* matrix) {
      return matrix_view(model, parameter_name(options, l, 0, matrix));
    };
    scales.push_back(rescaling({view("P")}, {view(has_split ? "WQ" : "Q")}));
    if (has_split) bases.push_back(change_of_basis({view("WQ")}, {view("WK")}));
  }
  std::vector<Invariance> found;
  const bool is_linear = options.activation == LinearAttentionActivation::kNone;
  if (options.heads > 1) {
    if (is_linear) {
      found.push_back(joined("mixing of heads", std::move(bases)));
      found.push_back(addition_across_heads(model, options));
    }
    return found;
  }
  if (is_linear && !is_sparse(options.parametrization)) {
    found.push_back(
        joined(has_split ? "rescaling of P and WQ" : "rescaling of P and Q", std::move(scales)));
  }
  if (has_split) found.push_back(joined("basis of queries and keys", std::move(bases)));
  return found;
}

// All layers depend on the perceptron's features only through Z = [X; y]. X -> A X is Z -> T Z with
// T = diag(A, 1), and every layer follows with P -> T P T^-1 and, to keep Z^T Q Z, Q -> T^-T Q
// T^-1.
Invariance basis_of_features(const Model& model, const LinearAttentionOptions& options) {
  std::vector<MatrixView> to;    // T from the left: the first d rows
  std::vector<MatrixView> from;  // T^-T from the left
  const auto rows = [&](const MatrixView& x) { return x.middle_rows(0, options.dimension); };
  to.push_back(matrix_view(model, "mlp.2.weight"));
  to.push_back(matrix_view(model, "mlp.2.bias"));
  for (std::int64_t i = 0; i < options.layers * options.heads; ++i) {
    const auto view = [&](const char* matrix) {
      return matrix_view(model,
                         parameter_name(options, i / options.heads, i % options.heads, matrix));
    };
    to.push_back(rows(view("P")));
    from.push_back(rows(view("P").transposed()));
    if (is_split(options.parametrization)) {
      from.push_back(rows(view("WQ").transposed()));
      from.push_back(rows(view("WK").transposed()));
    } else {
      from.push_back(rows(view("Q")));
      from.push_back(rows(view("Q").transposed()));
    }
  }
  return joined("basis of the features", {change_of_basis(to, from)});
}

std::vector<Invariance> invariances_of(const Model& model, const LinearAttentionOptions& options) {
  std::vector<Invariance> found = layer_invariances(model, options);
  if (options.mlp_hidden > 0) {
    found.push_back(joined("rescaling of hidden units",
                           {rescaling_of_units(matrix_view(model, "mlp.0.weight"),
                                               matrix_view(model, "mlp.0.bias"),
                                               matrix_view(model, "mlp.2.weight"))}));
    found.push_back(basis_of_features(model, options));
  }
  return found;
}

// For the forms with a Hessian and loss of their own; nothing for the others.
std::optional<LinearAttentionStructure::Parametrization> structure_of(
    LinearAttentionParametrization parametrization) {
  using Structure = LinearAttentionStructure::Parametrization;
  switch (parametrization) {
    case LinearAttentionParametrization::kSparse:
      return Structure::kSparse;
    case LinearAttentionParametrization::kFull:
      return Structure::kFull;
    case LinearAttentionParametrization::kSplitQk:
      return Structure::kSplitQk;
    case LinearAttentionParametrization::kSparseSplitQk:
      return std::nullopt;
  }
  throw PreconditionError("linear_attention: unknown parametrization");
}

// [W_2 relu(W_0 X + b_0) + b_2; y] for Z = [X; y].
Var with_features(ModelBuilder& b, const LinearAttentionOptions& options, Var z) {
  const std::int64_t d = options.dimension;
  const std::int64_t h = options.mlp_hidden;
  const Eigen::Index width = z.cols();
  const Var each_token = b.constant(Eigen::MatrixXd::Ones(1, width));
  const Var w0 = b.parameter("mlp.0.weight", {h, d});
  const Var b0 = b.parameter("mlp.0.bias", {h});
  const Var w2 = b.parameter("mlp.2.weight", {d, h});
  const Var b2 = b.parameter("mlp.2.bias", {d});
  const Var hidden = relu(matmul(w0, slice(z, 0, 0, d, width)) + matmul(b0, each_token));
  const Var features = matmul(w2, hidden) + matmul(b2, each_token);
  return embed(features, 0, 0, d + 1, width) + embed(slice(z, d, 0, 1, width), d, 0, d + 1, width);
}

// The map that a layer without activation applies to each column of Z, A = I + sum_h P_h S Q_h with
// S the mean of z z^T over the context.
class LinearLayer {
 public:
  LinearLayer(const std::vector<Head>& heads, Var s) : heads_(heads), s_(s) {}

  Var matrix() const {
    const Eigen::Index e = s_.rows();
    const Var identity = s_.graph().constant(Eigen::MatrixXd::Identity(e, e));
    return identity + sum_over_heads(heads_, [&](const Head& head) {
             return matmul(head.p, matmul(s_, head.q));
           });
  }

  /// A x, by products of vectors.
  Var operator()(Var x) const {
    return x + sum_over_heads(heads_, [&](const Head& head) {
             return matmul(head.p, matmul(s_, matmul(head.q, x)));
           });
  }

  /// A^T x
  Var transposed(Var x) const {
    return x + sum_over_heads(heads_, [&](const Head& head) {
             return matmul_tn(head.q, matmul(s_, matmul_tn(head.p, x)));
           });
  }

 private:
  const std::vector<Head>& heads_;
  Var s_;
};

// The query's column after all layers, without activation: S and q replace Z, with S -> A S A^T and
// q -> A q. The last S is only multiplied by one vector per head, S v = A (S (A^T v)): it is not
// formed, and neither is that A if forming it takes more multiply-adds than its products with these
// vectors.
Var query_by_states(ModelBuilder& b, const LinearAttentionOptions& options, Var z) {
  const Eigen::Index e = z.rows();
  const Eigen::Index n = z.cols() - 1;
  std::vector<std::vector<Head>> layers;
  for (std::int64_t l = 0; l < options.layers; ++l) layers.push_back(declare_layer(b, options, l));
  const Var context = slice(z, 0, 0, e, n);
  Var s = 1.0 / static_cast<double>(n) * matmul_nt(context, context);
  Var q = slice(z, 0, n, e, 1);
  for (std::int64_t l = 0; l + 2 < options.layers; ++l) {
    const Var a = LinearLayer(layers[static_cast<std::size_t>(l)], s).matrix();
    q = matmul(a, q);
    s = matmul_nt(matmul(a, s), a);
  }
  if (options.layers == 1) return LinearLayer(layers.front(), s)(q);
  const LinearLayer before(layers[layers.size() - 2], s);
  const std::int64_t num_vectors = 2 * options.heads + 1;
  std::optional<Var> a;
  if (num_vectors * (3 * options.heads - 1) > 2 * options.heads * e) a = before.matrix();
  const auto times_a = [&](Var x) { return a ? matmul(*a, x) : before(x); };
  const auto times_a_transposed = [&](Var x) {
    return a ? matmul_tn(*a, x) : before.transposed(x);
  };
  q = times_a(q);
  return q + sum_over_heads(layers.back(), [&](const Head& head) {
           const Var v = times_a_transposed(matmul(head.q, q));
           return matmul(head.p, times_a(matmul(s, v)));
         });
}

// The same with softmax. Row i of the weights is for token i as the query: its entry j is that of
// z_j^T Q z_i among all keys j. In the last layer, only the query's column is needed.
Var query_by_tokens(ModelBuilder& b, const LinearAttentionOptions& options, Var z) {
  const Eigen::Index e = z.rows();
  const Eigen::Index n = z.cols() - 1;
  const double inverse_n = 1.0 / static_cast<double>(n);
  for (std::int64_t l = 0; l < options.layers; ++l) {
    const std::vector<Head> heads = declare_layer(b, options, l);
    const Var queries = l + 1 < options.layers ? z : slice(z, 0, n, e, 1);
    z = queries + inverse_n * sum_over_heads(heads, [&](const Head& head) {
                    const Var weights = softmax_rows(matmul_tn(matmul(head.q, queries), z));
                    const Var masked = slice(weights, 0, 0, queries.cols(), n);
                    const Var mixed = matmul_nt(slice(z, 0, 0, e, n), masked);
                    return matmul(head.p, mixed);
                  });
  }
  return z;
}

Model sized(const Settings& settings, std::int64_t mlp_hidden, const TensorShapes& data) {
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
  if (settings.integer("heads") > 1 && settings.text("parametrization") != "full") {
    throw ConfigError("[model]: 'heads' above 1 takes parametrization = \"full\"");
  }
  return linear_attention({.layers = settings.integer("layers"),
                           .dimension = z[1] - 1,
                           .context = z[2] - 1,
                           .parametrization = detail::parametrization_of(settings),
                           .activation = settings.text("activation") == "softmax"
                                             ? LinearAttentionActivation::kSoftmax
                                             : LinearAttentionActivation::kNone,
                           .mlp_hidden = mlp_hidden,
                           .heads = settings.integer("heads")});
}

}  // namespace

Model linear_attention(const LinearAttentionOptions& options) {
  if (options.layers < 1 || options.dimension < 1 || options.context < 1 ||
      options.mlp_hidden < 0) {
    throw PreconditionError(
        "linear_attention: layers, dimension and context must be at least 1, mlp_hidden at least "
        "0");
  }
  if (options.heads < 1 ||
      (options.heads > 1 && options.parametrization != LinearAttentionParametrization::kFull)) {
    throw PreconditionError(
        "linear_attention: heads must be at least 1, and more than one are of the full "
        "parametrization");
  }
  const std::int64_t e = options.dimension + 1;
  const bool is_linear = options.activation == LinearAttentionActivation::kNone;
  ModelBuilder b("linear-attention");
  Var z = b.array("Z", {e, options.context + 1});
  const Var target = b.array("target", {});
  if (options.mlp_hidden > 0) z = with_features(b, options, z);
  const Var q = is_linear ? query_by_states(b, options, z) : query_by_tokens(b, options, z);
  const Var prediction = -slice(q, e - 1, 0, 1, 1);
  b.set_prediction(prediction);
  Model model = b.finish(square(prediction - target));
  const auto parametrization = structure_of(options.parametrization);
  if (is_linear && options.mlp_hidden == 0 && options.heads == 1 && parametrization) {
    const LinearAttentionStructure structure = {.layers = options.layers,
                                                .dimension = options.dimension,
                                                .context = options.context,
                                                .parametrization = *parametrization,
                                                .z_offset = model.arrays[0].offset,
                                                .target_offset = model.arrays[1].offset};
    model.structured_hessian = linear_attention_hessian(structure);
    model.structured_loss = linear_attention_loss(structure);
  }
  model.invariances = invariances_of(model, options);
  return model;
}

ModelKind linear_attention_kind() {
  return {
      .name = "linear-attention",
      .summary = "linear attention on in-context linear regression",
      .arrays = {"Z", "target"},
      .keys = {{.name = "layers",
                .type = SettingKey::Type::kInteger,
                .meaning = "number of layers",
                .minimum = 1,
                .maximum = 1000},
               detail::parametrization_key(),
               {.name = "heads",
                .type = SettingKey::Type::kInteger,
                .meaning = "in a layer, with their outputs added; more than one with full alone",
                .minimum = 1,
                .maximum = 1000,
                .fallback = SettingValue(std::int64_t{1})},
               {.name = "activation",
                .meaning = "what the scores go through",
                .choices = {"none", "softmax"},
                .fallback = SettingValue(std::string("none"))}},
      .size_keys = {{.name = "mlp_hidden",
                     .type = SettingKey::Type::kInteger,
                     .meaning = "hidden units of a ReLU perceptron on the covariates; 0 for none",
                     .minimum = 0,
                     .maximum = 1'000'000,
                     .fallback = SettingValue(std::int64_t{0})}},
      .build =
          [](const ModelSources& sources, const TensorShapes& checkpoint) {
            const bool has_mlp = checkpoint.has("mlp.0.weight");
            const std::int64_t hidden =
                has_mlp ? checkpoint.at("mlp.0.weight", 2, "(hidden, d)")[0] : 0;
            return sized(sources.settings, hidden, sources.data);
          },
      .create =
          [](const ModelSources& sources) {
            return sized(sources.settings, sources.settings.integer("mlp_hidden"), sources.data);
          },
  };
}

}  // namespace hesscope
