// SPDX-License-Identifier: BSD-3-Clause
//
// Tensors that hold the same numbers as another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <hesscope/models/model.h>
#include <hesscope/models/tensor_shapes.h>

namespace hesscope {

/// Numbers of a tensor and their shape, row by row.
struct ShapedNumbers {
  std::span<const std::int64_t> shape;
  std::span<const double> entries;
};

/// Whether they are equal, NaN with NaN.
bool are_same(std::span<const double> a, std::span<const double> b);

/// The same numbers in ascending order, NaN first or last by its sign.
std::vector<double> sorted_entries(std::span<const double> entries);

/// Whether it is one number, many times; of none it is.
bool are_all_equal(std::span<const double> entries);

/// Whether a number has no more binary digits than float16 has, and so bfloat16.
bool is_of_few_digits(double x);

/// Whether a quarter of the entries or more, but not all, are equal to others as computing leaves
/// them, such as the zeros of a mask, the entries of W + W^T, or rows that are there twice. Of
/// numbers that a 16-bit type holds any may be equal by rounding; there, zeros, whole rows or
/// columns, and symmetric matrices count.
bool has_repeated_entries(const ShapedNumbers& tensor);

/// Whether these are the shapes of a matrix and of its transpose.
bool are_transposed(std::span<const std::int64_t> a, std::span<const std::int64_t> b);

/// Entry e of the transpose of a matrix of this shape is entry result[e] of the matrix.
std::vector<std::int32_t> transposition(std::span<const std::int64_t> shape);

/// How one tensor is a copy of another.
enum class CopyKind {
  kNone,
  kSame,        ///< the same row by row, in whatever shape
  kTransposed,  ///< a matrix's columns as rows
  kReordered,   ///< the same numbers in some other order
};

/// Numbers that are all equal tell nothing: their tensors are no copies of each other.
CopyKind copy_kind(const ShapedNumbers& copy, const ShapedNumbers& original);

/// What numbers say of two tensors that are one: both of symmetric matrices, neither of others.
struct Sameness {
  bool as_is = false;          ///< the same row by row
  bool is_transposed = false;  ///< a matrix's columns as rows

  bool is_certain() const { return as_is != is_transposed; }
};

Sameness sameness(const ShapedNumbers& copy, const ShapedNumbers& original);

/// The same in a checkpoint; neither where it does not hold both, or only names are known.
Sameness sameness_in(const TensorShapes& checkpoint, const ModelTie& tie);

/// @throws InputError where tensors that are one differ in a checkpoint that holds both, other than
///         by the transposition that the tie has, or of a tie of the checkpoint alone by any.
void require_ties_hold(std::span<const ModelTie> ties, const TensorShapes& checkpoint);

}  // namespace hesscope
