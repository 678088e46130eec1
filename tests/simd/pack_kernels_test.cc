// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cmath>
#include <string>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/simd/internal/aligned_buffer.h>
#include <hesscope/simd/internal/pack_kernels.h>

#include "support/instruction_sets.h"
#include "support/maxima.h"
#include "support/numbers.h"

namespace hesscope::detail {
namespace {

using Eigen::MatrixXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

class PackKernelsTest : public testing::TestWithParam<InstructionSet> {
 protected:
  AlignedBuffer random_packs(long count) {
    AlignedBuffer buffer(static_cast<std::size_t>(count * kPackSamples));
    for (long i = 0; i < count * kPackSamples; ++i) buffer.data()[i] = numbers.next();
    return buffer;
  }

  const PackKernels& kernels = pack_kernels(GetParam());
  test::Numbers numbers{7};
};

// Sample `lane` of a row-major matrix of packs.
MatrixXd sample(const AlignedBuffer& packs, int rows, int cols, int lane) {
  MatrixXd result(rows, cols);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < cols; ++j) {
      result(i, j) = packs.data()[(i * cols + j) * kPackSamples + lane];
    }
  }
  return result;
}

// A sum of k products: a rounding each for product and sum.
double tolerance(int terms) { return (terms + 2) * test::kEpsilon; }

TEST_P(PackKernelsTest, MultipliesEverySampleByTheMatrix) {
  for (const auto& [rows, inner, cols] : {std::array{1, 1, 1},
                                          {1, 5, 3},
                                          {2, 1, 7},
                                          {3, 4, 2},
                                          {5, 3, 4},
                                          {6, 6, 3},
                                          {7, 2, 11},
                                          {13, 9, 8}}) {
    SCOPED_TRACE(testing::Message() << rows << " x " << inner << " x " << cols);
    const AlignedBuffer a = random_packs(rows * inner);
    const AlignedBuffer b = random_packs(inner * cols);
    const RowMajor w = numbers.table(inner, cols);
    const RowMajor v = numbers.table(inner, rows);
    AlignedBuffer aw = random_packs(rows * cols);
    AlignedBuffer vb = random_packs(rows * cols);
    kernels.multiply(aw.data(), a.data(), w.data(), rows, inner, cols);
    kernels.multiply_transposed(vb.data(), v.data(), b.data(), rows, inner, cols);
    for (int lane = 0; lane < kPackSamples; ++lane) {
      const MatrixXd expected_aw = sample(a, rows, inner, lane) * w;
      const MatrixXd expected_vb = v.transpose() * sample(b, inner, cols, lane);
      EXPECT_TRUE(test::largest_difference(sample(aw, rows, cols, lane), expected_aw) <=
                  tolerance(inner) * inner);
      EXPECT_TRUE(test::largest_difference(sample(vb, rows, cols, lane), expected_vb) <=
                  tolerance(inner) * inner);
    }
  }
}

// Entry (sample, column) of a panel of columns.
double column_entry(const AlignedBuffer& panel, long sample, int column) {
  return panel.data()[sample * kPanelCols + column];
}

TEST_P(PackKernelsTest, FillsColumnsOfPanels) {
  for (const int num_packs : {1, 2, 5}) {
    for (const long stride : {1, 3}) {
      SCOPED_TRACE(testing::Message() << num_packs << " packs, every " << stride);
      const long row = num_packs * stride * kPackSamples;
      const AlignedBuffer x = random_packs(kPanelCols * num_packs * stride);
      const AlignedBuffer y = random_packs(kPanelCols * num_packs * stride);
      std::array<const double*, kPanelCols> x_rows{};
      std::array<const double*, kPanelCols> y_rows{};
      for (int c = 0; c < kPanelCols; ++c) {
        x_rows[static_cast<std::size_t>(c)] = x.data() + c * row;
        y_rows[static_cast<std::size_t>(c)] = y.data() + (kPanelCols - 1 - c) * row;
      }
      for (int num_cols = 1; num_cols <= kPanelCols; ++num_cols) {
        AlignedBuffer copies = random_packs(kPanelCols * num_packs);
        AlignedBuffer products = random_packs(kPanelCols * num_packs);
        kernels.fill_columns(
            copies.data(), x_rows.data(), nullptr, stride * kPackSamples, num_cols, num_packs);
        kernels.fill_columns(products.data(),
                             x_rows.data(),
                             y_rows.data(),
                             stride * kPackSamples,
                             num_cols,
                             num_packs);
        for (int c = 0; c < num_cols; ++c) {
          for (long s = 0; s < num_packs * kPackSamples; ++s) {
            const long from = s / kPackSamples * stride * kPackSamples + s % kPackSamples;
            const double of_x = x_rows[static_cast<std::size_t>(c)][from];
            ASSERT_EQ(column_entry(copies, s, c), of_x) << s << ", " << c << " of " << num_cols;
            ASSERT_EQ(column_entry(products, s, c),
                      of_x * y_rows[static_cast<std::size_t>(c)][from]);
          }
        }
      }
    }
  }
}

