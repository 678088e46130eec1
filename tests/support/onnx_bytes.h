// SPDX-License-Identifier: BSD-3-Clause
//
// ONNX models written byte by byte, valid and invalid ones. The field numbers are those of
// onnx.proto; nothing of the reader is used.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace hesscope::test::onnx {

using Names = std::vector<std::string>;
using Shape = std::vector<std::int64_t>;

enum Type : std::int64_t {
  kFloat = 1,
  kUInt8,
  kInt8,
  kUInt16,
  kInt16,
  kInt32,
  kInt64,
  kString,
  kBool,
  kFloat16,
  kDouble,
  kUInt32,
  kUInt64,
  kComplex64,
  kComplex128,
  kBFloat16,
};

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7F) | 0x80);
  return bytes + static_cast<char>(value);
}

inline std::string number(std::uint64_t field, std::int64_t value) {
  return varint(field << 3) + varint(static_cast<std::uint64_t>(value));
}

/// Text, bytes, a message or a packed list.
inline std::string part(std::uint64_t field, const std::string& bytes) {
  return varint(field << 3 | 2) + varint(bytes.size()) + bytes;
}

template <typename T>
std::string little(T value) {
  std::string bytes(sizeof(T), '\0');
  auto bits = std::uint64_t{0};
  if constexpr (sizeof(T) == 8) bits = std::bit_cast<std::uint64_t>(value);
  if constexpr (sizeof(T) == 4) bits = std::bit_cast<std::uint32_t>(value);
  if constexpr (sizeof(T) == 2) bits = std::bit_cast<std::uint16_t>(value);
  if constexpr (sizeof(T) == 1) bits = std::bit_cast<std::uint8_t>(value);
  for (char& byte : bytes) {
    byte = static_cast<char>(bits & 0xFF);
    bits >>= 8;
  }
  return bytes;
}

template <typename T>
std::string little(const std::vector<T>& values) {
  std::string bytes;
  for (const T value : values) bytes += little(value);
  return bytes;
}

inline std::string real(std::uint64_t field, float value) {
  return varint(field << 3 | 5) + little(value);
}

inline std::string packed(std::uint64_t field, const std::vector<std::int64_t>& values) {
  std::string bytes;
  for (const std::int64_t value : values) bytes += varint(static_cast<std::uint64_t>(value));
  return part(field, bytes);
}

// --- TensorProto ---------------------------------------------------------------------------------

/// @param elements  raw_data(), floats(), ... or external().
inline std::string tensor(const std::string& name,
                          std::int64_t type,
                          const Shape& shape,
                          const std::string& elements) {
  std::string bytes;
  for (const std::int64_t extent : shape) bytes += number(1, extent);
  return bytes + number(2, type) + elements + part(8, name);
}

inline std::string raw_data(const std::string& bytes) { return part(9, bytes); }

inline std::string floats(const std::vector<float>& values) { return part(4, little(values)); }

inline std::string int32s(const std::vector<std::int64_t>& values) { return packed(5, values); }

inline std::string int64s(const std::vector<std::int64_t>& values) { return packed(7, values); }

inline std::string doubles(const std::vector<double>& values) { return part(10, little(values)); }

inline std::string uint64s(const std::vector<std::int64_t>& values) { return packed(11, values); }

inline std::string entry(const std::string& key, const std::string& value) {
  return part(1, key) + part(2, value);
}

inline std::string external(const std::string& location,
                            const std::string& offset = "",
                            const std::string& length = "") {
  std::string bytes = part(13, entry("location", location));
  if (!offset.empty()) bytes += part(13, entry("offset", offset));
  if (!length.empty()) bytes += part(13, entry("length", length));
  return bytes + number(14, 1);
}

// --- AttributeProto, NodeProto -------------------------------------------------------------------

enum class AttributeType : std::int64_t {
  kFloat = 1,
  kInt,
  kString,
  kTensor,
  kGraph,
  kFloats,
  kInts,
  kStrings,
};

/// @param value  in the field for this type.
inline std::string attribute(const std::string& name,
                             AttributeType type,
                             const std::string& value) {
  return part(1, name) + value + number(20, static_cast<std::int64_t>(type));
}

inline std::string int_attribute(const std::string& name, std::int64_t value) {
  return attribute(name, AttributeType::kInt, number(3, value));
}

inline std::string ints_attribute(const std::string& name,
                                  const std::vector<std::int64_t>& values) {
  std::string bytes;
  for (const std::int64_t value : values) bytes += number(8, value);
  return attribute(name, AttributeType::kInts, bytes);
}

