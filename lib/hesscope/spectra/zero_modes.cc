// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/linalg/singular_values.h>
#include <hesscope/spectra/internal/generator_sets.h>
#include <hesscope/spectra/internal/null_space.h>
#include <hesscope/spectra/internal/scaled_matrix.h>
#include <hesscope/spectra/zero_modes.h>

namespace hesscope {
namespace {

using detail::GeneratorSet;
using detail::NullSpace;
using detail::ScaledPoint;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Whether the generators may be listed at all, before any is made.
bool can_list(std::span<const Invariance> invariances, double memory_limit) {
  constexpr double kBytesPerGenerator = 64;  // while they are sorted into sets
  double bytes = 0.0;
  for (const Invariance& invariance : invariances) {
    bytes += kBytesPerGenerator * static_cast<double>(invariance.num_generators);
  }
  return bytes <= memory_limit;
}

bool can_solve(const std::vector<GeneratorSet>& sets, Index rows, const ZeroModesOptions& options) {
  const auto n = static_cast<double>(rows);
  double operations = 0.0;
  for (const GeneratorSet& set : sets) {
    const auto T = static_cast<double>(set.parameters.size());
    const auto K = static_cast<double>(set.members.size());
    if (!(8.0 * (4.0 * T * K + 3.0 * K * K + n * K) <= options.memory_limit_bytes)) return false;
    operations += T * K * (K + n);
  }
  return operations <= options.operation_limit;
}

void require_inputs(const Eigen::Ref<const VectorXd>& theta,
                    const Eigen::Ref<const VectorXd>& gradient,
                    std::span<const Invariance> invariances,
                    const Eigen::Ref<const MatrixXd>& hessian,
                    const Spectrum& spectrum,
                    const ZeroModesOptions& options) {
  detail::require_symmetric_shape("explain_zero_modes", hessian);
  const Index n = hessian.rows();
  const Index listed = spectrum.eigenvalues.size();
  if (options.flat_directions != nullptr && options.flat_directions->rows() != n) {
    throw PreconditionError(
        fmt::format("explain_zero_modes: flat_directions must have {} rows as the hessian, got {}",
                    n,
                    options.flat_directions->rows()));
  }
  const auto require_entries = [n](const char* name, const VectorXd* values) {
    if (values == nullptr || values->size() == n) return;
    throw PreconditionError(
        fmt::format("explain_zero_modes: {} must have {} entries as the hessian has rows, got {}",
                    name,
                    n,
                    values->size()));
  };
  require_entries("sample_slopes", options.sample_slopes);
  require_entries("rows_nearby", options.rows_nearby);
  if (theta.size() != n || gradient.size() != n || (listed != 0 && listed != n)) {
    throw PreconditionError(
        fmt::format("explain_zero_modes: theta, gradient and eigenvalues must have {} entries as "
                    "the hessian has rows, got {}, {} and {}",
                    n,
                    theta.size(),
                    gradient.size(),
                    listed));
  }
  for (const Invariance& invariance : invariances) {
    if (invariance.num_generators < 0 || !invariance.generator) {
      throw PreconditionError(
          fmt::format("explain_zero_modes: invariance '{}' must have generators and a function "
                      "that makes them, got {}",
                      invariance.name,
                      invariance.num_generators));
    }
  }
  if (!(options.gradient_error >= 0.0) || !(options.memory_limit_bytes >= 0.0) ||
      !(options.operation_limit >= 0.0)) {
    throw PreconditionError(
        fmt::format("explain_zero_modes: options must not be negative, got gradient_error {}, "
                    "memory_limit_bytes {} and operation_limit {}",
                    options.gradient_error,
                    options.memory_limit_bytes,
                    options.operation_limit));
  }
}

void set_medians(ZeroModes& modes, const VectorXd& eigenvalues) {
  const Index left = eigenvalues.size() - modes.num_explained;
  if (left <= 0) return;
  VectorXd by_magnitude = eigenvalues;
  std::stable_sort(by_magnitude.begin(), by_magnitude.end(), [](double a, double b) {
    return std::abs(a) < std::abs(b);
  });
  modes.median_without_explained = lower_median(by_magnitude.tail(left));
  modes.median_magnitude_without_explained = lower_median(by_magnitude.tail(left).cwiseAbs());
}

bool is_zero_at(const VectorXd* values, Index j) {
  return values == nullptr || (*values)[j] == 0.0;
}

ScaledPoint scaled_point(const Eigen::Ref<const VectorXd>& theta,
                         const Eigen::Ref<const VectorXd>& gradient,
                         const Eigen::Ref<const MatrixXd>& hessian,
                         const ZeroModesOptions& options,
                         int exponent) {
  ScaledPoint point{.theta = theta,
                    .gradient = detail::scaled_back(gradient, -exponent),
                    .hessian = &hessian,
                    .exponent = exponent,
                    .is_dead = {}};
  for (Index j = 0; j < hessian.cols(); ++j) {
    const bool is_dead = is_zero_at(options.sample_slopes, j) &&
                         is_zero_at(options.rows_nearby, j) &&
                         (hessian.col(j).array() == 0.0).all();
    point.is_dead.push_back(is_dead);
  }
  return point;
}

// Collects the null spaces of the sets.
class Explanation {
 public:
  Explanation(const ScaledPoint& point, ZeroModes& modes, bool want_basis)
      : point_(&point), modes_(&modes), want_basis_(want_basis) {
    for (ZeroModesOfFamily& family : modes.families) {
      family.num_explained = 0;
      family.num_unconfirmed = 0;
    }
    modes.num_explained = modes.num_dead;
    modes.num_unconfirmed = 0;
  }

