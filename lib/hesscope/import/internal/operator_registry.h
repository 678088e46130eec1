// SPDX-License-Identifier: BSD-3-Clause
//
// The list of ONNX operators that can be imported, by family.
//
// An operator is a function from a call to its outputs. It must define what happens to the batch:
// each rule says which axes of its inputs must be free of it (OperatorCall::require_no_batch), and
// the axes of the results carry it on. There is no default: an operator without a rule is not
// imported.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hesscope/import/internal/operator_call.h>

namespace hesscope::onnx {

using Values = std::vector<Value>;

struct Operator {
  std::string_view name;
  /// The first outputs, as many as are supported; the others cannot be used.
  /// @throws InputError by OperatorCall::refuse().
  Values (*lower)(const OperatorCall& call);
  /// Bit i: a derivative passes through input i. Sizes, indices and conditions have none.
  std::uint32_t differentiable_inputs = ~std::uint32_t{0};
  /// Before this opset the operator did not exist, or had a definition that is not supported here;
  /// 6 stands for all operators that existed then.
  std::int64_t first_opset = 6;
  /// Whether its result jumps when an input passes some number. 32-bit constants are then first
  /// rounded to 32 bits, so that they are on the same side as in the graph.
  bool jumps = false;
};

inline constexpr bool kJumps = true;

/// An operator whose result has the element type of its first input: integers give integers, and
/// Div is then an integer division.
template <Values (*kLower)(const OperatorCall&)>
Values of_same_kind(const OperatorCall& call) {
  Values results = kLower(call);
  if (call.input(0).kind == ElementKind::kInteger) results.front().kind = ElementKind::kInteger;
  return results;
}

inline constexpr std::uint32_t kAllSlopes = ~std::uint32_t{0};

inline constexpr std::uint32_t kNoSlope = 0;
inline constexpr std::uint32_t kSlopeOfFirst = 1;

std::span<const Operator> elementwise_operators();
std::span<const Operator> power_operators();
std::span<const Operator> logic_operators();
std::span<const Operator> shape_operators();
std::span<const Operator> gather_operators();
std::span<const Operator> scatter_operators();
std::span<const Operator> grid_operators();
std::span<const Operator> index_operators();
std::span<const Operator> filling_operators();
std::span<const Operator> reduction_operators();
std::span<const Operator> product_operators();
std::span<const Operator> attention_operators();
std::span<const Operator> convolution_operators();
std::span<const Operator> fourier_operators();
std::span<const Operator> pad_operators();
std::span<const Operator> pool_operators();
std::span<const Operator> normalization_operators();
std::span<const Operator> order_operators();
std::span<const Operator> resize_operators();
std::span<const Operator> recurrent_operators();
std::span<const Operator> loop_operators();
std::span<const Operator> sequence_operators();
std::span<const Operator> loss_operators();

/// The operator in ONNX's own domain, or nullptr.
const Operator* find_operator(std::string_view name);

/// A node's operator, or nullptr.
const Operator* operator_of(const Node& node);

/// All names, sorted.
std::vector<std::string> operator_names();

}  // namespace hesscope::onnx
