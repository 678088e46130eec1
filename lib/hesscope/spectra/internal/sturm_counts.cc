// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <hesscope/core/constants.h>
#include <hesscope/spectra/internal/sturm_counts.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;

constexpr double kRelativeWidth = kEpsilon;

// The point where bisection halves an interval, if there is a double in between.
bool is_divisible(const SturmCounts::Interval& interval, double width, double& middle) {
  if (!(interval.upper - interval.lower > width)) return false;
  middle = interval.lower + 0.5 * (interval.upper - interval.lower);
  return interval.lower < middle && middle < interval.upper;
}

}  // namespace

SturmCounts::SturmCounts(const Tridiagonal& t)
    : diagonal_(t.diagonal), squared_off_diagonal_(t.off_diagonal.cwiseAbs2()) {
  const Index n = diagonal_.size();
  // A pivot this small is replaced: the next quotient must not overflow.
  smallest_pivot_ = std::numeric_limits<double>::min() *
                    std::max(1.0, n > 1 ? squared_off_diagonal_.maxCoeff() : 0.0);
  // Gershgorin's discs, widened slightly for rounding.
  Eigen::VectorXd radius = Eigen::VectorXd::Zero(n);
  radius.head(n - 1) += t.off_diagonal.cwiseAbs();
  radius.tail(n - 1) += t.off_diagonal.cwiseAbs();
  const double lower = (diagonal_ - radius).minCoeff();
  const double upper = (diagonal_ + radius).maxCoeff();
  const double margin =
      4.0 * kRelativeWidth * std::max(std::abs(lower), std::abs(upper)) + 4.0 * smallest_pivot_;
  range_ = {lower - margin, upper + margin};
  const double width = kRelativeWidth * std::max(std::abs(range_.lower), std::abs(range_.upper));
  range_.lower = enclose(0, range_, width).lower;
  range_.upper = enclose(n - 1, range_, width).upper;
  norm_ = std::max(std::abs(range_.lower), std::abs(range_.upper));
}

// The numbers of negative pivots q_i = (t_ii - shift) - t_{i,i-1}^2 / q_{i-1} of T - shift I, for
// several shifts at once, since each quotient has to wait for the previous one.
template <int kShifts>
void SturmCounts::count(const double* shifts, std::int64_t* counts) const {
  std::array<double, kShifts> pivot;
  pivot.fill(1.0);
  std::fill_n(counts, kShifts, 0);
  double coupling = 0.0;
  for (Index i = 0; i < diagonal_.size(); ++i) {
    for (std::size_t k = 0; k < kShifts; ++k) {
      double next = (diagonal_[i] - shifts[k]) - coupling / pivot[k];
      if (std::abs(next) < smallest_pivot_) next = smallest_pivot_;
      counts[k] += next < 0.0 ? 1 : 0;
      pivot[k] = next;
    }
    if (i + 1 < diagonal_.size()) coupling = squared_off_diagonal_[i];
  }
}

std::int64_t SturmCounts::num_below(double shift) const {
  std::int64_t found = 0;
  count<1>(&shift, &found);
  return found;
}

// Invariant: num_below(lower) <= rank < num_below(upper).
SturmCounts::Interval SturmCounts::enclose(Index rank, Interval within, double width) const {
  double middle = 0.0;
  while (is_divisible(within, width, middle)) {
    (num_below(middle) > rank ? within.upper : within.lower) = middle;
  }
  return within;
}

SturmCounts::Interval SturmCounts::widened(Interval found) const {
  return {found.lower - smallest_pivot_, found.upper + smallest_pivot_};
}

SturmCounts::Interval SturmCounts::enclose(Index rank) const {
  return widened(enclose(rank, range_, kRelativeWidth * norm_));
}

Eigen::VectorXd SturmCounts::eigenvalues(Index begin, Index end) const {
  // Ranks [first, last), all in one interval that the bisection of each of them reaches.
  struct Node {
    Interval interval;
    Index first;
    Index last;
  };

  constexpr int kAtOnce = 4;
  const double width = kRelativeWidth * norm_;
  Eigen::VectorXd values(end - begin);
  std::vector<Node> nodes;
  if (begin < end) nodes.push_back({range_, begin, end});
  std::vector<Node> halves;
  std::vector<double> shifts;
  std::vector<std::int64_t> counts;
  while (!nodes.empty()) {
    shifts.clear();
    std::erase_if(nodes, [&](const Node& node) {
      double middle = 0.0;
      if (is_divisible(node.interval, width, middle)) {
        shifts.push_back(middle);
        return false;
      }
      values.segment(node.first - begin, node.last - node.first)
          .setConstant(widened(node.interval).value());
      return true;
    });
    counts.resize(shifts.size());
    std::size_t k = 0;
    for (; k + kAtOnce <= shifts.size(); k += kAtOnce) count<kAtOnce>(&shifts[k], &counts[k]);
    for (; k < shifts.size(); ++k) counts[k] = num_below(shifts[k]);
    halves.clear();
    for (k = 0; k < nodes.size(); ++k) {
      const Node& node = nodes[k];
      const Index cut = std::clamp<Index>(counts[k], node.first, node.last);
      if (node.first < cut) halves.push_back({{node.interval.lower, shifts[k]}, node.first, cut});
      if (cut < node.last) halves.push_back({{shifts[k], node.interval.upper}, cut, node.last});
    }
    nodes.swap(halves);
  }
  return values;
}

}  // namespace hesscope::detail
