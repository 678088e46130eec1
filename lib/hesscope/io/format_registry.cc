// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/io/byte_order.h>
#include <hesscope/io/elements.h>
#include <hesscope/io/format_registry.h>
#include <hesscope/io/hdf5_reader.h>
#include <hesscope/io/input_file.h>
#include <hesscope/io/npz_reader.h>
#include <hesscope/io/torch_reader.h>

namespace hesscope::io {
namespace {

constexpr std::array<Format, 4> kFormats = {{
    {"npz", ".npz", "NumPy archive", &recognises_npz, &open_npz},
    {"npy", ".npy", "NumPy array", &recognises_npy, &open_npy},
    {"hdf5", ".h5", "HDF5 file", &recognises_hdf5, &open_hdf5},
    {"pt", ".pt", "PyTorch checkpoint", &recognises_torch, &open_torch, ".pth"},
}};

/// What the file probably is instead and how to make it readable; empty if nothing is known.
std::string advice_for(const InputFile& file) {
  constexpr std::string_view kResaveSafetensors =
      "re-save it from Python: numpy.savez('FILE.npz', **safetensors.numpy.load_file(FILE))";
  const std::string start = file.text_at(0, 9);
  if (start.size() == 9 && start.back() == '{') {
    const auto header_bytes =
        load<ByteOrder::kLittle, std::uint64_t>(std::as_bytes(std::span(start)).data());
    if (header_bytes <= file.size() - 8) {
      return fmt::format("a safetensors file, which this version does not read; {}",
                         kResaveSafetensors);
    }
  }
  return {};
}

[[noreturn]] void refuse_unknown(const InputFile& file) {
  const std::string where = file.path().string();
  if (file.size() == 0) throw InputError(where + ": the file is empty");
  if (const std::string advice = advice_for(file); !advice.empty()) {
    throw InputError(fmt::format("{}: is {}", where, advice));
  }
  std::vector<std::string> known;
  known.reserve(kFormats.size());
  for (const Format& format : kFormats) {
    known.push_back(fmt::format("{} ({}, {})", format.name, format.summary, format.extension));
  }
  throw InputError(
      fmt::format("{}: is of no known format (it begins with '{}'); known are {}. Convert it to "
                  ".npz from Python: "
                  "numpy.savez('FILE.npz', NAME=array, ...)",
                  where,
                  escaped(file.text_at(0, 8)),
                  fmt::join(known, ", ")));
}

}  // namespace

std::span<const Format> formats() { return kFormats; }

TensorFile open_tensor_file(const std::filesystem::path& path, const ReadLimits& limits) {
  const InputFile file(path);
  const auto found =
      std::ranges::find_if(kFormats, [&](const Format& format) { return format.recognises(path); });
  if (found == kFormats.end()) refuse_unknown(file);
  return {path, found->name, found->open(path, limits)};
}

}  // namespace hesscope::io
