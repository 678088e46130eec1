// SPDX-License-Identifier: BSD-3-Clause
//
// NumPy's names of element types ("descr" in the header of a .npy).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <hesscope/tensors/tensor_file.h>

namespace hesscope::io {

/// The element type of a code such as "f8", if it is one that is read.
std::optional<ElementType> npy_type(std::string_view code);

/// A dtype that is not read.
struct OddNpyType {
  std::string name;         ///< "'<c16' (complex numbers)", for messages
  std::string_view advice;  ///< what its owner can do
  bool is_harmless = true;  ///< whether the arrays beside it may be read: one of NumPy's own types,
                            ///< but no Python objects
  bool is_text = false;
  std::optional<std::uint64_t> element_bytes = std::nullopt;  ///< where its name says them
};

/// @param descr  of no npy_type().
OddNpyType odd_npy_type(std::string_view descr);

/// The structured dtype that `text` begins with: lists and tuples of texts and whole numbers.
/// @param length  set to that of its text.
OddNpyType structured_npy_type(std::string_view text, std::size_t& length);

}  // namespace hesscope::io