TEST_P(PackKernelsTest, SumsProductsOfRowsOverSamples) {
  ASSERT_EQ(kPanelCols % kernels.tile_cols, 0);
  ASSERT_EQ(kernels.tile_cols % kernels.lanes, 0);
  for (const int num_packs : {1, 2, 3, 16, 17, 64}) {
    for (const int num_panels : {1, 2, 3, 5, 9}) {
      SCOPED_TRACE(testing::Message() << num_packs << " packs, " << num_panels << " panels");
      const int num_rows = num_panels * kPanelRows;
      const long samples = long{num_packs} * kPackSamples;
      const AlignedBuffer a = random_packs(num_rows * num_packs);
      const AlignedBuffer b = random_packs(kPanelCols * num_packs);
      MatrixXd expected = MatrixXd::Zero(num_rows, kPanelCols);
      for (int r = 0; r < num_rows; ++r) {
        for (int c = 0; c < kPanelCols; ++c) {
          for (long s = 0; s < samples; ++s) {
            const long pack = r / kPanelRows * num_packs + s / kPackSamples;
            expected(r, c) +=
                a.data()[(pack * kPanelRows + r % kPanelRows) * kPackSamples + s % kPackSamples] *
                column_entry(b, s, c);
          }
        }
      }
      MatrixXd by_cols = MatrixXd::Constant(num_rows, kPanelCols, -1);
      RowMajor by_rows = by_cols;
      MatrixXd apart = MatrixXd::Constant(2 * num_rows, kPanelCols, -1);
      kernels.inner_products(
          by_cols.data(), 1, num_rows, a.data(), num_panels, b.data(), kPanelCols, num_packs);
      kernels.inner_products(
          by_rows.data(), kPanelCols, 1, a.data(), num_panels, b.data(), kPanelCols, num_packs);
      kernels.inner_products(
          apart.data(), 2, 2 * num_rows, a.data(), num_panels, b.data(), kPanelCols, num_packs);
      const auto terms = static_cast<int>(samples);
      EXPECT_TRUE(test::largest_difference(by_cols, expected) <= tolerance(terms) * terms);
      EXPECT_EQ(by_cols, MatrixXd(by_rows));
      for (int r = 0; r < num_rows; ++r) {
        EXPECT_EQ(apart.row(2 * r), by_cols.row(r));
        EXPECT_EQ(apart.row(2 * r + 1), Eigen::RowVectorXd::Constant(kPanelCols, -1));
      }
      for (int first = 0; first < kPanelCols; first += kernels.tile_cols) {
        for (int num_cols = 1; num_cols <= kPanelCols - first; ++num_cols) {
          MatrixXd few = MatrixXd::Constant(num_rows, kPanelCols, -1);
          kernels.inner_products(
              few.data(), 1, num_rows, a.data(), num_panels, b.data() + first, num_cols, num_packs);
          EXPECT_EQ(few.leftCols(num_cols), by_cols.middleCols(first, num_cols));
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(InstructionSets,
                         PackKernelsTest,
                         test::instruction_sets(),
                         test::instruction_set_name);

TEST(PackKernels, RefuseAnUnknownInstructionSet) {
  EXPECT_THROW(pack_kernels(static_cast<InstructionSet>(99)), PreconditionError);
}

}  // namespace
}  // namespace hesscope::detail
