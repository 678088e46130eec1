// SPDX-License-Identifier: BSD-3-Clause
//
// Detection of tensors that hold the same numbers as another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <hesscope/models/model.h>
#include <hesscope/models/tensor_shapes.h>

namespace hesscope {

/// The shape and the numbers of a tensor, row by row.
struct ShapedNumbers {
  std::span<const std::int64_t> shape;
  std::span<const double> entries;
};

/// Whether they are equal, where NaN equals NaN.
bool are_same(std::span<const double> a, std::span<const double> b);

/// The same numbers in ascending order; NaN comes first or last, depending on its sign.
std::vector<double> sorted_entries(std::span<const double> entries);

/// Whether all entries are the same number; true if there are none.
bool are_all_equal(std::span<const double> entries);

/// Whether a number has at most 11 binary digits, as numbers stored as float16 or bfloat16 have.
bool is_of_few_digits(double x);

/// Whether a quarter of the entries or more, but not all, equal others as a result of computation:
/// the zeros of a mask, the entries of W + W^T, or repeated rows. Numbers that fit a 16-bit type
/// may be equal by rounding; for those, only zeros, whole rows or columns, and symmetric matrices
/// count.
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

/// Tensors whose numbers are all equal never count as copies of each other.
CopyKind copy_kind(const ShapedNumbers& copy, const ShapedNumbers& original);

/// In which way two tensors hold the same numbers: both ways for symmetric matrices, neither for
/// different numbers.
struct Sameness {
  bool as_is = false;          ///< the same row by row
  bool is_transposed = false;  ///< a matrix's columns as rows

  bool is_certain() const { return as_is != is_transposed; }
};

Sameness sameness(const ShapedNumbers& copy, const ShapedNumbers& original);

/// The same for two tensors of a checkpoint; neither if it does not hold both, or only names are
/// known.
Sameness sameness_in(const TensorShapes& checkpoint, const ModelTie& tie);

/// @throws InputError if a checkpoint holds two tied tensors that differ by more than the
///         transposition stated in the tie, or, if the tie states nothing, by more than any
///         transposition.
void require_ties_hold(std::span<const ModelTie> ties, const TensorShapes& checkpoint);

}  // namespace hesscope