  // False if a decomposition failed.
  bool add(const GeneratorSet& set, const detail::GeneratorColumns& columns) {
    NullSpace space;
    for (Index k = 0; k < columns.size(); ++k) {
      const std::size_t f = columns.family[static_cast<std::size_t>(k)];
      ZeroModesOfFamily& family = modes_->families[f];
      detail::raise(family.flatness_bound, detail::norm(columns.bt_g.col(k)));
      const bool is_last = k + 1 == columns.size();
      if (!is_last && columns.family[static_cast<std::size_t>(k) + 1] == f) continue;
      auto found = detail::null_space(columns, k + 1, *point_, set.parameters);
      if (!found) return false;
      family.num_explained += found->basis.cols() - space.basis.cols();
      if (found->num_unconfirmed > space.num_unconfirmed) {
        family.num_unconfirmed += found->num_unconfirmed - space.num_unconfirmed;
        note_refutation(*found, set, family);
      }
      space = std::move(*found);
    }
    add(space);
    if (want_basis_ && space.basis.cols() > 0) pieces_.push_back({set.parameters, space.basis});
    return true;
  }

  MatrixXd basis() const {
    const Index n = point_->size();
    MatrixXd all = MatrixXd::Zero(n, modes_->num_explained);
    Index column = 0;
    for (Index i = 0; i < n; ++i) {
      if (point_->dead(i)) all(i, column++) = 1.0;
    }
    for (const auto& [parameters, columns] : pieces_) {
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        all.row(parameters[i]).segment(column, columns.cols()) = columns.row(static_cast<Index>(i));
      }
      column += columns.cols();
    }
    return all;
  }

 private:
  // Keeps the largest refutation over all sets.
  static void note_refutation(const NullSpace& space,
                              const GeneratorSet& set,
                              ZeroModesOfFamily& family) {
    if (family.refutation >= space.largest_refutation) return;
    Index largest = 0;
    space.refuted.cwiseAbs().maxCoeff(&largest);
    family.refutation = space.largest_refutation;
    family.confirmation_bound = space.confirmation_bound;
    family.refuted_parameter = set.parameters[static_cast<std::size_t>(largest)];
  }

  struct Piece {
    std::vector<Index> parameters;
    MatrixXd columns;
  };

  void add(const NullSpace& space) {
    modes_->num_explained += space.basis.cols();
    modes_->num_unconfirmed += space.num_unconfirmed;
    detail::raise(modes_->largest_accepted, space.largest_accepted);
    detail::lower(modes_->smallest_refused, space.smallest_refused);
    detail::lower(modes_->smallest_pivot, space.smallest_pivot);
    detail::raise(modes_->largest_dependence, space.largest_dependence);
    detail::raise(modes_->tolerance, space.tolerance);
    detail::raise(modes_->largest_residual, space.largest_residual);
    detail::lower(modes_->smallest_refutation, space.smallest_refutation);
  }

  const ScaledPoint* point_;
  ZeroModes* modes_;
  bool want_basis_;
  std::vector<Piece> pieces_;
};

// Orthonormal columns that span the part of `flat` outside the span of `known`, both orthonormal,
// or nothing if the decomposition failed.
std::optional<MatrixXd> without(const MatrixXd& flat, const MatrixXd& known) {
  constexpr double kIndependent = 1e-6;  // the sine of an angle
  if (flat.cols() == 0) return flat;
  MatrixXd rest = flat;
  for (int pass = 0; pass < 2; ++pass) rest -= known * (known.transpose() * rest);
  const SingularValues svd = thin_svd(rest);
  if (svd.status != Status::kOk) return std::nullopt;
  return svd.left.leftCols((svd.values.array() > kIndependent).count());
}

struct FlatModes {
  MatrixXd basis;         // orthonormal columns
  double residual = 0.0;  // max ||H v|| over unit vectors v of their span, scaled
};

// The zero modes of H in the span of `flat` beyond the explained ones: at most as many as there are
// unexplained zeros. Nothing if a decomposition failed.
std::optional<FlatModes> flat_modes(const Eigen::Ref<const MatrixXd>& hessian,
                                    int exponent,
                                    const MatrixXd& flat,
                                    const MatrixXd& explained,
                                    std::int64_t num_unexplained) {
  const std::optional<MatrixXd> columns = without(flat, explained);
  if (!columns) return std::nullopt;
  if (columns->cols() == 0) return FlatModes{.basis = *columns};
  const MatrixXd scaled = detail::scaled_copy(hessian, exponent);
  const double size = scaled.norm();
  const SingularValues svd = thin_svd(scaled * *columns);
  if (svd.status != Status::kOk) return std::nullopt;
  const Index total = svd.values.size();
  Index count = 0;
  while (count < total && count < num_unexplained &&
         svd.values[total - 1 - count] <= detail::kZeroOfHessian * size) {
    ++count;
  }
  return FlatModes{.basis = *columns * svd.right.rightCols(count),
                   .residual = count > 0 ? svd.values[total - count] : 0.0};
}

// From the scale of ScaledPoint to that of H. The pivots are relative.
void scale_back(ZeroModes& modes, int exponent) {
  for (double* norm : {&modes.largest_accepted,
                       &modes.smallest_refused,
                       &modes.tolerance,
                       &modes.largest_residual,
                       &modes.flat_residual,
                       &modes.smallest_refutation}) {
    *norm = std::ldexp(*norm, exponent);
  }
  for (ZeroModesOfFamily& family : modes.families) {
    for (double* norm : {&family.flatness_bound, &family.refutation, &family.confirmation_bound}) {
      *norm = std::ldexp(*norm, exponent);
    }
  }
}

// What is known before any decomposition.
ZeroModes without_counts(std::span<const Invariance> invariances, Status status) {
  ZeroModes modes;
  modes.status = status;
  for (const Invariance& invariance : invariances) {
    modes.families.push_back(
        {.name = invariance.name, .num_generators = invariance.num_generators});
  }
  return modes;
}

}  // namespace

