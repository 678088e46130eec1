// SPDX-License-Identifier: BSD-3-Clause
//
// The one list of ONNX operators that can be imported, family by family.
//
// An operator is a function from a call to its outputs. It states what becomes of the batch: each
// rule says which axes of its inputs must be free of it (OperatorCall::require_no_batch), and the
// axes of the results carry it on. There is no default: an operator without a rule is not imported.
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
  /// The outputs, as many as are made from the front; further ones cannot be used.
  /// @throws InputError by OperatorCall::refuse().
  Values (*lower)(const OperatorCall& call);
  /// Bit i: a derivative passes through input i. Sizes, indices and conditions have none.
  std::uint32_t differentiable_inputs = ~std::uint32_t{0};
  /// Before this opset there was no such operator, or it was defined otherwise than it is read
  /// here; 6 stands for all that were there before.
  std::int64_t first_opset = 6;
  /// Its result jumps where an input passes a number. Constants of 32 bits are rounded to these
  /// before, so that they fall on the side that the graph has them on.
  bool jumps = false;
};

inline constexpr bool kJumps = true;

/// An operator whose result has elements of the type of its first input: of integers integers,
/// which Div divides as such.
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

/// The operator of ONNX's own domain, or nullptr.
const Operator* find_operator(std::string_view name);

/// A node's operator, or nullptr.
const Operator* operator_of(const Node& node);

/// All names, sorted.
std::vector<std::string> operator_names();

}  // namespace hesscope::onnx
