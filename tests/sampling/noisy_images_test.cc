// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/sampling/noisy_images.h>

#include "sampling/distribution_checks.h"
#include "sampling/draws.h"
#include "support/files.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

std::string idx(const std::vector<std::uint32_t>& shape, const std::string& values) {
  std::string bytes = {0, 0, 8, static_cast<char>(shape.size())};
  for (const std::uint32_t extent : shape) {
    for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(extent >> shift & 0xffu);
  }
  return bytes + values;
}

// Five images of 2 x 3; pixel j of image i is 40 i + j.
class NoisyImagesTest : public testing::Test {
 protected:
  NoisyImagesTest() {
    std::string pixels;
    for (int i = 0; i < 5; ++i) {
      for (int j = 0; j < 6; ++j) pixels += static_cast<char>(40 * i + j);
    }
    test::write_bytes(folder_ / "images", idx({5, 2, 3}, pixels));
    test::write_bytes(folder_ / "labels", idx({5}, {7, 1, 7, 4, 1}));
  }

  std::unique_ptr<Sampler> make(std::map<std::string, SettingValue> keys) const {
    keys.insert({{"images", std::string("images")},
                 {"labels", std::string("labels")},
                 {"noise_std", 0.25}});
    return test::make_sampler("noisy-images", keys, folder_.path());
  }

  void expect_input_error(const std::string& images, const std::string& message) const {
    test::write_bytes(folder_ / "images", images);
    test::expect_refusal<InputError>([&] { make({}); },
                                     (folder_ / "images").string() + ": " + message);
  }

  test::ScratchFolder folder_;
};

const std::vector<double> kLabels = {7, 1, 7, 4, 1};

TEST_F(NoisyImagesTest, ShowsImagesAsTheyAreWithoutNoise) {
  const auto sampler = make({{"noise_std", 0.0}});
  EXPECT_EQ(sampler->arrays()[0].shape, (std::vector<std::int64_t>{6}));
  std::vector<std::vector<double>> hits(5);
  for (std::uint64_t k = 0; k < 3000; ++k) {
    const std::vector<double> record = test::draw(*sampler, k);
    const auto image = static_cast<std::size_t>(std::lround(record[0] * 255 / 40));
    for (std::size_t j = 0; j < 6; ++j) EXPECT_EQ(record[j], double(40 * image + j) / 255);
    EXPECT_EQ(record.back(), kLabels.at(image));
    for (std::size_t i = 0; i < 5; ++i) hits[i].push_back(i == image ? 1 : 0);
  }
  for (const auto& hit : hits) test::expect_mean(hit, 0.2, 0.4);
}

TEST_F(NoisyImagesTest, AddsNoiseToEveryPixel) {
  const auto noisy = make({});
  const auto plain = make({{"noise_std", 0.0}});
  test::expect_tiled(*noisy);
  std::vector<double> noise;
  for (std::uint64_t k = 0; k < 2000; ++k) {
    const std::vector<double> record = test::draw(*noisy, k);
    const std::vector<double> clean = test::draw(*plain, k);
    EXPECT_EQ(record.back(), clean.back());
    for (std::size_t j = 0; j < 6; ++j) noise.push_back((record[j] - clean[j]) / 0.25);
  }
  test::expect_distribution(noise, test::normal_cdf);
}

TEST_F(NoisyImagesTest, PairsImagesOfTwoLabelsWithNoise) {
  const auto sampler = make({{"layout", std::string("signal-noise")},
                             {"positive", std::int64_t{1}},
                             {"negative", std::int64_t{7}},
                             {"sparsity", std::int64_t{4}}});
  test::expect_tiled(*sampler);
  EXPECT_EQ(sampler->arrays()[0].shape, (std::vector<std::int64_t>{2, 6}));
  std::vector<double> noise, signs;
  for (std::uint64_t k = 0; k < 2000; ++k) {
    const std::vector<double> record = test::draw(*sampler, k);
    const auto image = static_cast<std::size_t>(std::lround(record[0] * 255 / 40));
    for (std::size_t j = 0; j < 6; ++j) EXPECT_EQ(record[j], double(40 * image + j) / 255);
    EXPECT_EQ(record.back(), kLabels.at(image) == 1 ? 1 : -1);
    EXPECT_NE(kLabels.at(image), 4);
    signs.push_back(record.back());
    int count = 0;
    for (std::size_t j = 6; j < 12; ++j) {
      if (record[j] == 0) continue;
      ++count;
      noise.push_back(record[j] / 0.25);
    }
    EXPECT_EQ(count, 4);
  }
  test::expect_mean(signs, 0, 1);  // two images each
  test::expect_distribution(noise, test::normal_cdf);
}

