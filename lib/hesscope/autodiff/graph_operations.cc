// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include <hesscope/autodiff/graph.h>
#include <hesscope/autodiff/internal/graph_errors.h>
#include <hesscope/autodiff/internal/graph_patterns.h>

namespace hesscope {
namespace {

using detail::fail;
using detail::shape;
using Op = Graph::Op;

void require_same_graph(const char* operation, Var a, Var b) {
  if (&a.graph() != &b.graph()) fail(operation, "the operands belong to different graphs");
}

void require_same_shape(const char* operation, Var a, Var b) {
  require_same_graph(operation, a, b);
  if (a.rows() != b.rows() || a.cols() != b.cols()) {
    fail(operation, fmt::format("shapes must be equal, got {} and {}", shape(a), shape(b)));
  }
}

Var elementwise(const char* operation, Op op, Var a, Var b) {
  require_same_graph(operation, a, b);
  const auto fit = [](Eigen::Index m, Eigen::Index n) { return m == n || m == 1 || n == 1; };
  if (!fit(a.rows(), b.rows()) || !fit(a.cols(), b.cols())) {
    fail(operation,
         fmt::format("shapes must be equal or have one row or one column, got {} and {}",
                     shape(a),
                     shape(b)));
  }
  return a.graph().record({.op = op,
                           .a = a.node(),
                           .b = b.node(),
                           .rows = std::max(a.rows(), b.rows()),
                           .cols = std::max(a.cols(), b.cols())});
}

// The rows of the operand that belong to one product.
Eigen::Index rows_in_stack(const char* operation, Var a, Eigen::Index stack, bool is_shared) {
  if (is_shared) return a.rows();
  if (a.rows() % stack != 0) {
    fail(operation, fmt::format("{} is no stack of {} matrices", shape(a), stack));
  }
  return a.rows() / stack;
}

Var matrix_product(const char* operation, Var a, Var b, const StackedProduct& p) {
  require_same_graph(operation, a, b);
  if (p.stack < 1) fail(operation, fmt::format("there must be products, got {}", p.stack));
  const Eigen::Index rows_a = rows_in_stack(operation, a, p.stack, p.is_shared_a);
  const Eigen::Index rows_b = rows_in_stack(operation, b, p.stack, p.is_shared_b);
  const Eigen::Index inner_a = p.transpose_a ? rows_a : a.cols();
  const Eigen::Index inner_b = p.transpose_b ? b.cols() : rows_b;
  if (inner_a != inner_b) {
    fail(operation,
         fmt::format("inner dimensions must be equal, got {} and {} from {} and {}",
                     inner_a,
                     inner_b,
                     shape(a),
                     shape(b)));
  }
  return a.graph().record({.op = Op::kMatmul,
                           .transpose_a = p.transpose_a,
                           .transpose_b = p.transpose_b,
                           .is_shared_a = p.is_shared_a,
                           .is_shared_b = p.is_shared_b,
                           .a = a.node(),
                           .b = b.node(),
                           .rows = p.stack * (p.transpose_a ? a.cols() : rows_a),
                           .cols = p.transpose_b ? rows_b : b.cols(),
                           .stack = p.stack});
}

Var of_rows(Op op, Var a) {
  return a.graph().record({.op = op, .a = a.node(), .rows = a.rows(), .cols = 1});
}

void require_steady(const char* operation, const char* what, Var a) {
  if (a.graph().varies(a)) {
    fail(operation, std::string(what) + " must not vary with the parameters");
  }
}

void require_part(const char* operation,
                  Eigen::Index row,
                  Eigen::Index col,
                  Eigen::Index rows,
                  Eigen::Index cols,
                  Eigen::Index all_rows,
                  Eigen::Index all_cols) {
  if (row < 0 || col < 0 || rows < 1 || cols < 1 || row > all_rows || col > all_cols ||
      rows > all_rows - row || cols > all_cols - col) {
    fail(operation,
         fmt::format("{} x {} at ({}, {}) does not lie in {} x {}",
                     rows,
                     cols,
                     row,
                     col,
                     all_rows,
                     all_cols));
  }
}

Var gathered(Var a,
             std::int32_t b,
             Eigen::Index available,
             std::span<const std::int32_t> indices,
             Eigen::Index rows,
             Eigen::Index cols) {
  const bool fits = rows >= 1 && cols >= 1 &&
                    static_cast<Eigen::Index>(indices.size()) / rows == cols &&
                    static_cast<Eigen::Index>(indices.size()) % rows == 0;
  if (!fits) {
    fail("gather", fmt::format("{} indices cannot fill {} x {}", indices.size(), rows, cols));
  }
  for (const std::int32_t index : indices) {
    if (index < -1 || index >= available) {
      fail("gather", fmt::format("index {} is not among {} entries", index, available));
    }
  }
  return a.graph().record({.op = Op::kGather,
                           .a = a.node(),
                           .b = b,
                           .rows = rows,
                           .cols = cols,
                           .offset = a.graph().keep_indices(indices)});
}

Var standardized(const char* name, Var a, double epsilon, bool is_centred) {
  if (!(epsilon >= 0 && std::isfinite(epsilon))) {
    fail(name, fmt::format("epsilon must be a number from 0 on, got {}", epsilon));
  }
  return a.graph().record({.op = Op::kStandardizeRows,
                           .is_centred = is_centred,
                           .a = a.node(),
                           .rows = a.rows(),
                           .cols = a.cols(),
                           .factor = epsilon});
}

Var node_of(Graph& graph, std::int32_t i) {
  const Graph::Node n = graph.nodes()[static_cast<std::size_t>(i)];
  return graph.record({.op = Op::kReshape, .a = i, .rows = n.rows, .cols = n.cols});
}

bool has_shape(Var a, Eigen::Index rows, Eigen::Index cols) {
  return a.rows() == rows && a.cols() == cols;
}

// 1 / a if a = 1 + exp(-x), that is, sigmoid(x); nothing for any other a.
std::optional<Var> logistic(Var a) {
  const detail::GraphPatterns patterns(a.graph());
  const std::int32_t minus_x = patterns.exponent_beside_one(a.node());
  if (minus_x < 0) return std::nullopt;
  const auto negated = patterns.scaled(minus_x);
  if (negated && negated->factor == -1) return sigmoid(node_of(a.graph(), negated->operand));
  return sigmoid(-node_of(a.graph(), minus_x));
}

}  // namespace

Var operator+(Var a, Var b) { return elementwise("operator+", Op::kAdd, a, b); }

Var operator-(Var a, Var b) { return elementwise("operator-", Op::kSubtract, a, b); }

Var operator-(Var a) { return -1.0 * a; }

Var operator*(double factor, Var a) {
  return a.graph().record(
      {.op = Op::kScale, .a = a.node(), .rows = a.rows(), .cols = a.cols(), .factor = factor});
}

// Functions spelled out with exponentials are recorded as such: their derivatives would contain
// squares of exp(400), for instance, which are out of the range of double.
Var operator/(Var a, Var b) {
  require_same_graph("operator/", a, b);
  const detail::GraphPatterns patterns(a.graph());
  if (has_shape(a, 1, 1) && patterns.are_ones(a.node())) {
    if (const auto found = logistic(b)) return *found;
  }
  const std::int32_t x = patterns.exponent(a.node());
  if (x >= 0 && has_shape(b, a.rows(), a.cols()) && patterns.exponent_beside_one(b.node()) == x) {
    return sigmoid(node_of(a.graph(), x));
  }
  if (x >= 0 && has_shape(b, a.rows(), 1) && patterns.exponents_of_sums(b.node()) == x) {
    return softmax_rows(node_of(a.graph(), x));
  }
  // The same for a spelled-out softsign.
  const std::int32_t y = patterns.magnitude_beside_one(b.node());
  if (y >= 0 && patterns.root(y) == patterns.root(a.node()) && has_shape(b, a.rows(), a.cols())) {
    return elementary(Elementary::kSoftsign, a);
  }
  return elementwise("operator/", Op::kDivide, a, b);
}

Var hadamard(Var a, Var b) { return elementwise("hadamard", Op::kHadamard, a, b); }

Var matmul(Var a, Var b) { return matrix_product("matmul", a, b, {}); }

Var matmul_nt(Var a, Var b) { return matrix_product("matmul_nt", a, b, {.transpose_b = true}); }

Var matmul_tn(Var a, Var b) { return matrix_product("matmul_tn", a, b, {.transpose_a = true}); }

Var stacked_matmul(Var a, Var b, const StackedProduct& product) {
  return matrix_product("stacked_matmul", a, b, product);
}

Var elementary(Elementary function, Var a, double alpha, double beta) {
  return a.graph().record({.op = Op::kElementary,
                           .function = function,
                           .a = a.node(),
                           .rows = a.rows(),
                           .cols = a.cols(),
                           .factor = alpha,
                           .beta = beta});
}

Var abs(Var a) { return elementary(Elementary::kAbs, a); }

Var cos(Var a) { return elementary(Elementary::kCos, a); }

Var erf(Var a) { return elementary(Elementary::kErf, a); }

Var exp(Var a) { return elementary(Elementary::kExp, a); }

Var gelu(Var a) { return elementary(Elementary::kGelu, a); }

// As for quotients, above; and log sigmoid(x) is recorded as -softplus(-x), which keeps digits that
// a sigmoid near 0 or 1 has lost.
Var log(Var a) {
  Graph& graph = a.graph();
  const detail::GraphPatterns patterns(graph);
  if (const std::int32_t x = patterns.exponent_beside_one(a.node()); x >= 0) {
    return softplus(node_of(graph, x));
  }
  if (const std::int32_t x = patterns.exponents_of_sums(a.node()); x >= 0) {
    return log_sum_exp_rows(node_of(graph, x));
  }
  if (const std::int32_t x = patterns.logits(a.node()); x >= 0) {
    return node_of(graph, x) - log_sum_exp_rows(node_of(graph, x));
  }
  const auto sigmoid = patterns.sigmoid(a.node());
  if (!sigmoid) return elementary(Elementary::kLog, a);
  const Graph::Node of = graph.nodes()[static_cast<std::size_t>(sigmoid->argument)];
  const Var minus_x = graph.record({.op = Op::kScale,
                                    .a = sigmoid->argument,
                                    .rows = of.rows,
                                    .cols = of.cols,
                                    .factor = -sigmoid->sign});
  return reshape(-softplus(minus_x), a.rows(), a.cols());
}

Var power(Var a, double exponent) { return elementary(Elementary::kPower, a, exponent); }

Var reciprocal(Var a) {
  const auto found = logistic(a);
  return found ? *found : elementary(Elementary::kReciprocal, a);
}

Var relu(Var a) { return elementary(Elementary::kRelu, a); }

Var sigmoid(Var a) { return elementary(Elementary::kSigmoid, a); }

Var sin(Var a) { return elementary(Elementary::kSin, a); }

Var softplus(Var a) { return elementary(Elementary::kSoftplus, a); }

Var sqrt(Var a) { return elementary(Elementary::kSqrt, a); }

Var square(Var a) { return elementary(Elementary::kSquare, a); }

Var tanh(Var a) { return elementary(Elementary::kTanh, a); }

Var softmax_rows(Var a) {
  return a.graph().record(
      {.op = Op::kSoftmaxRows, .a = a.node(), .rows = a.rows(), .cols = a.cols()});
}

Var standardize_rows(Var a, double epsilon) {
  return standardized("standardize_rows", a, epsilon, true);
}

Var rms_normalize_rows(Var a, double epsilon) {
  return standardized("rms_normalize_rows", a, epsilon, false);
}

Var log_sum_exp_rows(Var a) { return of_rows(Op::kLogSumExpRows, a); }

Var log_sum_exp(Var a) { return log_sum_exp_rows(reshape(a, 1, a.rows() * a.cols())); }

Var cross_entropy_rows(Var z, Var targets) {
  require_same_shape("cross_entropy_rows", z, targets);
  require_steady("cross_entropy_rows", "the targets", targets);
  return z.graph().record({.op = Op::kCrossEntropyRows,
                           .a = z.node(),
                           .b = targets.node(),
                           .rows = z.rows(),
                           .cols = 1});
}

Var cross_entropy(Var z, Var target) {
  require_same_shape("cross_entropy", z, target);
  if (z.cols() != 1) fail("cross_entropy", "z must be a column, got " + shape(z));
  return cross_entropy_rows(reshape(z, 1, z.rows()), reshape(target, 1, z.rows()));
}

Var squared_distances(Var a, Var b) {
  require_same_graph("squared_distances", a, b);
  if (a.cols() != b.cols()) {
    fail("squared_distances",
         fmt::format("rows must be equally long, got {} and {}", shape(a), shape(b)));
  }
  return a.graph().record({.op = Op::kSquaredDistances,
                           .a = a.node(),
                           .b = b.node(),
                           .rows = a.rows(),
                           .cols = b.rows()});
}

Var sum(Var a) { return a.graph().record({.op = Op::kSum, .a = a.node(), .rows = 1, .cols = 1}); }

Var sum_rows(Var a) { return of_rows(Op::kSumRows, a); }

Var max_rows(Var a) { return of_rows(Op::kMaxRows, a); }

Var slice(Var a, Eigen::Index row, Eigen::Index col, Eigen::Index rows, Eigen::Index cols) {
  require_part("slice", row, col, rows, cols, a.rows(), a.cols());
  return a.graph().record(
      {.op = Op::kSlice, .a = a.node(), .rows = rows, .cols = cols, .row = row, .col = col});
}

Var embed(Var a, Eigen::Index row, Eigen::Index col, Eigen::Index rows, Eigen::Index cols) {
  require_part("embed", row, col, a.rows(), a.cols(), rows, cols);
  return a.graph().record(
      {.op = Op::kEmbed, .a = a.node(), .rows = rows, .cols = cols, .row = row, .col = col});
}

Var reshape(Var a, Eigen::Index rows, Eigen::Index cols) {
  const Eigen::Index size = a.rows() * a.cols();
  if (rows < 1 || cols < 1 || size % rows != 0 || size / rows != cols) {
    fail("reshape", fmt::format("{} cannot become {} x {}", shape(a), rows, cols));
  }
  if (rows == a.rows()) return a;
  return a.graph().record({.op = Op::kReshape, .a = a.node(), .rows = rows, .cols = cols});
}

Var gather(Var a, std::span<const std::int32_t> indices, Eigen::Index rows, Eigen::Index cols) {
  return gathered(a, -1, a.rows() * a.cols(), indices, rows, cols);
}

Var gather(
    Var a, Var b, std::span<const std::int32_t> indices, Eigen::Index rows, Eigen::Index cols) {
  require_same_graph("gather", a, b);
  return gathered(a, b.node(), a.rows() * a.cols() + b.rows() * b.cols(), indices, rows, cols);
}

Var select(Var condition, Var a, Var b) {
  require_same_shape("select", a, b);
  require_same_shape("select", a, condition);
  require_steady("select", "the condition", condition);
  return a.graph().record({.op = Op::kSelect,
                           .a = a.node(),
                           .b = b.node(),
                           .choice = condition.node(),
                           .rows = a.rows(),
                           .cols = a.cols()});
}

Var lookup(Var table, Var rows) {
  require_same_graph("lookup", table, rows);
  if (rows.cols() != 1) fail("lookup", "the rows must be a column, got " + shape(rows));
  require_steady("lookup", "the rows", rows);
  return table.graph().record({.op = Op::kLookup,
                               .a = table.node(),
                               .choice = rows.node(),
                               .rows = rows.rows(),
                               .cols = table.cols()});
}

Var less(Var a, Var b) { return elementwise("less", Op::kLess, a, b); }

Var equal(Var a, Var b) { return elementwise("equal", Op::kEqual, a, b); }

}  // namespace hesscope
