// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <vector>

#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/linalg/internal/triangles.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;

// Edge of the squares in which the matrix is processed.
constexpr Index kSquare = 32;

// For the square of rows from `below` on and columns from `first` on, in the lower triangle.
// Returns 0, or NaN if an entry is not finite.
template <Triangle kFrom>
double fill_square(Index first, Index below, double factor, Eigen::Ref<Eigen::MatrixXd> h) {
  const Index end_col = std::min(first + kSquare, h.cols());
  const Index end_row = std::min(below + kSquare, h.rows());
  double check = 0;
  for (Index j = first; j < end_col; ++j) {
    for (Index i = std::max(below, j + 1); i < end_row; ++i) {
      double x = 0;
      if constexpr (kFrom != Triangle::kUpper) x += h(i, j);
      if constexpr (kFrom != Triangle::kLower) x += h(j, i);
      x *= factor;
      h(i, j) = h(j, i) = x;
      check += 0 * x;
    }
    if (first == below) {
      h(j, j) *= factor;
      check += 0 * h(j, j);
    }
  }
  return check;
}

template <Triangle kFrom>
bool fill(const Executor& executor, double factor, Eigen::Ref<Eigen::MatrixXd> h) {
  const Index num_squares = ceil_div(h.cols(), kSquare);
  std::vector<double> checks(static_cast<std::size_t>(num_squares));
  executor.for_each(num_squares, [&](Index square) {
    double& check = checks[static_cast<std::size_t>(square)];
    const Index first = square * kSquare;
    for (Index below = first; below < h.rows(); below += kSquare) {
      check += fill_square<kFrom>(first, below, factor, h);
    }
  });
  return std::ranges::all_of(checks, [](double check) { return check == 0; });
}

}  // namespace

bool fill_triangles(const Executor& executor,
                    Triangle from,
                    double factor,
                    Eigen::Ref<Eigen::MatrixXd> h) {
  switch (from) {
    case Triangle::kLower:
      return fill<Triangle::kLower>(executor, factor, h);
    case Triangle::kUpper:
      return fill<Triangle::kUpper>(executor, factor, h);
    case Triangle::kBoth:
      break;
  }
  return fill<Triangle::kBoth>(executor, factor, h);
}

}  // namespace hesscope::detail
