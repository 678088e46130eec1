// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include <hesscope/core/constants.h>
#include <hesscope/linalg/internal/lapack.h>
#include <hesscope/linalg/positive_definite.h>
#include <hesscope/spectra/internal/ball_relaxation.h>
#include <hesscope/spectra/internal/cube_search.h>
#include <hesscope/spectra/internal/scaled_matrix.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

enum class EntryPlace : std::int8_t { kFree, kLow, kHigh, kBetween };

struct Subproblem {
  std::vector<EntryPlace> places;  // of all entries
  double bound = 0;
  std::int64_t order = 0;  // order of creation
  Index branching = -1;    // the free entry to fix next; -1 at a leaf
  MatrixXd relaxed;        // k x (1 + free): for the fixed signs, and the free entries in order
};

struct IsLess {
  bool operator()(const Subproblem& a, const Subproblem& b) const {
    return a.bound != b.bound ? a.bound < b.bound : a.order > b.order;
  }
};

// The entries of a subproblem by their kind, and the signs of the fixed ones.
struct Parts {
  explicit Parts(const std::vector<EntryPlace>& places) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto index = static_cast<Index>(i);
      if (places[i] == EntryPlace::kFree) {
        free.push_back(index);
      } else if (places[i] == EntryPlace::kBetween) {
        between.push_back(index);
      } else {
        fixed.push_back(index);
      }
    }
    signs.resize(static_cast<Index>(fixed.size()));
    for (std::size_t k = 0; k < fixed.size(); ++k) {
      const bool is_low = places[static_cast<std::size_t>(fixed[k])] == EntryPlace::kLow;
      signs[static_cast<Index>(k)] = is_low ? -1 : 1;
    }
  }

  std::vector<Index> free;
  std::vector<Index> fixed;
  std::vector<Index> between;
  VectorXd signs;
};

class Search {
 public:
  Search(const MatrixXd& h, CubeSearch known, std::int64_t max_subproblems)
      : h_(h),
        whole_(h, unit_intervals(h.rows())),
        known_(std::move(known)),
        max_subproblems_(max_subproblems) {}

  CubeSearch run(const MatrixXd& relaxed, const ProgressCallback& progress) {
    open_.push(root_of(relaxed));
    while (!open_.empty() && !is_done(open_.top().bound)) {
      if (known_.num_subproblems >= max_subproblems_) break;
      report(progress,
             static_cast<double>(known_.num_subproblems) / static_cast<double>(max_subproblems_));
      const Subproblem parent = open_.top();
      open_.pop();
      branch(parent);
    }
    double upper = std::max(known_.lower, finished_) + lost_;
    if (!open_.empty()) upper = std::max(upper, open_.top().bound + lost_);
    known_.rounding += of_bounds_ + of_leaves_ + lost_;
    known_.upper = is_failed_ ? kNaN : std::min(known_.upper, upper);
    return known_;
  }

 private:
  bool is_done(double bound) const { return bound <= known_.lower + known_.rounding + of_bounds_; }

  // d and -d are equivalent: one entry that is at an end can be assumed at the upper one.
  Subproblem root_of(const MatrixXd& relaxed) const {
    const Index n = h_.rows();
    Subproblem root;
    root.places.assign(static_cast<std::size_t>(n), EntryPlace::kFree);
    root.bound = known_.upper;
    VectorXd sums = h_.cwiseAbs().rowwise().sum();
    sums = (h_.diagonal().array() >= 0).select(sums, -1.0);
    Index largest = 0;
    if (sums.maxCoeff(&largest) >= 0)
      root.places[static_cast<std::size_t>(largest)] = EntryPlace::kHigh;
    const Parts parts(root.places);
    root.relaxed.resize(relaxed.rows(), 1 + static_cast<Index>(parts.free.size()));
    root.relaxed.col(0) = relaxed.col(largest);
    for (std::size_t k = 0; k < parts.free.size(); ++k) {
      root.relaxed.col(static_cast<Index>(k) + 1) = relaxed.col(parts.free[k]);
    }
    if (!parts.free.empty()) root.branching = parts.free.front();
    return root;
  }

