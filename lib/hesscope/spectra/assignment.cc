// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/spectra/assignment.h>

namespace hesscope {
namespace {

using Eigen::Index;

constexpr Index kNobody = -1;

// Scaled so that the largest is below 4: sums of costs and prices cannot overflow.
Eigen::MatrixXd scaled_costs(const Eigen::Ref<const Eigen::MatrixXd>& cost) {
  const double largest = cost.size() == 0 ? 0.0 : cost.cwiseAbs().maxCoeff();
  const double scale = largest > 0 ? std::ldexp(1.0, -detail::exponent_of(largest)) : 1.0;
  return scale * cost;
}

// Prices of rows and columns with cost(r, c) - row_price(r) - column_price(c) >= 0, with equality
// if r has c: then no assignment of these rows costs less.
class Market {
 public:
  explicit Market(const Eigen::Ref<const Eigen::MatrixXd>& cost)
      : cost_(scaled_costs(cost)),
        row_price_(Eigen::VectorXd::Zero(cost.rows())),
        column_price_(Eigen::VectorXd::Zero(cost.cols())),
        owner_(static_cast<std::size_t>(cost.cols()), kNobody) {}

  // Gives `row` a column, along the path of least reduced cost to a free column; rows on the path
  // pass on theirs.
  void serve(Index row) {
    const Index n = cost_.cols();
    Eigen::VectorXd distance = Eigen::VectorXd::Constant(n, kInfinity);
    std::vector<Index> before(static_cast<std::size_t>(n), kNobody);  // column on the path
    std::vector<bool> is_reached(static_cast<std::size_t>(n), false);
    Index from = row;
    Index last = kNobody;  // column that led to `from`
    double length = 0;
    while (true) {
      Index nearest = kNobody;
      for (Index c = 0; c < n; ++c) {
        if (is_reached[at(c)]) continue;
        const double through = length + cost_(from, c) - row_price_[from] - column_price_[c];
        if (through < distance[c]) {
          distance[c] = through;
          before[at(c)] = last;
        }
        if (nearest == kNobody || distance[c] < distance[nearest]) nearest = c;
      }
      length = distance[nearest];
      is_reached[at(nearest)] = true;
      last = nearest;
      if (owner_[at(nearest)] == kNobody) break;
      from = owner_[at(nearest)];
    }
    row_price_[row] += length;
    for (Index c = 0; c < n; ++c) {
      if (!is_reached[at(c)] || c == last) continue;
      row_price_[owner_[at(c)]] += length - distance[c];
      column_price_[c] -= length - distance[c];
    }
    for (Index c = last; c != kNobody; c = before[at(c)]) {
      const Index previous = before[at(c)];
      owner_[at(c)] = previous == kNobody ? row : owner_[at(previous)];
    }
  }

  const std::vector<Index>& owners() const { return owner_; }

 private:
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }

  Eigen::MatrixXd cost_;
  Eigen::VectorXd row_price_;
  Eigen::VectorXd column_price_;
  std::vector<Index> owner_;  // the row that has the column
};

}  // namespace

std::vector<Index> least_assignment(const Eigen::Ref<const Eigen::MatrixXd>& cost) {
  if (cost.rows() > cost.cols()) {
    throw PreconditionError(fmt::format(
        "least_assignment: there must be a column for every row, got {} rows and {} columns",
        cost.rows(),
        cost.cols()));
  }
  if (!cost.allFinite()) throw PreconditionError("least_assignment: a cost is not finite");
  Market market(cost);
  for (Index row = 0; row < cost.rows(); ++row) market.serve(row);
  std::vector<Index> column_of(static_cast<std::size_t>(cost.rows()));
  for (Index c = 0; c < cost.cols(); ++c) {
    const Index row = market.owners()[static_cast<std::size_t>(c)];
    if (row != kNobody) column_of[static_cast<std::size_t>(row)] = c;
  }
  return column_of;
}

}  // namespace hesscope
