// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>

#include <hesscope/autodiff/graph.h>
#include <hesscope/core/error.h>

namespace hesscope {
namespace {

using Op = Graph::Op;
using Node = Graph::Node;

[[noreturn]] void fail(const char* operation, const std::string& what) {
  throw PreconditionError(fmt::format("{}: {}", operation, what));
}

std::string shape(Var a) { return fmt::format("{} x {}", a.rows(), a.cols()); }

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
  require_same_shape(operation, a, b);
  return a.graph().record(
      {.op = op, .a = a.node(), .b = b.node(), .rows = a.rows(), .cols = a.cols()});
}

Var matrix_product(const char* operation, Var a, Var b, bool transpose_a, bool transpose_b) {
  require_same_graph(operation, a, b);
  const Eigen::Index inner_a = transpose_a ? a.rows() : a.cols();
  const Eigen::Index inner_b = transpose_b ? b.cols() : b.rows();
  if (inner_a != inner_b) {
    fail(operation,
         fmt::format("inner dimensions must be equal, got {} and {} from {} and {}",
                     inner_a,
                     inner_b,
                     shape(a),
                     shape(b)));
  }
  return a.graph().record({.op = Op::kMatmul,
                           .transpose_a = transpose_a,
                           .transpose_b = transpose_b,
                           .a = a.node(),
                           .b = b.node(),
                           .rows = transpose_a ? a.cols() : a.rows(),
                           .cols = transpose_b ? b.rows() : b.cols()});
}

void require_part(const char* operation,
                  Eigen::Index row,
                  Eigen::Index col,
                  Eigen::Index rows,
                  Eigen::Index cols,
                  Eigen::Index all_rows,
                  Eigen::Index all_cols) {
  if (row < 0 || col < 0 || rows < 1 || cols < 1 || row + rows > all_rows ||
      col + cols > all_cols) {
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

void require_positive(const char* operation,
                      Eigen::Index offset,
                      Eigen::Index rows,
                      Eigen::Index cols) {
  if (offset < 0 || rows < 1 || cols < 1) {
    fail(operation, fmt::format("bad place or shape: {} x {} at {}", rows, cols, offset));
  }
}

// Whether a change of a parameter reaches the output when the prediction is held fixed.
bool bypasses(std::span<const Node> nodes, std::int32_t prediction, std::int32_t output) {
  std::vector<bool> depends(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i == static_cast<std::size_t>(prediction)) continue;
    depends[i] = nodes[i].op == Op::kParameter;
    for (const std::int32_t operand : {nodes[i].a, nodes[i].b}) {
      if (operand >= 0 && depends[static_cast<std::size_t>(operand)]) depends[i] = true;
    }
  }
  return depends[static_cast<std::size_t>(output)];
}

void require_through_prediction(const char* operation,
                                std::span<const Node> nodes,
                                std::int32_t prediction,
                                std::int32_t output) {
  if (prediction >= 0 && output >= 0 && bypasses(nodes, prediction, output)) {
    fail(operation, "the loss must depend on parameters through the prediction alone");
  }
}

}  // namespace

Eigen::Index Var::rows() const { return graph_->nodes()[static_cast<std::size_t>(node_)].rows; }

Eigen::Index Var::cols() const { return graph_->nodes()[static_cast<std::size_t>(node_)].cols; }

Var Graph::record(const Node& node) {
  nodes_.push_back(node);
  return {this, static_cast<std::int32_t>(nodes_.size()) - 1};
}

Var Graph::parameter(Eigen::Index offset, Eigen::Index rows, Eigen::Index cols) {
  require_positive("Graph::parameter", offset, rows, cols);
  num_parameters_ = std::max(num_parameters_, offset + rows * cols);
  return record({.op = Op::kParameter, .rows = rows, .cols = cols, .offset = offset});
}

Var Graph::input(Eigen::Index offset, Eigen::Index rows, Eigen::Index cols) {
  require_positive("Graph::input", offset, rows, cols);
  record_size_ = std::max(record_size_, offset + rows * cols);
  return record({.op = Op::kInput, .rows = rows, .cols = cols, .offset = offset});
}

Var Graph::constant(const Eigen::Ref<const Eigen::MatrixXd>& value) {
  require_positive("Graph::constant", 0, value.rows(), value.cols());
  const auto offset = static_cast<Eigen::Index>(constants_.size());
  for (Eigen::Index i = 0; i < value.rows(); ++i) {
    for (Eigen::Index j = 0; j < value.cols(); ++j) constants_.push_back(value(i, j));
  }
  return record(
      {.op = Op::kConstant, .rows = value.rows(), .cols = value.cols(), .offset = offset});
}

void Graph::set_output(Var loss) {
  if (&loss.graph() != this) fail("Graph::set_output", "the loss belongs to another graph");
  if (loss.rows() != 1 || loss.cols() != 1) {
    fail("Graph::set_output", "the loss must be 1 x 1, got " + shape(loss));
  }
  require_through_prediction("Graph::set_output", nodes_, prediction_, loss.node());
  output_ = loss.node();
}

void Graph::set_prediction(Var z) {
  if (&z.graph() != this) fail("Graph::set_prediction", "the prediction belongs to another graph");
  require_through_prediction("Graph::set_prediction", nodes_, z.node(), output_);
  prediction_ = z.node();
}

Var operator+(Var a, Var b) { return elementwise("operator+", Op::kAdd, a, b); }

Var operator-(Var a, Var b) { return elementwise("operator-", Op::kSubtract, a, b); }

Var operator-(Var a) { return -1.0 * a; }

Var operator*(double factor, Var a) {
  return a.graph().record(
      {.op = Op::kScale, .a = a.node(), .rows = a.rows(), .cols = a.cols(), .factor = factor});
}

Var hadamard(Var a, Var b) { return elementwise("hadamard", Op::kHadamard, a, b); }

Var matmul(Var a, Var b) { return matrix_product("matmul", a, b, false, false); }

Var matmul_nt(Var a, Var b) { return matrix_product("matmul_nt", a, b, false, true); }

Var matmul_tn(Var a, Var b) { return matrix_product("matmul_tn", a, b, true, false); }

Var elementary(Elementary function, Var a) {
  return a.graph().record({.op = Op::kElementary,
                           .function = function,
                           .a = a.node(),
                           .rows = a.rows(),
                           .cols = a.cols()});
}

Var abs(Var a) { return elementary(Elementary::kAbs, a); }

Var exp(Var a) { return elementary(Elementary::kExp, a); }

Var gelu(Var a) { return elementary(Elementary::kGelu, a); }

Var relu(Var a) { return elementary(Elementary::kRelu, a); }

Var softplus(Var a) { return elementary(Elementary::kSoftplus, a); }

Var sqrt(Var a) { return elementary(Elementary::kSqrt, a); }

Var square(Var a) { return elementary(Elementary::kSquare, a); }

Var tanh(Var a) { return elementary(Elementary::kTanh, a); }

Var softmax_rows(Var a) {
  return a.graph().record(
      {.op = Op::kSoftmaxRows, .a = a.node(), .rows = a.rows(), .cols = a.cols()});
}

Var log_sum_exp(Var a) {
  return a.graph().record({.op = Op::kLogSumExp, .a = a.node(), .rows = 1, .cols = 1});
}

Var cross_entropy(Var z, Var target) {
  require_same_shape("cross_entropy", z, target);
  const Op op = z.graph().nodes()[static_cast<std::size_t>(target.node())].op;
  if (z.cols() != 1) fail("cross_entropy", "z must be a column, got " + shape(z));
  if (op != Op::kInput && op != Op::kConstant) {
    fail("cross_entropy", "the target must be an input or a constant");
  }
  return z.graph().record(
      {.op = Op::kCrossEntropy, .a = z.node(), .b = target.node(), .rows = 1, .cols = 1});
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

}  // namespace hesscope
