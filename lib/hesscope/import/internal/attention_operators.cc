// SPDX-License-Identifier: BSD-3-Clause
//
// Attention, and the rotation of its queries and keys by their position. Axis 0 may be the batch:
// its entries are treated independently. The axes behind it must be free of the batch.
//
// Definitions: https://onnx.ai/onnx/operators/onnx__Attention.html and onnx__RotaryEmbedding.html.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

#include <hesscope/core/constants.h>
#include <hesscope/import/internal/composition.h>
#include <hesscope/import/internal/indices.h>
#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/operator_registry.h>

namespace hesscope::onnx {
namespace {

// Requires a tensor (N, heads, length, size) or (N, length, heads size).
void require_heads(const OperatorCall& call, const Value& x, std::size_t i) {
  if (x.rank() != 3 && x.rank() != 4) {
    call.refuse("input {} is {}; it takes (N, heads, length, size) or (N, length, heads * size)",
                i + 1,
                text(x.axes));
  }
  for (int axis = 1; axis < x.rank(); ++axis) call.require_no_batch(x, axis, "attends along");
}

// The number of heads: from the tensor's axis, or else from the attribute. 0 means that it is
// omitted.
std::int64_t heads_of(const OperatorCall& call, const Value& x, const std::string& attribute) {
  const std::int64_t heads = call.integer(attribute, 0);
  if (x.rank() == 4) {
    if (heads == 0 || heads == x.axes[1].size) return x.axes[1].size;
    call.refuse("{} is {}, but a tensor {} has {}", attribute, heads, text(x.axes), x.axes[1].size);
  }
  if (heads < 1 || x.axes[2].size % heads != 0) {
    call.refuse("{} {} does not part the last axis of {}", attribute, heads, text(x.axes));
  }
  return heads;
}

// (N, length, heads size) as (N, length, heads, size).
Value parted(const OperatorCall& call, const Value& x, std::int64_t heads) {
  return with_axes(
      call, x, {x.axes[0], x.axes[1], {.size = heads}, {.size = x.axes[2].size / heads}});
}

// --- Attention
//
//   scores = scale Q K^T, and softcap tanh(scores / softcap) where there is a softcap
//   weights = softmax(scores + mask)
//   Y = weights V
//
// for each sample and head. Heads of queries that share keys and values are stacked vertically:
// they are the rows of one product.

// (N, heads, length, size) each; keys and values are preceded by those of the past.
struct Attended {
  Value queries;
  Value keys;
  Value values;
  std::int64_t past = 0;  ///< number of keys from the past

  std::int64_t num_products() const { return queries.axes[0].size * keys.axes[1].size; }

