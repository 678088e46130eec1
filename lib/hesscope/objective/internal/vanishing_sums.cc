// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include <Eigen/Core>

#include <hesscope/linalg/singular_values.h>
#include <hesscope/objective/internal/vanishing_sums.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// A basis of the coefficients whose sums vanish, in reduced echelon form, to rounding.
// @param magnitudes  of columns: the root of the sum of squares of magnitudes.
std::vector<VectorXd> null_sums(const Eigen::Ref<const MatrixXd>& values,
                                const VectorXd& magnitudes) {
  // Terms of tensors without effect, as of a bias that softmax does not see, are rounding alone.
  constexpr double kNoise = 1e-12;
  std::vector<Index> live;
  for (Index t = 0; t < values.cols(); ++t) {
    if (magnitudes(t) > kNoise * magnitudes.maxCoeff()) live.push_back(t);
  }
  const auto count = static_cast<Index>(live.size());
  if (count == 0) return {};
  // Columns of length one, so that no unit of a tensor counts.
  // Rows of zeros complete V where there are fewer sums than terms.
  MatrixXd scaled = MatrixXd::Zero(std::max(values.rows(), count), count);
  for (Index c = 0; c < count; ++c) {
    const Index t = live[static_cast<std::size_t>(c)];
    scaled.col(c).head(values.rows()) = values.col(t) / magnitudes(t);
  }
  // Not by the normal equations: sums that nearly vanish must not be taken for those that do.
  const SingularValues svd = hesscope::thin_svd(scaled);
  if (svd.status != Status::kOk) return {};
  constexpr double kRounding = 1e-12;
  std::vector<VectorXd> rows;
  for (Index c = count; c-- > 0;) {
    if (!(svd.values(c) < kRounding)) break;
    VectorXd row(count);
    for (Index k = 0; k < count; ++k) {
      row(k) = svd.right(k, c) / magnitudes(live[static_cast<std::size_t>(k)]);
    }
    rows.push_back(row / row.cwiseAbs().maxCoeff());
  }
  std::vector<bool> is_done(rows.size());
  std::vector<VectorXd> reduced;
  for (std::size_t step = 0; step < rows.size(); ++step) {
    std::size_t pivot_row = 0;
    Index pivot = 0;
    double largest = -1;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      Index place = 0;
      if (is_done[r] || rows[r].cwiseAbs().maxCoeff(&place) <= largest) continue;
      largest = std::abs(rows[r](place));
      pivot_row = r;
      pivot = place;
    }
    if (!(largest > 1e-6)) break;
    is_done[pivot_row] = true;
    rows[pivot_row] /= rows[pivot_row](pivot);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (r != pivot_row) rows[r] -= rows[r](pivot) * rows[pivot_row];
    }
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (!is_done[r]) continue;
    VectorXd all = VectorXd::Zero(values.cols());
    for (Index k = 0; k < count; ++k) all(live[static_cast<std::size_t>(k)]) = rows[r](k);
    reduced.push_back(std::move(all));
  }
  return reduced;
}

// Multiples of a sixth, where all are near one.
bool round_to_fractions(VectorXd& coefficients) {
  for (double& c : coefficients) {
    const double rounded = std::round(6 * c) / 6;
    if (!(std::abs(c - rounded) <= 1e-4)) return false;
    c = rounded;
  }
  return true;
}

}  // namespace

std::vector<VectorXd> vanishing_sums(const SumTerms& terms, double tolerance) {
  const auto finding = [&](const MatrixXd& all) { return all.topRows(terms.num_finding); };
  std::vector<VectorXd> found;
  for (VectorXd& coefficients :
       null_sums(finding(terms.values), finding(terms.magnitudes).colwise().norm().transpose())) {
    if (!round_to_fractions(coefficients)) continue;
    const VectorXd sums = terms.values * coefficients;
    const VectorXd sizes = terms.magnitudes * coefficients.cwiseAbs();
    const bool holds = (sums.array().abs() <= tolerance * sizes.array()).all();
    if (holds && sizes.maxCoeff() > 0) found.push_back(std::move(coefficients));
  }
  return found;
}

}  // namespace hesscope::detail
