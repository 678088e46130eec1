// SPDX-License-Identifier: BSD-3-Clause
//
// Ten files of each format, cut at every byte and with every single bit flipped: refused, or, where
// a checksum can tell, read as before. HESSCOPE_DAMAGE_STEP says how many places to advance by: 1
// is every one, as in the slow test io.damage_everywhere.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/storage/internal/zip.h>
#include <hesscope/tensors/tensor_conversion.h>
#include <hesscope/tensors/tensor_file.h>

#include "fuzz/memory_file.h"
#include "support/files.h"

namespace hesscope {
namespace {

constexpr std::size_t kNumFiles = 10;
using Files = std::vector<std::pair<std::string, std::string>>;  // name, content

std::vector<std::filesystem::path> fixtures_named(const std::string& extension) {
  std::vector<std::filesystem::path> paths;
  const std::filesystem::path folder = test::fixtures().parent_path() / "tensors/torch";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == extension) paths.push_back(entry.path());
  }
  // The small ones: what is in a file counts, not how much of it.
  std::ranges::sort(paths, {}, [](const auto& path) {
    return std::pair(std::filesystem::file_size(path), path.string());
  });
  return paths;
}

std::optional<std::vector<std::uint64_t>> content_of(const std::filesystem::path& path);

Files stored(const std::string& extension) {
  Files files;
  fuzz::MemoryFile file;
  for (const auto& path : fixtures_named(extension)) {
    if (files.size() == kNumFiles) break;
    std::string bytes = test::read_bytes(path);
    file.assign(std::as_bytes(std::span(bytes)));
    if (content_of(file.path())) files.emplace_back(path.filename().string(), std::move(bytes));
  }
  return files;
}

Files members_of_npz() {
  Files files;
  const auto path = test::fixtures().parent_path() / "tensors/torch/numbers.npz";
  const io::ZipArchive archive(std::make_shared<io::InputFile>(path), {});
  for (std::size_t i = 0; i < archive.entries().size() && files.size() < kNumFiles; ++i) {
    const auto stream = archive.open(i);
    std::string bytes(stream->remaining(), '\0');
    stream->read(std::as_writable_bytes(std::span(bytes)));
    files.emplace_back(archive.entries()[i].name, std::move(bytes));
  }
  return files;
}

Files converted_to_safetensors() {
  Files files;
  const test::ScratchFolder folder;
  for (const auto& path : fixtures_named(".npz")) {
    if (files.size() == kNumFiles) break;
    const auto output = folder / (path.stem().string() + ".safetensors");
    io::convert_tensors(io::open_tensor_file(path), output);
    files.emplace_back(output.filename().string(), test::read_bytes(output));
  }
  return files;
}

/// Names, types, shapes and the bits of all elements as one row of numbers; none if it is refused.
std::optional<std::vector<std::uint64_t>> content_of(const std::filesystem::path& path) {
  try {
    std::vector<std::uint64_t> content;
    const io::TensorFile file = io::open_tensor_file(path);
    for (const io::TensorInfo& tensor : file.tensors()) {
      content.push_back(tensor.name.size());
      content.insert(content.end(), tensor.name.begin(), tensor.name.end());
      content.push_back(static_cast<std::uint64_t>(tensor.type));
      content.push_back(tensor.shape.size());
      content.insert(content.end(), tensor.shape.begin(), tensor.shape.end());
      for (const double value : file.read(tensor.name)) {
        content.push_back(std::bit_cast<std::uint64_t>(value));
      }
    }
    return content;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

std::size_t step() {
  const char* const text = std::getenv("HESSCOPE_DAMAGE_STEP");
  return text != nullptr ? std::stoul(text) : 97;
}

struct Case {
  const char* name;
  Files (*files)();
  bool has_checksum;
};

class Damage : public testing::TestWithParam<Case> {};

TEST_P(Damage, IsRefusedOrHarmless) {
  const Files files = GetParam().files();
  ASSERT_EQ(files.size(), kNumFiles);
  fuzz::MemoryFile file;
  const auto content_with = [&](std::span<const char> bytes) {
    file.assign(std::as_bytes(bytes));
    return content_of(file.path());
  };
  std::size_t num_prefixes = 0;
  std::size_t num_flips = 0;
  std::size_t num_refused = 0;
  std::size_t num_other = 0;
  for (const auto& [name, original] : files) {
    SCOPED_TRACE(name);
    const auto content = content_with(original);
    ASSERT_TRUE(content && !content->empty());
    for (std::size_t size = 0; size < original.size(); size += step(), ++num_prefixes) {
      ASSERT_FALSE(content_with(std::span(original).first(size))) << "cut to " << size;
    }
    std::string bytes = original;
    for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += step(), ++num_flips) {
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
      const auto damaged = content_with(bytes);
      bytes[bit / 8] = original[bit / 8];
      if (!damaged) {
        ++num_refused;
      } else if (damaged != content) {
        ++num_other;
        ASSERT_FALSE(GetParam().has_checksum) << "bit " << bit << " changes what is read";
      }
    }
  }
  std::cout << GetParam().name << ": " << num_prefixes << " prefixes, all refused; " << num_flips
            << " flips, " << num_refused << " refused, " << num_other
            << " read as something else\n";
  EXPECT_GT(num_refused, num_flips / 10);
}

INSTANTIATE_TEST_SUITE_P(Formats,
                         Damage,
                         testing::Values(Case{"pt", [] { return stored(".pt"); }, true},
                                         Case{"npz", [] { return stored(".npz"); }, true},
                                         Case{"npy", &members_of_npz, false},
                                         Case{"safetensors", &converted_to_safetensors, false}),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace hesscope
