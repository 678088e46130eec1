// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/onnx/internal/wire_format.h>
#include <hesscope/storage/input_file.h>

namespace hesscope::onnx {
namespace {

/// A field's number and type, and the position of its content.
struct WireField {
  std::uint64_t number = 0;
  WireType type = WireType::kVarint;
  std::uint64_t value = 0;   ///< of kVarint
  std::uint64_t begin = 0;   ///< of the content
  std::uint64_t length = 0;  ///< of the content; may exceed the available bytes
};

/// The field that begins at `position`; nothing if there is none.
std::optional<WireField> field_at(std::string_view bytes, std::uint64_t position) {
  const std::optional<std::uint64_t> tag = varint_at(bytes, position);
  if (!tag || *tag >> 3 == 0 || *tag >> 32 != 0) return std::nullopt;
  WireField field{.number = *tag >> 3, .type = static_cast<WireType>(*tag & 7), .begin = position};
  switch (field.type) {
    case WireType::kVarint: {
      const std::optional<std::uint64_t> value = varint_at(bytes, position);
      if (!value) return std::nullopt;
      field.value = *value;
      field.length = position - field.begin;
      return field;
    }
    case WireType::kBytes: {
      const std::optional<std::uint64_t> length = varint_at(bytes, position);
      if (!length) return std::nullopt;
      field.begin = position;
      field.length = *length;
      return field;
    }
    case WireType::k64Bits:
      field.length = 8;
      return field;
    case WireType::k32Bits:
      field.length = 4;
      return field;
  }
  return std::nullopt;  // groups, which no version of ONNX uses
}

/// Messages that contain messages. kPlain is for all others, and for text and numbers.
enum class Message : std::uint8_t {
  kPlain,
  kModel,
  kTraining,
  kFunction,
  kGraph,
  kNode,
  kAttribute,
  kTensor,
  kSparseTensor,
  kValueInfo,
  kAnnotation,
  kType,
  kTensorType,
  kElementType,  ///< sequences and optional values
  kMapType,
  kShape,
};

struct Child {
  Message in;
  std::uint64_t field;
  Message message;
};

/// From onnx.proto: fields that are messages with messages in them.
constexpr std::array kChildren = std::to_array<Child>({
    {Message::kModel, 7, Message::kGraph},
    {Message::kModel, 20, Message::kTraining},
    {Message::kModel, 25, Message::kFunction},
    {Message::kTraining, 1, Message::kGraph},
    {Message::kTraining, 2, Message::kGraph},
    {Message::kFunction, 7, Message::kNode},
    {Message::kFunction, 11, Message::kAttribute},
    {Message::kGraph, 1, Message::kNode},
    {Message::kGraph, 5, Message::kTensor},
    {Message::kGraph, 11, Message::kValueInfo},
    {Message::kGraph, 12, Message::kValueInfo},
    {Message::kGraph, 13, Message::kValueInfo},
    {Message::kGraph, 14, Message::kAnnotation},
    {Message::kGraph, 15, Message::kSparseTensor},
    {Message::kNode, 5, Message::kAttribute},
    {Message::kAttribute, 5, Message::kTensor},
    {Message::kAttribute, 6, Message::kGraph},
    {Message::kAttribute, 10, Message::kTensor},
    {Message::kAttribute, 11, Message::kGraph},
    {Message::kAttribute, 14, Message::kType},
    {Message::kAttribute, 15, Message::kType},
    {Message::kAttribute, 22, Message::kSparseTensor},
    {Message::kAttribute, 23, Message::kSparseTensor},
    {Message::kSparseTensor, 1, Message::kTensor},
    {Message::kSparseTensor, 2, Message::kTensor},
    {Message::kValueInfo, 2, Message::kType},
    {Message::kType, 1, Message::kTensorType},
    {Message::kType, 4, Message::kElementType},
    {Message::kType, 5, Message::kMapType},
    {Message::kType, 8, Message::kTensorType},
    {Message::kType, 9, Message::kElementType},
    {Message::kTensorType, 2, Message::kShape},
    {Message::kElementType, 1, Message::kType},
    {Message::kMapType, 2, Message::kType},
});

Message child_of(Message message, std::uint64_t field) {
  const auto* const found = std::ranges::find_if(
      kChildren, [&](const Child& child) { return child.in == message && child.field == field; });
  return found == kChildren.end() ? Message::kPlain : found->message;
}

class WireWalk {
 public:
  WireWalk(const std::string& where, std::string_view bytes) : where_(where), bytes_(bytes) {}

