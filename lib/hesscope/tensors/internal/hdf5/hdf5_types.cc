// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>

#include <hesscope/hdf5/internal/hdf5_handle.h>
#include <hesscope/tensors/internal/hdf5/hdf5_types.h>

namespace hesscope::io {
namespace {

/// A 16-bit float: one sign bit, then the exponent, the mantissa in the rest.
Hid float16_type(std::size_t exponent_bits) {
  const std::size_t mantissa_bits = 15 - exponent_bits;
  Hid type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
  H5Tset_fields(type.get(), 15, mantissa_bits, exponent_bits, 0, mantissa_bits);
  H5Tset_size(type.get(), 2);
  H5Tset_ebias(type.get(), (std::size_t{1} << (exponent_bits - 1)) - 1);
  return type;
}

bool is_same_up_to_byte_order(hid_t stored, hid_t known) {
  const Hid copy(H5Tcopy(known), H5Tclose);
  const H5T_order_t order = H5Tget_order(stored);
  if (order != H5T_ORDER_LE && order != H5T_ORDER_BE) return false;
  H5Tset_order(copy.get(), order);
  return H5Tequal(stored, copy.get()) > 0;
}

std::optional<ElementType> float_type(hid_t type) {
  if (is_same_up_to_byte_order(type, H5T_IEEE_F64LE)) return ElementType::kFloat64;
  if (is_same_up_to_byte_order(type, H5T_IEEE_F32LE)) return ElementType::kFloat32;
  if (is_same_up_to_byte_order(type, float16_type(5).get())) return ElementType::kFloat16;
  if (is_same_up_to_byte_order(type, float16_type(8).get())) return ElementType::kBFloat16;
  return std::nullopt;
}

struct KnownInteger {
  hid_t type;
  ElementType meaning;
};

std::array<KnownInteger, 8> known_integers() {
  using enum ElementType;
  return {{
      {H5T_STD_I8LE, kInt8},
      {H5T_STD_I16LE, kInt16},
      {H5T_STD_I32LE, kInt32},
      {H5T_STD_I64LE, kInt64},
      {H5T_STD_U8LE, kUInt8},
      {H5T_STD_U16LE, kUInt16},
      {H5T_STD_U32LE, kUInt32},
      {H5T_STD_U64LE, kUInt64},
  }};
}

std::optional<ElementType> integer_type(hid_t type) {
  for (const KnownInteger& known : known_integers()) {
    if (is_same_up_to_byte_order(type, known.type)) return known.meaning;
  }
  return std::nullopt;
}

/// h5py's boolean: an enumeration of one byte with FALSE = 0 and TRUE = 1.
bool is_boolean(hid_t type) {
  signed char no = -1;
  signed char yes = -1;
  return H5Tget_size(type) == 1 && H5Tget_nmembers(type) == 2 &&
         H5Tenum_valueof(type, "FALSE", &no) >= 0 && H5Tenum_valueof(type, "TRUE", &yes) >= 0 &&
         no == 0 && yes == 1;
}

Hid boolean_type() {
  Hid type(H5Tenum_create(H5T_STD_I8LE), H5Tclose);
  const signed char no = 0;
  const signed char yes = 1;
  H5Tenum_insert(type.get(), "FALSE", &no);
  H5Tenum_insert(type.get(), "TRUE", &yes);
  return type;
}

}  // namespace

std::optional<ElementType> element_type_of(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      return float_type(type);
    case H5T_INTEGER:
      return integer_type(type);
    case H5T_ENUM:
      return is_boolean(type) ? std::optional(ElementType::kBool) : std::nullopt;
    default:
      return std::nullopt;
  }
}

Hid stored_type(ElementType type) {
  switch (type) {
    case ElementType::kBool:
      return boolean_type();
    case ElementType::kFloat16:
      return float16_type(5);
    case ElementType::kBFloat16:
      return {};
    case ElementType::kFloat32:
      return {H5Tcopy(H5T_IEEE_F32LE), H5Tclose};
    case ElementType::kFloat64:
      return {H5Tcopy(H5T_IEEE_F64LE), H5Tclose};
    default:
      break;
  }
  const auto all = known_integers();
  const auto known = std::ranges::find(all, type, &KnownInteger::meaning);
  return {H5Tcopy(known->type), H5Tclose};
}

std::string_view describe_type(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      return "a float of unusual layout (extended precision?)";
    case H5T_INTEGER:
      return "an integer of unusual layout";
    case H5T_ENUM:
      return "an enumeration";
    case H5T_STRING:
      return "strings";
    case H5T_COMPOUND:
      return "a compound (complex or structured) type";
    case H5T_REFERENCE:
      return "references";
    case H5T_VLEN:
      return "sequences of variable length";
    case H5T_ARRAY:
      return "arrays";
    case H5T_OPAQUE:
      return "opaque bytes";
    case H5T_BITFIELD:
      return "bit fields";
    case H5T_TIME:
      return "times";
    default:
      return "an unknown type";
  }
}

}  // namespace hesscope::io
