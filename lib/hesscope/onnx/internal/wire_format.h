// SPDX-License-Identifier: BSD-3-Clause
//
// The bytes of a serialised ONNX model as fields, before anything is made of them.
//
// protobuf takes about a hundred bytes of memory for a message that two bytes of a file describe,
// and says of damage only that it is there. So a file is walked first: that tells where it is
// damaged, and refuses one that would be far larger in memory.
// Format: https://protobuf.dev/programming-guides/encoding/
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hesscope::io {
class InputFile;
}

namespace hesscope::onnx {

enum class WireType : std::uint8_t { kVarint = 0, k64Bits = 1, kBytes = 2, k32Bits = 5 };

/// A number of 7 bits a byte, low ones first, behind which `position` then is. Nothing where it is
/// cut off or beyond 64 bits.
std::optional<std::uint64_t> varint_at(std::string_view bytes, std::uint64_t& position);

/// Walks the whole of a model.
/// @throws InputError "<where>: ..." with the byte, where a field is cut off or none at all; for
///         more fields than any model within the limits has, and for messages nested too deep.
void check_wire_format(const std::string& where, std::string_view model);

/// Whether the file begins with a version, followed by fields of a model up to its graph or to the
/// end of what is there.
bool begins_like_a_model(const io::InputFile& file);

}  // namespace hesscope::onnx