  Axes axes_of_scores() const {
    return {queries.axes[0], queries.axes[1], queries.axes[2], keys.axes[2]};
  }
};

Value by_head(const OperatorCall& call, std::size_t i, const std::string& attribute) {
  const Value x = call.real(i);
  require_heads(call, x, i);
  if (x.rank() != call.input(0).rank()) {
    call.refuse(
        "input {} is {}, but its queries are {}", i + 1, text(x.axes), text(call.input(0).axes));
  }
  const std::int64_t heads = heads_of(call, x, attribute);
  return x.rank() == 4 ? x : transposed(call, parted(call, x, heads), {0, 2, 1, 3});
}

// Keys or values, preceded by those of the past, input i. A past without entries is ignored.
Value with_past(const OperatorCall& call, const Value& present, std::size_t i) {
  if (!call.has_entries(i)) return present;
  const std::array both = {call.real(i), present};
  return joined(call, both, 2);
}

Attended attended(const OperatorCall& call) {
  if (call.has(6)) {
    call.refuse("takes lengths of its keys (nonpad_kv_seqlen), which are not read: give it a mask");
  }
  if (call.has_entries(4) != call.has_entries(5)) {
    call.refuse("needs both past_key and past_value, or none of them");
  }
  Attended in{.queries = by_head(call, 0, "q_num_heads"),
              .keys = by_head(call, 1, "kv_num_heads"),
              .values = by_head(call, 2, "kv_num_heads")};
  const std::int64_t present = in.keys.axes[2].size;
  in.keys = with_past(call, in.keys, 4);
  in.values = with_past(call, in.values, 5);
  in.past = in.keys.axes[2].size - present;
  const Axes& q = in.queries.axes;
  const Axes& k = in.keys.axes;
  const Axes& v = in.values.axes;
  if (q[1].size % k[1].size != 0 || k[1] != v[1] || k[2] != v[2] || q[3] != k[3]) {
    call.refuse("queries {}, keys {} and values {} do not fit as (N, heads, length, size)",
                text(q),
                text(k),
                text(v));
  }
  return in;
}

// Repeats a tensor that is the same for all samples.
Attended with_same_samples(const OperatorCall& call, Attended in) {
  const Axes some = broadcast_axes(call, {in.queries.axes[0]}, {in.keys.axes[0]});
  const Axis all = broadcast_axes(call, some, {in.values.axes[0]}).front();
  for (Value* value : {&in.queries, &in.keys, &in.values}) {
    Axes axes = value->axes;
    axes[0] = all;
    *value = expanded(call, *value, axes);
  }
  return in;
}

// The additive mask: the mask itself or, for truth values, 0 where true and -inf elsewhere.
Value added_mask(const OperatorCall& call) {
  const Value& mask = call.input(3);
  if (mask.kind == ElementKind::kInteger) {
    call.refuse("its mask has integers; it takes truth values, or real numbers, which it adds");
  }
  Value numbers = call.real(mask);
  if (mask.kind == ElementKind::kReal) return numbers;
  const auto size = static_cast<std::size_t>(numbers.size());
  const Var seen = call.constant(std::vector<double>(size, 0.0));
  const Var left_out = call.constant(std::vector<double>(size, -kInfinity));
  return call.result(select(matrix(numbers, numbers.size(), 1), seen, left_out), numbers.axes);
}

// -inf if a key comes after the query, else 0: query i corresponds to key `past` + i.
Value causal_mask(const OperatorCall& call, const Attended& in) {
  const Axes square = {in.queries.axes[2], in.keys.axes[2]};
  const std::vector<std::int32_t> is_later =
      table_of(call, square, [&](auto at) { return at[1] > in.past + at[0] ? 1 : 0; });
  std::vector<double> entries(is_later.size());
  std::ranges::transform(
      is_later, entries.begin(), [](std::int32_t flag) { return flag == 0 ? 0 : -kInfinity; });
  return call.result(call.constant(entries), square);
}

std::optional<Value> mask_of(const OperatorCall& call, const Attended& in) {
  const bool is_causal = call.integer("is_causal", 0) != 0;
  if (!call.has(3)) return is_causal ? std::optional(causal_mask(call, in)) : std::nullopt;
  const Value mask = added_mask(call);
  const Axes scores = in.axes_of_scores();
  if (broadcast_axes(call, scores, mask.axes) != scores) {
    call.refuse("its mask {} is more than its scores {}", text(mask.axes), text(scores));
  }
  return is_causal ? plus(call, mask, causal_mask(call, in)) : mask;
}

// A factor given by an attribute of the node.
double factor_of(const OperatorCall& call, const std::string& name, double fallback) {
  const double factor = call.number(name, fallback);
  if (!(factor >= 0 && std::isfinite(factor))) {
    call.refuse("{} {} is no number from 0 on", name, factor);
  }
  return factor;
}

Value scores_of(const OperatorCall& call, const Attended& in) {
  const std::int64_t size = in.queries.axes[3].size;
  const double scale = factor_of(call, "scale", 1 / std::sqrt(static_cast<double>(size)));
  Axes axes = in.axes_of_scores();
  call.checked_size(axes);
  const Var products = stacked_matmul(matrix(in.queries, in.queries.size() / size, size),
                                      matrix(in.keys, in.keys.size() / size, size),
                                      {.stack = in.num_products(), .transpose_b = true});
  return call.result(scale == 1 ? products : scale * products, std::move(axes));
}

// The mask is applied after the softcap, as ONNX has corrected it, so that masked scores are
// exactly -inf.
Value weights_of(const OperatorCall& call, const Attended& in, Value scores) {
  const double softcap = factor_of(call, "softcap", 0);
  if (softcap > 0) {
    scores = call.result(softcap * tanh((1 / softcap) * *scores.var), scores.axes);
  }
  if (const auto mask = mask_of(call, in)) scores = plus(call, scores, *mask);
  const std::int64_t length = scores.axes[3].size;
  return call.result(softmax_rows(matrix(scores, scores.size() / length, length)), scores.axes);
}

// In the layout of the queries.
Value weighted_values(const OperatorCall& call, const Attended& in, const Value& weights) {
  const std::int64_t length = in.values.axes[2].size;
  const std::int64_t size = in.values.axes[3].size;
  Axes axes = in.queries.axes;
  axes[3] = in.values.axes[3];
  call.checked_size(axes);
  const Var products = stacked_matmul(matrix(weights, weights.size() / length, length),
                                      matrix(in.values, in.values.size() / size, size),
                                      {.stack = in.num_products()});
  Value y = call.result(products, std::move(axes));
  if (call.input(0).rank() == 4) return y;
  const Value rows = transposed(call, y, {0, 2, 1, 3});
  return with_axes(
      call, rows, {rows.axes[0], rows.axes[1], {.size = rows.axes[2].size * rows.axes[3].size}});
}

// Everything is computed in 64 bits, regardless of softmax_precision.
Values lower_attention(const OperatorCall& call) {
  const Attended given = attended(call);
  const Attended in = with_same_samples(call, given);
  const Value scores = scores_of(call, in);
  const Value weights = weights_of(call, in, scores);
  Values results = {weighted_values(call, in, weights), given.keys, given.values};
  // Versions of ONNX differ in the meaning of modes 1 and 2.
  const std::int64_t mode = call.integer("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) call.refuse("qk_matmul_output_mode {} is not from 0 to 3", mode);
  if (mode == 0) results.push_back(scores);
  if (mode == 3) results.push_back(weights);
  return results;
}

// --- RotaryEmbedding: pairs (a, b) of a head's entries become
// --- (a cos - b sin, b cos + a sin) by angles of their place.

struct Rotation {
  std::int64_t size = 1;     ///< of a head
  std::int64_t rotated = 1;  ///< entries of it that are in pairs
  bool is_interleaved = false;

  std::int64_t num_pairs() const { return rotated / 2; }

  bool is_rotated(std::int64_t entry) const { return entry < rotated; }

  std::int64_t pair(std::int64_t entry) const {
    return is_interleaved ? entry / 2 : entry % num_pairs();
  }

  bool is_first(std::int64_t entry) const {
    return is_interleaved ? entry % 2 == 0 : entry < num_pairs();
  }

  // The other entry of the pair.
  std::int64_t partner(std::int64_t entry) const {
    const std::int64_t distance = is_interleaved ? 1 : num_pairs();
    return is_first(entry) ? entry + distance : entry - distance;
  }
};

Rotation rotation_of(const OperatorCall& call, std::int64_t size) {
  const std::int64_t named = call.integer("rotary_embedding_dim", 0);
  const Rotation rotation{.size = size,
                          .rotated = named == 0 ? size : named,
                          .is_interleaved = call.integer("interleaved", 0) != 0};
  if (rotation.rotated < 2 || rotation.rotated > size || rotation.rotated % 2 != 0) {
    call.refuse("rotates pairs among the {} entries of a head: {} are not among them, or not even",
                size,
                rotation.rotated);
  }
  return rotation;
}

// Rows of a table (places, pairs) at the positions (N, length).
Value rows_at_positions(const OperatorCall& call, const Value& table) {
  const Value& positions = call.input(3);
  if (table.rank() != 2 || positions.rank() != 2) {
    call.refuse("takes angles (places, pairs) at positions (N, length), got {} and {}",
                text(table.axes),
                text(positions.axes));
  }
  for (const int axis : {0, 1}) call.require_no_batch(table, axis, "looks angles up along");
  const std::int64_t places = table.axes[0].size;
  Axes axes = positions.axes;
  axes.push_back(table.axes[1]);
  call.checked_size(axes);
  const auto known = indices_at_hand(call, 3);
  if (!known) {
    const Var rows = index_column(positions, places);
    return call.result(lookup(matrix(table, places, table.axes[1].size), rows), std::move(axes));
  }
  std::vector<std::int64_t> rows;
  for (const std::int64_t place : *known) rows.push_back(counted_from_front(call, place, places));
  const Axes flat = plain_axes({std::ssize(rows), table.axes[1].size});
  std::vector<std::int32_t> entries = table_of(call, flat, [&](auto at) {
    return rows[static_cast<std::size_t>(at[0])] * table.axes[1].size + at[1];
  });
  return moved(call, table, {.axes = std::move(axes), .table = std::move(entries)});
}

// Input i, the cosines or sines of each pair, as a factor for each entry, and `rest` for entries
// that are not rotated. x is (N, heads, length, size), or (N, length, heads, size) with
// `heads_last`.
Value factors(const OperatorCall& call,
              std::size_t i,
              const Value& x,
              bool heads_last,
              const Rotation& rotation,
              double rest) {
  const Value cache = call.real(i);
  const Value angles = call.has(3) ? rows_at_positions(call, cache) : cache;
  const Axis length = x.axes[heads_last ? 1 : 2];
  const Axis pairs = {.size = rotation.num_pairs()};
  if (angles.rank() != 3 || angles.axes[1] != length || angles.axes[2] != pairs) {
    call.refuse("angles {} do not fit (N, length, pairs) of {} places with {} pairs",
                text(angles.axes),
                length.size,
                pairs.size);
  }
  const Axes entries = {angles.axes[0], length, {.size = rotation.size}};
  std::vector<std::int32_t> table = table_of(call, entries, [&](auto at) -> std::int64_t {
    if (!rotation.is_rotated(at[2])) return -1;
    return (at[0] * length.size + at[1]) * pairs.size + rotation.pair(at[2]);
  });
  Axes axes = entries;
  axes.insert(axes.begin() + (heads_last ? 2 : 1), Axis{});
  if (broadcast_axes(call, x.axes, axes) != x.axes) {
    call.refuse("angles {} are more than a tensor {}", text(angles.axes), text(x.axes));
  }
  return moved(call, angles, {.axes = std::move(axes), .table = std::move(table), .fill = rest});
}

// Each entry's partner; 0 for entries that are not rotated.
Value partners(const OperatorCall& call, const Value& x, const Rotation& rotation) {
  const Axes rows = plain_axes({x.size() / rotation.size, rotation.size});
  std::vector<std::int32_t> table = table_of(call, rows, [&](auto at) -> std::int64_t {
    return rotation.is_rotated(at[1]) ? at[0] * rotation.size + rotation.partner(at[1]) : -1;
  });
  return moved(call, x, {.axes = x.axes, .table = std::move(table)});
}

// Signs: the first of a pair minus the second, the second plus the first.
Value signs(const OperatorCall& call, const Rotation& rotation) {
  std::vector<double> entries;
  for (std::int64_t e = 0; e < rotation.size; ++e) entries.push_back(rotation.is_first(e) ? -1 : 1);
  return call.result(call.constant(entries), {{.size = rotation.size}});
}

Values lower_rotary_embedding(const OperatorCall& call) {
  const Value given = call.real(0);
  require_heads(call, given, 0);
  const std::int64_t heads = heads_of(call, given, "num_heads");
  const bool heads_last = given.rank() == 3;
  const Value x = heads_last ? parted(call, given, heads) : given;
  const Rotation rotation = rotation_of(call, x.axes[3].size);
  const Value cosines = factors(call, 1, x, heads_last, rotation, 1);
  const Value sines = factors(call, 2, x, heads_last, rotation, 0);
  const Value turned =
      times(call, partners(call, x, rotation), times(call, sines, signs(call, rotation)));
  return {with_axes(call, plus(call, times(call, x, cosines), turned), given.axes)};
}

}  // namespace

std::span<const Operator> attention_operators() {
  static constexpr auto kOperators = std::to_array<Operator>({
      {"Attention", lower_attention, kAllSlopes, 23},
      {"RotaryEmbedding", lower_rotary_embedding, 0b111, 23},
  });
  return kOperators;
}

}  // namespace hesscope::onnx
