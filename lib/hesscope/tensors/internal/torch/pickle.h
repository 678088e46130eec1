// SPDX-License-Identifier: BSD-3-Clause
//
// Python pickles, read without Python.
#pragma once

#include <cstddef>
#include <string>

#include <hesscope/storage/input_file.h>
#include <hesscope/tensors/internal/torch/pickle_nodes.h>

namespace hesscope::io {

/// Limits that are checked before anything is allocated.
struct PickleLimits {
  std::size_t max_bytes = 64 << 20;   ///< of the pickle
  std::size_t max_nodes = 4'000'000;  ///< and elements of containers, stack, marks and memo: each
  std::size_t max_integer_bytes = 1024;
};

/// The graph that a pickle of protocol 2 to 5 describes.
///
/// Nothing is ever looked up, called or imported: classes and functions are names, and what they
/// would create are kObject nodes. Only `collections.OrderedDict()` and sets are interpreted.
/// Attributes set on an OrderedDict (a state_dict's `_metadata`) are dropped, as are keyword
/// arguments of constructors.
///
/// Refused: what Python's pickle module would not write (other opcodes, elements put into something
/// that is not a container or object, bytes after the end), and buffers outside the pickle.
/// @param stream  at the beginning of the pickle; is read to its end and finished.
/// @throws InputError "<stream.where()> ...", with the byte offset within the stream.
/// @cost   one pass, no recursion; at most 350 MB for any pickle within the limits.
PickleDocument read_pickle(ByteStream& stream, const PickleLimits& limits = {});

}  // namespace hesscope::io
