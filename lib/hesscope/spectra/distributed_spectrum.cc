// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/spectra/counts.h>
#include <hesscope/spectra/distributed_spectrum.h>
#include <hesscope/spectra/internal/distributed_matrix.h>
#include <hesscope/spectra/internal/scaled_matrix.h>
#include <hesscope/spectra/internal/spectrum_of_values.h>
#include <hesscope/spectra/internal/sturm_counts.h>

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Sends the first rank's numbers to the others.
void share_from_first(Team& team, MatrixXd& numbers) {
  share_part(team, 0, {numbers.data(), numbers.rows(), numbers.cols(), numbers.rows()});
}

// All eigenvalues of T, by counts that are divided among the ranks.
VectorXd eigenvalues_of(const detail::Tridiagonal& t, Team& team) {
  const Index n = t.diagonal.size();
  const auto rank = static_cast<std::size_t>(team.rank());
  std::vector<Index> cuts;
  VectorXd values;
  team.together([&] {
    cuts = equal_shares(n, team.size());
    values.resize(n);
    values.segment(cuts[rank], cuts[rank + 1] - cuts[rank]) =
        detail::SturmCounts(t).eigenvalues(cuts[rank], cuts[rank + 1]);
  });
  for (std::size_t r = 0; r + 1 < cuts.size(); ++r) {
    share_part(team, static_cast<int>(r), {values.data() + cuts[r], cuts[r + 1] - cuts[r], 1, n});
  }
  return values;
}

// Unit eigenvectors of T as columns, NaN if inverse iteration failed; computed by the first rank.
MatrixXd eigenvectors_of(const detail::Tridiagonal& t, std::span<const Index> ranks, Team& team) {
  MatrixXd vectors;
  team.together([&] {
    vectors = MatrixXd::Constant(t.diagonal.size(), std::ssize(ranks), kNaN);
    if (team.rank() != 0) return;
    for (std::size_t k = 0; k < ranks.size(); ++k) {
      const std::optional<VectorXd> found = detail::eigenvector(t, ranks[k]);
      if (found) vectors.col(static_cast<Index>(k)) = *found;
    }
  });
  share_from_first(team, vectors);
  return vectors;
}

// ||H v - lambda v|| for the eigenvectors of some ranks, where v is Q times that of T.
VectorXd residuals_of(detail::DistributedMatrix& h,
                      const detail::Tridiagonal& t,
                      const VectorXd& values,
                      std::span<const Index> ranks,
                      Team& team) {
  MatrixXd v = h.apply_q(eigenvectors_of(t, ranks, team));
  v.colwise().normalize();
  const MatrixXd hv = h.times(v);
  VectorXd residuals;
  team.together([&] {
    residuals.resize(std::ssize(ranks));
    for (std::size_t k = 0; k < ranks.size(); ++k) {
      const auto col = static_cast<Index>(k);
      residuals[col] = (hv.col(col) - values[ranks[k]] * v.col(col)).norm();
    }
  });
  return residuals;
}

// ||H||_2 from its eigenvalues, ascending.
double norm_of(const VectorXd& values) {
  return std::max(std::abs(values[0]), std::abs(values[values.size() - 1]));
}

// A bound on the distance of every eigenvalue from that of H with its rank; NaN if there is none.
double error_bound_of(const detail::DistributedMatrix::VectorErrors& errors) {
  return errors.residual / std::sqrt(1.0 - errors.orthogonality);  // NaN from 1 on
}

// The checks of all eigenvalues and of the ends; see distributed_spectrum(). @param trace  of H.
bool is_confirmed(detail::DistributedMatrix& h, double trace, const VectorXd& values) {
  const Index n = values.size();
  const double lowest = values[0];
  const double highest = values[n - 1];
  const double norm = norm_of(values);
  const double band = detail::rounding_band(n, norm);
  const double beyond = counting_band(n, norm);
  const auto size = static_cast<double>(n);
  return std::abs(detail::sum(values) - trace) <= size * band &&
         std::abs(values.norm() - h.frobenius_norm()) <= std::sqrt(size) * band &&
         h.is_positive_definite(1.0, lowest - beyond) &&
         !h.is_positive_definite(1.0, lowest + beyond) &&
         h.is_positive_definite(-1.0, highest + beyond) &&
         !h.is_positive_definite(-1.0, highest - beyond);
}

