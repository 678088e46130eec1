// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/sampling/internal/drawn_digits.h>
#include <hesscope/sampling/internal/sampler_support.h>
#include <hesscope/sampling/noisy_images.h>
#include <hesscope/tensors/idx.h>

namespace hesscope {

using Layout = NoisyImagesOptions::Layout;

LabeledImages read_labeled_images(const std::filesystem::path& images,
                                  const std::filesystem::path& labels) {
  io::IdxArray pixels = io::read_idx(images, 3, "images, rows, columns");
  io::IdxArray classes = io::read_idx(labels, 1, "labels");
  if (pixels.shape[0] != classes.shape[0]) {
    throw InputError(fmt::format("{}: holds {} labels, but {} holds {} images",
                                 labels.string(),
                                 classes.shape[0],
                                 images.string(),
                                 pixels.shape[0]));
  }
  return {.rows = pixels.shape[1],
          .cols = pixels.shape[2],
          .pixels = std::move(pixels.values),
          .labels = std::move(classes.values),
          .sha256 = pixels.sha256 + classes.sha256};
}

NoisyImages::NoisyImages(LabeledImages images, const NoisyImagesOptions& options)
    : images_(std::move(images)), options_(options) {
  const std::int64_t size = images_.rows * images_.cols;
  if (images_.rows < 1 || images_.cols < 1 || images_.labels.empty() ||
      images_.pixels.size() != images_.labels.size() * static_cast<std::size_t>(size)) {
    throw PreconditionError(fmt::format("NoisyImages: {} pixels are not {} images of {} x {}",
                                        images_.pixels.size(),
                                        images_.labels.size(),
                                        images_.rows,
                                        images_.cols));
  }
  if (!(options.noise_std >= 0 && options.noise_std < kInfinity && options.sparsity >= 0 &&
        options.sparsity <= size && options.positive != options.negative)) {
    throw PreconditionError(fmt::format(
        "NoisyImages: needs noise_std >= 0, sparsity in [0, {}] and two labels, got {}, {}, {} "
        "and {}",
        size,
        options.noise_std,
        options.sparsity,
        options.positive,
        options.negative));
  }
  const bool is_pair = options.layout == Layout::kSignalNoise;
  for (std::size_t i = 0; i < images_.labels.size(); ++i) {
    const std::int64_t label = images_.labels[i];
    if (!is_pair || label == options.positive || label == options.negative) chosen_.push_back(i);
  }
  for (const std::int64_t label : {options.positive, options.negative}) {
    if (is_pair && std::count(images_.labels.begin(), images_.labels.end(), label) == 0) {
      throw InputError(fmt::format("there is no image of the label {}", label));
    }
  }
  if (is_pair) {
    add_array("inputs", {2, size});
  } else {
    add_array("inputs", {size});
  }
  add_array("target", {});
}

void NoisyImages::draw(std::uint64_t seed,
                       Stream stream,
                       std::uint64_t index,
                       std::span<double> record) const {
  detail::require_record(*this, record);
  RandomStream random(seed, stream, index);
  const std::size_t image = chosen_[random.below(chosen_.size())];
  const std::int64_t label = images_.labels[image];
  const auto size = static_cast<std::size_t>(images_.rows * images_.cols);
  const std::uint8_t* pixels = images_.pixels.data() + image * size;
  for (std::size_t i = 0; i < size; ++i) record[i] = pixels[i] / 255.0;
  if (options_.layout == Layout::kImages) {
    for (double& x : record.first(size)) x += options_.noise_std * random.normal();
    record.back() = static_cast<double>(label);
    return;
  }
  const std::span<double> noise = record.subspan(size, size);
  std::fill(noise.begin(), noise.end(), 0.0);
  const auto sparsity = static_cast<std::size_t>(options_.sparsity);
  detail::draw_sparse_noise(random, sparsity == 0 ? size : sparsity, options_.noise_std, noise);
  record.back() = label == options_.positive ? 1 : -1;
}

namespace {

LabeledImages images_from(const Settings& settings, const std::filesystem::path& folder) {
  constexpr std::int64_t kNumDrawn = 4096;
  const bool has_files = settings.has("images");
  detail::require_keys(
      settings, {"labels"}, has_files, has_files ? "'images'" : "a data set without 'images'");
  if (!has_files) return detail::drawn_digits(kNumDrawn);
  return read_labeled_images(folder / settings.text("images"), folder / settings.text("labels"));
}

}  // namespace

SamplerKind noisy_images_kind() {
  const auto label_key = [](const char* name, const char* meaning) {
    return SettingKey{.name = name,
                      .type = SettingKey::Type::kInteger,
                      .meaning = meaning,
                      .minimum = 0,
                      .maximum = 255,
                      .is_optional = true};
  };
  return {
      .name = "noisy-images",
      .summary = "images of IDX files (as MNIST's), with noise",
      .keys = {{.name = "images",
                .meaning = "IDX file of images, relative to this file; without it, drawn rings (0) "
                           "and strokes (1)",
                .is_optional = true,
                .is_path = true},
               {.name = "labels",
                .meaning = "IDX file of their labels",
                .is_optional = true,
                .is_path = true},
               {.name = "layout",
                .meaning = "noise on every pixel, or an image and a noise patch as two tokens",
                .choices = {"images", "signal-noise"},
                .fallback = SettingValue(std::string("images"))},
               {.name = "noise_std",
                .type = SettingKey::Type::kReal,
                .meaning = "standard deviation of the noise; pixels are 0 to 1",
                .range = kNonNegative},
               label_key("positive", "the label of +1"),
               label_key("negative", "the label of -1"),
               detail::optional_size_key(
                   "sparsity", "entries of the noise patch that are not zero", 10'000'000)},
      .create =
          [](const Settings& settings, const std::filesystem::path& folder) {
            const std::string& layout = settings.text("layout");
            const bool is_pair = layout == "signal-noise";
            const std::string because = fmt::format("layout = \"{}\"", layout);
            detail::require_keys(settings, {"positive", "negative"}, is_pair, because);
            NoisyImagesOptions options = {
                .layout = is_pair ? Layout::kSignalNoise : Layout::kImages,
                .noise_std = settings.real("noise_std")};
            LabeledImages images = images_from(settings, folder);
            if (is_pair) {
              options.positive = settings.integer("positive");
              options.negative = settings.integer("negative");
              if (options.positive == options.negative) {
                settings.refuse("positive",
                                fmt::format("'positive' and 'negative' must be two labels, got {}",
                                            options.positive));
              }
              if (settings.has("sparsity")) options.sparsity = settings.integer("sparsity");
              if (options.sparsity > images.rows * images.cols) {
                settings.refuse("sparsity",
                                fmt::format("'sparsity' must be at most {}, the pixels of an "
                                            "image, got {}",
                                            images.rows * images.cols,
                                            options.sparsity));
              }
            } else {
              detail::require_keys(settings, {"sparsity"}, false, because);
            }
            return std::make_unique<NoisyImages>(std::move(images), options);
          },
  };
}

}  // namespace hesscope
