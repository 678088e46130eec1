// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <string_view>

#include <hesscope/tensors/tensor_map.h>
#include <hesscope/tensors/wrapped_names.h>

namespace hesscope::io {
namespace {

constexpr std::array<std::string_view, 2> kWrappers = {"module.", "_orig_mod."};

// The prefixes that wrappers have put before a name, all together.
std::string_view wrapper_in(std::string_view name) {
  std::size_t size = 0;
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (const std::string_view wrapper : kWrappers) {
      const std::string_view rest = name.substr(size);
      if (!rest.starts_with(wrapper) || rest.size() == wrapper.size()) continue;
      size += wrapper.size();
      goes_on = true;
    }
  }
  return name.substr(0, size);
}

// A training counter may be stored next to the parameters.
bool may_be_unwrapped(const TensorInfo& tensor) {
  return tensor.name.starts_with("optimizer.") ||
         (tensor.num_elements() == 1 && tensor.name.find('.') == std::string::npos);
}

}  // namespace

std::string wrapper_of(const TensorFile& file) {
  std::string_view common;
  for (const TensorInfo& tensor : file.tensors()) {
    if (may_be_unwrapped(tensor)) continue;
    const std::string_view wrapper = wrapper_in(tensor.name);
    if (wrapper.empty() || (!common.empty() && wrapper != common)) return {};
    common = wrapper;
  }
  return std::string(common);
}

TensorFile unwrapped(const TensorFile& file) {
  const std::string wrapper = wrapper_of(file);
  if (wrapper.empty()) return file;
  return mapped(file, {.rules = {{.name = "*", .source = wrapper + "*", .place = wrapper}}});
}

}  // namespace hesscope::io
