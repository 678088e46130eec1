// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <utility>

#include <hesscope/tensors/internal/safetensors/safetensors_types.h>

namespace hesscope::io {
namespace {

using Named = std::pair<std::string_view, ElementType>;

constexpr std::array<Named, 13> kTypeNames = {{
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

struct OddType {
  std::string_view name;
  std::uint64_t bits;
};

constexpr std::array<OddType, 9> kOddTypes = {{
    {"C64", 64},
    {"F8_E4M3", 8},
    {"F8_E4M3FNUZ", 8},
    {"F8_E5M2", 8},
    {"F8_E5M2FNUZ", 8},
    {"F8_E8M0", 8},
    {"F6_E2M3", 6},
    {"F6_E3M2", 6},
    {"F4", 4},
}};

}  // namespace

std::optional<ElementType> safetensors_type(std::string_view name) {
  const auto found = std::ranges::find(kTypeNames, name, &Named::first);
  return found == kTypeNames.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::uint64_t> odd_safetensors_bits(std::string_view name) {
  const auto found = std::ranges::find(kOddTypes, name, &OddType::name);
  return found == kOddTypes.end() ? std::nullopt : std::optional(found->bits);
}

std::string_view safetensors_name(ElementType type) {
  return std::ranges::find(kTypeNames, type, &Named::second)->first;
}

std::vector<std::string_view> safetensors_type_names() {
  std::vector<std::string_view> names;
  for (const Named& each : kTypeNames) names.push_back(each.first);
  return names;
}

}  // namespace hesscope::io
