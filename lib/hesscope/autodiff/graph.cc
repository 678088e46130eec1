// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include <hesscope/autodiff/graph.h>
#include <hesscope/autodiff/internal/graph_errors.h>
#include <hesscope/autodiff/internal/node_checks.h>

namespace hesscope {
namespace {

using detail::fail;
using detail::shape;
using Op = Graph::Op;
using Node = Graph::Node;

void require_entries(const char* operation, Eigen::Index rows, Eigen::Index cols) {
  if (rows < 1 || cols < 1 || rows > Graph::kMaxEntries / cols) {
    fail(operation,
         fmt::format(
             "a matrix has from 1 to {} entries, got {} x {}", Graph::kMaxEntries, rows, cols));
  }
}

void require_place(const char* operation,
                   Eigen::Index offset,
                   Eigen::Index rows,
                   Eigen::Index cols) {
  require_entries(operation, rows, cols);
  if (offset < 0 || offset > std::numeric_limits<Eigen::Index>::max() - rows * cols) {
    fail(operation, fmt::format("{} x {} entries cannot begin at {}", rows, cols, offset));
  }
}

// Whether a change of a parameter can reach the output while the prediction is held fixed.
bool bypasses(std::span<const Node> nodes, std::int32_t prediction, std::int32_t output) {
  std::vector<bool> depends(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i == static_cast<std::size_t>(prediction) || nodes[i].is_step()) continue;
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

void Graph::require_unfinished(const char* operation) const {
  if (is_finished_.value) {
    fail(operation, "the graph is finished, as that of a model is: record before, or on a copy");
  }
}

Var Graph::record(const Node& node) {
  require_unfinished("Graph::record");
  require_entries("Graph::record", node.rows, node.cols);
  for (const std::int32_t operand : {node.a, node.b, node.choice}) {
    if (operand < -1 || operand >= static_cast<std::int64_t>(nodes_.size())) {
      fail("Graph::record",
           fmt::format("there is no node {} among {}; operands are earlier nodes, or -1 for none",
                       operand,
                       nodes_.size()));
    }
  }
  if (!detail::fits(*this, node)) {
    fail("Graph::record", "the operands, their shapes or a place do not fit the operation");
  }
  const std::int32_t steady = node.op == Op::kCrossEntropyRows ? node.b : node.choice;
  if (steady >= 0 && varies_[static_cast<std::size_t>(steady)]) {
    fail("Graph::record", "targets and choices must not vary with the parameters");
  }
  bool varies = node.op == Op::kParameter;
  for (const std::int32_t operand : {node.a, node.b}) {
    if (operand >= 0 && varies_[static_cast<std::size_t>(operand)]) varies = true;
  }
  if (node.is_step()) varies = false;
  if (node.op == Op::kParameter || node.op == Op::kInput) {
    require_place("Graph::record", node.offset, node.rows, node.cols);
    Eigen::Index& used = node.op == Op::kParameter ? num_parameters_ : record_size_;
    used = std::max(used, node.offset + node.size());
  }
  nodes_.push_back(node);  // may be one of nodes_; not used afterwards
  varies_.push_back(varies);
  return {this, static_cast<std::int32_t>(nodes_.size()) - 1};
}

Eigen::Index Graph::keep_indices(std::span<const std::int32_t> indices) {
  require_unfinished("Graph::keep_indices");
  const auto offset = static_cast<Eigen::Index>(indices_.size());
  indices_.insert(indices_.end(), indices.begin(), indices.end());
  return offset;
}

bool Graph::varies(Var a) const {
  if (&a.graph() != this) fail("Graph::varies", "the node belongs to another graph");
  return varies_[static_cast<std::size_t>(a.node())];
}

std::span<const double> Graph::constant_value(Var a) const {
  if (&a.graph() != this) fail("Graph::constant_value", "the node belongs to another graph");
  const Node* node = &nodes_[static_cast<std::size_t>(a.node())];
  while (node->op == Op::kReshape) node = &nodes_[static_cast<std::size_t>(node->a)];
  if (node->op != Op::kConstant) return {};
  return constants().subspan(static_cast<std::size_t>(node->offset),
                             static_cast<std::size_t>(node->size()));
}

Var Graph::parameter(Eigen::Index offset, Eigen::Index rows, Eigen::Index cols) {
  require_unfinished("Graph::parameter");
  require_place("Graph::parameter", offset, rows, cols);
  return record({.op = Op::kParameter, .rows = rows, .cols = cols, .offset = offset});
}

Var Graph::input(Eigen::Index offset, Eigen::Index rows, Eigen::Index cols) {
  require_unfinished("Graph::input");
  require_place("Graph::input", offset, rows, cols);
  return record({.op = Op::kInput, .rows = rows, .cols = cols, .offset = offset});
}

Var Graph::constant(const Eigen::Ref<const Eigen::MatrixXd>& value) {
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = value;
  return constant({rows.data(), static_cast<std::size_t>(rows.size())}, value.rows(), value.cols());
}

Var Graph::constant(std::span<const double> entries, Eigen::Index rows, Eigen::Index cols) {
  require_unfinished("Graph::constant");
  require_entries("Graph::constant", rows, cols);
  if (static_cast<Eigen::Index>(entries.size()) != rows * cols) {
    fail("Graph::constant",
         fmt::format("{} entries cannot fill {} x {}", entries.size(), rows, cols));
  }
  const auto offset = static_cast<Eigen::Index>(constants_.size());
  const std::vector<double> copies(entries.begin(), entries.end());  // may be part of constants_
  constants_.insert(constants_.end(), copies.begin(), copies.end());
  return record({.op = Op::kConstant, .rows = rows, .cols = cols, .offset = offset});
}

void Graph::set_output(Var loss) {
  require_unfinished("Graph::set_output");
  if (&loss.graph() != this) fail("Graph::set_output", "the loss belongs to another graph");
  if (loss.rows() != 1 || loss.cols() != 1) {
    fail("Graph::set_output", "the loss must be 1 x 1, got " + shape(loss));
  }
  require_through_prediction("Graph::set_output", nodes_, prediction_, loss.node());
  output_ = loss.node();
}

void Graph::set_prediction(Var z) {
  require_unfinished("Graph::set_prediction");
  if (&z.graph() != this) fail("Graph::set_prediction", "the prediction belongs to another graph");
  require_through_prediction("Graph::set_prediction", nodes_, z.node(), output_);
  prediction_ = z.node();
}

bool is_step(Elementary function) { return function >= Elementary::kCeil; }

bool is_piecewise_linear(Elementary function) {
  switch (function) {
    case Elementary::kAbs:
    case Elementary::kClip:
    case Elementary::kLeakyRelu:
    case Elementary::kRelu:
      return true;
    default:
      return is_step(function);
  }
}

}  // namespace hesscope
