// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/models/internal/related_tensors.h>
#include <hesscope/models/tensor_copies.h>

#include "support/numbers.h"

namespace hesscope {
namespace {

struct Matrix {
  std::int64_t rows;
  std::int64_t cols;
  std::vector<double> entries;

  double& at(std::int64_t i, std::int64_t j) {
    return entries[static_cast<std::size_t>(i * cols + j)];
  }

  bool has_repeated() const {
    const std::vector<std::int64_t> shape = {rows, cols};
    return has_repeated_entries({shape, entries});
  }
};

// Numbers with that many binary digits: bfloat16 has 8, float16 has 11.
Matrix trained(std::int64_t rows, std::int64_t cols, int digits) {
  const Eigen::VectorXd numbers = test::Numbers(21).vector(rows * cols);
  Matrix matrix{rows, cols, {}};
  for (const double x : numbers) {
    int exponent = 0;
    const double rounded = std::round(std::ldexp(std::frexp(x, &exponent), digits));
    matrix.entries.push_back(std::ldexp(rounded, exponent - digits));
  }
  return matrix;
}

class RepeatedEntries : public testing::TestWithParam<int> {};

TEST_P(RepeatedEntries, AreNotThoseOfATrainedWeight) {
  for (const auto& [rows, cols] : {std::pair{64, 64}, {256, 3}, {2, 500}, {700, 1}}) {
    EXPECT_FALSE(trained(rows, cols, GetParam()).has_repeated()) << rows << " x " << cols;
  }
}

TEST_P(RepeatedEntries, AreThoseThatComputingLeaves) {
  Matrix masked = trained(32, 32, GetParam());
  for (int i = 0; i < 32; ++i) {
    for (int j = i + 1; j < 32; ++j) masked.at(i, j) = 0;
  }
  EXPECT_TRUE(masked.has_repeated());
  Matrix symmetric = trained(32, 32, GetParam());
  for (int i = 0; i < 32; ++i) {
    for (int j = 0; j < i; ++j) symmetric.at(i, j) = symmetric.at(j, i);
  }
  EXPECT_TRUE(symmetric.has_repeated());
  Matrix rows_twice = trained(32, 16, GetParam());
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) rows_twice.at(16 + i, j) = rows_twice.at(i, j);
  }
  EXPECT_TRUE(rows_twice.has_repeated());
  Matrix cols_twice = trained(16, 32, GetParam());
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) cols_twice.at(i, 16 + j) = cols_twice.at(i, j);
  }
  EXPECT_TRUE(cols_twice.has_repeated());
}

INSTANTIATE_TEST_SUITE_P(Digits, RepeatedEntries, testing::Values(8, 11, 24, 53));

TEST(RepeatedEntries, AreNotThoseOfOneNumber) {
  EXPECT_FALSE((Matrix{2, 2, {3, 3, 3, 3}}.has_repeated()));
  EXPECT_FALSE(has_repeated_entries({{}, {}}));
  const double one[] = {1.5};
  EXPECT_FALSE(has_repeated_entries({{}, one}));
}

TEST(RepeatedEntries, MayBeInfiniteOrNoNumbers) {
  EXPECT_TRUE((Matrix{2, 2, {0.1, kInfinity, kInfinity, 0.2}}.has_repeated()));
  EXPECT_FALSE((Matrix{2, 2, {0.1, kNaN, kNaN, 0.2}}.has_repeated()));
}

TEST(RelatedTensors, ShareLinesOrAreMultiples) {
  const Matrix a = trained(5, 4, 24);
  Matrix rows = trained(3, 4, 24);
  for (int j = 0; j < 4; ++j) rows.at(2, j) = a.entries[static_cast<std::size_t>(8 + j)];
  Matrix multiple{4, 5, {}};
  for (int j = 0; j < 4; ++j) {
    for (int i = 0; i < 5; ++i) {
      const double x = a.entries[static_cast<std::size_t>(4 * i + j)];
      multiple.entries.push_back(static_cast<float>(-0.7 * x));
    }
  }
  Matrix other = trained(5, 4, 24);
  for (double& x : other.entries) x = std::sin(x + 3);
  const Matrix ones{5, 4, std::vector<double>(20, 1.0)};
  const Matrix twos{5, 4, std::vector<double>(20, 2.0)};
  std::vector<std::vector<std::int64_t>> shapes;
  std::vector<ShapedNumbers> all;
  const std::vector<const Matrix*> matrices = {&a, &rows, &multiple, &other, &ones, &twos};
  for (const Matrix* matrix : matrices) shapes.push_back({matrix->rows, matrix->cols});
  for (std::size_t k = 0; k < matrices.size(); ++k) {
    all.push_back({shapes[k], matrices[k]->entries});
  }
  const auto related = detail::related_tensors(all);
  EXPECT_TRUE(related[0].has_value());
  EXPECT_EQ(related[1], 0);
  EXPECT_EQ(related[2], 0);
  for (const std::size_t k : {3, 4, 5}) EXPECT_FALSE(related[k].has_value()) << k;
}

TEST(RelatedTensors, AreNotThoseOfFewDigitsByChance) {
  std::vector<ShapedNumbers> all;
  const std::vector<std::int64_t> shape = {300, 4};
  const Matrix a = trained(300, 4, 8);
  Matrix b = trained(600, 4, 8);
  b.entries.erase(b.entries.begin(), b.entries.begin() + 1200);
  all.push_back({shape, a.entries});
  all.push_back({shape, b.entries});
  EXPECT_FALSE(detail::related_tensors(all)[0].has_value());
}

}  // namespace
}  // namespace hesscope
