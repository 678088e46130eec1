// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/storage/internal/zip.h>
#include <hesscope/tensors/internal/hdf5/hdf5_reader.h>
#include <hesscope/tensors/internal/hdf5/keras_reader.h>
#include <hesscope/tensors/internal/isolated_reader.h>

namespace hesscope::io {
namespace {

constexpr std::string_view kWeights = "model.weights.h5";

std::size_t weights_of(const std::string& where, const ZipArchive& archive) {
  const auto entries = archive.entries();
  const auto found = std::ranges::find(entries, kWeights, &ZipEntry::name);
  if (found != entries.end()) return static_cast<std::size_t>(found - entries.begin());
  for (const std::string_view other : {"model.weights.npz", "model.weights.json"}) {
    const auto member = std::ranges::find(entries, other, &ZipEntry::name);
    if (member == entries.end()) continue;
    throw InputError(
        fmt::format("{}: its weights are in '{}' (header at byte {}), which is not read in an "
                    "archive; save them from Keras by themselves: "
                    "model.save_weights('NAME.weights.h5')",
                    where,
                    other,
                    member->header_offset));
  }
  throw InputError(
      fmt::format("{}: has no member '{}' (its members begin at byte 0); a model saved by Keras 3 "
                  "holds its weights there",
                  where,
                  kWeights));
}

/// In the child, where the archive is examined again.
std::unique_ptr<BlockSource> open_weights(const std::shared_ptr<const InputFile>& file,
                                          const ReadLimits& limits) {
  const std::string path = file->path().string();
  const ZipArchive archive(file, limits);
  const auto stream = archive.open(weights_of(path, archive));
  std::vector<std::byte> image(static_cast<std::size_t>(stream->remaining()));
  stream->read(image);
  stream->finish();
  return open_hdf5_image(fmt::format("{}: member '{}'", path, kWeights), std::move(image), limits);
}

}  // namespace

bool recognises_keras(const InputFile& file) {
  constexpr std::array<std::string_view, 4> kFirst = {
      "metadata.json", "config.json", "model.weights.h5", "model.weights.npz"};
  return looks_like_zip(file) && std::ranges::find(kFirst, first_zip_member(file)) != kFirst.end();
}

std::unique_ptr<TensorSource> open_keras(std::shared_ptr<const InputFile> file,
                                         const ReadLimits& limits) {
  const ZipArchive archive(file, limits);
  const ZipEntry& weights = archive.entries()[weights_of(file->path().string(), archive)];
  // Its listing includes decoding it.
  ReadLimits with_image = limits;
  with_image.max_process_bytes += weights.decoded_bytes;
  with_image.max_seconds *= std::max(1.0, static_cast<double>(weights.decoded_bytes) * 0x1p-30);
  auto open = [=] { return open_weights(file, limits); };
  return open_isolated(std::move(file), "HDF5", with_image, std::move(open));
}

}  // namespace hesscope::io
