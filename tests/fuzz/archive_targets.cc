// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>

#include <hesscope/core/error.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/storage/internal/zip.h>
#include <hesscope/tensors/internal/numpy/npz_reader.h>
#include <hesscope/tensors/internal/torch/torch_reader.h>

#include "fuzz/memory_file.h"
#include "fuzz/read_all.h"

namespace hesscope::fuzz {
namespace {

MemoryFile& memory_file() {
  static MemoryFile file;
  return file;
}

/// What is read of a member is as long as the directory says.
void read_member(const io::ZipArchive& archive, std::size_t index) {
  constexpr std::uint64_t kMaxBytes = 1 << 17;
  const std::uint64_t declared = archive.entries()[index].decoded_bytes;
  if (declared > kMaxBytes) return;
  try {
    const std::unique_ptr<io::ByteStream> stream = archive.open(index);
    std::array<std::byte, 1000> block;  // no multiple of what the stream reads at a time
    std::uint64_t num_read = 0;
    while (stream->remaining() > 0) {
      const std::size_t count = std::min<std::uint64_t>(block.size(), stream->remaining());
      stream->read(std::span(block).first(count));
      num_read += count;
    }
    stream->finish();
    if (num_read != declared) throw std::logic_error("a member is not as long as declared");
  } catch (const InputError&) {
  }
}

}  // namespace

void fuzz_zip(Input input) {
  memory_file().assign(input);
  try {
    const auto file = std::make_shared<io::InputFile>(memory_file().path());
    io::looks_like_zip(*file);
    io::first_zip_member(*file);
    const io::ZipArchive archive(file, {});
    for (std::size_t i = 0; i < archive.entries().size(); ++i) read_member(archive, i);
  } catch (const InputError&) {
  }
}

void fuzz_npz(Input input) {
  memory_file().assign(input);
  try {
    const auto file = std::make_shared<io::InputFile>(memory_file().path());
    io::recognises_npz(*file);
    read_all(*io::open_npz(file, {}));
  } catch (const InputError&) {
  }
}

void fuzz_torch(Input input) {
  memory_file().assign(input);
  try {
    const auto file = std::make_shared<io::InputFile>(memory_file().path());
    io::recognises_torch(*file);
    const std::unique_ptr<io::TensorSource> source = io::open_torch(file, {});
    read_all(*source);
    source->number("optimizer.param_groups.0.lr");
  } catch (const InputError&) {
  }
}

}  // namespace hesscope::fuzz