// The computation on every rank.
DistributedSpectrum spectrum_on_rank(const DistributedSolver& solver,
                                     const Objective& objective,
                                     const VectorXd& theta,
                                     const DistributedSpectrumOptions& options,
                                     const ProgressCallback& progress) {
  const Index n = theta.size();
  const double fill_share = options.fill_share;
  Team& team = solver.team();
  const auto tell = [&](double fraction) {
    team.together([&] { detail::report(progress, fill_share + fraction * (1.0 - fill_share)); });
  };
  const detail::SingleThreadedBlas one_thread;
  const auto h = solver.matrix(n, options.proves_fully);
  h->fill(
      [&](Index first, Index width) {
        return objective.hessian_columns(theta, objective.all_samples(), first, width);
      },
      detail::part_of(progress, 0.0, fill_share));
  const detail::DistributedMatrix::Content content = h->content();
  DistributedSpectrum found;
  if (!content.is_finite) {
    found.spectrum.status = Status::kNonFinite;
    return found;
  }
  const int exponent = detail::Survey{.largest_magnitude = content.largest_magnitude}.exponent();
  h->scale(exponent);
  found.frobenius_norm = std::ldexp(h->frobenius_norm(), exponent);
  double trace = 0.0;
  team.together([&] {
    found.diagonal = content.diagonal;
    trace = detail::sum(detail::scaled_back(content.diagonal, -exponent));
  });
  tell(0.0);
  const detail::Tridiagonal t = h->tridiagonalize();
  tell(0.5);
  if (!t.diagonal.allFinite() || !t.off_diagonal.allFinite()) {
    found.spectrum.status = Status::kFailed;
    return found;
  }
  const VectorXd values = eigenvalues_of(t, team);
  team.together([&] { found.spectrum = detail::spectrum_of_values(values, exponent); });
  if (found.spectrum.status != Status::kOk) return found;
  found.spectrum.num_dead = content.num_dead;
  tell(0.6);
  const std::array<Index, 3> ranks = {0, (n - 1) / 2, n - 1};
  const VectorXd residuals = residuals_of(*h, t, values, ranks, team);
  found.spectrum.smallest.residual = std::ldexp(residuals[0], exponent);
  found.spectrum.median.residual = std::ldexp(residuals[1], exponent);
  found.spectrum.largest.residual = std::ldexp(residuals[2], exponent);
  tell(options.proves_fully ? 0.6 : 0.7);
  // The zero matrix needs no confirmation: its entries have been examined.
  const bool is_zero = content.largest_magnitude == 0.0;
  bool is_proved = true;
  if (options.proves_fully) {
    const double bound = is_zero ? 0.0 : error_bound_of(h->vector_errors(values));
    is_proved = bound <= detail::rounding_band(n, norm_of(values));
    found.spectrum.error_bound = detail::scaled_up(bound, exponent);
    tell(0.9);
  }
  if (!is_proved || (!is_zero && !is_confirmed(*h, trace, values))) {
    found.spectrum = Spectrum();
    found.spectrum.status = Status::kFailed;
  }
  tell(1.0);
  return found;
}

}  // namespace

const std::vector<std::string>& distributed_engine_names() {
  static const std::vector<std::string> names = {"scalapack", "elpa"};
  return names;
}

const std::string& name_of(DistributedEngine engine) {
  return distributed_engine_names()[static_cast<std::size_t>(engine)];
}

DistributedEngine distributed_engine_of(std::string_view name) {
  const std::vector<std::string>& names = distributed_engine_names();
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) throw PreconditionError("distributed_engine_of: no such engine");
  return static_cast<DistributedEngine>(found - names.begin());
}

DistributedSpectrum distributed_spectrum(const DistributedSolver& solver,
                                         const Objective& objective,
                                         const VectorXd& theta,
                                         const DistributedSpectrumOptions& options,
                                         const ProgressCallback& progress) {
  DistributedSpectrum found;
  objective.with_ranks(theta, objective.all_samples(), [&] {
    found = spectrum_on_rank(solver, objective, theta, options, progress);
  });
  return found;
}

void serve_distributed_spectrum(const DistributedSolver& solver,
                                const Objective& objective,
                                const VectorXd& theta,
                                bool proves_fully) {
  spectrum_on_rank(solver, objective, theta, {.proves_fully = proves_fully}, {});
}

}  // namespace hesscope
