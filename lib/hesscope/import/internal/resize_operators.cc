// SPDX-License-Identifier: BSD-3-Clause
//
// Resize and Upsample. Nearest-entry resizing is a movement; linear and cubic interpolation
// multiply by one constant matrix per axis, one after the other.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <hesscope/import/internal/composition.h>
#include <hesscope/import/internal/interpolation.h>
#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/operator_registry.h>

namespace hesscope::onnx {
namespace {

template <typename T, std::size_t kCount>
using Names = std::array<std::pair<std::string_view, T>, kCount>;

// The value denoted by an attribute's text.
template <typename T, std::size_t kCount>
T named(const OperatorCall& call,
        const std::string& attribute,
        const std::string& fallback,
        const Names<T, kCount>& names) {
  const std::string text = call.text(attribute, fallback);
  const auto found =
      std::ranges::find_if(names, [&](const auto& entry) { return entry.first == text; });
  if (found == names.end()) call.refuse("{} '{}' is not known", attribute, text);
  return found->second;
}

enum class Mode { kNearest, kLinear, kCubic };

struct Resizing {
  Value x;
  std::vector<ResizedAxis> axes = {};  ///< of x, all of them
  Mode mode = Mode::kNearest;
  Coordinates coordinates = Coordinates::kAsymmetric;
  Rounding rounding = Rounding::kOfOpset10;
  Filter filter = {};
  double outside = 0;

  bool is_cropped() const { return coordinates == Coordinates::kCropAndResize; }

