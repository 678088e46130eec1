// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/read_all.h"

#include <stdexcept>
#include <string_view>
#include <unordered_set>

#include <hesscope/core/error.h>

namespace hesscope::fuzz {

void read_all(const io::TensorSource& source) {
  constexpr std::int64_t kMaxElements = 16384;
  std::unordered_set<std::string_view> names;
  for (const io::UnreadableTensor& tensor : source.unreadable()) {
    if (!names.insert(tensor.name).second) throw std::logic_error("two tensors of one name");
  }
  std::int64_t num_read = 0;
  const std::span<const io::TensorInfo> tensors = source.tensors();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!names.insert(tensors[i].name).second) throw std::logic_error("two tensors of one name");
    const std::int64_t num_elements = tensors[i].num_elements();
    if (num_elements < 0) throw std::logic_error("a negative number of elements");
    if (num_elements > kMaxElements - num_read) continue;
    num_read += num_elements;
    try {
      if (source.read(i).size() != static_cast<std::size_t>(num_elements)) {
        throw std::logic_error("elements and shape disagree");
      }
    } catch (const InputError&) {
    }
  }
}

}  // namespace hesscope::fuzz
