// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <hesscope/core/eigen.h>

namespace hesscope {

/// The ends of an axis.
struct Span {
  double first = -1;
  double last = 1;
};

/// The points (alpha[i], beta[j]) of a landscape; alpha varies fastest.
struct Grid {
  Eigen::VectorXd alpha;
  Eigen::VectorXd beta;

  Eigen::Index num_points() const { return alpha.size() * beta.size(); }

  double alpha_of(Eigen::Index point) const { return alpha[point % alpha.size()]; }

  double beta_of(Eigen::Index point) const { return beta[point / alpha.size()]; }

  /// Whether some point has beta != 0, so that a second direction is needed.
  bool is_plane() const { return beta.size() > 1 || (beta.size() == 1 && beta[0] != 0); }
};

/// The first point of an axis that is not finite, or not above the previous one, so that no figure
/// can be drawn. Nothing for an axis in order.
std::optional<Eigen::Index> first_out_of_order(const Eigen::Ref<const Eigen::VectorXd>& axis);

/// @param function  which was given the grid, for the message.
/// @throws PreconditionError unless each axis has a point, all are finite, and they ascend.
void require_grid(std::string_view function, const Grid& grid);

/// An axis of `count` equidistant points: its ends are those of the span to the last bit, and over
/// a span -a:a the axis is symmetric to the last bit, with 0 itself in the middle if `count` is
/// odd. A single point is at the span's first end.
/// @throws PreconditionError if count < 1; for count > 1, if the span does not ascend, or an end is
///         not within +-1e100.
Eigen::VectorXd make_axis(Eigen::Index count, Span span);

/// Reads a grid as users write it.
/// @param size  "NxM": N points along alpha, M along beta; 1xM and Nx1 are lines.
/// @param span  "A:B" for both axes or "A:B,C:D". An axis of one point is at 0, or at A if its span
///              is A:A.
/// @throws ConfigError for anything else, with what is expected.
Grid parse_grid(const std::string& size, const std::string& span);

}  // namespace hesscope
