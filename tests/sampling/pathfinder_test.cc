// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/sampling/pathfinder.h>

#include "sampling/distribution_checks.h"
#include "sampling/draws.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

const PathfinderOptions kOptions = {
    .side = 14, .path_length = 9, .distractors = 2, .distractor_length = 4};

struct Image {
  int side;
  std::vector<double> pixels;

  double at(int r, int c) const { return pixels[static_cast<std::size_t>(r * side + c)]; }
};

// Out of tokens of p x p pixels and one-hot positions.
Image image_of(const std::vector<double>& record, int side, int patch) {
  const int edge = side / patch;
  const int width = patch * patch + edge * edge;
  Image image{side, std::vector<double>(static_cast<std::size_t>(side * side))};
  for (int r = 0; r < side; ++r) {
    for (int c = 0; c < side; ++c) {
      const int token = r / patch * edge + c / patch;
      const int feature = r % patch * patch + c % patch;
      image.pixels[static_cast<std::size_t>(r * side + c)] =
          record[static_cast<std::size_t>(token * width + feature)];
    }
  }
  for (int t = 0; t < edge * edge; ++t) {
    for (int e = 0; e < edge * edge; ++e) {
      EXPECT_EQ(record[static_cast<std::size_t>(t * width + patch * patch + e)], t == e ? 1 : 0);
    }
  }
  return image;
}

// Parts of visible pixels, reached by steps of at most two: their numbers, -1 for the background.
std::vector<int> parts_of(const Image& image, int& count) {
  std::vector<int> part(image.pixels.size(), -1);
  count = 0;
  for (std::size_t start = 0; start < part.size(); ++start) {
    if (image.pixels[start] == 0 || part[start] >= 0) continue;
    std::vector<int> open = {static_cast<int>(start)};
    part[start] = count;
    while (!open.empty()) {
      const int cell = open.back();
      open.pop_back();
      for (int dr = -2; dr <= 2; ++dr) {
        for (int dc = -2; dc <= 2; ++dc) {
          const int r = cell / image.side + dr;
          const int c = cell % image.side + dc;
          if (r < 0 || r >= image.side || c < 0 || c >= image.side || image.at(r, c) == 0) continue;
          int& other = part[static_cast<std::size_t>(r * image.side + c)];
          if (other >= 0) continue;
          other = count;
          open.push_back(r * image.side + c);
        }
      }
    }
    ++count;
  }
  return part;
}

TEST(Pathfinder, JoinsItsDotsWhereItSaysSo) {
  const Pathfinder sampler(kOptions);
  test::expect_tiled(sampler);
  std::vector<double> classes, brightness;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::vector<double> record = test::draw(sampler, i);
    const Image image = image_of(record, 14, 1);
    int num_parts = 0;
    const std::vector<int> part = parts_of(image, num_parts);
    EXPECT_EQ(num_parts, 4);  // two paths, two distractors
    std::vector<int> dots;
    for (std::size_t p = 0; p < part.size(); ++p) {
      const double x = image.pixels[p];
      EXPECT_TRUE(x == 0 || x == 0.5 || x == 1) << x;
      if (x == 1) dots.push_back(part[p]);
    }
    ASSERT_EQ(dots.size(), 2u);
    EXPECT_EQ(dots[0] == dots[1], record.back() == 1) << i;
    classes.push_back(record.back());
  }
  test::expect_mean(classes, 0.5, 0.5);
}

// Only the connection distinguishes the classes: equally many pixels are lit in both.
TEST(Pathfinder, DoesNotGiveItsClassAwayByBrightness) {
  const Pathfinder sampler(kOptions);
  std::vector<double> sums[2];
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::vector<double> record = test::draw(sampler, i);
    double dashes = 0;
    for (const double x : image_of(record, 14, 1).pixels) dashes += x == 0.5 ? 1 : 0;
    sums[record.back() == 1 ? 1 : 0].push_back(dashes);
  }
  // Pixels 0, 1, 3, 4, 6, 7 of 9 are visible, and 0, 1, 3 of 4. If both ends of a path are dots: 5
  // dashes of the first path and 6 of the second; otherwise the start of the first path and the
  // blank end of the second, 5 and 6.
  for (const auto& sum : sums) {
    for (const double dashes : sum) EXPECT_EQ(dashes, 5 + 6 + 2 * 3);
  }
}

TEST(Pathfinder, ShowsTheSameImageInPatchesAndEmbedded) {
  PathfinderOptions options = kOptions;
  options.patch = 2;
  const Pathfinder patched(options);
  test::expect_tiled(patched);
  EXPECT_EQ(patched.arrays()[0].shape, (std::vector<std::int64_t>{49, 53}));
  options.embedding = 3;
  options.embedding_seed = 6;
  const Pathfinder embedded(options);
  test::expect_tiled(embedded);
  EXPECT_EQ(embedded.arrays()[0].shape, (std::vector<std::int64_t>{49, 3}));
  RandomStream random(6, Stream::kTask, 1);
  std::vector<double> table((4 + 49) * 3);
  for (double& x : table) x = random.normal() / std::sqrt(3.0);
  for (std::uint64_t i = 0; i < 10; ++i) {
    const std::vector<double> tokens = test::draw(patched, i);
    EXPECT_EQ(image_of(tokens, 14, 2).pixels,
              image_of(test::draw(Pathfinder(kOptions), i), 14, 1).pixels);
    const std::vector<double> record = test::draw(embedded, i);
    EXPECT_EQ(record.back(), tokens.back());
    for (std::size_t t = 0; t < 49; ++t) {
      for (std::size_t e = 0; e < 3; ++e) {
        double expected = table[(4 + t) * 3 + e];
        for (std::size_t f = 0; f < 4; ++f) expected += tokens[t * 53 + f] * table[f * 3 + e];
        EXPECT_NEAR(record[t * 3 + e], expected, 1e-14);
      }
    }
  }
}

TEST(Pathfinder, ChecksItsKeys) {
  const auto make = [](const std::map<std::string, SettingValue>& keys) {
    return test::make_sampler("pathfinder", keys);
  };
  EXPECT_EQ(make({})->arrays()[0].shape, (std::vector<std::int64_t>{256, 257}));
  test::expect_refusal<ConfigError>(
      [&] {
        make({{"patch", std::int64_t{3}}});
      },
      "'patch' must divide 'side', which is 16, got 3");
  test::expect_refusal<ConfigError>(
      [&] {
        make({{"side", std::int64_t{5}}});
      },
      "do not fit on 5 x 5");
  test::expect_refusal([] { Pathfinder({.side = 8, .path_length = 60}); }, "paths that fit");
  test::expect_refusal([] { Pathfinder({.patch = 0}); }, "needs features");
}

}  // namespace
}  // namespace hesscope
