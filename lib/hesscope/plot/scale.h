// SPDX-License-Identifier: BSD-3-Clause
//
// Axes as functions: from numbers to places, and the places that deserve a tick.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <hesscope/plot/figure.h>

namespace hesscope::plot {

/// "linear", "log" or "signed-log".
std::string_view to_string(ScaleKind kind);

/// A monotone map of [lower, upper] onto [0, 1].
class Scale {
 public:
  /// @param threshold  of kSignedLog, > 0.
  /// @throws PreconditionError unless lower < upper are finite, positive for kLog, and threshold
  ///         is positive and finite where it is used.
  Scale(ScaleKind kind, double lower, double upper, double threshold = 1);

  ScaleKind kind() const { return kind_; }

  double lower() const { return lower_; }

  double upper() const { return upper_; }

  double threshold() const { return threshold_; }

  /// 0 at lower, 1 at upper; NaN for a number that has no place on the scale. Places outside [-1e6,
  /// 1e6] are clamped to it.
  double place(double value) const;

  /// The number at a place: the inverse.
  double value(double place) const;

 private:
  double forward(double value) const;

  ScaleKind kind_;
  double lower_;
  double upper_;
  double threshold_;
  double start_;
  double length_;
};

/// Whether a number has a place on a scale of this kind: it must be finite, and on kLog also
/// positive and not subnormal.
bool is_drawable(ScaleKind kind, double value);

struct Tick {
  double value = 0;
  std::string label;  ///< "" = a minor tick
};

struct Ticks {
  std::vector<Tick> ticks;  ///< ascending
  int exponent = 0;         ///< labels are in units of 10^exponent; only on linear scales
};

/// Ticks within [lower, upper], of which about `target`, but at least one, have labels. Linear:
/// multiples of 1, 2 or 5 times a power of ten. Logarithmic: decades, or every second, third, ...
/// one; for few decades also 2 and 5, for less than one decade the linear ones; minor ticks at the
/// multiples in between. Signed: zero and decades on either side; as logarithmic where all of the
/// range is on one side, beyond the threshold; for no more than the threshold's decade the linear
/// ones.
/// @throws PreconditionError unless target >= 1.
Ticks choose_ticks(const Scale& scale, std::size_t target, bool whole_numbers = false);

/// A range around the given numbers, for an axis without given limits: widened at either end by
/// `margin` of its length on the scale; never empty.
/// @param values  only those drawable on the scale count; if there are none, the range is 0 to 1 (1
///                to 10).
Scale enclosing_scale(ScaleKind kind,
                      const std::vector<double>& values,
                      double margin,
                      double threshold = 0);

/// The indices of at most `most` of `count` things to be shown, evenly spread, including the last.
std::vector<std::size_t> evenly_spread(std::size_t count, std::size_t most);

/// "0.25", "1.5×10^{-7}", "−3": a number with this many significant digits, for tables and remarks.
std::string short_number(double value, int digits = 4);

}  // namespace hesscope::plot