ZeroModes explain_zero_modes(const Eigen::Ref<const VectorXd>& theta,
                             const Eigen::Ref<const VectorXd>& gradient,
                             std::span<const Invariance> invariances,
                             const Eigen::Ref<const MatrixXd>& hessian,
                             const Spectrum& spectrum,
                             const ZeroModesOptions& options) {
  require_inputs(theta, gradient, invariances, hessian, spectrum, options);
  const Index n = hessian.rows();
  if (!theta.allFinite() || !gradient.allFinite() || !hessian.allFinite()) {
    return without_counts(invariances, Status::kNonFinite);
  }
  if (spectrum.status != Status::kOk) return without_counts(invariances, spectrum.status);

  // The exponent of H, unless gradients would overflow with it.
  const double steepest = gradient.cwiseAbs().maxCoeff();
  const int exponent = std::max(detail::survey(hessian).exponent(),
                                steepest > 0.0 ? std::ilogb(steepest) - 900 : -2000);
  ScaledPoint point = scaled_point(theta, gradient, hessian, options, exponent);
  point.band = std::ldexp(spectrum.rounding_band, -exponent);
  point.norm = std::ldexp(spectrum.norm(), -exponent);
  point.gradient_error = std::max(std::ldexp(options.gradient_error, -exponent),
                                  kEpsilon * detail::norm(point.gradient));
  if (options.product_error) {
    point.product_error = [&](const VectorXd& v) {
      return std::ldexp(options.product_error(v), -exponent);
    };
  }

  ZeroModes unknown = without_counts(invariances, Status::kNotComputed);
  unknown.dead = VectorXd::NullaryExpr(n, [&](Index j) { return point.dead(j) ? 1.0 : 0.0; });
  unknown.num_dead = std::count(point.is_dead.begin(), point.is_dead.end(), true);
  if (!can_list(invariances, options.memory_limit_bytes)) return unknown;
  const std::vector<GeneratorSet> sets = detail::generator_sets(invariances, n);
  if (!can_solve(sets, n, options)) return unknown;

  ZeroModes modes = unknown;
  const bool is_flat_asked = options.flat_directions != nullptr && spectrum.num_zero >= 0;
  Explanation explanation(point, modes, options.want_basis || is_flat_asked);
  for (const GeneratorSet& set : sets) {
    if (!explanation.add(set, detail::generator_columns(set, invariances, point))) {
      unknown.status = Status::kFailed;
      return unknown;
    }
  }
  MatrixXd basis = options.want_basis || is_flat_asked ? explanation.basis() : MatrixXd(n, 0);
  if (is_flat_asked && spectrum.num_zero > modes.num_explained) {
    const std::optional<FlatModes> more = flat_modes(hessian,
                                                     exponent,
                                                     *options.flat_directions,
                                                     basis,
                                                     spectrum.num_zero - modes.num_explained);
    if (!more) {
      unknown.status = Status::kFailed;
      return unknown;
    }
    modes.num_flat = more->basis.cols();
    modes.flat_residual = more->residual;
    modes.num_explained += modes.num_flat;
    basis.conservativeResize(Eigen::NoChange, basis.cols() + more->basis.cols());
    basis.rightCols(more->basis.cols()) = more->basis;
  }
  scale_back(modes, exponent);
  if (spectrum.num_zero >= 0) {
    modes.num_unexplained = std::max<std::int64_t>(0, spectrum.num_zero - modes.num_explained);
  }
  set_medians(modes, spectrum.eigenvalues);
  if (options.want_basis) modes.basis = std::move(basis);
  modes.status = modes.num_unconfirmed == 0 ? Status::kOk : Status::kFailed;
  return modes;
}

}  // namespace hesscope
