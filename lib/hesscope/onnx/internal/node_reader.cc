// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <charconv>
#include <cstdint>
#include <memory>
#include <set>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/onnx/internal/node_reader.h>

namespace hesscope::onnx {
namespace {

using hesscope_onnx::AttributeProto;

/// The shortest decimal that rounds to these 32 bits, as a double: what the file's author wrote.
double as_decimal(float stored) {
  constexpr std::size_t kLongest = 32;  // "-1.17549435e-38", "-nan"
  std::array<char, kLongest> text;
  const std::to_chars_result written =
      std::to_chars(text.data(), text.data() + text.size(), stored);
  double value = 0.0;
  const std::from_chars_result read = std::from_chars(text.data(), written.ptr, value);
  return read.ec == std::errc() ? value : static_cast<double>(stored);
}

/// The type; if the file does not state it, that of the field that is present.
AttributeProto::AttributeType type_of(const std::string& where, const AttributeProto& stored) {
  if (stored.type() != AttributeProto::UNDEFINED) return stored.type();
  if (stored.has_f()) return AttributeProto::FLOAT;
  if (stored.has_i()) return AttributeProto::INT;
  if (stored.has_s()) return AttributeProto::STRING;
  if (stored.has_t()) return AttributeProto::TENSOR;
  if (stored.has_g()) return AttributeProto::GRAPH;
  if (stored.floats_size() != 0) return AttributeProto::FLOATS;
  if (stored.ints_size() != 0) return AttributeProto::INTS;
  if (stored.strings_size() != 0) return AttributeProto::STRINGS;
  throw InputError(
      fmt::format("{}: attribute '{}' has neither a type nor a value", where, stored.name()));
}

}  // namespace

const std::string& checked_name(const std::string& where,
                                std::string_view what,
                                const std::string& name) {
  if (!is_printable_utf8(name)) {
    throw InputError(fmt::format(
        "{}: {}, '{}', is not UTF-8 text without control characters", where, what, escaped(name)));
  }
  return name;
}

std::string domain_of(const std::string& stored) { return stored == "ai.onnx" ? "" : stored; }

std::string node_text(const std::string& where, const Node& node) {
  return fmt::format("{}: node '{}' ({})", where, node.name, node.op);
}

Attribute read_attribute(const std::string& where,
                         const AttributeProto& stored,
                         TensorReader& tensors) {
  Attribute attribute;
  attribute.name = checked_name(where, "the name of an attribute", stored.name());
  switch (type_of(where, stored)) {
    case AttributeProto::FLOAT:
      attribute.value = as_decimal(stored.f());
      break;
    case AttributeProto::INT:
      attribute.value = std::int64_t{stored.i()};
      break;
    case AttributeProto::STRING:
      attribute.value = stored.s();
      break;
    case AttributeProto::TENSOR:
      attribute.value = std::make_shared<const Tensor>(
          tensors.read(fmt::format("{}: attribute '{}'", where, attribute.name), stored.t()));
      break;
    case AttributeProto::FLOATS: {
      std::vector<double> values;
      values.reserve(static_cast<std::size_t>(stored.floats_size()));
      for (const float value : stored.floats()) values.push_back(as_decimal(value));
      attribute.value = std::move(values);
      break;
    }
    case AttributeProto::INTS:
      attribute.value = std::vector<std::int64_t>(stored.ints().begin(), stored.ints().end());
      break;
    case AttributeProto::STRINGS:
      attribute.value = std::vector<std::string>(stored.strings().begin(), stored.strings().end());
      break;
    default:
      attribute.value = Attribute::Graph{};
  }
  return attribute;
}

FileNode read_node(const std::string& where,
                   const hesscope_onnx::NodeProto& stored,
                   TensorReader& tensors) {
  FileNode read;
  read.node.op = checked_name(where, "the operator of a node", stored.op_type());
  read.node.name = checked_name(where, "the name of a node", stored.name());
  const std::string here = node_text(where, read.node);
  read.node.domain = domain_of(checked_name(here, "its domain", stored.domain()));
  read.overload = stored.overload();
  for (const std::string& name : stored.input()) {
    read.node.inputs.push_back(checked_name(here, "the name of an input", name));
  }
  for (const std::string& name : stored.output()) {
    read.node.outputs.push_back(checked_name(here, "the name of an output", name));
  }
  std::set<std::string_view> names;
  for (const AttributeProto& attribute : stored.attribute()) {
    if (!names.insert(attribute.name()).second) {
      throw InputError(
          fmt::format("{}: attribute '{}' occurs twice", here, escaped(attribute.name())));
    }
    if (attribute.ref_attr_name().empty()) {
      read.node.attributes.push_back(read_attribute(here, attribute, tensors));
    } else {
      read.references.push_back({checked_name(here, "the name of an attribute", attribute.name()),
                                 attribute.ref_attr_name()});
    }
  }
  return read;
}

}  // namespace hesscope::onnx
