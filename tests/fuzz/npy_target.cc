// SPDX-License-Identifier: BSD-3-Clause
#include <stdexcept>

#include <hesscope/core/error.h>
#include <hesscope/tensors/internal/numpy/npy.h>

#include "fuzz/memory_stream.h"

namespace hesscope::fuzz {

void fuzz_npy(Input input) {
  try {
    MemoryStream header_stream(input);
    const io::NpyHeader header = io::read_npy_header(header_stream, {});
    MemoryStream stream(input);
    if (io::read_npy(stream, header).size() != header.num_elements) {
      throw std::logic_error("elements and shape disagree");
    }
  } catch (const InputError&) {
  }
}

}  // namespace hesscope::fuzz
