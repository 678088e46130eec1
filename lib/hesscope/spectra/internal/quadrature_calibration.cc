// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include <hesscope/spectra/internal/quadrature_calibration.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// Relative to the norm. A Ritz vector's error is at most its residual divided by the distance to
// the next group, kConverged / kLink = 1e-4, which kOutside distinguishes from a new direction: a
// new one in two dimensions has such a small new part with probability 6e-4, and in more dimensions
// with a smaller one.
constexpr double kConverged = 1e-12;
constexpr double kLink = 1e-8;
constexpr double kOutside = 1e-3;
// Weights are squares of numbers with an error of eps.
constexpr double kNoise = 1e-20;

struct Node {
  double value;
  std::size_t probe;
  Index index;
};

bool has_converged(const ProbeRule& rule, Index index, double norm) {
  return rule.remainder * std::abs(rule.s(rule.s.rows() - 1, index)) <= kConverged * norm;
}

VectorXd ritz_vector(const ProbeRule& rule, Index index) {
  return rule.basis.leftCols(rule.nodes.size()) * rule.s.col(index);
}

// A growing orthonormal basis.
class Span {
 public:
  Index dimension() const { return static_cast<Index>(basis_.size()); }

  // Adds the part of a unit vector outside the span, if there is one.
  void add(VectorXd v) {
    for (int pass = 0; pass < 2; ++pass) {
      for (const VectorXd& b : basis_) v -= b.dot(v) * b;
      if (pass == 0 && !(v.norm() > kOutside)) return;
    }
    basis_.push_back(v.normalized());
  }

 private:
  std::vector<VectorXd> basis_;
};

// The dimension of a group's eigenspace, or nothing if the probes do not show all of it.
std::optional<Index> dimension(const std::vector<ProbeRule>& rules, std::vector<Node> group) {
  std::vector<bool> is_represented(rules.size(), false);
  for (const Node& node : group) {
    is_represented[node.probe] = true;
  }
  if (!std::all_of(is_represented.begin(), is_represented.end(), [](bool is) { return is; })) {
    return std::nullopt;
  }
  std::stable_sort(
      group.begin(), group.end(), [](const Node& a, const Node& b) { return a.probe < b.probe; });
  const std::size_t half = rules.size() / 2;
  Span span;
  Index dimension_of_half = 0;
  for (const Node& node : group) {
    span.add(ritz_vector(rules[node.probe], node.index));
    if (node.probe < half) dimension_of_half = span.dimension();
    if (span.dimension() > dimension_of_half) return std::nullopt;
  }
  return dimension_of_half;
}

}  // namespace

Calibration calibrate(const std::vector<ProbeRule>& rules) {
  Calibration plain;
  double norm = 0.0;
  for (const ProbeRule& rule : rules) {
    plain.weights.push_back(rule.weights());
    plain.weights.back() /= plain.weights.back().sum();
    norm = std::max(norm, rule.nodes.cwiseAbs().maxCoeff());
  }
  const auto n = static_cast<double>(rules.front().basis.rows());
  Calibration result = plain;
  std::vector<VectorXd> rest = plain.weights;  // of nodes in no counted group
  std::vector<Node> nodes;
  for (std::size_t j = 0; j < rules.size(); ++j) {
    for (Index i = 0; i < rules[j].nodes.size(); ++i) {
      // Rounding slowly introduces further copies of a multiple eigenvalue into a Krylov space.
      const bool is_noise = plain.weights[j][i] <= kNoise && !has_converged(rules[j], i, norm);
      if (is_noise) {
        rest[j][i] = 0.0;
      } else {
        nodes.push_back({rules[j].nodes[i], j, i});
      }
    }
  }
  std::stable_sort(
      nodes.begin(), nodes.end(), [](const Node& a, const Node& b) { return a.value < b.value; });
  for (auto first = nodes.begin(); first != nodes.end();) {
    auto last = first + 1;
    while (last != nodes.end() && last->value - (last - 1)->value <= kLink * norm) ++last;
    const std::vector<Node> group(first, last);
    first = last;
    if (!std::all_of(group.begin(), group.end(), [&](const Node& node) {
          return has_converged(rules[node.probe], node.index, norm);
        })) {
      continue;
    }
    const std::optional<Index> r = dimension(rules, group);
    if (!r) continue;
    VectorXd mass = VectorXd::Zero(static_cast<Index>(rules.size()));
    const auto mass_of = [&](const Node& node) -> double& {
      return mass[static_cast<Index>(node.probe)];
    };
    for (const Node& node : group) mass_of(node) += plain.weights[node.probe][node.index];
    if (!(mass.minCoeff<Eigen::PropagateNaN>() > 0.0)) continue;
    for (const Node& node : group) {
      result.weights[node.probe][node.index] *= static_cast<double>(*r) / n / mass_of(node);
      rest[node.probe][node.index] = 0.0;
    }
    result.num_counted += *r;
  }

  const double left = (n - static_cast<double>(result.num_counted)) / n;
  for (std::size_t j = 0; j < rules.size(); ++j) {
    const double mass = rest[j].sum();
    // Something is left in every rule or in none; otherwise a dimension was misjudged.
    const bool has_rest = mass > kNoise;
    if (left < 0.0 || has_rest != (left > 0.0)) return plain;
    const double factor = has_rest ? left / mass : 0.0;
    for (Index i = 0; i < rest[j].size(); ++i) {
      if (rest[j][i] > 0.0) result.weights[j][i] *= factor;
    }
  }
  return result;
}

}  // namespace hesscope::detail
