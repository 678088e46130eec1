// SPDX-License-Identifier: BSD-3-Clause
//
// One executable for each target: libFuzzer's entry points. HESSCOPE_FUZZ_TARGET names the
// function, HESSCOPE_FUZZ_MUTATOR how its inputs are changed where their bytes depend on each
// other.
#include <cstddef>
#include <cstdint>
#include <span>

#include "fuzz/archive_mutator.h"
#include "fuzz/message_mutator.h"
#include "fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hesscope::fuzz::HESSCOPE_FUZZ_TARGET(std::as_bytes(std::span(data, size)));
  return 0;
}

#ifdef HESSCOPE_FUZZ_MUTATOR
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data,
                                               std::size_t size,
                                               std::size_t max_size,
                                               unsigned int seed) {
  return hesscope::fuzz::HESSCOPE_FUZZ_MUTATOR(data, size, max_size, seed);
}
#endif