  // Whether axis i is unchanged: true for the batch, and if the interpolation is the identity.
  bool keeps(std::size_t i) const {
    const bool is_same = axes[i].from == axes[i].to && axes[i].scale == 1;
    return x.axes[i].has_batch || (is_same && mode != Mode::kNearest && !is_cropped());
  }
};

Resizing with_same_axes(Value x) {
  Resizing resizing{.x = std::move(x)};
  for (const Axis& axis : resizing.x.axes) {
    resizing.axes.push_back({.from = axis.size, .to = axis.size});
  }
  return resizing;
}

void require_length(const OperatorCall& call, double length, const ResizedAxis& axis) {
  if (length >= 1 && length <= static_cast<double>(kLargestLength)) return;
  call.refuse("would resize a length of {} to {}", axis.from, length);
}

void apply_scales(const OperatorCall& call,
                  Resizing& resizing,
                  const std::vector<int>& which,
                  const std::vector<double>& scales) {
  if (scales.size() != which.size()) {
    call.refuse("{} scales are given for {} axes", scales.size(), which.size());
  }
  for (std::size_t k = 0; k < which.size(); ++k) {
    const double scale = scales[k];
    if (!(scale > 0) || !std::isfinite(scale)) call.refuse("scale {} is not positive", scale);
    if (scale != 1) call.require_no_batch(resizing.x, which[k], "resizes");
    ResizedAxis& axis = resizing.axes[static_cast<std::size_t>(which[k])];
    axis.scale = scale;
    if (resizing.x.axes[static_cast<std::size_t>(which[k])].has_batch) continue;
    const double part = resizing.is_cropped() ? axis.roi_end - axis.roi_begin : 1;
    // In the precision in which scales are stored, as other programs do: ten times 0.7f is 7.
    const float length = std::floor(static_cast<float>(static_cast<double>(axis.from) * part) *
                                    static_cast<float>(scale));
    require_length(call, static_cast<double>(length), axis);
    axis.to = static_cast<std::int64_t>(length);
  }
}

// The new lengths, by the policy of opset 18 for lengths that are not proportional.
void fit_sizes(const OperatorCall& call, Resizing& resizing, const std::vector<int>& which) {
  const std::string policy = call.text("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch") return;
  if (policy != "not_larger" && policy != "not_smaller") {
    call.refuse("keep_aspect_ratio_policy '{}' is none of stretch, not_larger, not_smaller",
                policy);
  }
  std::vector<double> scales;
  for (const int i : which) scales.push_back(resizing.axes[static_cast<std::size_t>(i)].scale);
  const double scale = policy == "not_larger" ? std::ranges::min(scales) : std::ranges::max(scales);
  for (const int i : which) {
    if (scale != 1) call.require_no_batch(resizing.x, i, "resizes");
    ResizedAxis& axis = resizing.axes[static_cast<std::size_t>(i)];
    const double length = std::floor(scale * static_cast<double>(axis.from) + 0.5);
    require_length(call, length, axis);
    axis.scale = scale;
    axis.to = static_cast<std::int64_t>(length);
  }
}

void apply_sizes(const OperatorCall& call,
                 Resizing& resizing,
                 const std::vector<int>& which,
                 std::size_t input) {
  const Value& sizes = call.input(input);
  if (!sizes.is_known()) call.known(input);
  call.require_common(input);
  const Integers& lengths = *sizes.integers;
  if (lengths.base.size() != which.size()) {
    call.refuse("{} sizes are given for {} axes", lengths.base.size(), which.size());
  }
  for (std::size_t k = 0; k < which.size(); ++k) {
    const Axis& old = resizing.x.axes[static_cast<std::size_t>(which[k])];
    ResizedAxis& axis = resizing.axes[static_cast<std::size_t>(which[k])];
    const bool stays = lengths.base[k] == 0 && lengths.slope(k) == old.size;
    if (old.has_batch && stays) continue;
    call.require_no_batch(resizing.x, which[k], "resizes");
    if (lengths.slope(k) != 0) {
      call.refuse("would resize axis {} by the number of samples", which[k]);
    }
    require_length(call, static_cast<double>(lengths.base[k]), axis);
    axis.to = lengths.base[k];
    axis.scale = static_cast<double>(axis.to) / static_cast<double>(axis.from);
  }
  fit_sizes(call, resizing, which);
}

void apply_region(const OperatorCall& call, Resizing& resizing, const std::vector<int>& which) {
  if (!resizing.is_cropped()) return;
  const std::vector<double> region = call.known_reals(1);
  if (region.size() != 2 * which.size()) {
    call.refuse("a region of {} numbers is given for {} axes", region.size(), which.size());
  }
  for (std::size_t k = 0; k < which.size(); ++k) {
    const double begin = region[k];
    const double end = region[k + which.size()];
    if (begin != 0 || end != 1) call.require_no_batch(resizing.x, which[k], "crops");
    ResizedAxis& axis = resizing.axes[static_cast<std::size_t>(which[k])];
    axis.roi_begin = begin;
    axis.roi_end = end;
  }
}

// --- execution ---

Axes resized_axes(const Resizing& resizing) {
  Axes axes = resizing.x.axes;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (!axes[i].has_batch) axes[i].size = resizing.axes[i].to;
  }
  return axes;
}

Value nearest(const OperatorCall& call, const Resizing& resizing) {
  std::vector<std::vector<std::int64_t>> entries;
  for (std::size_t i = 0; i < resizing.axes.size(); ++i) {
    entries.emplace_back(static_cast<std::size_t>(resizing.axes[i].from));
    std::iota(entries[i].begin(), entries[i].end(), 0);
    if (resizing.keeps(i)) continue;
    entries[i] = nearest_entries(resizing.axes[i], resizing.coordinates, resizing.rounding);
  }
  Axes axes = resized_axes(resizing);
  const std::vector<std::int64_t> strides = strides_of(resizing.x.axes);
  std::vector<std::int32_t> table = table_of(call, axes, [&](auto position) -> std::int64_t {
    std::int64_t from = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const std::int64_t entry = entries[i][static_cast<std::size_t>(position[i])];
      if (entry < 0) return -1;
      from += entry * strides[i];
    }
    return from;
  });
  return moved(call,
               resizing.x,
               {.axes = std::move(axes), .table = std::move(table), .fill = resizing.outside});
}

// The values outside the visible part; zeros within.
Value surroundings(const OperatorCall& call, const Resizing& resizing, const Axes& axes) {
  std::vector<double> entries;
  const std::vector<std::int32_t> is_outside = table_of(call, axes, [&](auto position) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (resizing.keeps(i)) continue;
      if (std::isnan(coordinate_of(resizing.axes[i], resizing.coordinates, position[i]))) return 1;
    }
    return 0;
  });
  for (const std::int32_t flag : is_outside) entries.push_back(flag == 0 ? 0 : resizing.outside);
  return call.result(call.constant(entries), axes);
}

// The number of entries that a new entry reads is proportional to the shrinking factor: a crop of a
// large region by a small scale has few entries that each read very many.
void require_few_looks(const OperatorCall& call,
                       const Resizing& resizing,
                       const ResizedAxis& axis) {
  const double shrinkage = resizing.filter.is_antialiased ? std::min(axis.scale, 1.0) : 1.0;
  if (static_cast<double>(axis.to) / shrinkage <= static_cast<double>(kLargestLength)) return;
  call.refuse("would make {} entries, each of {:g} others", axis.to, 1 / shrinkage);
}

