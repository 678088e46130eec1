// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <hesscope/autodiff/internal/node_checks.h>

namespace hesscope::detail {
namespace {

using Op = Graph::Op;
using Node = Graph::Node;

bool is_shape(const Node& n, Eigen::Index rows, Eigen::Index cols) {
  return n.rows == rows && n.cols == cols;
}

bool has_shape_of(const Node& n, const Node& other) { return is_shape(n, other.rows, other.cols); }

// Whether [offset, offset + size) is within `all` numbers.
bool lies_in(const Node& n, std::size_t all) {
  const auto end = static_cast<Eigen::Index>(all);
  return n.offset >= 0 && n.size() <= end && n.offset <= end - n.size();
}

bool lies_in(const Node& part, const Node& place, const Node& whole) {
  return place.row >= 0 && place.col >= 0 && part.rows <= whole.rows && part.cols <= whole.cols &&
         place.row <= whole.rows - part.rows && place.col <= whole.cols - part.cols;
}

bool fits_spread(const Node& n, const Node& a, const Node& b) {
  const auto fit = [](Eigen::Index m, Eigen::Index k) { return m == k || m == 1 || k == 1; };
  return fit(a.rows, b.rows) && fit(a.cols, b.cols) &&
         is_shape(n, std::max(a.rows, b.rows), std::max(a.cols, b.cols));
}

bool fits_product(const Node& n, const Node& a, const Node& b) {
  if (n.stack < 1) return false;
  const auto is_stack = [&](const Node& o, bool shared) { return shared || o.rows % n.stack == 0; };
  if (!is_stack(a, n.is_shared_a) || !is_stack(b, n.is_shared_b)) return false;
  const Eigen::Index a_rows = n.is_shared_a ? a.rows : a.rows / n.stack;
  const Eigen::Index b_rows = n.is_shared_b ? b.rows : b.rows / n.stack;
  const bool meet = (n.transpose_a ? a_rows : a.cols) == (n.transpose_b ? b.cols : b_rows);
  const Eigen::Index rows = n.transpose_a ? a.cols : a_rows;
  return meet && n.rows % n.stack == 0 && n.rows / n.stack == rows &&
         n.cols == (n.transpose_b ? b_rows : b.cols);
}

bool fits_gather(const Graph& graph, const Node& n, Eigen::Index available) {
  if (!lies_in(n, graph.indices().size())) return false;
  const auto own = graph.indices().subspan(static_cast<std::size_t>(n.offset),
                                           static_cast<std::size_t>(n.size()));
  return std::ranges::all_of(own, [&](std::int32_t i) { return i >= -1 && i < available; });
}

// The operands that an operation takes; b is optional for kGather.
struct Operands {
  bool a = true;
  bool b = false;
  bool choice = false;
};

Operands operands_of(Op op) {
  switch (op) {
    case Op::kConstant:
    case Op::kInput:
    case Op::kParameter:
      return {.a = false};
    case Op::kAdd:
    case Op::kSubtract:
    case Op::kHadamard:
    case Op::kDivide:
    case Op::kMatmul:
    case Op::kCrossEntropyRows:
    case Op::kSquaredDistances:
    case Op::kLess:
    case Op::kEqual:
      return {.b = true};
    case Op::kSelect:
      return {.b = true, .choice = true};
    case Op::kLookup:
      return {.choice = true};
    default:
      return {};
  }
}

}  // namespace

bool fits(const Graph& graph, const Node& n) {
  const Operands taken = operands_of(n.op);
  const bool may_have_b = taken.b || n.op == Op::kGather;
  if ((n.a >= 0) != taken.a || (taken.b && n.b < 0) || (!may_have_b && n.b >= 0)) return false;
  if ((n.choice >= 0) != taken.choice) return false;
  const auto operand = [&](std::int32_t i) {
    return i < 0 ? Node{.op = Op::kConstant} : graph.nodes()[static_cast<std::size_t>(i)];
  };
  const Node a = operand(n.a);
  const Node b = operand(n.b);
  const Node choice = operand(n.choice);
  switch (n.op) {
    case Op::kConstant:
      return lies_in(n, graph.constants().size());
    case Op::kInput:
    case Op::kParameter:
      return n.offset >= 0;
    case Op::kAdd:
    case Op::kSubtract:
    case Op::kHadamard:
    case Op::kDivide:
    case Op::kLess:
    case Op::kEqual:
      return fits_spread(n, a, b);
    case Op::kElementary:
      return n.function <= Elementary::kSign && has_shape_of(n, a);
    case Op::kScale:
    case Op::kSoftmaxRows:
    case Op::kStandardizeRows:
      return has_shape_of(n, a);
    case Op::kMatmul:
      return fits_product(n, a, b);
    case Op::kLogSumExpRows:
    case Op::kSumRows:
    case Op::kMaxRows:
      return is_shape(n, a.rows, 1);
    case Op::kCrossEntropyRows:
      return has_shape_of(a, b) && is_shape(n, a.rows, 1);
    case Op::kSquaredDistances:
      return a.cols == b.cols && is_shape(n, a.rows, b.rows);
    case Op::kSum:
      return is_shape(n, 1, 1);
    case Op::kSlice:
      return lies_in(n, n, a);
    case Op::kEmbed:
      return lies_in(a, n, n);
    case Op::kReshape:
      return n.size() == a.size();
    case Op::kGather:
      return fits_gather(graph, n, a.size() + (n.b < 0 ? 0 : b.size()));
    case Op::kSelect:
      return has_shape_of(n, a) && has_shape_of(n, b) && has_shape_of(n, choice);
    case Op::kLookup:
      return choice.cols == 1 && is_shape(n, choice.rows, a.cols);
  }
  return false;
}

}  // namespace hesscope::detail
