// SPDX-License-Identifier: BSD-3-Clause
//
// GridSample: reads an image at places that are data, or computed (a spatial transformer).
//
// Along each axis, a place has one, two or four nearby entries, each with a weight; the selection
// of entries jumps, their weights have slopes. The image is a table with one row per place, in
// which each combination of entries looks up one row.
//
// Definition: https://onnx.ai/onnx/operators/onnx__GridSample.html and PyTorch's grid_sample().
#include <array>
#include <optional>
#include <vector>

#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/operator_registry.h>

namespace hesscope::onnx {
namespace {

enum class Reading { kNearest, kLinear, kCubic };
enum class Outside { kZeros, kBorder, kReflection };

struct GridSampling {
  Reading reading = Reading::kLinear;
  Outside outside = Outside::kZeros;
  bool aligns_corners = false;
};

// An entry along one axis for each place: its index, and its weight.
struct Tap {
  Var entry;
  Var weight;
};

Var floor_of(Var a) { return elementary(Elementary::kFloor, a); }

// One axis of a given length.
class GridAxis {
 public:
  GridAxis(const OperatorCall& call, const GridSampling& sampling, std::int64_t length)
      : call_(&call), sampling_(sampling), length_(static_cast<double>(length)) {}

  // The taps for numbers in [-1, 1], given as a column.
  std::vector<Tap> taps(Var grid) const {
    const Var at = sampling_.aligns_corners ? (0.5 * (length_ - 1)) * (grid + number(1))
                                            : 0.5 * (length_ * (grid + number(1)) - number(1));
    if (sampling_.reading == Reading::kCubic) return cubic_taps(at);
    const Var inside = brought_inside(at);
    if (sampling_.reading == Reading::kNearest) {
      return {tap(elementary(Elementary::kRound, inside), number(1))};
    }
    const Var first = floor_of(inside);
    const Var part = inside - first;
    return {tap(first, number(1) - part), tap(first + number(1), part)};
  }

 private:
  Var number(double value) const { return call_->constant(value); }

  Var last() const { return number(length_ - 1); }

  Var clipped(Var at) const { return elementary(Elementary::kClip, at, 0, length_ - 1); }

  // Entries outside have weight 0.
  Tap tap(Var entry, Var weight) const {
    const Var inside = number(1) - less(entry, number(0)) - less(last(), entry);
    return {clipped(entry), hadamard(inside, weight)};
  }

  std::vector<Tap> cubic_taps(Var at) const {
    const Var first = floor_of(at);
    const Var part = at - first;
    const Var rest = number(1) - part;
    const std::array<Var, 4> weights = {
        far_weight(part), near_weight(part), near_weight(rest), far_weight(rest)};
    std::vector<Tap> all;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const Var entry = first + number(static_cast<double>(k) - 1);
      all.push_back(tap(brought_inside(entry), weights[k]));
    }
    return all;
  }

  // Keys' kernel with a = -3/4 at distances t and 1 + t.
  Var near_weight(Var t) const { return hadamard(square(t), 1.25 * t - number(2.25)) + number(1); }

  Var far_weight(Var t) const { return -0.75 * hadamard(t, square(t - number(1))); }

  Var brought_inside(Var at) const {
    switch (sampling_.outside) {
      case Outside::kZeros:
        return at;
      case Outside::kBorder:
        return clipped(at);
      case Outside::kReflection:
        break;
    }
    return clipped(reflected(at));
  }

  // Between the middles of the first and the last entry, or their outer edges.
  Var reflected(Var at) const {
    const double begin = sampling_.aligns_corners ? 0 : -0.5;
    const double span = sampling_.aligns_corners ? length_ - 1 : length_;
    if (span == 0) return at;
    const Var away = abs(at - number(begin));
    const Var turns = floor_of((1 / span) * away);
    const Var rest = away - span * turns;
    const Var is_odd = turns - 2 * floor_of(0.5 * turns);
    return number(begin) + rest + hadamard(is_odd, number(span) - 2 * rest);
  }

  const OperatorCall* call_;
  GridSampling sampling_;
  double length_;
};

GridSampling sampling_of(const OperatorCall& call) {
  GridSampling sampling{.aligns_corners = call.integer("align_corners", 0) != 0};
  const std::string mode = call.text("mode", "linear");
  if (mode == "nearest") {
    sampling.reading = Reading::kNearest;
  } else if (mode == "cubic" || mode == "bicubic") {
    sampling.reading = Reading::kCubic;
  } else if (mode != "linear" && mode != "bilinear") {
    call.refuse("mode '{}' is none of nearest, linear, cubic", mode);
  }
  const std::string padding = call.text("padding_mode", "zeros");
  if (padding == "border") {
    sampling.outside = Outside::kBorder;
  } else if (padding == "reflection") {
    sampling.outside = Outside::kReflection;
  } else if (padding != "zeros") {
    call.refuse("padding_mode '{}' is none of zeros, border, reflection", padding);
  }
  return sampling;
}

Values lower_grid_sample(const OperatorCall& call) {
  const Value x = call.real(0);
  const Value grid = call.real(1);
  if (x.rank() != 4 || grid.rank() != 4 || grid.axes[3].size != 2) {
    call.refuse("takes (N, C, H, W) and a grid (N, H', W', 2), got {} and {}",
                text(x.axes),
                text(grid.axes));
  }
  for (int axis = 1; axis < 4; ++axis) {
    call.require_no_batch(x, axis, "samples places of");
    call.require_no_batch(grid, axis, "samples at places of");
  }
  if (x.axes[0] != grid.axes[0]) {
    call.refuse("{} and a grid {} are not of the same samples", text(x.axes), text(grid.axes));
  }
  const Axes result = {x.axes[0], grid.axes[1], grid.axes[2], x.axes[1]};
  call.checked_size(result);
  const std::int64_t images = x.axes[0].size;
  const std::int64_t height = x.axes[2].size;
  const std::int64_t width = x.axes[3].size;
  const std::int64_t places = grid.size() / 2;

  const GridSampling sampling = sampling_of(call);
  if (sampling.reading != Reading::kNearest) call.require_no_integers(0, "interpolates between");
  const Var pairs = matrix(grid, places, 2);
  const auto across = GridAxis(call, sampling, width).taps(slice(pairs, 0, 0, places, 1));
  const auto down = GridAxis(call, sampling, height).taps(slice(pairs, 0, 1, places, 1));
  const Var table =
      matrix(transposed(call, x, {0, 2, 3, 1}), x.size() / x.axes[1].size, x.axes[1].size);
  std::vector<double> image_rows;
  for (std::int64_t e = 0; e < places; ++e) {
    const std::int64_t first = e / (places / images) * height * width;
    image_rows.push_back(static_cast<double>(first));
  }
  const Var first_rows = call.constant(image_rows);
  std::optional<Var> total;
  for (const Tap& row : down) {
    for (const Tap& col : across) {
      const Var which = first_rows + static_cast<double>(width) * row.entry + col.entry;
      const Var part = hadamard(lookup(table, which), hadamard(row.weight, col.weight));
      total = total ? *total + part : part;
    }
  }
  return {transposed(call, call.result(*total, result), {0, 3, 1, 2})};
}

}  // namespace

std::span<const Operator> grid_operators() {
  static constexpr auto kOperators = std::to_array<Operator>({
      {"GridSample", of_same_kind<lower_grid_sample>, kAllSlopes, 16},
  });
  return kOperators;
}

}  // namespace hesscope::onnx
