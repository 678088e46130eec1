// SPDX-License-Identifier: BSD-3-Clause
//
// The bytes of a serialised ONNX model as fields, before they are interpreted.
//
// protobuf takes about a hundred bytes of memory for a message that two bytes of a file describe,
// and reports damage without its position. So a file is scanned first, to find where it is damaged,
// and to refuse files that would be far larger in memory.
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

/// A number stored with 7 bits per byte, low ones first; `position` is moved behind it. Nothing if
/// it is cut off or exceeds 64 bits.
std::optional<std::uint64_t> varint_at(std::string_view bytes, std::uint64_t& position);

/// Scans a whole model.
/// @throws InputError "<where>: ..." with the byte, if a field is cut off or invalid; for more
///         fields than any model within the limits has, and for messages nested too deep.
void check_wire_format(const std::string& where, std::string_view model);

/// Whether the file begins with a version, followed by fields of a model up to its graph or to the
/// end of the available bytes.
bool begins_like_a_model(const io::InputFile& file);

}  // namespace hesscope::onnx