Value interpolated(const OperatorCall& call, const Resizing& resizing) {
  Value y = resizing.x;
  for (std::size_t i = 0; i < resizing.axes.size(); ++i) {
    if (resizing.keeps(i)) continue;
    const ResizedAxis& axis = resizing.axes[i];
    call.checked_size({{.size = axis.to}, {.size = axis.from}});
    require_few_looks(call, resizing, axis);
    y = multiplied_along(call,
                         y,
                         static_cast<int>(i),
                         interpolation_weights(axis, resizing.coordinates, resizing.filter));
  }
  if (!resizing.is_cropped() || resizing.outside == 0) return y;
  return plus(call, y, surroundings(call, resizing, y.axes));
}

Values resized(const OperatorCall& call, const Resizing& resizing) {
  call.checked_size(resized_axes(resizing));
  if (resizing.mode == Mode::kNearest) return {nearest(call, resizing)};
  call.require_no_integers(0, "interpolates between");
  return {interpolated(call, resizing)};
}

// --- the operators ---

constexpr Names<Mode, 3> kModes = {
    {{"nearest", Mode::kNearest}, {"linear", Mode::kLinear}, {"cubic", Mode::kCubic}}};
constexpr Names<Coordinates, 7> kCoordinates = {
    {{"align_corners", Coordinates::kAlignCorners},
     {"asymmetric", Coordinates::kAsymmetric},
     {"half_pixel", Coordinates::kHalfPixel},
     {"half_pixel_symmetric", Coordinates::kHalfPixelSymmetric},
     {"pytorch_half_pixel", Coordinates::kPytorchHalfPixel},
     {"tf_crop_and_resize", Coordinates::kCropAndResize},
     {"tf_half_pixel_for_nn", Coordinates::kTensorflowHalfPixel}}};
constexpr Names<Rounding, 4> kRoundings = {{{"ceil", Rounding::kCeil},
                                            {"floor", Rounding::kFloor},
                                            {"round_prefer_ceil", Rounding::kPreferCeil},
                                            {"round_prefer_floor", Rounding::kPreferFloor}}};

std::vector<int> all_axes(const Value& x) {
  std::vector<int> axes(x.axes.size());
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

// Upsample, and Resize as defined in opset 10.
Values lower_upsample(const OperatorCall& call) {
  Resizing resizing = with_same_axes(call.real(0));
  resizing.mode = named(call, "mode", "nearest", kModes);
  if (resizing.mode == Mode::kCubic) call.refuse("mode 'cubic' is known from opset 11 on");
  const bool has_list = call.has_attribute("scales");
  apply_scales(call,
               resizing,
               all_axes(resizing.x),
               has_list ? call.numbers("scales") : call.known_reals(1));
  return resized(call, resizing);
}

Values lower_resize(const OperatorCall& call) {
  if (call.opset() < 11) return lower_upsample(call);
  Resizing resizing = with_same_axes(call.real(0));
  resizing.mode = named(call, "mode", "nearest", kModes);
  resizing.coordinates = named(call, "coordinate_transformation_mode", "half_pixel", kCoordinates);
  resizing.rounding = named(call, "nearest_mode", "round_prefer_floor", kRoundings);
  resizing.outside = call.number("extrapolation_value", 0);
  resizing.filter = {.is_cubic = resizing.mode == Mode::kCubic,
                     .cubic_a = call.number("cubic_coeff_a", -0.75),
                     .excludes_outside = call.integer("exclude_outside", 0) != 0,
                     .is_antialiased = call.integer("antialias", 0) != 0};
  const std::vector<int> which = call.has_attribute("axes")
                                     ? call.axes(call.integers("axes"), resizing.x.rank())
                                     : all_axes(resizing.x);
  const bool has_scales = call.has_entries(2);
  if (has_scales == call.has_entries(3)) call.refuse("needs either scales or sizes");
  apply_region(call, resizing, which);
  if (has_scales) {
    apply_scales(call, resizing, which, call.known_reals(2));
  } else {
    apply_sizes(call, resizing, which, 3);
  }
  return resized(call, resizing);
}

}  // namespace

std::span<const Operator> resize_operators() {
  static constexpr auto kOperators = std::to_array<Operator>({
      {"Resize", of_same_kind<lower_resize>, kSlopeOfFirst, 10},
      {"Upsample", of_same_kind<lower_upsample>, kSlopeOfFirst, 7},
  });
  return kOperators;
}

}  // namespace hesscope::onnx
