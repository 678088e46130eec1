// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <hesscope/core/internal/norms.h>
#include <hesscope/core/internal/random_numbers.h>
#include <hesscope/linalg/internal/lapack.h>
#include <hesscope/objective/flat_directions.h>
#include <hesscope/objective/internal/nearby_point.h>

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index kSpareSamples = 32;
constexpr double kStepNearby = 0.1;

// Each of them once, ascending.
std::vector<double> numbers_in(const Eigen::Ref<const SampleTable>& values) {
  std::set<double> numbers;
  for (const double x : values.reshaped()) numbers.insert(x);
  return {numbers.begin(), numbers.end()};
}

// Fills an array of all records.
void fill_randomly(const DataArray& array,
                   const SampleTable& samples,
                   std::mt19937_64& engine,
                   SampleTable& records) {
  auto out = records.middleCols(array.offset, array.width);
  const auto seen = samples.middleCols(array.offset, array.width);
  switch (array.content) {
    case DataArray::Content::kReal:
    case DataArray::Content::kProbability: {
      // Losses are affine in probabilities: any numbers tell the same.
      const double mean = seen.mean();
      const double variance = (seen.array() - mean).square().mean();
      const double spread = variance > 0 ? std::sqrt(variance) : 1.0;
      for (double& x : out.reshaped()) x = mean + spread * detail::normal_number(engine);
      break;
    }
    case DataArray::Content::kClass: {
      const Index num_classes = array.num_classes();
      const auto count = static_cast<std::uint64_t>(num_classes);
      out.setZero();
      for (Index i = 0; i < out.rows(); ++i) {
        for (Index v = 0; v < array.num_values(); ++v) {
          const auto any = static_cast<Index>(detail::random_index(engine, count));
          out(i, v * num_classes + any) = 1;
        }
      }
      break;
    }
    case DataArray::Content::kSign: {
      for (double& x : out.reshaped()) x = detail::random_index(engine, 2) == 0 ? 1 : -1;
      break;
    }
    case DataArray::Content::kInteger: {
      // Between a number that stands for none, as -100 does, and the others there may be gaps.
      const std::vector<double> numbers = numbers_in(seen);
      for (double& x : out.reshaped()) x = numbers[detail::random_index(engine, numbers.size())];
      break;
    }
  }
}

GraphObjective on_random_samples(const GraphObjective& objective,
                                 Index count,
                                 std::mt19937_64& engine) {
  const Model& model = objective.model();
  SampleTable records = SampleTable::Zero(count, model.record_size());
  for (const DataArray& array : model.arrays) {
    fill_randomly(array, objective.samples(), engine, records);
  }
  return {model, std::move(records), objective.options_alone()};
}

// Gradients as rows of length one, without those that are not finite or 0.
MatrixXd gradient_rows(const GraphObjective& objective, const VectorXd& theta) {
  const MatrixXd gradients = objective.per_sample_gradients(theta, objective.all_samples());
  MatrixXd rows(gradients.cols(), gradients.rows());
  Index count = 0;
  for (const auto gradient : gradients.colwise()) {
    const double norm = detail::norm(gradient);
    if (std::isfinite(norm) && norm > 0) rows.row(count++) = gradient.transpose() / norm;
  }
  rows.conservativeResize(count, Eigen::NoChange);
  return rows;
}

// An orthonormal basis of the null space; nothing where it is not clear what belongs to it.
std::optional<MatrixXd> null_space(const MatrixXd& rows) {
  constexpr double kZero = 1e-12;     // relative to the largest pivot
  constexpr double kSmallest = 1e-9;  // of those that are not 0
  const Index n = rows.cols();
  if (rows.rows() < n + kSpareSamples / 2) return std::nullopt;
  const detail::SingleThreadedBlas one_thread;
  const detail::PivotedQr qr = detail::pivoted_qr(rows);
  const VectorXd pivots = qr.factors.diagonal().cwiseAbs();
  Index rank = 0;
  while (rank < n && pivots(rank) > kZero * pivots(0)) ++rank;
  if (rank == 0 || !(pivots(rank - 1) > kSmallest * pivots(0))) return std::nullopt;
  if (rank == n) return MatrixXd(n, 0);
  const Index nullity = n - rank;
  // R_1 x + R_2 y = 0 for x = -R_1^-1 R_2 y, in the order of the pivots.
  const MatrixXd solved = detail::solve_upper(qr.factors.topLeftCorner(rank, rank),
                                              qr.factors.block(0, rank, rank, nullity));
  MatrixXd vectors = MatrixXd::Zero(n, nullity);
  for (Index k = 0; k < n; ++k) {
    const Index parameter = qr.order[static_cast<std::size_t>(k)];
    if (k < rank) {
      vectors.row(parameter) = -solved.row(k);
    } else {
      vectors(parameter, k - rank) = 1;
    }
  }
  detail::PivotedQr basis = detail::pivoted_qr(std::move(vectors));
  return detail::apply_q(basis, nullity, MatrixXd::Identity(n, nullity));
}

}  // namespace

std::optional<MatrixXd> flat_directions(const GraphObjective& objective,
                                        const VectorXd& theta,
                                        const FlatDirectionsOptions& options) {
  require_point(objective, "flat_directions", theta, objective.all_samples());
  const Index n = objective.num_parameters();
  if (n > options.max_parameters || objective.model().weight_decay != 0) return std::nullopt;
  std::mt19937_64 engine(options.seed);
  const GraphObjective random = on_random_samples(objective, n + kSpareSamples, engine);
  std::optional<MatrixXd> here = null_space(gradient_rows(random, theta));
  if (!here) return std::nullopt;
  const std::optional<MatrixXd> there = null_space(
      gradient_rows(random, detail::nearby_point(objective, theta, kStepNearby, engine)));
  if (!there || there->cols() != here->cols()) return std::nullopt;
  return here;
}

}  // namespace hesscope
