// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include <Spectra/LinAlg/Lanczos.h>
#include <Spectra/LinAlg/TridiagEigen.h>
#include <Spectra/MatOp/internal/ArnoldiOp.h>
#include <Spectra/SymEigsSolver.h>

#include <hesscope/core/constants.h>
#include <hesscope/spectra/internal/lanczos.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// The basis is not restarted before it has this many vectors: restarts multiply the number of
// products.
constexpr Index kLargestSpace = 512;
constexpr Index kRestartedSpace = 256;

struct NonFiniteProduct {};

// B = I + H / shift in the form that Spectra requires.
class Shifted {
 public:
  using Scalar = double;

  Shifted(const SymmetricOperator& h, const LanczosOptions& options, const double& fraction)
      : h_(&h), shift_(options.shift), progress_(&options.progress), fraction_(&fraction) {}

  Index rows() const { return h_->rows(); }

  Index cols() const { return h_->rows(); }

  void perform_op(const double* x, double* y) const {
    report(*progress_, *fraction_);
    const Eigen::Map<const VectorXd> in(x, rows());
    Eigen::Map<VectorXd> out(y, rows());
    out = in + h_->apply(in) / shift_;
    if (!out.allFinite()) throw NonFiniteProduct{};
  }

 private:
  const SymmetricOperator* h_;
  double shift_;
  const ProgressCallback* progress_;
  const double* fraction_;
};

using ShiftedInLanczos = Spectra::ArnoldiOp<double, Shifted, Spectra::IdentityBOp>;
using Factorization = Spectra::Lanczos<double, ShiftedInLanczos>;

// Columns of the requested ends among m ascending Ritz values.
std::vector<Index> wanted_columns(const LanczosOptions& options, Index m) {
  std::vector<Index> columns;
  if (options.ends != Ends::kLargest) {
    for (Index i = 0; i < options.num_per_end; ++i) columns.push_back(i);
  }
  if (options.ends != Ends::kSmallest) {
    for (Index i = m - options.num_per_end; i < m; ++i) columns.push_back(i);
  }
  return columns;
}

// Ritz pairs of H from V^T B V = S diag(.) S^T; V is n x m.
struct RitzPairs {
  VectorXd values;     // m, ascending
  MatrixXd s;          // m x m
  VectorXd residuals;  // m

  RitzPairs(const MatrixXd& projected, double beta, double shift) {
    const Spectra::TridiagEigen<double> solver(projected);
    const Index m = projected.rows();
    values.resize(m);
    s.resize(m, m);
    std::vector<Index> order(static_cast<std::size_t>(m));
    std::iota(order.begin(), order.end(), Index{0});
    const VectorXd& unsorted = solver.eigenvalues();
    std::sort(
        order.begin(), order.end(), [&](Index a, Index b) { return unsorted[a] < unsorted[b]; });
    for (Index i = 0; i < m; ++i) {
      const Index from = order[static_cast<std::size_t>(i)];
      values[i] = shift * (unsorted[from] - 1.0);
      s.col(i) = solver.eigenvectors().col(from);
    }
    residuals = shift * beta * s.row(m - 1).cwiseAbs().transpose();
  }

  // How far the needed residuals have come from ||B|| = 1 to the tolerance, on a logarithmic scale.
  double fraction_done(const LanczosOptions& options) const {
    const Index k = options.num_per_end;
    double largest = 0.0;
    if (options.ends != Ends::kLargest) largest = residuals.head(k).maxCoeff();
    if (options.ends != Ends::kSmallest) {
      largest = std::max(largest, residuals.tail(k).maxCoeff());
    }
    const double way = std::log(options.shift / options.tolerance);
    const double fraction = std::log(options.shift / largest) / way;
    return way > 0.0 && fraction > 0.0 ? std::min(fraction, 1.0) : 0.0;
  }

