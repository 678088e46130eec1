// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numbers>

#include <hesscope/autodiff/internal/graph_patterns.h>
#include <hesscope/autodiff/internal/moved_entries.h>

namespace hesscope::detail {
namespace {

using Op = Graph::Op;

bool is_function(const Graph::Node& node, Elementary function, double exponent) {
  if (node.op != Op::kElementary) return false;
  return node.function == function ||
         (node.function == Elementary::kPower && node.factor == exponent);
}

}  // namespace

std::int32_t GraphPatterns::root(std::int32_t i) const {
  while (i >= 0 && node(i).op == Op::kReshape) i = node(i).a;
  return i;
}

std::int32_t GraphPatterns::before_moves(std::int32_t i) const {
  const auto moves = [&](const Node& n) {
    return n.op == Op::kReshape || (moves_entries(n.op) && n.b < 0);
  };
  while (moves(node(i))) i = node(i).a;
  return i;
}

bool GraphPatterns::is_of_parameters(std::int32_t i) const {
  while (node(i).op == Op::kReshape || node(i).op == Op::kSlice || node(i).op == Op::kScale ||
         (node(i).op == Op::kGather && node(i).b < 0)) {
    i = node(i).a;
  }
  return node(i).op == Op::kParameter;
}

// The entries of a constant, or of reshapes of one; empty for others.
std::span<const double> GraphPatterns::constant(std::int32_t i) const {
  const Node& n = node(root(i));
  if (n.op != Op::kConstant) return {};
  return constants_.subspan(static_cast<std::size_t>(n.offset), static_cast<std::size_t>(n.size()));
}

std::optional<double> GraphPatterns::number(std::int32_t i) const {
  const std::span<const double> entries = constant(i);
  return entries.size() == 1 ? std::optional(entries.front()) : std::nullopt;
}

bool GraphPatterns::has_same_shape(std::int32_t i, std::int32_t j) const {
  return node(i).rows == node(j).rows && node(i).cols == node(j).cols;
}

bool GraphPatterns::is_column_of(std::int32_t i, std::int32_t rows) const {
  return node(i).rows == node(rows).rows && node(i).cols == 1;
}

bool GraphPatterns::are_ones(std::int32_t i) const {
  const std::span<const double> entries = constant(i);
  return !entries.empty() && std::ranges::all_of(entries, [](double x) { return x == 1; });
}

std::int32_t GraphPatterns::exponent(std::int32_t i) const {
  const Node& n = node(root(i));
  const bool is_exp = n.op == Op::kElementary && n.function == Elementary::kExp;
  return is_exp && has_same_shape(n.a, i) ? n.a : -1;
}

// y if node i is 1 + y, with the same shape; else -1.
std::int32_t GraphPatterns::beside_one(std::int32_t i) const {
  const Node& sum = node(root(i));
  if (sum.op != Op::kAdd || !has_same_shape(root(i), i)) return -1;
  const std::int32_t other = are_ones(sum.b) ? sum.a : are_ones(sum.a) ? sum.b : -1;
  return other >= 0 && has_same_shape(other, i) ? other : -1;
}

std::int32_t GraphPatterns::exponent_beside_one(std::int32_t i) const {
  const std::int32_t other = beside_one(i);
  return other >= 0 ? exponent(other) : -1;
}

std::int32_t GraphPatterns::magnitude_beside_one(std::int32_t i) const {
  const std::int32_t other = beside_one(i);
  if (other < 0) return -1;
  const Node& n = node(root(other));
  const bool is_magnitude = n.op == Op::kElementary && n.function == Elementary::kAbs;
  return is_magnitude && has_same_shape(n.a, i) ? n.a : -1;
}

std::int32_t GraphPatterns::exponents_of_sums(std::int32_t i) const {
  const Node& sum = node(root(i));
  return sum.op == Op::kSumRows && has_same_shape(root(i), i) ? exponent(sum.a) : -1;
}

std::int32_t GraphPatterns::logits(std::int32_t i) const {
  const Node& n = node(root(i));
  return n.op == Op::kSoftmaxRows && has_same_shape(root(i), i) ? n.a : -1;
}

// The node of whose rows node i is the column of means; -1 if there is none.
std::int32_t GraphPatterns::rows_of_mean(std::int32_t i) const {
  const Node& mean = node(root(i));
  if (mean.op != Op::kScale && mean.op != Op::kDivide) return -1;
  const Node& sum = node(root(mean.a));
  if (sum.op != Op::kSumRows) return -1;
  const auto count = static_cast<double>(node(sum.a).cols);
  const bool is_mean = mean.op == Op::kScale ? mean.factor == 1 / count : number(mean.b) == count;
  return is_mean ? sum.a : -1;
}

// y if node i is the entrywise square of y; else -1.
std::int32_t GraphPatterns::root_of_square(std::int32_t i) const {
  const Node& n = node(root(i));
  if (is_function(n, Elementary::kSquare, 2)) return root(n.a);
  const bool is_of_itself = n.op == Op::kHadamard && root(n.a) == root(n.b) &&
                            node(n.a).size() == n.size() && node(n.b).size() == n.size() &&
                            node(n.a).rows == node(n.b).rows;
  return is_of_itself ? root(n.a) : -1;
}

bool GraphPatterns::is_positive_constant(std::int32_t i) const {
  const std::span<const double> entries = constant(i);
  return !entries.empty() && std::ranges::all_of(entries, [](double x) { return x > 0; });
}

// The node of which node i is a multiple by positive constants, in any shape.
std::int32_t GraphPatterns::without_factors(std::int32_t i) const {
  for (;;) {
    i = root(i);
    const Node& n = node(i);
    const bool is_product = n.op == Op::kHadamard || n.op == Op::kDivide;
    if ((n.op == Op::kScale && n.factor > 0) || (is_product && is_positive_constant(n.b))) {
      i = n.a;
    } else if (n.op == Op::kHadamard && is_positive_constant(n.a)) {
      i = n.b;
    } else {
      return i;
    }
  }
}

bool GraphPatterns::is_sum_of_squares(std::int32_t i) const {
  const auto is_sum = [&](std::int32_t j) {
    const Node& sum = node(without_factors(j));
    return (sum.op == Op::kSumRows || sum.op == Op::kSum) &&
           root_of_square(before_moves(sum.a)) >= 0;
  };
  const Node& found = node(without_factors(i));
  return is_sum(i) || (found.op == Op::kHadamard && is_sum(found.a) && is_sum(found.b));
}

std::optional<GraphPatterns::Sigmoid> GraphPatterns::sigmoid(std::int32_t i) const {
  const Node* n = &node(root(i));
  double sign = 1;
  if (n->op == Op::kSubtract && are_ones(n->a)) {
    const Node& subtracted = node(root(n->b));
    if (subtracted.size() != n->size()) return std::nullopt;
    n = &subtracted;
    sign = -1;
  }
  const bool is_sigmoid = n->op == Op::kElementary && n->function == Elementary::kSigmoid;
  return is_sigmoid ? std::optional(Sigmoid{sign, n->a}) : std::nullopt;
}

// y if node i is the entrywise square root of y, or -1; and y if it is 1 / sqrt(y).
std::int32_t GraphPatterns::under_root(std::int32_t i) const {
  const Node& n = node(root(i));
  return is_function(n, Elementary::kSqrt, 0.5) ? n.a : -1;
}

std::int32_t GraphPatterns::under_inverse_root(std::int32_t i) const {
  const Node& n = node(root(i));
  if (n.op == Op::kElementary && n.function == Elementary::kPower && n.factor == -0.5) return n.a;
  if (is_function(n, Elementary::kReciprocal, -1)) return under_root(n.a);
  return n.op == Op::kDivide && number(n.a) == 1.0 ? under_root(n.b) : -1;
}

// For rows divided by the root of something: that must be mean(rows^2) + epsilon.
std::optional<Graph::Node> GraphPatterns::standardized(std::int32_t rows,
                                                       std::int32_t square) const {
  if (square < 0) return std::nullopt;
  std::int32_t variance = root(square);
  double epsilon = 0;
  if (node(variance).op == Op::kAdd) {
    const Node& sum = node(variance);
    const std::optional<double> second = number(sum.b);
    const std::optional<double> added = second ? second : number(sum.a);
    if (!added || !(*added >= 0 && std::isfinite(*added))) return std::nullopt;
    epsilon = *added;
    variance = root(second ? sum.a : sum.b);
  }
  const std::int32_t squares = rows_of_mean(variance);
  if (squares < 0 || node(squares).rows != node(rows).rows) return std::nullopt;
  if (root_of_square(squares) != root(rows)) return std::nullopt;
  Node found{.op = Op::kStandardizeRows,
             .is_centred = false,
             .a = rows,
             .rows = node(rows).rows,
             .cols = node(rows).cols,
             .factor = epsilon};
  const Node& difference = node(root(rows));
  if (difference.op != Op::kSubtract || root(rows) != rows) return found;
  const std::int32_t all = difference.a;
  const std::int32_t mean_of = rows_of_mean(difference.b);
  const bool is_own_mean = mean_of >= 0 && root(mean_of) == root(all) &&
                           has_same_shape(mean_of, rows) && is_column_of(difference.b, rows);
  if (is_own_mean && has_same_shape(all, rows)) {
    found.is_centred = true;
    found.a = all;
  }
  return found;
}

std::optional<Graph::Node> GraphPatterns::standardized(std::int32_t i) const {
  const Node& n = node(i);
  if (n.op == Op::kDivide && has_same_shape(n.a, i) && is_column_of(n.b, n.a)) {
    return standardized(n.a, under_root(n.b));
  }
  if (n.op != Op::kHadamard) return std::nullopt;
  for (const bool is_second : {true, false}) {
    const std::int32_t rows = is_second ? n.a : n.b;
    const std::int32_t inverse = is_second ? n.b : n.a;
    if (!has_same_shape(rows, i) || !is_column_of(inverse, rows)) continue;
    if (auto found = standardized(rows, under_inverse_root(inverse))) return found;
  }
  return std::nullopt;
}

// Node i = the returned number times the factors, all of its size. Products among them are split
// further, except `whole`, to at most `depth` levels.
double GraphPatterns::split_factors(std::int32_t i,
                                    std::int32_t whole,
                                    int depth,
                                    std::vector<std::int32_t>& factors) const {
  i = root(i);
  const Node& n = node(i);
  if (depth > 0 && i != whole) {
    if (const auto part = scaled(i)) {
      return part->factor * split_factors(part->operand, whole, depth - 1, factors);
    }
    if (n.op == Op::kHadamard && has_same_shape(n.a, i) && has_same_shape(n.b, i)) {
      const double left = split_factors(n.a, whole, depth - 1, factors);
      return left * split_factors(n.b, whole, depth - 1, factors);
    }
  }
  factors.push_back(i);
  return 1;
}

// For node i = 1 + erf(k x), in any order: k and the root of x.
std::optional<GraphPatterns::Scaled> GraphPatterns::argument_of_erf(std::int32_t i) const {
  const Node& sum = node(i);
  if (sum.op != Op::kAdd) return std::nullopt;
  const bool is_second = number(sum.b) == 1.0;
  if (!is_second && number(sum.a) != 1.0) return std::nullopt;
  const Node& erf = node(root(is_second ? sum.a : sum.b));
  if (erf.op != Op::kElementary || erf.function != Elementary::kErf) return std::nullopt;
  if (erf.size() != sum.size()) return std::nullopt;
  const std::int32_t argument = root(erf.a);
  const Scaled found = scaled(argument).value_or(Scaled{1, argument});
  return Scaled{found.factor, root(found.operand)};
}

std::optional<Graph::Node> GraphPatterns::gelu(std::int32_t i) const {
  const Node& n = node(i);
  if (n.op != Op::kHadamard && n.op != Op::kScale && n.op != Op::kDivide) return std::nullopt;
  constexpr int kProducts = 3;  // of a number, x and the rest, in any order
  std::vector<std::int32_t> all;
  split_factors(i, -1, kProducts, all);
  for (const std::int32_t rest : all) {
    const auto argument = argument_of_erf(rest);
    if (!argument || node(argument->operand).size() != n.size()) continue;
    const std::int32_t x = argument->operand;
    std::vector<std::int32_t> factors;
    if (split_factors(i, x, kProducts, factors) != 0.5 || factors.size() != 2) continue;
    std::ranges::sort(factors);
    if (factors != std::vector{std::min(x, rest), std::max(x, rest)}) continue;
    return Node{.op = Op::kElementary,
                .function = Elementary::kGelu,
                .a = x,
                .rows = n.rows,
                .cols = n.cols,
                .factor = argument->factor * std::numbers::sqrt2};
  }
  return std::nullopt;
}

std::optional<GraphPatterns::Scaled> GraphPatterns::scaled(std::int32_t i) const {
  const Node& n = node(i);
  const auto with = [&](std::optional<double> factor,
                        std::int32_t operand) -> std::optional<Scaled> {
    if (!factor || !std::isnormal(*factor) || !has_same_shape(operand, i)) return std::nullopt;
    return Scaled{*factor, operand};
  };
  switch (n.op) {
    case Op::kScale:
      return with(n.factor, n.a);
    case Op::kHadamard:
      return number(n.b) ? with(number(n.b), n.a) : with(number(n.a), n.b);
    case Op::kDivide:
      if (const std::optional<double> divisor = number(n.b)) return with(1 / *divisor, n.a);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<GraphPatterns::Masked> GraphPatterns::masked_parameters(std::int32_t i) const {
  const Node& n = node(i);
  if (n.op != Op::kHadamard) return std::nullopt;
  for (const bool is_second : {true, false}) {
    const std::span<const double> mask = constant(is_second ? n.b : n.a);
    const std::int32_t operand = is_second ? n.a : n.b;
    const bool fits = std::ssize(mask) == n.size();
    if (!fits || !has_same_shape(operand, i) || !is_of_parameters(operand)) continue;
    if (std::ranges::all_of(mask, [](double x) { return x == 0 || x == 1; })) {
      return Masked{mask, operand};
    }
  }
  return std::nullopt;
}

}  // namespace hesscope::detail
