// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/core/internal/random_numbers.h>
#include <hesscope/linalg/internal/lapack.h>
#include <hesscope/linalg/singular_values.h>
#include <hesscope/spectra/ball_maximum.h>
#include <hesscope/spectra/eigensystem.h>
#include <hesscope/spectra/internal/ball_relaxation.h>
#include <hesscope/spectra/internal/cube_search.h>
#include <hesscope/spectra/internal/scaled_matrix.h>

namespace hesscope {
namespace {

using detail::Ball;
using detail::BallRelaxation;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Balls, and the positions of their entries: entry i of the balls is parameter order[i].
struct Layout {
  std::vector<Ball> balls;
  std::vector<Index> order;
};

Layout euclidean_layout(std::span<const ParameterBlock> blocks) {
  Layout layout;
  for (const ParameterBlock& block : blocks) {
    if (block.size > 0) layout.balls.push_back({block.offset, 1, block.size});
    for (Index i = 0; i < block.size; ++i) layout.order.push_back(block.offset + i);
  }
  return layout;
}

// Matrices are stored row by row in a block: if one has more rows than columns, its data are those
// of its transpose stored column by column; others are rearranged.
Layout spectral_layout(std::span<const ParameterBlock> blocks) {
  Layout layout;
  for (const ParameterBlock& block : blocks) {
    if (block.size == 0) continue;
    const Index rows = block.shape.size() < 2 ? block.size : block.shape.front();
    const Index cols = block.size / rows;
    layout.balls.push_back({block.offset, std::min(rows, cols), std::max(rows, cols)});
    for (Index k = 0; k < block.size; ++k) {
      const Index inside = rows >= cols ? k : (k % rows) * cols + k / rows;
      layout.order.push_back(block.offset + inside);
    }
  }
  return layout;
}

// U V^T of A = U diag(s) V^T; directions whose s is at most `rounding`, or zero within rounding of
// the decomposition, are omitted.
MatrixXd polar_factor(const MatrixXd& a, double rounding) {
  const SingularValues svd = thin_svd(a);
  if (svd.status != Status::kOk) return MatrixXd::Constant(a.rows(), a.cols(), kNaN);
  const double of_svd = static_cast<double>(svd.values.size()) * kEpsilon * svd.values[0];
  const double least = std::max(rounding, of_svd);
  const Index rank = (svd.values.array() > least).count();
  return svd.left.leftCols(rank) * svd.right.leftCols(rank).transpose();
}

// @param rounding  of each ball's singular values, if they are spectral.
VectorXd steepest(const Eigen::Ref<const VectorXd>& g,
                  const Layout& layout,
                  std::span<const double> rounding = {}) {
  VectorXd direction = VectorXd::Zero(g.size());
  for (std::size_t b = 0; b < layout.balls.size(); ++b) {
    const Ball& ball = layout.balls[b];
    MatrixXd matrix(ball.rows, ball.cols);
    for (Index k = 0; k < ball.size(); ++k) {
      matrix(k % ball.rows, k / ball.rows) = g[layout.order[std::size_t(ball.offset + k)]];
    }
    if (matrix.allFinite()) {
      const double scale = matrix.cwiseAbs().maxCoeff();
      if (!(scale > 0)) continue;
      matrix /= scale;
      if (ball.rows == 1) {
        matrix /= matrix.norm();
      } else {
        matrix = polar_factor(matrix, rounding[b] / scale);
      }
    } else {
      matrix.setConstant(kNaN);
    }
    for (Index k = 0; k < ball.size(); ++k) {
      direction[layout.order[std::size_t(ball.offset + k)]] = matrix(k % ball.rows, k / ball.rows);
    }
  }
  return direction;
}

// The direction given by V, 1 x n, corrected for rounding so that it lies in the balls.
VectorXd inside(const MatrixXd& v, const std::vector<Ball>& balls) {
  VectorXd d = v.row(0).transpose();
  for (const Ball& ball : balls) {
    const Eigen::Map<const MatrixXd> matrix(d.data() + ball.offset, ball.rows, ball.cols);
    const double norm = ball.rows == 1 ? matrix.norm() : singular_ends(matrix).largest;
    if (norm > 1) d.segment(ball.offset, ball.size()) /= norm;
  }
  return d;
}

constexpr int kAscentSweeps = 2000;
constexpr double kAscentTolerance = 1e-14;

// The best of many ascents that start from the relaxation, in directions in the space of its rows.
MatrixXd best_direction(const BallRelaxation& relaxation,
                        const MatrixXd& relaxed,
                        const BallMaximumOptions& options,
                        const ProgressCallback& progress) {
  std::mt19937_64 engine(options.seed);
  const Eigensystem principal = dense_eigensystem(relaxed * relaxed.transpose());
  const Index rank = relaxed.rows();
  constexpr Index kPrincipal = 4;
  const Index num_principal = principal.status == Status::kOk ? std::min(rank, kPrincipal) : 0;
  const Index count = num_principal + static_cast<Index>(options.num_starts);
  MatrixXd best;
  double largest = -kInfinity;
  for (Index start = 0; start < count; ++start) {
    MatrixXd v = start < num_principal
                     ? MatrixXd(principal.eigenvectors.col(rank - 1 - start).transpose() * relaxed)
                     : MatrixXd(detail::standard_normal(1, rank, engine) * relaxed);
    relaxation.normalize(v);
    const double value = relaxation.ascend(
        v,
        kAscentSweeps,
        kAscentTolerance,
        detail::part_of(progress,
                        static_cast<double>(start) / static_cast<double>(count),
                        static_cast<double>(start + 1) / static_cast<double>(count)));
    if (!(value > largest)) continue;
    largest = value;
    best = std::move(v);
  }
  return best;
}

void require_options(const char* function, const BallMaximumOptions& options) {
  if (options.num_starts >= 1 && options.max_subproblems >= 0) return;
  throw PreconditionError(
      fmt::format("{}: num_starts must be at least 1 and max_subproblems at least 0, got {} and {}",
                  function,
                  options.num_starts,
                  options.max_subproblems));
}

// d^T H d and a bound on its rounding error.
struct Value {
  double value = 0;
  double rounding = 0;
};

Value value_of(const MatrixXd& h, const VectorXd& d) {
  const VectorXd sizes = d.cwiseAbs();
  return {
      .value = d.dot(h * d),
      .rounding = static_cast<double>(h.rows() + 10) * kEpsilon * sizes.dot(h.cwiseAbs() * sizes)};
}

BallMaximum failure(Status status) {
  BallMaximum answer;
  answer.status = status;
  return answer;
}

BallMaximum maximum_on(const char* function,
                       const Eigen::Ref<const MatrixXd>& hessian,
                       const Layout& layout,
                       bool is_cube,
                       const BallMaximumOptions& options,
                       const ProgressCallback& progress) {
  require_options(function, options);
  const detail::Survey survey = detail::survey_symmetric(function, hessian);
  if (!survey.is_finite) return failure(Status::kNonFinite);
  const Index n = hessian.rows();
  MatrixXd h = detail::scaled_copy(hessian, survey.exponent());
  if (!std::is_sorted(layout.order.begin(), layout.order.end())) {
    h = MatrixXd(h(layout.order, layout.order));
  }
  const detail::SingleThreadedBlas one_thread;  // for all the small matrices of the balls
  const BallRelaxation relaxation(h, layout.balls);
  std::mt19937_64 engine(options.seed);
  MatrixXd relaxed = detail::standard_normal(relaxation.rank(), n, engine);
  relaxation.normalize(relaxed);
  relaxation.ascend(relaxed, kAscentSweeps, kAscentTolerance, detail::part_of(progress, 0, 0.3));
  const MatrixXd best =
      best_direction(relaxation, relaxed, options, detail::part_of(progress, 0.3, 0.5));
  if (best.size() == 0) return failure(Status::kFailed);
  detail::CubeSearch found;
  found.direction = inside(best, layout.balls);
  Value attained = value_of(h, found.direction);
  if (!(attained.value > 0)) {  // 0 is in the ball, too
    found.direction.setZero();
    attained = {};
  }
  found.lower = attained.value;
  const BallRelaxation::Bound tight = relaxation.upper_bound(found.direction.transpose());
  const BallRelaxation::Bound loose = relaxation.upper_bound(relaxed);
  if (std::isnan(tight.upper) || std::isnan(loose.upper)) return failure(Status::kFailed);
  found.upper = std::min(tight.upper, loose.upper);
  found.rounding = attained.rounding + std::max(tight.rounding, loose.rounding);
  // For the cube, this is a bound, too.
  const auto size = static_cast<double>(n);
  if (is_cube) {
    found.upper = std::min(found.upper, h.cwiseAbs().sum() * (1 + size * size * kEpsilon));
  }
  const auto is_closed = [&] { return found.upper <= found.lower + found.rounding; };
  if (is_cube && !is_closed() && n <= kLargestBranched && options.max_subproblems > 0) {
    found = detail::search_cube(
        h, relaxed, found, options.max_subproblems, detail::part_of(progress, 0.5, 1));
    if (std::isnan(found.upper)) return failure(Status::kFailed);
    found.lower = value_of(h, found.direction).value;
  }
  BallMaximum answer{.status = Status::kOk,
                     .lower = std::ldexp(found.lower, survey.exponent()),
                     .upper = std::ldexp(std::max(found.lower, found.upper), survey.exponent()),
                     .direction = VectorXd(n),
                     .rounding = std::ldexp(found.rounding, survey.exponent()),
                     .is_closed = is_closed(),
                     .num_subproblems = found.num_subproblems};
  if (!std::isfinite(answer.upper)) return failure(Status::kNonFinite);
  answer.direction(layout.order) = found.direction;
  return answer;
}

std::vector<ParameterBlock> single_entries(Index n) {
  std::vector<ParameterBlock> blocks(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    blocks[static_cast<std::size_t>(i)] = {.name = {}, .shape = {}, .offset = i, .size = 1};
  }
  return blocks;
}

}  // namespace

BallMaximum maximum_on_cube(const Eigen::Ref<const MatrixXd>& hessian,
                            const BallMaximumOptions& options,
                            const ProgressCallback& progress) {
  constexpr char kName[] = "maximum_on_cube";
  detail::require_symmetric_shape(kName, hessian);
  const Layout layout = euclidean_layout(single_entries(hessian.rows()));
  return maximum_on(kName, hessian, layout, true, options, progress);
}

BallMaximum maximum_on_block_balls(const Eigen::Ref<const MatrixXd>& hessian,
                                   std::span<const ParameterBlock> blocks,
                                   const BallMaximumOptions& options,
                                   const ProgressCallback& progress) {
  constexpr char kName[] = "maximum_on_block_balls";
  detail::require_symmetric_shape(kName, hessian);
  require_blocks(kName, blocks, hessian.rows());
  return maximum_on(kName, hessian, euclidean_layout(blocks), false, options, progress);
}

BallMaximum maximum_on_spectral_balls(const Eigen::Ref<const MatrixXd>& hessian,
                                      std::span<const ParameterBlock> blocks,
                                      const BallMaximumOptions& options,
                                      const ProgressCallback& progress) {
  constexpr char kName[] = "maximum_on_spectral_balls";
  detail::require_symmetric_shape(kName, hessian);
  require_blocks(kName, blocks, hessian.rows());
  return maximum_on(kName, hessian, spectral_layout(blocks), false, options, progress);
}

VectorXd steepest_on_cube(const Eigen::Ref<const VectorXd>& g) {
  return steepest(g, euclidean_layout(single_entries(g.size())));
}

VectorXd steepest_on_block_balls(const Eigen::Ref<const VectorXd>& g,
                                 std::span<const ParameterBlock> blocks) {
  require_blocks("steepest_on_block_balls", blocks, g.size());
  return steepest(g, euclidean_layout(blocks));
}

VectorXd steepest_on_spectral_balls(const Eigen::Ref<const VectorXd>& g,
                                    std::span<const ParameterBlock> blocks) {
  return steepest_on_spectral_balls(g, blocks, VectorXd::Zero(static_cast<Index>(blocks.size())));
}

VectorXd steepest_on_spectral_balls(const Eigen::Ref<const VectorXd>& g,
                                    std::span<const ParameterBlock> blocks,
                                    const Eigen::Ref<const VectorXd>& rounding) {
  constexpr char kName[] = "steepest_on_spectral_balls";
  require_blocks(kName, blocks, g.size());
  if (rounding.size() != static_cast<Index>(blocks.size())) {
    throw PreconditionError(
        fmt::format("{}: rounding must have one entry for each of {} blocks, "
                    "got {}",
                    kName,
                    blocks.size(),
                    rounding.size()));
  }
  std::vector<double> of_balls;  // empty blocks have none
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].size > 0) of_balls.push_back(rounding[static_cast<Index>(b)]);
  }
  return steepest(g, spectral_layout(blocks), of_balls);
}

}  // namespace hesscope
