// SPDX-License-Identifier: BSD-3-Clause
//
// Adds and removes borders, and moves blocks between depth and space.
#include <algorithm>
#include <array>
#include <numeric>

#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/operator_registry.h>

namespace hesscope::onnx {
namespace {

enum class Border { kConstant, kEdge, kReflect, kWrap };

Border border_of(const OperatorCall& call) {
  const std::string mode = call.text("mode", "constant");
  if (mode == "constant") return Border::kConstant;
  if (mode == "edge") return Border::kEdge;
  if (mode == "reflect") return Border::kReflect;
  if (mode == "wrap") return Border::kWrap;
  call.refuse("mode '{}' is none of constant, edge, reflect, wrap", mode);
}

// Entries added in front and behind; negative numbers remove entries.
struct Pads {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

std::vector<Pads> pads_of(const OperatorCall& call, const Value& x) {
  const auto list = call.list("pads", 1);
  if (!list) call.refuse("has no pads");
  std::vector<int> which(x.axes.size());
  std::iota(which.begin(), which.end(), 0);
  if (call.has(3)) which = call.axes(call.known(3), x.rank());
  if (list->size() != 2 * which.size()) {
    call.refuse("{} pads are given for {} axes", list->size(), which.size());
  }
  std::vector<Pads> pads(x.axes.size());
  for (std::size_t k = 0; k < which.size(); ++k) {
    const Pads here{(*list)[k], (*list)[k + which.size()]};
    if (here.begin == 0 && here.end == 0) continue;
    call.require_no_batch(x, which[k], "pads");
    for (const std::int64_t pad : {here.begin, here.end}) {
      if (pad < -kLargestLength || pad > kLargestLength)
        call.refuse("a pad of {} is too large", pad);
    }
    pads[static_cast<std::size_t>(which[k])] = here;
  }
  return pads;
}

// Which of `length` entries is at `at`, which may be in front of them or behind them; -1 for none.
std::int64_t entry_behind(Border border, std::int64_t at, std::int64_t length) {
  const auto modulo = [&](std::int64_t period) { return ((at % period) + period) % period; };
  switch (border) {
    case Border::kEdge:
      return std::clamp<std::int64_t>(at, 0, length - 1);
    case Border::kWrap:
      return modulo(length);
    case Border::kReflect: {
      if (length == 1) return 0;
      const std::int64_t there = modulo(2 * (length - 1));
      return std::min(there, 2 * (length - 1) - there);
    }
    case Border::kConstant:
      break;
  }
  return at < 0 || at >= length ? -1 : at;
}

// First removes entries, then pads with those that are left.
std::vector<std::int64_t> padded_entries(Border border, std::int64_t length, const Pads& pads) {
  const std::int64_t first = std::max<std::int64_t>(0, -pads.begin);
  const std::int64_t left = length - first - std::max<std::int64_t>(0, -pads.end);
  std::vector<std::int64_t> entries;
  if (left < 1 && border != Border::kConstant) return entries;
  for (std::int64_t at = -pads.begin; at < length + pads.end; ++at) {
    const std::int64_t entry = entry_behind(border, at - first, left);
    entries.push_back(entry < 0 ? -1 : first + entry);
  }
  return entries;
}

Values lower_pad(const OperatorCall& call) {
  const Value& x = call.input(0);
  const Border border = border_of(call);
  const std::vector<Pads> pads = pads_of(call, x);
  Axes axes = x.axes;
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i].size += pads[i].begin + pads[i].end;
  call.checked_size(axes);
  std::vector<std::vector<std::int64_t>> entries;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    entries.push_back(padded_entries(border, x.axes[i].size, pads[i]));
    if (entries[i].empty()) call.refuse("nothing is left of axis {} to pad with", i);
  }
  const std::vector<std::int64_t> strides = strides_of(x.axes);
  const auto table_with = [&](std::int64_t outside) {
    return table_of(call, axes, [&](auto position) -> std::int64_t {
      std::int64_t from = 0;
      for (std::size_t i = 0; i < entries.size(); ++i) {
        const std::int64_t entry = entries[i][static_cast<std::size_t>(position[i])];
        if (entry < 0) return outside;
        from += entry * strides[i];
      }
      return from;
    });
  };
  if (!call.has_entries(2) || border != Border::kConstant) {
    const double fill = call.number("value", 0);
    return {moved(call, x, {.axes = axes, .table = table_with(-1), .fill = fill})};
  }
  const Value& fill = call.input(2);
  if (fill.size() != 1) call.refuse("pads with {}, no single number", text(fill.axes));
  // Known integers are kept: not every 64-bit integer is a double.
  const bool are_integers = x.is_known() && fill.is_known();
  if (const auto number = call.single_number(fill); number && !are_integers) {
    return {moved(call, x, {.axes = axes, .table = table_with(-1), .fill = *number})};
  }
  if (batch_axis(fill.axes) >= 0 && batch_axis(x.axes) < 0) {
    call.refuse("pads what is the same for all samples with a number of each sample");
  }
  const std::array<Value, 2> parts = {x, fill};
  return {moved(call, parts, {.axes = axes, .table = table_with(x.size())})};
}

// --- blocks ---

struct Image {
  const Value& x;  // (B, C, H, W)
  std::int64_t block;
};

Image image_of(const OperatorCall& call) {
  const Value& x = call.input(0);
  if (x.rank() != 4) call.refuse("takes a tensor (N, C, H, W), got {}", text(x.axes));
  for (int axis = 1; axis < 4; ++axis) call.require_no_batch(x, axis, "moves blocks along");
  const std::int64_t block = call.integer("blocksize", 0);
  if (block < 1 || block > 10'000) call.refuse("blocksize {} is not from 1 to 10000", block);
  return {x, block};
}

Values lower_depth_to_space(const OperatorCall& call) {
  const Image image = image_of(call);
  const auto& x = image.x;
  const auto block = image.block;  // clang 14 captures no structured binding
  const std::string mode = call.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") call.refuse("mode '{}' is neither DCR nor CRD", mode);
  if (x.axes[1].size % (block * block) != 0) {
    call.refuse("blocks of {0} x {0} do not divide the channels of {1}", block, text(x.axes));
  }
  const std::int64_t depth = x.axes[1].size / (block * block);
  const Axes axes = {x.axes[0],
                     {.size = depth},
                     {.size = x.axes[2].size * block},
                     {.size = x.axes[3].size * block}};
  const std::vector<std::int64_t> strides = strides_of(x.axes);
  const bool depth_first = mode == "DCR";
  return {moved(call, x, {.axes = axes, .table = table_of(call, axes, [&](auto at) {
                                          const std::int64_t within =
                                              at[2] % block * block + at[3] % block;
                                          const std::int64_t channel =
                                              depth_first ? within * depth + at[1]
                                                          : at[1] * block * block + within;
                                          return at[0] * strides[0] + channel * strides[1] +
                                                 at[2] / block * strides[2] + at[3] / block;
                                        })})};
}

Values lower_space_to_depth(const OperatorCall& call) {
  const Image image = image_of(call);
  const auto& x = image.x;
  const auto block = image.block;  // clang 14 captures no structured binding
  if (x.axes[2].size % block != 0 || x.axes[3].size % block != 0) {
    call.refuse("blocks of {0} x {0} do not divide {1}", block, text(x.axes));
  }
  const std::int64_t depth = x.axes[1].size;
  const Axes axes = {x.axes[0],
                     {.size = depth * block * block},
                     {.size = x.axes[2].size / block},
                     {.size = x.axes[3].size / block}};
  const std::vector<std::int64_t> strides = strides_of(x.axes);
  return {moved(call, x, {.axes = axes, .table = table_of(call, axes, [&](auto at) {
                                          const std::int64_t within = at[1] / depth;
                                          return at[0] * strides[0] + at[1] % depth * strides[1] +
                                                 (at[2] * block + within / block) * strides[2] +
                                                 at[3] * block + within % block;
                                        })})};
}

}  // namespace

std::span<const Operator> pad_operators() {
  static constexpr auto kOperators = std::to_array<Operator>({
      {"DepthToSpace", lower_depth_to_space},
      {"Pad", lower_pad, 0b101},
      {"SpaceToDepth", lower_space_to_depth},
  });
  return kOperators;
}

}  // namespace hesscope::onnx
