// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/core/internal/random_numbers.h>
#include <hesscope/linalg/internal/lapack.h>
#include <hesscope/spectra/counts.h>
#include <hesscope/spectra/extremes.h>
#include <hesscope/spectra/internal/counted_bound.h>
#include <hesscope/spectra/internal/lanczos.h>
#include <hesscope/spectra/internal/ritz_space.h>
#include <hesscope/spectra/internal/scaled_eigensystem.h>
#include <hesscope/spectra/internal/scaled_matrix.h>

namespace hesscope {
namespace {

using detail::Ends;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kProbability = 0.999;

void require_options(const ExtremesOptions& options, Index n) {
  const auto require_count = [n](const char* name, Index count) {
    if (count < 0 || count > n) {
      throw PreconditionError(
          fmt::format("extreme_eigenpairs: {} must be in [0, {}], got {}", name, n, count));
    }
  };
  if (n == 0) throw PreconditionError("extreme_eigenpairs: the operator has no rows");
  require_count("num_smallest", options.num_smallest);
  require_count("num_largest", options.num_largest);
  if (!(options.tolerance >= 1e-12 && options.tolerance <= 1e-2)) {
    throw PreconditionError(fmt::format(
        "extreme_eigenpairs: tolerance must be in [1e-12, 1e-2], got {}", options.tolerance));
  }
  if (options.max_columns < 1) {
    throw PreconditionError("extreme_eigenpairs: max_columns must be positive");
  }
}

// Copies the outermost of ascending eigenpairs to both ends of `result`.
void assign_ends(const VectorXd& values,
                 const VectorXd& of_residuals,
                 const MatrixXd& vectors,
                 const ExtremesOptions& options,
                 Extremes& result) {
  const Index ks = options.num_smallest;
  const Index kl = options.num_largest;
  result.smallest.values = values.head(ks);
  result.smallest.residuals = of_residuals.head(ks);
  result.smallest.vectors = vectors.leftCols(ks);
  result.largest.values = values.tail(kl).reverse();
  result.largest.residuals = of_residuals.tail(kl).reverse();
  result.largest.vectors = vectors.rightCols(kl).rowwise().reverse();
}

void set_status(Status status, const ExtremesOptions& options, Extremes& result) {
  if (options.num_smallest > 0) result.smallest.status = status;
  if (options.num_largest > 0) result.largest.status = status;
}

void set_evidence(Proof proof, double error_bound, EndOfSpectrum& end) {
  if (end.status != Status::kOk) return;
  end.proof = proof;
  end.error_bound = error_bound;
}

void fail(EndOfSpectrum& end) {
  end = {};
  end.status = Status::kFailed;
}

Extremes dense_extremes(const Eigen::Ref<const MatrixXd>& hessian, const ExtremesOptions& options) {
  constexpr int kOneThread = 1;  // a second one would be for more rows than are expected here
  detail::require_eigensystem_size("extreme_eigenpairs", hessian);
  const detail::ScaledEigensystem all =
      detail::scaled_eigensystem(hessian, detail::survey(hessian), kOneThread, {});
  Extremes result;
  set_status(all.status, options, result);
  if (all.status != Status::kOk) return result;
  const detail::SingleThreadedBlas one_thread;  // two would sum in another order
  const MatrixXd products =
      detail::symmetric_times(detail::scaled_copy(hessian, all.exponent), all.scaled.vectors);
  assign_ends(
      all.eigenvalues,
      detail::scaled_back(detail::residual_norms(all.scaled.vectors, products, all.scaled.values),
                          all.exponent),
      all.scaled.vectors,
      options,
      result);
  set_evidence(Proof::kDense, all.rounding_band, result.smallest);
  set_evidence(Proof::kDense, all.rounding_band, result.largest);
  return result;
}

// The search of extreme_eigenpairs. V and theta are those of found_, the pairs found so far.
class Search {
 public:
  Search(const SymmetricOperator& h,
         const ExtremesOptions& options,
         const ProgressCallback& progress)
      : h_(h),
        options_(options),
        progress_(progress),
        n_(h.rows()),
        engine_(options.seed),
        found_(h) {}

  Extremes run() {
    Extremes result;
    const Status status = find();
    if (status != Status::kOk) {
      set_status(status, options_, result);
      return result;
    }
    set_status(Status::kOk, options_, result);
    assign_ends(found_.values(), found_.residuals(), found_.vectors(), options_, result);
    finish(result.smallest);
    finish(result.largest);
    result.probability = kProbability;
    result.missed_fraction = missed_fraction();
    return result;
  }

 private:
  Ends asked() const {
    if (options_.num_largest == 0) return Ends::kSmallest;
    return options_.num_smallest == 0 ? Ends::kLargest : Ends::kBoth;
  }

