// SPDX-License-Identifier: BSD-3-Clause
//
// The functions are those of numpy/_core/src/multiarray (methods.c, scalartypes.c.src and
// descriptor.c, the state of a dtype), NumPy 1.x and 2.x.
#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <hesscope/storage/internal/byte_order.h>
#include <hesscope/tensors/internal/elements.h>
#include <hesscope/tensors/internal/torch/numpy_scalars.h>

namespace hesscope::io {
namespace {

constexpr std::size_t kMaxBytes = 8;

// The called global and the tuple of its arguments.
struct Call {
  PickleIndex callable = kNoNode;
  std::vector<PickleIndex> arguments = {};
};

Call call_of(const PickleDocument& document, PickleIndex node) {
  if (document.kind(node) != PickleKind::kObject) return {};
  const PickledObject object = document.object(node);
  constexpr std::size_t kMaxArguments = 3;
  if (document.kind(object.callable) != PickleKind::kGlobal ||
      document.kind(object.arguments) != PickleKind::kTuple ||
      document.num_elements(object.arguments) > kMaxArguments) {
    return {};
  }
  return {object.callable, document.elements(object.arguments)};
}

bool is_text(const PickleDocument& document, PickleIndex node, std::string_view text) {
  return document.kind(node) == PickleKind::kText && document.text(node) == text;
}

// Bytes as they are or, in protocol 2, a text whose characters stand for one byte each.
std::optional<std::string> bytes_of(const PickleDocument& document, PickleIndex node) {
  if (document.kind(node) == PickleKind::kBytes) {
    const std::string_view bytes = document.text(node);
    return bytes.size() > kMaxBytes ? std::nullopt : std::optional<std::string>(bytes);
  }
  const Call call = call_of(document, node);
  if (call.arguments.size() != 2 || !document.is_global(call.callable, "_codecs", "encode") ||
      document.kind(call.arguments[0]) != PickleKind::kText ||
      !is_text(document, call.arguments[1], "latin1")) {
    return std::nullopt;
  }
  const std::string_view text = document.text(call.arguments[0]);
  if (text.size() > 2 * kMaxBytes) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      bytes += text[i];
      continue;
    }
    // U+0080 to U+00FF: 110000ab 10cdefgh stands for abcdefgh.
    if ((byte != 0xC2 && byte != 0xC3) || i + 1 == text.size()) return std::nullopt;
    const auto next = static_cast<unsigned char>(text[++i]);
    if ((next & 0xC0U) != 0x80) return std::nullopt;
    bytes += static_cast<char>(static_cast<unsigned char>(((byte & 3U) << 6U) | (next & 0x3FU)));
  }
  return bytes;
}

struct NumpyType {
  ElementType type;
  ByteOrder order = ByteOrder::kLittle;
};

// numpy.dtype("f8", False, True) with the state (3, "<", None, None, None, -1, -1, 0).
std::optional<NumpyType> type_of(const PickleDocument& document, PickleIndex node) {
  struct Name {
    std::string_view name;
    ElementType type;
  };

  constexpr std::array<Name, 12> kNames = {{{"f8", ElementType::kFloat64},
                                            {"f4", ElementType::kFloat32},
                                            {"f2", ElementType::kFloat16},
                                            {"i8", ElementType::kInt64},
                                            {"i4", ElementType::kInt32},
                                            {"i2", ElementType::kInt16},
                                            {"i1", ElementType::kInt8},
                                            {"u8", ElementType::kUInt64},
                                            {"u4", ElementType::kUInt32},
                                            {"u2", ElementType::kUInt16},
                                            {"u1", ElementType::kUInt8},
                                            {"b1", ElementType::kBool}}};
  const Call call = call_of(document, node);
  if (call.arguments.size() != 3 || !document.is_global(call.callable, "numpy", "dtype")) {
    return std::nullopt;
  }
  const auto found = std::ranges::find_if(
      kNames, [&](const Name& each) { return is_text(document, call.arguments[0], each.name); });
  const PickleIndex state = document.object(node).state;
  if (found == kNames.end() || state == kNoNode || document.kind(state) != PickleKind::kTuple ||
      document.num_elements(state) != 8) {
    return std::nullopt;
  }
  const std::vector<PickleIndex> fields = document.elements(state);
  const bool has_parts = !std::all_of(
      fields.begin() + 2, fields.begin() + 5, [&](PickleIndex field) {  // fields of a struct
        return document.kind(field) == PickleKind::kNone;
      });
  if (has_parts) return std::nullopt;
  if (is_text(document, fields[1], ">")) return NumpyType{found->type, ByteOrder::kBig};
  if (is_text(document, fields[1], "<") || is_text(document, fields[1], "|")) {
    return NumpyType{found->type};
  }
  return std::nullopt;
}

template <typename T>
T loaded(const std::string& bytes, ByteOrder order) {
  const auto* const start = reinterpret_cast<const std::byte*>(bytes.data());
  return order == ByteOrder::kLittle ? load<ByteOrder::kLittle, T>(start)
                                     : load<ByteOrder::kBig, T>(start);
}

}  // namespace

std::optional<PickledNumber> numpy_scalar(const PickleDocument& document, PickleIndex node) {
  const Call call = call_of(document, node);
  if (call.arguments.size() != 2 ||
      (!document.is_global(call.callable, "numpy.core.multiarray", "scalar") &&
       !document.is_global(call.callable, "numpy._core.multiarray", "scalar"))) {
    return std::nullopt;
  }
  const std::optional<NumpyType> type = type_of(document, call.arguments[0]);
  const std::optional<std::string> bytes = bytes_of(document, call.arguments[1]);
  if (!type || !bytes || bytes->size() != size_of(type->type)) return std::nullopt;
  switch (type->type) {
    case ElementType::kBool: {
      if (static_cast<unsigned char>(bytes->front()) > 1) return std::nullopt;
      return bytes->front() != 0;
    }
    case ElementType::kInt64:
      return loaded<std::int64_t>(*bytes, type->order);
    case ElementType::kInt32:
      return std::int64_t{loaded<std::int32_t>(*bytes, type->order)};
    case ElementType::kInt16:
      return std::int64_t{loaded<std::int16_t>(*bytes, type->order)};
    case ElementType::kInt8:
      return std::int64_t{loaded<std::int8_t>(*bytes, type->order)};
    case ElementType::kUInt64: {
      const auto value = loaded<std::uint64_t>(*bytes, type->order);
      if (value > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
        return static_cast<double>(value);
      }
      return static_cast<std::int64_t>(value);
    }
    case ElementType::kUInt32:
      return std::int64_t{loaded<std::uint32_t>(*bytes, type->order)};
    case ElementType::kUInt16:
      return std::int64_t{loaded<std::uint16_t>(*bytes, type->order)};
    case ElementType::kUInt8:
      return std::int64_t{loaded<std::uint8_t>(*bytes, type->order)};
    default: {
      double value = 0;
      decode_elements("a number of NumPy",
                      type->type,
                      type->order,
                      std::as_bytes(std::span(*bytes)),
                      {&value, 1},
                      0);
      return value;
    }
  }
}

}  // namespace hesscope::io
