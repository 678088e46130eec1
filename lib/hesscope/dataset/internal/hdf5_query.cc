// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string_view>
#include <type_traits>
#include <utility>

#include <hdf5.h>
#include <hdf5_hl.h>

#include <hesscope/dataset/internal/hdf5_query.h>
#include <hesscope/hdf5/internal/hdf5_handle.h>

namespace hesscope::io {
namespace {

/// NUL padding is not part of a fixed-length string.
std::string without_padding(std::string text) {
  text.erase(std::find(text.begin(), text.end(), '\0'), text.end());
  return text;
}

AttributeRead read_text_attribute(hid_t attribute, hid_t stored, AttributeValue& value) {
  const Hid space(H5Aget_space(attribute), H5Sclose);
  const hssize_t count = H5Sget_simple_extent_npoints(space.get());
  if (count < 0) return AttributeRead::kDamaged;
  if (count != 1) return AttributeRead::kForeign;
  if (H5Tis_variable_str(stored) > 0) {
    const Hid type(H5Tget_native_type(stored, H5T_DIR_DEFAULT), H5Tclose);
    char* text = nullptr;
    if (H5Aread(attribute, type.get(), &text) < 0) return AttributeRead::kDamaged;
    value.emplace<std::string>(text != nullptr ? text : "");
    H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, &text);
    return AttributeRead::kDone;
  }
  std::string result(H5Tget_size(stored), '\0');
  if (H5Aread(attribute, stored, result.data()) < 0) return AttributeRead::kDamaged;
  value.emplace<std::string>(without_padding(std::move(result)));
  return AttributeRead::kDone;
}

template <typename T>
AttributeRead read_number_attribute(hid_t attribute, hid_t memory_type, AttributeValue& value) {
  const Hid space(H5Aget_space(attribute), H5Sclose);
  const hssize_t count = H5Sget_simple_extent_npoints(space.get());
  if (count < 0) return AttributeRead::kDamaged;
  std::vector<T> values(static_cast<std::size_t>(count));
  if (count > 0 && H5Aread(attribute, memory_type, values.data()) < 0) {
    return AttributeRead::kDamaged;
  }
  if (count == 1 && H5Sget_simple_extent_type(space.get()) == H5S_SCALAR) {
    value.emplace<T>(values[0]);
    return AttributeRead::kDone;
  }
  if constexpr (std::is_same_v<T, std::int64_t>) {
    value.emplace<std::vector<double>>(values.begin(), values.end());
  } else {
    value.emplace<std::vector<T>>(std::move(values));
  }
  return AttributeRead::kDone;
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

AttributeRead read_attribute(hid_t object, const char* name, AttributeValue& value) {
  const Hid attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Hid stored(H5Aget_type(attribute.get()), H5Tclose);
  if (!attribute || !stored) return AttributeRead::kDamaged;
  switch (H5Tget_class(stored.get())) {
    case H5T_STRING: {
      return read_text_attribute(attribute.get(), stored.get(), value);
    }
    case H5T_FLOAT:
      return read_number_attribute<double>(attribute.get(), H5T_NATIVE_DOUBLE, value);
    case H5T_INTEGER:
      if (H5Tget_size(stored.get()) == 1) {
        return read_number_attribute<std::int8_t>(attribute.get(), H5T_NATIVE_INT8, value);
      }
      return read_number_attribute<std::int64_t>(attribute.get(), H5T_NATIVE_INT64, value);
    default:
      return AttributeRead::kForeign;
  }
}

std::optional<std::string> text_attribute(hid_t object, const char* name) {
  const htri_t exists = H5Aexists(object, name);
  if (exists < 0) return std::nullopt;
  if (exists == 0) return std::string();
  AttributeValue value;
  if (read_attribute(object, name, value) == AttributeRead::kDamaged) return std::nullopt;
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr ? *text : std::string();
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> result;
  for (std::string word; in >> word;) result.push_back(word);
  return result;
}

std::vector<std::string> items(const std::string& text) {
  constexpr std::string_view kBetween = "; ";
  std::vector<std::string> result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(kBetween, begin), text.size());
    result.push_back(text.substr(begin, end - begin));
    begin = end + kBetween.size();
  }
  return result;
}

VariableType type_of(hid_t dataset) {
  const Hid type(H5Dget_type(dataset), H5Tclose);
  const std::size_t size = H5Tget_size(type.get());
  switch (H5Tget_class(type.get())) {
    case H5T_FLOAT:
      return size == 8 ? VariableType::kDouble : VariableType::kOther;
    case H5T_INTEGER:
      if (H5Tget_sign(type.get()) != H5T_SGN_2) return VariableType::kOther;
      if (size == 8) return VariableType::kInt64;
      return size == 1 ? VariableType::kInt8 : VariableType::kOther;
    case H5T_STRING:
      return H5Tis_variable_str(type.get()) > 0 ? VariableType::kText : VariableType::kOther;
    default:
      return VariableType::kOther;
  }
}

std::optional<std::string> dimension_name(hid_t dataset, unsigned axis) {
  std::string name;
  const auto take_first = [](hid_t, unsigned, hid_t scale, void* out) -> herr_t {
    try {  // no exception may pass through HDF5
      const ssize_t length = H5Iget_name(scale, nullptr, 0);
      if (length <= 0) return -1;
      std::string path(static_cast<std::size_t>(length) + 1, '\0');
      H5Iget_name(scale, path.data(), path.size());
      path.pop_back();
      *static_cast<std::string*>(out) = last_part(path);
      return 1;
    } catch (...) {
      return -1;
    }
  };
  const int count = H5DSget_num_scales(dataset, axis);
  if (count < 0) return std::nullopt;
  if (count > 0 && H5DSiterate_scales(dataset, axis, nullptr, take_first, &name) < 0) {
    return std::nullopt;
  }
  return name;
}

std::optional<std::vector<std::string>> link_names(hid_t group) {
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5L_info_t* info, void* out) -> herr_t {
    try {
      if (info->type == H5L_TYPE_HARD) static_cast<std::vector<std::string>*>(out)->push_back(name);
      return 0;
    } catch (...) {
      return -1;
    }
  };
  if (H5Literate(group, H5_INDEX_CRT_ORDER, H5_ITER_INC, nullptr, collect, &names) < 0) {
    names.clear();
    if (H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names) < 0) {
      return std::nullopt;
    }
  }
  return names;
}

std::optional<std::vector<std::string>> attribute_names(hid_t object) {
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5A_info_t*, void* out) -> herr_t {
    try {
      static_cast<std::vector<std::string>*>(out)->push_back(name);
      return 0;
    } catch (...) {
      return -1;
    }
  };
  if (H5Aiterate2(object, H5_INDEX_CRT_ORDER, H5_ITER_INC, nullptr, collect, &names) < 0) {
    names.clear();
    if (H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names) < 0) {
      return std::nullopt;
    }
  }
  return names;
}

}  // namespace hesscope::io