inline std::string text_attribute(const std::string& name, const std::string& value) {
  return attribute(name, AttributeType::kString, part(4, value));
}

inline std::string float_attribute(const std::string& name, float value) {
  return attribute(name, AttributeType::kFloat, real(2, value));
}

/// In a function: the value that the call gives under `of_function`.
inline std::string reference(const std::string& name, const std::string& of_function) {
  return part(1, name) + number(20, 2) + part(21, of_function);
}

struct NodeText {
  std::string op;
  Names inputs;
  Names outputs;
  std::vector<std::string> attributes = {};
  std::string name = {};
  std::string domain = {};
  std::string overload = {};
};

inline std::string node(const NodeText& text) {
  std::string bytes;
  for (const std::string& name : text.inputs) bytes += part(1, name);
  for (const std::string& name : text.outputs) bytes += part(2, name);
  if (!text.name.empty()) bytes += part(3, text.name);
  bytes += part(4, text.op);
  for (const std::string& each : text.attributes) bytes += part(5, each);
  if (!text.domain.empty()) bytes += part(7, text.domain);
  if (!text.overload.empty()) bytes += part(8, text.overload);
  return bytes;
}

// --- GraphProto, FunctionProto, ModelProto -------------------------------------------------------

/// An axis with a number, a symbol, or "" if nothing is known about it.
inline std::string axis(std::int64_t size) { return part(1, number(1, size)); }

inline std::string axis(const std::string& symbol) {
  return part(1, symbol.empty() ? "" : part(2, symbol));
}

/// @param axes  concatenated.
inline std::string value_info(const std::string& name, std::int64_t type, const std::string& axes) {
  return part(1, name) + part(2, part(1, number(1, type) + part(2, axes)));
}

struct FunctionText {
  std::string name;
  std::string domain;
  Names inputs;
  Names outputs;
  std::vector<std::string> nodes;
  std::vector<std::string> defaults = {};
  std::int64_t opset = 17;
  std::string overload = {};
};

inline std::string opset_import(const std::string& domain, std::int64_t version) {
  return (domain.empty() ? "" : part(1, domain)) + number(2, version);
}

inline std::string function(const FunctionText& text) {
  std::string bytes = part(1, text.name);
  for (const std::string& name : text.inputs) bytes += part(4, name);
  for (const std::string& name : text.outputs) bytes += part(5, name);
  for (const std::string& each : text.nodes) bytes += part(7, each);
  bytes += part(9, opset_import("", text.opset)) + part(10, text.domain);
  for (const std::string& each : text.defaults) bytes += part(11, each);
  if (!text.overload.empty()) bytes += part(13, text.overload);
  return bytes;
}

struct ModelText {
  std::vector<std::string> nodes = {};
  std::vector<std::string> initializers = {};
  std::vector<std::string> inputs = {};
  std::vector<std::string> outputs = {};
  std::vector<std::string> functions = {};
  std::int64_t opset = 17;
  std::int64_t ir_version = 8;
};

inline std::string graph(const ModelText& text) {
  std::string bytes;
  for (const std::string& each : text.nodes) bytes += part(1, each);
  bytes += part(2, "graph");
  for (const std::string& each : text.initializers) bytes += part(5, each);
  for (const std::string& each : text.inputs) bytes += part(11, each);
  for (const std::string& each : text.outputs) bytes += part(12, each);
  return bytes;
}

inline std::string model(const ModelText& text) {
  std::string bytes = number(1, text.ir_version) + part(2, "test") + part(7, graph(text));
  bytes += part(8, opset_import("", text.opset));
  for (const std::string& each : text.functions) bytes += part(25, each);
  return bytes;
}

// --- abbreviations -------------------------------------------------------------------------------

inline std::string unnamed(const std::string& op,
                           const Names& inputs,
                           const Names& outputs,
                           const std::vector<std::string>& attributes = {}) {
  return node({.op = op, .inputs = inputs, .outputs = outputs, .attributes = attributes});
}

/// A graph as an attribute.
inline std::string subgraph(const std::string& name,
                            const Names& inputs,
                            const std::vector<std::string>& nodes,
                            const Names& outputs,
                            const std::vector<std::string>& initializers = {}) {
  ModelText text{.nodes = nodes, .initializers = initializers};
  for (const std::string& input : inputs) text.inputs.push_back(value_info(input, kFloat, ""));
  for (const std::string& output : outputs) text.outputs.push_back(value_info(output, kFloat, ""));
  return attribute(name, AttributeType::kGraph, part(6, graph(text)));
}

}  // namespace hesscope::test::onnx
