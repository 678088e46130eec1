// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <hesscope/import/internal/indices.h>
#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/recurrent_sequences.h>

namespace hesscope::onnx {
namespace {

// The number of steps of each sequence, as a column; none if all have all of them.
std::optional<Var> lengths_of(const OperatorCall& call, const Axis& batch, std::int64_t steps) {
  if (!call.has_entries(4)) return std::nullopt;
  if (call.input(4).is_known()) {
    const std::vector<std::int64_t> known = call.known_of_one(4);
    if (std::ranges::all_of(known, [&](std::int64_t length) { return length == steps; })) {
      return std::nullopt;
    }
  }
  const Value lengths = call.real(4);
  if (lengths.axes != Axes{batch}) {
    call.refuse(
        "the lengths of sequences must be of shape {}, got {}", text({batch}), text(lengths.axes));
  }
  return matrix(lengths, batch.size, 1);
}

// Used if the data give the lengths of sequences: sets the lengths, equal in each column, and the
// inputs. A length outside 0 ... T counts as all steps, with inputs of NaN.
void end_sequences(const OperatorCall& call, Var lengths, Sequences& all) {
  const Var is_none = is_outside(lengths, all.steps + 1);
  const Value zero = {.axes = plain_axes({1}), .var = call.constant(0.0)};
  const Var nothing = entries_at(zero, without(0.0 * lengths, is_none));
  std::vector<std::int32_t> row_of(static_cast<std::size_t>(all.steps * all.rows));
  for (std::size_t e = 0; e < row_of.size(); ++e) {
    row_of[e] = static_cast<std::int32_t>(e % static_cast<std::size_t>(all.rows));
  }
  all.inputs = all.inputs + gather(nothing, row_of, all.steps * all.rows, 1);
  const std::vector<double> zeros(static_cast<std::size_t>(all.hidden));
  const Var row = reshape(call.constant(zeros), 1, all.hidden);
  all.lengths = folded(call, row - without(-lengths, is_none));  // invalid ones: beyond all steps
}

}  // namespace

Sequences sequences_of(const OperatorCall& call,
                       int num_gates,
                       const std::vector<std::string>& activations) {
  const Value x = call.real(0);
  const Value weights = call.real(1);
  const Value recurrence = call.real(2);
  const std::string direction = call.text("direction", "forward");
  const bool is_known =
      direction == "forward" || direction == "reverse" || direction == "bidirectional";
  if (!is_known) call.refuse("direction '{}' is not known", direction);
  const std::int64_t layout = call.integer("layout", 0);
  if (x.rank() != 3 || layout < 0 || layout > 1) {
    call.refuse("needs inputs of rank 3 in layout 0 or 1, got {} in {}", text(x.axes), layout);
  }
  const std::size_t time = layout == 0 ? 0 : 1;
  call.require_no_batch(x, static_cast<int>(time), "it runs along");
  call.require_no_batch(x, 2, "its inputs are along");
  const std::int64_t features = x.axes[2].size;
  const std::int64_t directions = direction == "bidirectional" ? 2 : 1;
  const std::int64_t hidden = recurrence.axes.empty() ? 0 : recurrence.axes.back().size;
  const bool fits = weights.axes == plain_axes({directions, num_gates * hidden, features}) &&
                    recurrence.axes == plain_axes({directions, num_gates * hidden, hidden}) &&
                    call.integer("hidden_size", hidden) == hidden;
  if (!fits) {
    call.refuse("weights {} and {} do not fit inputs {} in {} directions",
                text(weights.axes),
                text(recurrence.axes),
                text(x.axes),
                directions);
  }
  const std::int64_t steps = x.axes[time].size;
  constexpr std::int64_t kMaxSteps = 10'000;
  call.checked_size(plain_axes({steps * x.axes[1 - time].size, num_gates * hidden}));
  if (steps > kMaxSteps) call.refuse("{} steps; at most {} are unrolled", steps, kMaxSteps);
  const Axis batch = x.axes[1 - time];
  const Value by_step = layout == 0 ? x : transposed(call, x, {1, 0, 2});
  Sequences all = {.steps = steps,
                   .rows = batch.size,
                   .hidden = hidden,
                   .directions = directions,
                   .batch = batch,
                   .is_batch_first = layout == 1,
                   .inputs = matrix(by_step, steps * batch.size, features),
                   .activations = recurrent_activations(call, activations, directions),
                   .lengths = {}};
  if (const auto lengths = lengths_of(call, batch, steps)) end_sequences(call, *lengths, all);
  return all;
}

Var folded(const OperatorCall& call, Var var) { return *call.result(var, {}).var; }

Var within_lengths(const OperatorCall& call,
                   const Sequences& all,
                   std::int64_t step,
                   Var next,
                   const std::optional<Var>& before) {
  if (!all.lengths) return next;
  const Var has_step = less(call.constant(static_cast<double>(step)), *all.lengths);
  const std::vector<double> zeros(static_cast<std::size_t>(next.rows() * next.cols()));
  const Var other = before ? *before : reshape(call.constant(zeros), next.rows(), next.cols());
  return folded(call, select(has_step, next, other));
}

}  // namespace hesscope::onnx