  Status find() {
    if (const Status status = probe(); status != Status::kOk) return status;
    if (scale_ == 0.0) return find_of_zero();
    if (const Status status = first_search(); status != Status::kOk) return status;
    if (!has_all()) return Status::kFailed;
    // Each further search except the last finds a value that belongs to the outermost.
    const Index max_searches = options_.num_smallest + options_.num_largest + 2;
    for (Index search = 0; search < max_searches; ++search) {
      const detail::LanczosResult found = lanczos(asked(), 1);
      if (found.status != Status::kOk) return found.status;
      const MatrixXd missed = beyond(found);
      if (missed.cols() == 0) return Status::kOk;
      if (const Status status = found_.add(missed); status != Status::kOk) return status;
    }
    return Status::kFailed;
  }

  // Estimates ||H||_F / sqrt(n), which is at most ||H||_2, and the mean of the eigenvalues.
  Status probe() {
    const MatrixXd g = detail::standard_normal(n_, 4, engine_);
    const MatrixXd hg = h_.apply(g);
    if (!hg.allFinite()) return Status::kNonFinite;
    scale_ = detail::norm(hg) / g.norm();
    mean_ = (g / g.squaredNorm()).cwiseProduct(hg).sum();
    return Status::kOk;
  }

  // H G = 0 for a Gaussian G means H = 0, except with probability zero.
  Status find_of_zero() {
    return found_.add(MatrixXd::Identity(n_, options_.num_smallest + options_.num_largest));
  }

  Status first_search() {
    const auto search = [this](Ends ends, Index num_per_end) {
      const detail::LanczosResult found = lanczos(ends, num_per_end);
      return found.status == Status::kOk ? found_.add(found.vectors) : found.status;
    };
    if (options_.num_smallest == options_.num_largest) {
      return search(Ends::kBoth, options_.num_smallest);
    }
    if (options_.num_smallest > 0) {
      const Status status = search(Ends::kSmallest, options_.num_smallest);
      if (status != Status::kOk) return status;
    }
    return options_.num_largest > 0 ? search(Ends::kLargest, options_.num_largest) : Status::kOk;
  }

  // Runs on H if nothing was found yet, else with the pairs found moved to the interior of the
  // spectrum.
  detail::LanczosResult lanczos(Ends ends, Index num_per_end) {
    const MatrixXd& v = found_.vectors();
    detail::LanczosOptions how;
    how.ends = ends;
    how.num_per_end = num_per_end;
    // V's vectors have residuals of their own, which add to those of a search outside V.
    how.progress = next_part();
    how.tolerance = 0.5 * options_.tolerance * norm();
    how.shift = 2.0 * std::sqrt(static_cast<double>(n_)) * scale_;
    how.max_columns = options_.max_columns;
    how.start = detail::standard_normal(n_, 1, engine_);
    how.start -= v * (v.transpose() * how.start);
    if (has_all()) {
      how.min_steps = kMinSteps;
      if (options_.num_smallest > 0) how.lower = last_smallest();
      if (options_.num_largest > 0) how.upper = last_largest();
    }
    const DeflatedOperator rest(h_, v, interior());
    detail::LanczosResult found = detail::lanczos(rest, how);
    num_steps_ = found.num_steps;
    shift_ = how.shift;
    return found;
  }

  const VectorXd& theta() const { return found_.values(); }

  double norm() const {
    return theta().size() == 0 ? scale_ : std::max(scale_, theta().cwiseAbs().maxCoeff());
  }

  // The tolerance for distinguishing eigenvalues.
  double slack() const { return 2.0 * options_.tolerance * norm(); }

  bool has_all() const { return theta().size() >= options_.num_smallest + options_.num_largest; }

  // The innermost requested value at each end; requires has_all().
  double last_smallest() const { return theta()[options_.num_smallest - 1]; }

  double last_largest() const { return theta()[theta().size() - options_.num_largest]; }

  double interior() const {
    double value = mean_;
    if (!has_all()) return value;
    if (options_.num_smallest > 0) value = std::max(value, last_smallest());
    if (options_.num_largest > 0) value = std::min(value, last_largest());
    return value;
  }

  // The vectors of a search for one pair at each end whose values belong to the outermost.
  MatrixXd beyond(const detail::LanczosResult& found) const {
    std::vector<Index> columns;
    const Index last = found.values.size() - 1;
    if (options_.num_smallest > 0 && found.values[0] < last_smallest() - slack()) {
      columns.push_back(0);
    }
    if (options_.num_largest > 0 && found.values[last] > last_largest() + slack()) {
      columns.push_back(last);
    }
    return found.vectors(Eigen::all, columns);
  }

  void finish(EndOfSpectrum& end) const {
    if (end.status != Status::kOk) return;
    if (!(end.residuals.maxCoeff<Eigen::PropagateNaN>() <= options_.tolerance * norm())) {
      fail(end);
      return;
    }
    // Within the norm of the block residual of the values, there are as many eigenvalues (Kahan).
    const double rounding =
        detail::rounding_band(n_, 0.5 * shift_);  // shift / 2: ||H||_F, estimated
    set_evidence(Proof::kConverged, detail::norm(end.residuals) + slack() + rounding, end);
  }