  void branch(const Subproblem& parent) {
    if (parent.branching < 0) return;
    const Index i = parent.branching;
    add_child(parent, i, EntryPlace::kHigh);
    add_child(parent, i, EntryPlace::kLow);
    if (h_(i, i) < 0) add_child(parent, i, EntryPlace::kBetween);
  }

  void add_child(const Subproblem& parent, Index i, EntryPlace place) {
    Subproblem child;
    child.places = parent.places;
    child.bound = parent.bound;
    child.order = ++known_.num_subproblems;
    child.places[static_cast<std::size_t>(i)] = place;
    const Parts parts(child.places);
    if (parts.free.empty()) return finish_leaf(parts);
    child.relaxed.resize(parent.relaxed.rows(), parent.relaxed.cols() - 1);
    const Parts before(parent.places);
    child.relaxed.col(0) = parent.relaxed.col(0);
    Index column = 0;
    for (std::size_t k = 0; k < before.free.size(); ++k) {
      if (before.free[k] != i) {
        child.relaxed.col(++column) = parent.relaxed.col(static_cast<Index>(k) + 1);
      }
    }
    lower_bound_of(child, parts);
    if (is_done(child.bound)) {
      finished_ = std::max(finished_, child.bound);
    } else {
      open_.push(std::move(child));
    }
  }

  // With y that solves A y = b up to rounding, A = -H_II and b = H_IF s, and the exact y* in the
  // cube,
  //   f(y*) = f(y) + 2 r^T (y* - y) - (y* - y)^T A (y* - y),  r = b - A y,
  // so that f(y*) <= f(y) + 2 sum |r_i| (1 + |y_i|).
  void finish_leaf(const Parts& parts) {
    VectorXd d = VectorXd::Zero(h_.rows());
    d(parts.fixed) = parts.signs;
    double unsolved = 0;  // upper limit of sum |r_i| (1 + |y_i|)
    if (!parts.between.empty()) {
      const MatrixXd a = -h_(parts.between, parts.between);
      const std::optional<VectorXd> y =
          solve_positive_definite(a, h_(parts.between, parts.fixed) * parts.signs);
      if (!y) return lose_indefinite(a);  // no maximum has them between
      d(parts.between) = *y;
      const VectorXd r = (h_ * d)(parts.between).cwiseAbs() +
                         unit_of_rounding() * (h_.cwiseAbs() * d.cwiseAbs())(parts.between);
      unsolved = r.dot(VectorXd::Ones(r.size()) + y->cwiseAbs());
      // If y* were inside after all, then on the way from it to y the form decreases by no more
      // than that until an entry reaches an end.
      constexpr double kOutside = 1e-9;
      if (!(y->cwiseAbs().maxCoeff<Eigen::PropagateNaN>() <= 1 + kOutside)) return lose(unsolved);
    }
    // The solution may be outside by rounding: it gives a bound, and an ascent from it stays
    // inside.
    const VectorXd magnitudes = d.cwiseAbs();
    const double rounding = unit_of_rounding() * magnitudes.dot(h_.cwiseAbs() * magnitudes);
    finished_ = std::max(finished_, d.dot(h_ * d) + rounding + 2 * unsolved);
    of_leaves_ = std::max(of_leaves_, 2 * (rounding + unsolved));
    consider(d);
  }

  double unit_of_rounding() const { return static_cast<double>(h_.rows() + 10) * kEpsilon; }

  // The largest excess of a maximum over those of other subproblems if A is semidefinite within the
  // resolution of its factors. From it, d can move to an end, by at most 2 sqrt(n), along the
  // eigenvector of the smallest eigenvalue, in either direction.
  void lose_indefinite(const MatrixXd& a) {
    MatrixXd reduced = a;
    const std::optional<VectorXd> values = eigenvalues(tridiagonalize(reduced).t);
    if (!values) {
      is_failed_ = true;
      return;
    }
    const double band = rounding_band(a.rows(), values->cwiseAbs().maxCoeff());
    if ((*values)(0) < -band) return;
    lose(4 * static_cast<double>(a.rows()) * (std::max((*values)(0), 0.0) + band));
  }

  // That maximum may lose as much again at the end, once for each entry.
  void lose(double value) {
    const double all = static_cast<double>(h_.rows()) * value;
    lost_ = std::isnan(all) ? HUGE_VAL : std::max(lost_, all);
  }

