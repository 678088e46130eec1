// SPDX-License-Identifier: BSD-3-Clause
//
// RNN, GRU and LSTM, unrolled in time: the contribution of the inputs to all gates is one product
// for all steps; each step then multiplies by the hidden weights only.
//
// Rows are sequences (one per sample, or as many as the length of the batch axis if it is not
// marked as batch), columns are hidden units; gates are side by side, in ONNX's order.
#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/operator_registry.h>
#include <hesscope/import/internal/recurrent_sequences.h>

namespace hesscope::onnx {
namespace {

// The state of one direction while it runs.
struct RecurrentState {
  std::optional<Var> hidden;  ///< B x H, none: zeros
  std::optional<Var> cell = {};
};

// The part of an input that belongs to a direction, as a matrix with so many rows.
Var part_of_direction(const OperatorCall& call,
                      const Value& value,
                      std::int64_t direction,
                      std::int64_t rows) {
  const std::int64_t each = value.size() / value.axes.front().size;
  const Var all = matrix(value, value.size() / each * rows, each / rows);
  return folded(call, slice(all, direction * rows, 0, rows, all.cols()));
}

// Biases or peepholes of a direction, as a row; none if omitted.
std::optional<Var> row_of(const OperatorCall& call,
                          std::size_t input,
                          const Sequences& all,
                          std::int64_t direction,
                          std::int64_t count) {
  if (!call.has_entries(input)) return std::nullopt;
  const Value value = call.real(input);
  if (value.axes != plain_axes({all.directions, count * all.hidden})) {
    call.refuse("input {} must be of shape ({}, {}), got {}",
                input + 1,
                all.directions,
                count * all.hidden,
                text(value.axes));
  }
  return part_of_direction(call, value, direction, 1);
}

// A state before the first step; none if it is zero.
std::optional<Var> initial_state(const OperatorCall& call,
                                 std::size_t input,
                                 const Sequences& all,
                                 std::int64_t direction) {
  if (!call.has_entries(input)) return std::nullopt;
  Value value = call.real(input);
  const Axis directions{.size = all.directions};
  const Axis hidden{.size = all.hidden};
  const Axes expected = all.is_batch_first ? Axes{all.batch, directions, hidden}
                                           : Axes{directions, all.batch, hidden};
  if (value.axes != expected) {
    call.refuse("an initial state must be of shape {}, got {}", text(expected), text(value.axes));
  }
  const auto constant = call.graph().constant_value(*value.var);
  const bool is_zero = std::ranges::all_of(constant, [](double entry) { return entry == 0; });
  if (!constant.empty() && is_zero) return std::nullopt;
  if (all.is_batch_first) value = transposed(call, value, {1, 0, 2});
  return part_of_direction(call, value, direction, all.rows);
}

// One direction's gates before their activations: the front ones, which read the hidden states
// directly, and optionally back ones, which do not.
class Gates {
 public:
  enum Part : std::size_t { kFront, kBack };

  // @param holds_bias  omits the back gates' hidden biases (see held_bias()).
  Gates(const OperatorCall& call,
        const Sequences& all,
        std::int64_t direction,
        std::int64_t front,
        std::int64_t back = 0,
        bool holds_bias = false)
      : units_(all.hidden), rows_(all.rows) {
    const Eigen::Index front_width = front * units_;
    const Eigen::Index width = front_width + back * units_;
    const Var recurrence = part_of_direction(call, call.real(2), direction, width);
    const Var weights = part_of_direction(call, call.real(1), direction, width);
    Var inputs = matmul_nt(all.inputs, weights);
    if (const auto biases = row_of(call, 3, all, direction, 2 * (front + back))) {
      Var hidden_bias = slice(*biases, 0, width, 1, width);
      if (holds_bias) {
        held_bias_ = folded(call, slice(hidden_bias, 0, front_width, 1, width - front_width));
        hidden_bias = embed(slice(hidden_bias, 0, 0, 1, front_width), 0, 0, 1, width);
      }
      inputs = inputs + folded(call, slice(*biases, 0, 0, 1, width) + hidden_bias);
    }
    const auto keep = [&](Eigen::Index first, Eigen::Index count) {
      if (count == 0) return;
      inputs_.push_back(folded(call, slice(inputs, 0, first, inputs.rows(), count)));
      recurrence_.push_back(folded(call, slice(recurrence, first, 0, count, units_)));
    };
    keep(0, front_width);
    keep(front_width, width - front_width);
  }