  // Kuczynski and Wozniakowski: after m steps, more than a fraction f is missed with a probability
  // of at most
  //   1.648 sqrt(n) r exp(-(2 m - 1) sqrt(f)),
  // solved for f such that this is p, half of 1 - kProbability, since there are two ends. r
  // accounts for the solver's first product with B = I + H / shift, whose eigenvalues are within a
  // factor r of each other. As the shift is an estimate, B may have negative eigenvalues: then
  // nothing is known.
  double missed_fraction() const {
    if (scale_ == 0.0) return 0.0;
    const double smallest = shift_ + theta()[0];
    if (!(smallest > 0.0)) return 1.0;
    const double r = (shift_ + theta()[theta().size() - 1]) / smallest;
    const double p = 0.5 * (1.0 - kProbability);
    const double root = std::log(1.648 * std::sqrt(static_cast<double>(n_)) * r / p) /
                        static_cast<double>(2 * num_steps_ - 1);
    return std::min(1.0, root * root);
  }

  // Progress of the next search: three quarters of what is left, since the number of further
  // searches is unknown.
  ProgressCallback next_part() {
    const double begin = begun_;
    begun_ += 0.75 * (1.0 - begun_);
    return detail::part_of(progress_, begin, begun_);
  }

  static constexpr Index kMinSteps = 24;  // for a search that is expected to find nothing

  const SymmetricOperator& h_;
  const ExtremesOptions& options_;
  const ProgressCallback& progress_;
  double begun_ = 0.0;  // progress at the end of the latest search
  Index n_;
  std::mt19937_64 engine_;
  double scale_ = 0.0;
  double mean_ = 0.0;
  double shift_ = 0.0;
  Index num_steps_ = 0;
  detail::RitzSpace found_;
};

bool is_dense(Index n, const ExtremesOptions& options) {
  return n <= std::max(options.dense_limit, 4 * (options.num_smallest + options.num_largest) + 40);
}

// At least ||H||_2: exact if both ends are known, else ||H||_F or slightly more.
double norm_bound(const Eigen::Ref<const MatrixXd>& hessian, const Extremes& found) {
  if (found.smallest.status == Status::kOk && found.largest.status == Status::kOk) {
    return std::max(std::abs(found.smallest.values[0]), std::abs(found.largest.values[0]));
  }
  double norm = 0.0;
  for (Index j = 0; j < hessian.cols(); ++j) {
    norm = std::hypot(norm, detail::norm(hessian.col(j).tail(hessian.rows() - j)));
  }
  return std::numbers::sqrt2 * norm;
}

// Replaces the proof of converged values by a count, or the values by a failure.
void prove(const Eigen::Ref<const MatrixXd>& hessian,
           double direction,
           double norm,
           const ProgressCallback& progress,
           EndOfSpectrum& end) {
  if (end.status != Status::kOk) return;
  const double tight = detail::norm(end.residuals) + counting_band(hessian.rows(), norm);
  // Eigenvalues that the search could not distinguish from the last one may lie slightly beyond it.
  double begin = 0.0;
  for (const double d : {tight, tight + end.error_bound}) {
    const ProgressCallback half = detail::part_of(progress, begin, begin + 0.5);
    begin += 0.5;
    if (const auto bound = detail::counted_bound(hessian, direction, end.values, d, half)) {
      set_evidence(Proof::kCounted, *bound, end);
      return;
    }
  }
  fail(end);
}

}  // namespace

Extremes extreme_eigenpairs(const SymmetricOperator& h,
                            const ExtremesOptions& options,
                            const ProgressCallback& progress) {
  const Index n = h.rows();
  require_options(options, n);
  if (options.num_smallest == 0 && options.num_largest == 0) return {};
  const std::int64_t calls_before = h.num_calls();
  const std::int64_t columns_before = h.num_columns();
  Extremes result = is_dense(n, options)
                        ? dense_extremes(h.apply(MatrixXd::Identity(n, n)), options)
                        : Search(h, options, progress).run();
  result.num_calls = h.num_calls() - calls_before;
  result.num_columns = h.num_columns() - columns_before;
  return result;
}

Extremes extreme_eigenpairs(const Eigen::Ref<const MatrixXd>& hessian,
                            const ExtremesOptions& options,
                            const ProgressCallback& progress) {
  const MatrixOperator h(hessian);
  const Index n = h.rows();
  require_options(options, n);
  if (!detail::survey_symmetric("extreme_eigenpairs", hessian).is_finite) {
    Extremes none;
    set_status(Status::kNonFinite, options, none);
    return none;
  }
  if (is_dense(n, options)) return dense_extremes(hessian, options);
  Extremes result = extreme_eigenpairs(h, options, detail::part_of(progress, 0.0, 0.5));
  const double norm = norm_bound(hessian, result);
  prove(hessian, -1.0, norm, detail::part_of(progress, 0.5, 0.75), result.smallest);
  prove(hessian, 1.0, norm, detail::part_of(progress, 0.75, 1.0), result.largest);
  return result;
}

}  // namespace hesscope