  /// Scans the message from byte `begin` to byte `end`.
  void walk(Message message, std::uint64_t begin, std::uint64_t end, int depth) {
    constexpr int kMaxDepth = 100;  // protobuf's
    if (depth > kMaxDepth)
      refuse(begin, fmt::format("messages are nested more than {} deep", kMaxDepth));
    for (std::uint64_t position = begin; position < end;) {
      const std::optional<WireField> field = field_at(bytes_.substr(0, end), position);
      if (!field) refuse(position, "no field of an ONNX model begins there");
      if (field->length > end - field->begin) {
        refuse(position,
               fmt::format("a field of {} bytes begins there, of which {} are there",
                           field->length,
                           end - field->begin));
      }
      if (field->type == WireType::kBytes) {
        count(position);
        const Message child = child_of(message, field->number);
        if (child != Message::kPlain)
          walk(child, field->begin, field->begin + field->length, depth + 1);
      }
      position = field->begin + field->length;
    }
  }

 private:
  /// A model with 100,000 nodes has about 2 million. They take up to 160 bytes of memory each.
  void count(std::uint64_t position) {
    constexpr std::uint64_t kMaxParts = 4'000'000;
    if (++num_parts_ > kMaxParts) {
      refuse(position, fmt::format("it has more than {} names, nodes, attributes, ...", kMaxParts));
    }
  }

  [[noreturn]] void refuse(std::uint64_t byte, const std::string& what) const {
    throw InputError(
        fmt::format("{}: damaged or no ONNX model: {} (at byte {})", where_, what, byte));
  }

  const std::string& where_;
  std::string_view bytes_;
  std::uint64_t num_parts_ = 0;
};

/// A field of a model: its number, and its only valid type.
bool is_model_field(const WireField& field) {
  switch (field.number) {
    case 1:  // ir_version
    case 5:  // model_version
      return field.type == WireType::kVarint;
    case 2:   // producer_name
    case 3:   // producer_version
    case 4:   // domain
    case 6:   // doc_string
    case 7:   // graph
    case 8:   // opset_import
    case 14:  // metadata_props
    case 20:  // training_info
    case 25:  // functions
      return field.type == WireType::kBytes;
    default:
      return false;
  }
}

}  // namespace

std::optional<std::uint64_t> varint_at(std::string_view bytes, std::uint64_t& position) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && position < bytes.size(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[position++]);
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if ((byte & 0x80U) == 0) return value;
  }
  return std::nullopt;
}

void check_wire_format(const std::string& where, std::string_view model) {
  WireWalk(where, model).walk(Message::kModel, 0, model.size(), 0);
}

bool begins_like_a_model(const io::InputFile& file) {
  constexpr std::uint64_t kMaxVersion = 1000;
  constexpr std::size_t kLongestHead = 20;  // tag and number, of 10 bytes at most
  constexpr int kMaxFields = 100;
  constexpr std::uint64_t kGraph = 7;
  std::uint64_t position = 0;
  for (int i = 0; i < kMaxFields; ++i) {
    const std::optional<WireField> field = field_at(file.text_at(position, kLongestHead), 0);
    if (!field || !is_model_field(*field)) return false;
    const bool is_first_as_expected =
        field->number == 1 && field->value > 0 && field->value < kMaxVersion;
    if (i == 0 && !is_first_as_expected) return false;
    if (field->number == kGraph) return true;
    position += field->begin;
    if (field->length >= file.size() - position) return i > 0;  // the end, or truncated
    position += field->length;
  }
  return false;
}

}  // namespace hesscope::onnx
