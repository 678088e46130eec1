// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <memory>
#include <string_view>

#include <hesscope/core/error.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/tensors/internal/safetensors/safetensors_reader.h>
#include <hesscope/tensors/internal/sharded_reader.h>

#include "fuzz/memory_file.h"
#include "fuzz/read_all.h"

namespace hesscope::fuzz {
namespace {

constexpr int kIndexDescriptor = 1000;
constexpr int kShardDescriptor = 1001;  // its name in an index

/// Two tensors, "a" and "g/b", of one byte each.
void write_shard(MemoryFile& file) {
  constexpr std::string_view kHeader = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                                       R"("g/b":{"dtype":"U8","shape":[],"data_offsets":[1,2]}})";
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(kHeader.size());
  static_assert(kHeader.size() < 128);
  bytes += kHeader;
  bytes += "\x01\x02";
  file.assign(std::as_bytes(std::span(bytes)));
}

}  // namespace

void fuzz_safetensors(Input input) {
  static MemoryFile memory;
  memory.assign(input);
  try {
    const auto file = std::make_shared<io::InputFile>(memory.path());
    io::recognises_safetensors(*file);
    read_all(*io::open_safetensors(file, {}));
  } catch (const InputError&) {
  }
}

void fuzz_shard_index(Input input) {
  static MemoryFile index(kIndexDescriptor);
  static MemoryFile shard(kShardDescriptor);
  static const bool is_written = (write_shard(shard), true);
  static_cast<void>(is_written);
  index.assign(input);
  try {
    const auto file = std::make_shared<io::InputFile>(index.path());
    io::recognises_shard_index(*file);
    read_all(*io::open_shard_index(file, {}));
  } catch (const InputError&) {
  }
}

}  // namespace hesscope::fuzz
