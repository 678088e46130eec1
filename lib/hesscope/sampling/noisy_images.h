// SPDX-License-Identifier: BSD-3-Clause
//
// Images given by the user, with noise.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <hesscope/sampling/sampler_registry.h>

namespace hesscope {

/// Images and their labels, as stored in IDX files (the format of MNIST).
struct LabeledImages {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<std::uint8_t> pixels;  ///< image by image, row by row
  std::vector<std::uint8_t> labels;  ///< one per image
  std::string sha256 = {};           ///< of the two files, one after the other; empty without files
};

/// @throws InputError naming the file: not IDX, of another rank, without images, or numbers of
///         images and labels that differ.
LabeledImages read_labeled_images(const std::filesystem::path& images,
                                  const std::filesystem::path& labels);

struct NoisyImagesOptions {
  enum class Layout {
    kImages,       ///< inputs (rows * cols), target = the label
    kSignalNoise,  ///< inputs (2, rows * cols), target = +-1
  };

  Layout layout = Layout::kImages;
  double noise_std = 0;       ///< of the noise, at least 0
  std::int64_t sparsity = 0;  ///< kSignalNoise: entries of the noise that are not zero; 0 = all
  std::int64_t positive = 1;  ///< kSignalNoise: the label of +1
  std::int64_t negative = 0;  ///< kSignalNoise: the label of -1; must differ from `positive`
};

/// "noisy-images": an image drawn uniformly, with replacement, from those of the files, with pixels
/// divided by 255.
///
/// kImages: N(0, noise_std^2) is added to every pixel. Arrays: inputs (rows * cols), target () =
/// label. kSignalNoise: the first token is an image with one of two labels; the second is noise,
/// N(0, noise_std^2) in `sparsity` random entries or in all. Arrays: inputs (2, rows * cols),
/// target () = +1 for the label `positive`, -1 for `negative`. Labels are as frequent as in the
/// files. Without files, the images are 4096 drawn rings (label 0) and strokes (label 1) of 28 x 28
/// pixels, which come from no data set.
/// @cost rows * cols normal numbers.
/// @source Noisy MNIST, after Li et al. (2025), arXiv 2410.04870. How they add noise is not known
/// to us; both layouts are ours.
class NoisyImages final : public Sampler {
 public:
  /// @throws PreconditionError for an option out of its range or sizes that do not agree;
  ///         InputError if there is no image of one of the two labels.
  NoisyImages(LabeledImages images, const NoisyImagesOptions& options);

  std::string files_sha256() const override { return images_.sha256; }

  void draw(std::uint64_t seed,
            Stream stream,
            std::uint64_t index,
            std::span<double> record) const override;

 private:
  LabeledImages images_;
  NoisyImagesOptions options_;
  std::vector<std::size_t> chosen_;  // the images to draw from
};

SamplerKind noisy_images_kind();

}  // namespace hesscope