  void consider(const VectorXd& d) {
    MatrixXd v = d.cwiseMax(-1.0).cwiseMin(1.0).transpose();
    constexpr int kSweeps = 100;
    const double value = whole_.ascend(v, kSweeps, 0);
    if (!(value > known_.lower)) return;
    known_.lower = value;
    known_.direction = v.transpose();
  }

  // Lowers its bound until the subproblem is finished, or no further progress is possible.
  void lower_bound_of(Subproblem& child, const Parts& parts) {
    const auto size = static_cast<Index>(parts.free.size());
    MatrixXd m(size + 1, size + 1);
    m(0, 0) = 0;
    m.bottomRightCorner(size, size) = h_(parts.free, parts.free);
    m.col(0).tail(size) = h_(parts.free, parts.fixed) * parts.signs;
    m.row(0).tail(size) = m.col(0).tail(size).transpose();
    const double sum_fixed = h_(parts.fixed, parts.fixed).cwiseAbs().sum();
    const double sum_between = h_(parts.between, parts.between).cwiseAbs().sum();
    const double sum_mixed = h_(parts.free, parts.fixed).cwiseAbs().sum();
    const double rounding = unit_of_rounding() * (sum_fixed + sum_between + 2 * sum_mixed);
    const double constant =
        parts.signs.dot(h_(parts.fixed, parts.fixed) * parts.signs) + sum_between + rounding;
    of_bounds_ = std::max(of_bounds_, 2 * rounding);
    const BallRelaxation relaxation(m, unit_intervals(size + 1));
    constexpr int kRounds = 8;
    constexpr int kSweeps = 16;
    constexpr double kGain = 1e-12;
    VectorXd traces;
    for (int round = 0; round < kRounds && !is_done(child.bound); ++round) {
      const double value = relaxation.ascend(child.relaxed, kSweeps, kGain) + constant;
      const BallRelaxation::Bound found = relaxation.upper_bound(child.relaxed);
      is_failed_ = is_failed_ || std::isnan(found.upper);
      traces = found.traces;
      child.bound = std::min(child.bound, found.upper + constant);
      // No bound is below the value of the relaxation.
      if (!(value <= known_.lower)) break;
    }
    if (is_done(child.bound) || traces.size() == 0) return;
    round_to_candidate(child, parts);
    // The entry that contributes most to the difference between the relaxation and signs.
    double most = -1;
    for (Index k = 0; k < size; ++k) {
      const double cosine = child.relaxed.col(0).dot(child.relaxed.col(k + 1));
      const double share = std::max(traces[k + 1], 0.0) * (1 - cosine * cosine);
      if (!(share > most)) continue;
      most = share;
      child.branching = parts.free[static_cast<std::size_t>(k)];
    }
  }

  void round_to_candidate(const Subproblem& child, const Parts& parts) {
    VectorXd d = VectorXd::Zero(h_.rows());
    d(parts.fixed) = parts.signs;
    const VectorXd cosines =
        child.relaxed.rightCols(child.relaxed.cols() - 1).transpose() * child.relaxed.col(0);
    d(parts.free) = cosines.unaryExpr([](double x) { return x < 0 ? -1.0 : 1.0; });
    consider(d);
  }

  const MatrixXd& h_;
  BallRelaxation whole_;
  CubeSearch known_;
  std::int64_t max_subproblems_;
  std::priority_queue<Subproblem, std::vector<Subproblem>, IsLess> open_;
  double finished_ = 0;   // upper limit for finished subproblems, apart from
  double lost_ = 0;       // what rounding alone has decided
  double of_bounds_ = 0;  // rounding of bounds beyond known_.rounding, at most
  double of_leaves_ = 0;  // and of the values of leaves
  bool is_failed_ = false;
};

}  // namespace

CubeSearch search_cube(const MatrixXd& h,
                       const MatrixXd& relaxed,
                       CubeSearch search,
                       std::int64_t max_subproblems,
                       const ProgressCallback& progress) {
  return Search(h, std::move(search), max_subproblems).run(relaxed, progress);
}

}  // namespace hesscope::detail
