// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/core/error.h>
#include <hesscope/tensors/internal/torch/pickle.h>
#include <hesscope/tensors/internal/torch/torch_tensors.h>

#include "fuzz/memory_stream.h"

namespace hesscope::fuzz {

void fuzz_pickle(Input input) {
  try {
    MemoryStream stream(input);
    const io::PickleDocument document = io::read_pickle(stream);
    for (const io::NamedNode& named : io::find_torch_tensors("input", document, "root", {})) {
      try {
        io::describe_torch_tensor("input", document, named.node, {});
      } catch (const InputError&) {
      }
    }
    io::find_number(document, "optimizer.param_groups.0.lr");
  } catch (const InputError&) {
  }
}

}  // namespace hesscope::fuzz