  Var of_inputs(std::int64_t step, Part part) const {
    return slice(inputs_[part], step * rows_, 0, rows_, inputs_[part].cols());
  }

  Var of_hidden(Var hidden, Part part) const { return matmul_nt(hidden, recurrence_[part]); }

  // The front gates, side by side.
  Var at(std::int64_t step, const RecurrentState& state) const {
    const Var inputs = of_inputs(step, kFront);
    return state.hidden ? inputs + of_hidden(*state.hidden, kFront) : inputs;
  }

  // Gate k of several that are side by side.
  Var gate(Var several, int k) const { return slice(several, 0, k * units_, rows_, units_); }

  const std::optional<Var>& held_bias() const { return held_bias_; }

 private:
  std::int64_t units_;
  std::int64_t rows_;
  std::vector<Var> inputs_;
  std::vector<Var> recurrence_;
  std::optional<Var> held_bias_;
};

// @param step_of  creates the step function of a direction: RecurrentState(step, RecurrentState
//                 before).
using RecurrentStep =
    std::function<RecurrentState(std::int64_t step, const RecurrentState& before)>;
using RecurrentStepOf = std::function<RecurrentStep(std::int64_t direction)>;

// A state of every direction, with the axes required by the layout.
Value final_state(const OperatorCall& call,
                  const Sequences& all,
                  const std::vector<Value>& states) {
  const Axes axes = {{.size = all.directions}, all.batch, {.size = all.hidden}};
  std::vector<std::int32_t> table = table_of(
      call, axes, [&](auto at) { return (at[0] * all.rows + at[1]) * all.hidden + at[2]; });
  const Value joined = moved(call, states, {.axes = axes, .table = std::move(table)});
  return all.is_batch_first ? transposed(call, joined, {1, 0, 2}) : joined;
}

// Runs all directions; returns Y, the last hidden states, and, if there are any, the last cells.
Values run_all(const OperatorCall& call, const Sequences& all, const RecurrentStepOf& step_of) {
  const Axes state_axes = {all.batch, {.size = all.hidden}};
  const bool is_reverse = call.text("direction", "forward") == "reverse";
  const std::size_t cell_input = call.node().op == "LSTM" ? 6 : call.num_inputs();
  std::vector<Value> hidden;  // direction d at step t is entry d T + t
  std::vector<Value> last_hidden;
  std::vector<Value> last_cells;
  for (std::int64_t d = 0; d < all.directions; ++d) {
    const RecurrentStep advance = step_of(d);
    const bool runs_back = is_reverse || d == 1;
    RecurrentState state = {.hidden = initial_state(call, 5, all, d),
                            .cell = initial_state(call, cell_input, all, d)};
    std::vector<Value> own;
    for (std::int64_t t = 0; t < all.steps; ++t) {
      const std::int64_t step = runs_back ? all.steps - 1 - t : t;
      const RecurrentState before = std::exchange(state, advance(step, state));
      const Var next = folded(call, *state.hidden);
      state.hidden = within_lengths(call, all, step, next, before.hidden);
      if (state.cell) {
        state.cell = within_lengths(call, all, step, folded(call, *state.cell), before.cell);
      }
      own.push_back(
          {.axes = state_axes, .var = within_lengths(call, all, step, next, std::nullopt)});
    }
    last_hidden.push_back({.axes = state_axes, .var = state.hidden});
    if (state.cell) last_cells.push_back({.axes = state_axes, .var = state.cell});
    if (runs_back) std::ranges::reverse(own);
    hidden.insert(hidden.end(), own.begin(), own.end());
  }
  const Axis steps{.size = all.steps};
  const Axis directions{.size = all.directions};
  const Axis units{.size = all.hidden};
  const Axes axes = all.is_batch_first ? Axes{all.batch, steps, directions, units}
                                       : Axes{steps, directions, all.batch, units};
  std::vector<std::int32_t> table = table_of(call, axes, [&](auto at) {
    const std::int64_t row = all.is_batch_first ? at[0] : at[2];
    const std::int64_t step = all.is_batch_first ? at[1] : at[0];
    const std::int64_t direction = all.is_batch_first ? at[2] : at[1];
    return ((direction * all.steps + step) * all.rows + row) * all.hidden + at[3];
  });
  Values results = {moved(call, hidden, {.axes = axes, .table = std::move(table)}),
                    final_state(call, all, last_hidden)};
  if (!last_cells.empty()) results.push_back(final_state(call, all, last_cells));
  return results;
}

// H = f(X W^T + H R^T + b)
Values lower_rnn(const OperatorCall& call) {
  const Sequences all = sequences_of(call, 1, {"Tanh"});
  return run_all(call, all, [&](std::int64_t d) -> RecurrentStep {
    return [gates = Gates(call, all, d, 1), f = all.activations[static_cast<std::size_t>(d)]](
               std::int64_t step, const RecurrentState& before) -> RecurrentState {
      return {.hidden = f(gates.at(step, before))};
    };
  });
}

// Gates z, r, h:  z = f(X Wz^T + H Rz^T + bz), r the same,
//   h = g(X Wh^T + (r o H) Rh^T + bh), or with linear_before_reset
//   h = g(X Wh^T + r o (H Rh^T + bRh) + bWh),
//   H' = (1 - z) o h + z o H
Values lower_gru(const OperatorCall& call) {
  const Sequences all = sequences_of(call, 3, {"Sigmoid", "Tanh"});
  const bool is_linear = call.integer("linear_before_reset", 0) != 0;
  return run_all(call, all, [&](std::int64_t d) -> RecurrentStep {
    const auto first = static_cast<std::size_t>(2 * d);
    return [gates = Gates(call, all, d, 2, 1, is_linear),
            f = all.activations[first],
            g = all.activations[first + 1],
            one = call.constant(1.0),
            is_linear](std::int64_t step, const RecurrentState& before) -> RecurrentState {
      const Var both = f(gates.at(step, before));
      const Var z = gates.gate(both, 0);
      const Var r = gates.gate(both, 1);
      Var candidate = gates.of_inputs(step, Gates::kBack);
      if (is_linear) {
        std::optional<Var> hidden = gates.held_bias();
        if (before.hidden) {
          const Var product = gates.of_hidden(*before.hidden, Gates::kBack);
          hidden = hidden ? product + *hidden : product;
        }
        if (hidden) candidate = candidate + hadamard(r, *hidden);
      } else if (before.hidden) {
        candidate = candidate + gates.of_hidden(hadamard(r, *before.hidden), Gates::kBack);
      }
      const Var next = hadamard(one - z, g(candidate));
      return {.hidden = before.hidden ? next + hadamard(z, *before.hidden) : next};
    };
  });
}

// Gates i, o, f, c, peepholes p of i, o, f:
//   i = f(X Wi^T + H Ri^T + pi o C + bi), f the same or 1 - i (input_forget),
//   C' = f o C + i o g(X Wc^T + H Rc^T + bc),
//   o = f(X Wo^T + H Ro^T + po o C' + bo),  H' = o o h(C')
Values lower_lstm(const OperatorCall& call) {
  const Sequences all = sequences_of(call, 4, {"Sigmoid", "Tanh", "Tanh"});
  const bool couples = call.integer("input_forget", 0) != 0;
  return run_all(call, all, [&](std::int64_t d) -> RecurrentStep {
    const auto first = static_cast<std::size_t>(3 * d);
    return [gates = Gates(call, all, d, 4),
            peepholes = row_of(call, 7, all, d, 3),
            f = all.activations[first],
            g = all.activations[first + 1],
            h = all.activations[first + 2],
            one = call.constant(1.0),
            couples](std::int64_t step, const RecurrentState& before) -> RecurrentState {
      const Var several = gates.at(step, before);
      const auto gate = [&](int k, const std::optional<Var>& cell) {
        Var sum = gates.gate(several, k);
        if (peepholes && cell) {
          const Eigen::Index units = sum.cols();
          sum = sum + hadamard(slice(*peepholes, 0, k * units, 1, units), *cell);
        }
        return f(sum);
      };
      const Var i = gate(0, before.cell);
      Var cell = hadamard(i, g(gates.gate(several, 3)));
      if (before.cell) {
        cell = cell + hadamard(couples ? one - i : gate(2, before.cell), *before.cell);
      }
      return {.hidden = hadamard(gate(1, cell), h(cell)), .cell = cell};
    };
  });
}

constexpr std::array kRecurrentOperators = {
    Operator{"GRU", lower_gru, 0b10'1111},
    Operator{"LSTM", lower_lstm, 0b1110'1111},
    Operator{"RNN", lower_rnn, 0b10'1111},
};

}  // namespace

std::span<const Operator> recurrent_operators() { return kRecurrentOperators; }

}  // namespace hesscope::onnx