  bool is_done(const LanczosOptions& options, Index num_steps) const {
    const bool may_be_inside = num_steps >= options.min_steps;
    const Index k = options.num_per_end;
    const Index m = values.size();
    const double lowest = values[0] - 4.0 * residuals[0];
    const double highest = values[m - 1] + 4.0 * residuals[m - 1];
    const bool smallest_done = (may_be_inside && lowest > options.lower) ||
                               residuals.head(k).maxCoeff() <= options.tolerance;
    const bool largest_done = (may_be_inside && highest < options.upper) ||
                              residuals.tail(k).maxCoeff() <= options.tolerance;
    return (smallest_done || options.ends == Ends::kLargest) &&
           (largest_done || options.ends == Ends::kSmallest);
  }
};

void take_ritz_pairs(const RitzPairs& ritz,
                     const MatrixXd& basis,
                     const LanczosOptions& options,
                     LanczosResult& result) {
  const std::vector<Index> columns = wanted_columns(options, ritz.values.size());
  result.values = ritz.values(columns);
  result.vectors = basis.leftCols(ritz.values.size()) * ritz.s(Eigen::all, columns);
}

// Until the ends are finished or the basis has kLargestSpace vectors. Finds nothing if fewer
// columns are allowed than pairs are requested.
void grow(const Shifted& b,
          const LanczosOptions& options,
          LanczosResult& result,
          double& fraction) {
  const Index n = b.rows();
  const Index num_wanted = options.num_per_end * (options.ends == Ends::kBoth ? 2 : 1);
  const Index largest = std::min(
      {n, std::max(kLargestSpace, 4 * num_wanted), static_cast<Index>(options.max_columns)});
  if (largest < num_wanted) return;
  Factorization factorization(ShiftedInLanczos(b, Spectra::IdentityBOp()), largest);
  Index num_products = 0;
  Eigen::Map<const VectorXd> start(options.start.data(), n);
  factorization.init(start, num_products);
  Index m = std::min(largest, std::max(num_wanted + 2, options.min_steps));
  for (Index from = 1;; from = std::exchange(m, std::min(largest, m + 1 + m / 16))) {
    factorization.factorize_from(from, m, num_products);
    const RitzPairs ritz(
        factorization.matrix_H().topLeftCorner(m, m), factorization.f_norm(), options.shift);
    result.num_steps = m;
    fraction = std::max(fraction, ritz.fraction_done(options));
    const bool is_done = ritz.is_done(options, m);
    if (!is_done && m < largest) continue;
    if (is_done) result.status = Status::kOk;
    take_ritz_pairs(ritz, factorization.matrix_V(), options, result);
    return;
  }
}

// Continues from the sum of the Ritz vectors left by grow().
void restart(const Shifted& b, const LanczosOptions& options, LanczosResult& result) {
  const Index num_wanted = result.values.size();
  const Index space = std::min(b.rows(), std::max(2 * num_wanted + 1, kRestartedSpace));
  const std::int64_t columns_left = options.max_columns - result.num_steps;
  const Index max_restarts = columns_left / space;  // none costs more than `space` products
  if (max_restarts < 1) return;
  // Relative to eigenvalues of B, which are near 1.
  const double tolerance = std::max(options.tolerance / options.shift, 4.0 * kEpsilon);
  const Spectra::SortRule rule = options.ends == Ends::kBoth      ? Spectra::SortRule::BothEnds
                                 : options.ends == Ends::kLargest ? Spectra::SortRule::LargestAlge
                                                                  : Spectra::SortRule::SmallestAlge;
  Shifted op = b;
  Spectra::SymEigsSolver<Shifted> solver(op, num_wanted, space);
  const VectorXd start = result.vectors.rowwise().sum();
  solver.init(start.data());
  solver.compute(rule, max_restarts, tolerance, Spectra::SortRule::SmallestAlge);
  if (solver.info() != Spectra::CompInfo::Successful) return;
  result.values = options.shift * (solver.eigenvalues().array() - 1.0);
  result.vectors = solver.eigenvectors();
  result.status = Status::kOk;
}

}  // namespace

LanczosResult lanczos(const SymmetricOperator& h, const LanczosOptions& options) {
  LanczosResult result;
  double fraction = 0.0;
  const Shifted b(h, options, fraction);
  try {
    grow(b, options, result, fraction);
    if (result.status != Status::kOk && result.values.size() > 0) restart(b, options, result);
  } catch (const NonFiniteProduct&) {
    result.status = Status::kNonFinite;
  }
  return result;
}

}  // namespace hesscope::detail
