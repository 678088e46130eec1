// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/message_mutator.h"

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <hesscope/onnx/internal/wire_format.h>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace hesscope::fuzz {
namespace {

using onnx::varint_at;
using onnx::WireType;

constexpr int kNoParent = -1;
constexpr int kMaxDepth = 12;

/// A field: its tag at `begin`, what it holds from `content` to `end`.
struct Field {
  std::size_t begin = 0;
  std::size_t content = 0;
  std::size_t end = 0;
  std::uint64_t tag = 0;
  int parent = kNoParent;   ///< the field that holds the message that this one is part of
  bool has_fields = false;  ///< whether it holds such a message

  WireType type() const { return static_cast<WireType>(tag & 7); }
};

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value > 0x7FU; value >>= 7) bytes += static_cast<char>((value & 0x7FU) | 0x80U);
  return bytes + static_cast<char>(value);
}

/// Adds the fields of the message in bytes [begin, end), and of the messages in it; false, and
/// none, where it is not made of fields. Whether bytes are a message nobody says: they are if they
/// can be.
bool add_fields(std::string_view bytes,
                std::size_t begin,
                std::size_t end,
                int parent,
                int depth,
                std::vector<Field>& fields) {
  const std::size_t before = fields.size();
  const auto fails = [&] {
    fields.resize(before);
    return false;
  };
  const std::string_view message = bytes.substr(0, end);
  for (std::uint64_t position = begin; position < end;) {
    Field field{.begin = position, .parent = parent};
    const auto tag = varint_at(message, position);
    if (!tag || *tag >> 3 == 0 || *tag >> 9 != 0) return fails();
    field.tag = *tag;
    field.content = position;
    std::uint64_t length = 0;
    switch (field.type()) {
      case WireType::kVarint:
        if (!varint_at(message, position)) return fails();
        length = position - field.content;
        break;
      case WireType::kBytes: {
        const auto stated = varint_at(message, position);
        if (!stated) return fails();
        field.content = position;
        length = *stated;
        break;
      }
      case WireType::k64Bits:
        length = 8;
        break;
      case WireType::k32Bits:
        length = 4;
        break;
      default:
        return fails();
    }
    if (length > end - field.content) return fails();
    field.end = position = field.content + static_cast<std::size_t>(length);
    fields.push_back(field);
    if (field.type() == WireType::kBytes && length > 1 && depth < kMaxDepth) {
      const std::size_t place = fields.size() - 1;
      fields[place].has_fields =
          add_fields(bytes, field.content, field.end, static_cast<int>(place), depth + 1, fields);
    }
  }
  return true;
}

std::string serialised(std::uint64_t tag, std::string_view content) {
  const bool has_length = static_cast<WireType>(tag & 7) == WireType::kBytes;
  return varint(tag) + (has_length ? varint(content.size()) : std::string()) + std::string(content);
}

/// The whole with bytes [begin, end) of the message that `parent` holds replaced, and lengths put
/// right.
std::string replaced(std::string_view bytes,
                     const std::vector<Field>& fields,
                     int parent,
                     std::size_t begin,
                     std::size_t end,
                     std::string with) {
  while (parent != kNoParent) {
    const Field& around = fields[static_cast<std::size_t>(parent)];
    std::string content(bytes.substr(around.content, begin - around.content));
    content += with;
    content += bytes.substr(end, around.end - end);
    with = serialised(around.tag, content);
    begin = around.begin;
    end = around.end;
    parent = around.parent;
  }
  return std::string(bytes.substr(0, begin)) + with + std::string(bytes.substr(end));
}

std::string mutated_message(std::string bytes, std::size_t max_size) {
  const std::size_t size = bytes.size();
  bytes.resize(std::max(size, max_size));
  if (bytes.empty()) return bytes;
  bytes.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(bytes.data()), size, bytes.size()));
  return bytes;
}

/// Mostly numbers that sizes, axes, types and counts have.
std::string another_varint(std::string_view content, std::minstd_rand& random) {
  constexpr std::array<std::int64_t, 12> kSpecial = {-1,
                                                     -2,
                                                     -3,
                                                     100,
                                                     1000,
                                                     65'536,
                                                     1 << 30,
                                                     std::int64_t{1} << 31,
                                                     std::int64_t{1} << 32,
                                                     std::int64_t{1} << 40,
                                                     INT64_MAX,
                                                     INT64_MIN};
  const auto choice = random() % 32;
  if (choice < 16) return varint(choice);
  if (choice < 28) return varint(static_cast<std::uint64_t>(kSpecial[choice - 16]));
  std::uint64_t position = 0;
  const std::uint64_t value = varint_at(content, position).value_or(0);
  return varint(choice < 30 ? value + 1 : value - 1);
}

std::string another_content(const Field& field,
                            std::string_view content,
                            std::size_t max_growth,
                            std::minstd_rand& random) {
  if (field.type() == WireType::kVarint) return another_varint(content, random);
  std::string changed = mutated_message(
      std::string(content), content.size() + (field.type() == WireType::kBytes ? max_growth : 0));
  if (field.type() != WireType::kBytes) changed.resize(content.size());
  return changed;
}

}  // namespace

std::size_t mutate_message(std::uint8_t* data,
                           std::size_t size,
                           std::size_t max_size,
                           unsigned int seed) {
  std::minstd_rand random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  std::vector<Field> fields;
  const auto choice = below(16);
  if (choice == 0 || !add_fields(bytes, 0, size, kNoParent, 0, fields) || fields.empty()) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  const auto content_of = [&](const Field& field) {
    return std::string_view(bytes).substr(field.content, field.end - field.content);
  };
  const auto whole = [&](const Field& field) {
    return bytes.substr(field.begin, field.end - field.begin);
  };
  const auto draw = [&](const auto& is_fit) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (is_fit(fields[i])) found.push_back(i);
    }
    return fields[found[below(found.size())]];
  };
  // Fields of the outermost message are too much at once, where there are others.
  const bool has_inner =
      std::ranges::any_of(fields, [](const Field& each) { return each.parent != kNoParent; });
  const Field field =
      draw([&](const Field& each) { return !has_inner || each.parent != kNoParent; });
  const Field like = draw([&](const Field& each) { return each.tag == field.tag; });
  const Field leaf = draw([](const Field& each) { return !each.has_fields; });
  const Field& changed = choice <= 8 ? field : leaf;
  std::string with;
  if (choice == 1) {
    // It goes.
  } else if (choice == 2) {
    with = whole(field) + whole(field);
  } else if (choice == 3) {
    with = whole(field) + whole(like);
  } else if (choice == 4) {
    with = whole(like) + whole(field);
  } else if (choice <= 8) {
    with = whole(like);
  } else {
    const std::size_t max_growth = std::min<std::size_t>(max_size - std::min(size, max_size), 32);
    with = serialised(leaf.tag, another_content(leaf, content_of(leaf), max_growth, random));
  }
  with = replaced(bytes, fields, changed.parent, changed.begin, changed.end, with);
  if (with.size() > max_size) return size;
  std::ranges::copy(with, data);
  return with.size();
}

}  // namespace hesscope::fuzz