// The pixel at the middle of the ink: white in a ring, inked in a stroke.
TEST(NoisyImages, WithoutFilesAreRingsAndStrokes) {
  const auto sampler = test::make_sampler("noisy-images",
                                          {{"noise_std", 0.0},
                                           {"layout", std::string("signal-noise")},
                                           {"positive", std::int64_t{1}},
                                           {"negative", std::int64_t{0}}},
                                          {});
  ASSERT_EQ(sampler->arrays()[0].shape, (std::vector<std::int64_t>{2, 28 * 28}));
  std::vector<double> signs;
  std::vector<double> record(static_cast<std::size_t>(sampler->record_size()));
  for (std::uint64_t i = 0; i < 400; ++i) {
    sampler->draw(1, Stream::kEvaluation, i, record);
    double ink = 0;
    double row = 0;
    double col = 0;
    for (int k = 0; k < 28 * 28; ++k) {
      const double pixel = record[static_cast<std::size_t>(k)];
      ASSERT_TRUE(pixel >= 0 && pixel <= 1);
      ink += pixel;
      row += pixel * (k / 28);
      col += pixel * (k % 28);
    }
    ASSERT_GT(ink, 15);
    const long middle = 28 * std::lround(row / ink) + std::lround(col / ink);
    signs.push_back(record.back());
    if (record.back() == 1) {
      EXPECT_GT(record[static_cast<std::size_t>(middle)], 0.5) << i;
    } else {
      EXPECT_EQ(record.back(), -1);
      EXPECT_EQ(record[static_cast<std::size_t>(middle)], 0) << i;
    }
  }
  test::expect_mean(signs, 0, 1);
  test::expect_refusal<ConfigError>(
      [] {
        test::make_sampler("noisy-images", {{"noise_std", 0.0}, {"labels", std::string("x")}}, {});
      },
      "does not take the key 'labels'");
}

TEST_F(NoisyImagesTest, RefusesDamagedFiles) {
  const std::string good = test::read_bytes(folder_ / "images");
  expect_input_error("", "is no IDX file");
  expect_input_error(good.substr(0, 3), "is no IDX file");
  expect_input_error(std::string("\x1f\x8b\x08\0", 4) + good, "is compressed by gzip");
  expect_input_error("\x01" + good.substr(1), "is no IDX file");
  expect_input_error(good.substr(0, 2) + "\x0d" + good.substr(3),
                     "holds elements of IDX type 0x0d");
  expect_input_error(idx({5}, "abcde"), "expected 3 dimensions (images, rows, columns), found 1");
  expect_input_error(good.substr(0, 15), "ends after 15 bytes, within its header of 16");
  expect_input_error(good.substr(0, good.size() - 1), "expected 46 bytes");
  expect_input_error(good + "x",
                     "expected 46 bytes for its shape (images, rows, columns), found 47");
  expect_input_error(idx({0, 2, 3}, ""), "dimension 1");
  expect_input_error(idx({~0u, ~0u, ~0u}, "abc"), "says that it holds more than 4 GiB");
  expect_input_error(idx({65536, 65535, 1}, "abc"), "expected 4294901776 bytes");
  test::write_bytes(folder_ / "images", good);
  test::write_bytes(folder_ / "labels", idx({4}, "abcd"));
  test::expect_refusal<InputError>([&] { make({}); }, "holds 4 labels");
  std::filesystem::remove(folder_ / "labels");
  test::expect_refusal<InputError>([&] { make({}); }, (folder_ / "labels").string());
}

TEST_F(NoisyImagesTest, ChecksItsKeys) {
  const std::string pair = "signal-noise";
  const std::int64_t one = 1;
  test::expect_refusal<ConfigError>([&] { make({{"layout", pair}}); }, "needs the key 'positive'");
  test::expect_refusal<ConfigError>([&] { make({{"positive", one}}); }, "does not take the key");
  test::expect_refusal<ConfigError>([&] { make({{"sparsity", one}}); }, "does not take the key");
  test::expect_refusal<ConfigError>(
      [&] {
        make({{"layout", pair}, {"positive", one}, {"negative", one}});
      },
      "must be two labels");
  test::expect_refusal<ConfigError>(
      [&] {
        make({{"layout", pair},
              {"positive", one},
              {"negative", std::int64_t{7}},
              {"sparsity", std::int64_t{7}}});
      },
      "'sparsity' must be at most 6");
  test::expect_refusal<InputError>(
      [&] {
        make({{"layout", pair}, {"positive", one}, {"negative", std::int64_t{9}}});
      },
      "no image of the label 9");
  test::expect_refusal(
      [] { NoisyImages({.rows = 2, .cols = 2, .pixels = {1}, .labels = {1}}, {}); },
      "are not 1 images of 2 x 2");
}

}  // namespace
}  // namespace hesscope
