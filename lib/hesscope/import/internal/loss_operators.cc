// SPDX-License-Identifier: BSD-3-Clause
//
// Losses that are ONNX operators. Scores are (N, C, d1, ..., dk), labels (N, d1, ..., dk). If N is
// the batch, a mean over N is that of the objective; a sum is refused, and so is a weighted mean,
// since the total weight is not known from one sample.
#include <array>
#include <numeric>
#include <optional>
#include <string>

#include <hesscope/import/internal/batch_totals.h>
#include <hesscope/import/internal/indices.h>
#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/operator_registry.h>

namespace hesscope::onnx {
namespace {

// Labels as a column on the graph; those that do not count are replaced by 0.
struct ClassLabels {
  Var labels;
  std::optional<Var> counts;  ///< 1 or 0; none: all count
  std::int64_t size;
  std::int64_t num_classes;
  Axes axes;
};

bool is_mean_over_batch(const OperatorCall& call, const Value& labels) {
  return call.text("reduction", "mean") == "mean" && batch_axis(labels.axes) >= 0;
}

ClassLabels class_labels(const OperatorCall& call, const Value& scores) {
  const Value& labels = call.input(1);
  if (scores.rank() < 2) call.refuse("needs scores of rank 2 or more, got {}", text(scores.axes));
  call.require_no_batch(scores, 1, "its classes are along");
  Axes expected = scores.axes;
  expected.erase(expected.begin() + 1);
  if (labels.axes != expected) {
    call.refuse("labels {} do not fit scores {}", text(labels.axes), text(scores.axes));
  }
  const std::int64_t size = call.checked_size(labels.axes);
  const std::int64_t num_classes = scores.axes[1].size;
  const std::int64_t ignored = call.integer("ignore_index", 0);
  const bool is_class = ignored >= 0 && ignored < num_classes;
  // Exporters write PyTorch's -100 whether the data contain it or not. A mean over the batch treats
  // it as an invalid label, whose loss is NaN.
  const bool ignores =
      call.has_attribute("ignore_index") && (is_class || !is_mean_over_batch(call, labels));
  if (const auto known = indices_at_hand(call, 1)) {
    std::vector<double> classes;
    std::vector<double> flags;
    for (const std::int64_t label : *known) {
      const bool is_ignored = ignores && label == ignored;
      if (!is_ignored && (label < 0 || label >= num_classes)) {
        call.refuse("label {} is not one of {} classes", label, num_classes);
      }
      classes.push_back(is_ignored ? 0 : static_cast<double>(label));
      flags.push_back(is_ignored ? 0 : 1);
    }
    const bool all_count = !ignores;
    return {.labels = call.constant(classes),
            .counts = all_count ? std::nullopt : std::optional(call.constant(flags)),
            .size = size,
            .num_classes = num_classes,
            .axes = labels.axes};
  }
  const Var column = matrix(labels, size, 1);
  if (!ignores) {
    return {.labels = column,
            .counts = std::nullopt,
            .size = size,
            .num_classes = num_classes,
            .axes = labels.axes};
  }
  const Var is_ignored = equal(column, call.constant(static_cast<double>(ignored)));
  const Var zeros = call.constant(std::vector<double>(static_cast<std::size_t>(size)));
  return {.labels = select(is_ignored, zeros, column),
          .counts = call.constant(1.0) - is_ignored,
          .size = size,
          .num_classes = num_classes,
          .axes = labels.axes};
}

// Scores with the classes as the last axis: a row for each label.
Value with_classes_last(const OperatorCall& call, const Value& scores) {
  constexpr int kClasses = 1;
  return transposed(call, scores, order_with_last(scores.rank(), std::span(&kClasses, 1)));
}

// The weight of each label, 0 if it does not count; none if all are 1.
std::optional<Var> weights_of(const OperatorCall& call, const ClassLabels& labels) {
  if (!call.has_entries(2)) return labels.counts;
  const Value weights = call.real(2);
  if (weights.axes != plain_axes({labels.num_classes})) {
    call.refuse(
        "needs a weight for each of {} classes, got {}", labels.num_classes, text(weights.axes));
  }
  const Var of_labels = entries_at(weights, labels.labels);
  return labels.counts ? hadamard(of_labels, *labels.counts) : of_labels;
}

// Applies the reduction to a column of losses, which are 0 for labels that do not count.
Value reduced_loss(const OperatorCall& call, const ClassLabels& labels, Var losses) {
  const std::optional<Var> weights = weights_of(call, labels);
  const Var weighted = weights ? hadamard(*weights, losses) : losses;
  const std::string reduction = call.text("reduction", "mean");
  if (reduction == "none") return call.result(weighted, labels.axes);
  if (reduction != "mean" && reduction != "sum") {
    call.refuse("reduction '{}' is not one of none, mean and sum", reduction);
  }
  const int axis = batch_axis(labels.axes);
  if (axis >= 0 && reduction == "mean" && weights) {
    call.refuse(
        "reduction 'mean' over axis {} of {}, the batch (N), with weights or ignored labels: "
        "samples would interact; let the graph give the scores, and take loss = \"cross-entropy\" "
        "in [model]",
        axis,
        text(labels.axes));
  }
  const Var total = sum(weighted);
  if (reduction == "sum") {
    Value result = call.result(total, {});
    if (axis >= 0) result.batch_total = own_batch_total(call, BatchTotal::Kind::kSum);
    return result;
  }
  if (weights) return call.result(total / sum(*weights), {});
  Value mean = call.result((1.0 / static_cast<double>(labels.size)) * total, {});
  if (axis >= 0) mean.batch_total = own_batch_total(call, BatchTotal::Kind::kMean);
  return mean;
}

// -log softmax(scores) at the label, and log softmax(scores) for all classes.
Values lower_softmax_cross_entropy(const OperatorCall& call) {
  const Value scores = call.real(0);
  const ClassLabels labels = class_labels(call, scores);
  const Value rows = with_classes_last(call, scores);
  const Var z = matrix(rows, labels.size, labels.num_classes);
  std::vector<double> numbers(static_cast<std::size_t>(labels.num_classes));
  std::iota(numbers.begin(), numbers.end(), 0.0);
  const Var classes = reshape(call.constant(numbers), 1, labels.num_classes);
  // 1 for valid labels, else NaN: a row without a target would have no loss.
  const Value ones = {.axes = plain_axes({labels.num_classes}),
                      .var = call.constant(std::vector<double>(numbers.size(), 1.0))};
  const Var is_class = entries_at(ones, labels.labels);
  Var targets = hadamard(equal(labels.labels, classes), is_class);
  if (labels.counts) targets = hadamard(targets, *labels.counts);
  targets = *call.result(targets, {}).var;
  Values results = {reduced_loss(call, labels, cross_entropy_rows(z, targets))};
  if (call.num_outputs() > 1) {
    constexpr int kClasses = 1;
    const Value log_softmax = call.result(z - log_sum_exp_rows(z), rows.axes);
    results.push_back(transposed(
        call, log_softmax, inverse_order(order_with_last(scores.rank(), std::span(&kClasses, 1)))));
  }
  return results;
}

// -input at the label.
Values lower_negative_log_likelihood(const OperatorCall& call) {
  const Value scores = call.real(0);
  const ClassLabels labels = class_labels(call, scores);
  const Value rows = with_classes_last(call, scores);
  std::vector<double> first(static_cast<std::size_t>(labels.size));
  for (std::size_t i = 0; i < first.size(); ++i) {
    first[i] = static_cast<double>(i) * static_cast<double>(labels.num_classes);
  }
  const Var places =
      without(call.constant(first) + labels.labels, is_outside(labels.labels, labels.num_classes));
  Var losses = -entries_at(rows, places);
  if (labels.counts) {
    // Losses that do not count are omitted even if they are infinite.
    const Var zeros = call.constant(std::vector<double>(first.size()));
    losses = select(*labels.counts, losses, zeros);
  }
  return {reduced_loss(call, labels, losses)};
}

constexpr std::array kLossOperators = {
    Operator{"NegativeLogLikelihoodLoss", lower_negative_log_likelihood, 0b101, 12},
    Operator{"SoftmaxCrossEntropyLoss", lower_softmax_cross_entropy, 0b101, 12},
};

}  // namespace

std::span<const Operator> loss_operators() { return kLossOperators; }

}  // namespace hesscope::onnx
