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

/// The element type of a code such as "f8", if it is supported.
std::optional<ElementType> npy_type(std::string_view code);

/// An unsupported dtype.
struct OddNpyType {
  std::string name;         ///< "'<c16' (complex numbers)", for messages
  std::string_view advice;  ///< what its owner can do
  bool is_harmless = true;  ///< whether the file's other arrays may be read: true for NumPy's
                            ///< own types except Python objects
  bool is_text = false;
  std::optional<std::uint64_t> element_bytes = std::nullopt;  ///< if its name states them
};

/// @param descr  without an npy_type().
OddNpyType odd_npy_type(std::string_view descr);

/// The structured dtype at the beginning of `text`: lists and tuples of texts and whole numbers.
/// @param length  set to the length of its text.
OddNpyType structured_npy_type(std::string_view text, std::size_t& length);

}  // namespace hesscope::io
