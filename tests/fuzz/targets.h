// SPDX-License-Identifier: BSD-3-Clause
//
// What is fuzzed: each function reads its input as one of the readers would, to the end.
//
// A refusal (InputError, ConfigError) is an answer like any other. Whatever else comes out is a
// finding: another exception, a crash, a sanitizer's report, or an answer that contradicts itself
// (std::logic_error). libFuzzer drives these functions (driver.cc), and the tests replay the
// corpora through them (tests/tensors/fuzz_corpus_test.cc).
#pragma once

#include <cstddef>
#include <span>

namespace hesscope::fuzz {

using Input = std::span<const std::byte>;

void fuzz_zip(Input input);          ///< an archive, all members
void fuzz_pickle(Input input);       ///< a pickle, and the tensors that it describes
void fuzz_npy(Input input);          ///< an array
void fuzz_npz(Input input);          ///< an archive of arrays
void fuzz_torch(Input input);        ///< a .pt file
void fuzz_safetensors(Input input);  ///< a safetensors file
void fuzz_shard_index(Input input);  ///< a JSON index, next to a safetensors file "1001"
void fuzz_onnx(Input input);         ///< an ONNX model, next to a file "d"
void fuzz_toml(Input input);         ///< a problem, experiment or map file

}  // namespace hesscope::fuzz
