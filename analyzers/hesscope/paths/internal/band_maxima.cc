// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include <hesscope/paths/internal/band_maxima.h>
#include <hesscope/paths/internal/line_excess.h>

namespace hesscope::detail {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::vector<BandMaximum> band_maxima(const Objective& objective, const BandState& state) {
  const VectorXd& losses = state.losses;
  const VectorXd arcs = state.arc_lengths();
  const Index last = losses.size() - 1;
  MatrixXd gradients(state.images.rows(), last + 1);
  for (Index i = 0; i <= last; ++i) {
    gradients.col(i) =
        objective.value_and_gradient(state.images.col(i), objective.all_samples()).gradient;
  }
  std::vector<BandMaximum> found;
  const auto length_of_piece = [&](Index i) {
    return i < 0 || i == last ? 0 : arcs[i + 1] - arcs[i];
  };
  const auto add = [&](VectorXd theta, double loss, double arc_length, double spacing) {
    if (state.is_above_ends(loss)) found.push_back({std::move(theta), loss, arc_length, spacing});
  };
  for (Index i = 0; i <= last; ++i) {
    const bool is_highest_nearby =
        (i == 0 || losses[i] >= losses[i - 1]) && (i == last || losses[i] >= losses[i + 1]);
    if (is_highest_nearby) {
      add(state.images.col(i),
          losses[i],
          arcs[i],
          std::max(length_of_piece(i - 1), length_of_piece(i)));
    }
    if (i == last) break;
    const VectorXd before = state.images.col(i);
    const VectorXd after = state.images.col(i + 1);
    const VectorXd piece = after - before;
    const LineExcess loss(objective, before, after, 0, 0);
    const auto top = loss.highest({0, losses[i], gradients.col(i).dot(piece)},
                                  {1, losses[i + 1], gradients.col(i + 1).dot(piece)});
    if (!top || !std::isfinite(top->value)) continue;
    add(loss.theta(top->place),
        top->value,
        arcs[i] + top->place * length_of_piece(i),
        length_of_piece(i));
  }
  std::ranges::stable_sort(found, std::greater{}, &BandMaximum::loss);
  return found;
}

}  // namespace hesscope::detail
