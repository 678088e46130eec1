// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <utility>

#include <hesscope/io/safetensors_types.h>

namespace hesscope::io {
namespace {

using Named = std::pair<std::string_view, ElementType>;

constexpr std::array<Named, 13> kNames = {{
    {"F64", ElementType::kFloat64},
    {"F32", ElementType::kFloat32},
    {"F16", ElementType::kFloat16},
    {"BF16", ElementType::kBFloat16},
    {"I64", ElementType::kInt64},
    {"I32", ElementType::kInt32},
    {"I16", ElementType::kInt16},
    {"I8", ElementType::kInt8},
    {"U64", ElementType::kUInt64},
    {"U32", ElementType::kUInt32},
    {"U16", ElementType::kUInt16},
    {"U8", ElementType::kUInt8},
    {"BOOL", ElementType::kBool},
}};

}  // namespace

std::optional<ElementType> safetensors_type(std::string_view name) {
  const auto found = std::ranges::find(kNames, name, &Named::first);
  return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

std::string_view safetensors_name(ElementType type) {
  return std::ranges::find(kNames, type, &Named::second)->first;
}

std::vector<std::string_view> safetensors_type_names() {
  std::vector<std::string_view> names;
  for (const Named& each : kNames) names.push_back(each.first);
  return names;
}

}  // namespace hesscope::io
