// SPDX-License-Identifier: BSD-3-Clause
//
// Labels are numbers: letters by their code, axes of an ellipsis -1, -2, ... counted from its end,
// so that they are aligned as for broadcasting.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <hesscope/core/ascii.h>
#include <hesscope/core/printable.h>
#include <hesscope/import/internal/einsum_operator.h>
#include <hesscope/import/internal/movement.h>

namespace hesscope::onnx {
namespace {

using Labels = std::vector<int>;

struct Labelled {
  Labels labels;  ///< of the axes, all different
  Value value;
};

bool is_among(const Labels& labels, int label) {
  return std::ranges::find(labels, label) != labels.end();
}

bool is_unit(const Axis& axis) { return axis.size == 1 && !axis.has_batch; }

// One term of the equation. @param num_dots  the number of axes of its ellipsis.
Labels labels_of(const OperatorCall& call, std::string_view term, int num_dots) {
  Labels labels;
  bool has_dots = false;
  for (std::size_t i = 0; i < term.size(); ++i) {
    const char c = term[i];
    if (is_letter(c)) {
      labels.push_back(c);
    } else if (term.substr(i, 3) == "..." && !has_dots) {
      has_dots = true;
      for (int k = num_dots; k > 0; --k) labels.push_back(-k);
      i += 2;
    } else {
      call.refuse("'{}' in its equation is no letter and no ellipsis",
                  printable(std::string(1, c)));
    }
  }
  return labels;
}

struct Equation {
  std::vector<std::string> operands;
  std::optional<std::string> result;
};

Equation equation_of(const OperatorCall& call) {
  std::string equation = call.text("equation", "");
  std::erase(equation, ' ');
  Equation parts;
  const std::size_t arrow = equation.find("->");
  if (arrow != std::string::npos) parts.result = equation.substr(arrow + 2);
  const std::string terms = equation.substr(0, arrow);
  for (std::size_t begin = 0;;) {
    const std::size_t end = terms.find(',', begin);
    parts.operands.push_back(terms.substr(begin, end - begin));
    if (end == std::string::npos) break;
    begin = end + 1;
  }
  if (parts.operands.size() != call.num_inputs()) {
    call.refuse("equation '{}' has {} operands, but there are {} inputs",
                printable(equation),
                parts.operands.size(),
                call.num_inputs());
  }
  return parts;
}

// The operand with each label once: repeated labels take the diagonal.
Labelled without_repeats(const OperatorCall& call, const Labels& labels, const Value& value) {
  Labelled result;
  Axes axes;
  std::vector<std::size_t> place_of;  // in the result, for each axis
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto found = std::ranges::find(result.labels, labels[i]);
    place_of.push_back(static_cast<std::size_t>(found - result.labels.begin()));
    if (found == result.labels.end()) {
      result.labels.push_back(labels[i]);
      axes.push_back(value.axes[i]);
      continue;
    }
    const Axis& other = axes[place_of.back()];
    if (other.has_batch || value.axes[i].has_batch) {
      call.refuse("takes a diagonal of {} over the batch (N): samples would interact",
                  text(value.axes));
    }
    if (other != value.axes[i]) {
      call.refuse("has one label for axes of different length of {}", text(value.axes));
    }
  }
  if (result.labels.size() == labels.size()) {
    result.value = value;
    return result;
  }
  const std::vector<std::int64_t> strides = strides_of(value.axes);
  std::vector<std::int32_t> table = table_of(call, axes, [&](auto at) {
    std::int64_t from = 0;
    for (std::size_t i = 0; i < strides.size(); ++i) from += strides[i] * at[place_of[i]];
    return from;
  });
  result.value = moved(call, value, {.axes = std::move(axes), .table = std::move(table)});
  return result;
}

std::vector<int> places_of(const Labels& labels, const Labels& wanted) {
  std::vector<int> places;
  for (const int label : wanted) {
    places.push_back(static_cast<int>(std::ranges::find(labels, label) - labels.begin()));
  }
  return places;
}

Value in_order(const OperatorCall& call, const Labelled& operand, const Labels& wanted) {
  return transposed(call, operand.value, places_of(operand.labels, wanted));
}

// The operand summed over the axes with these labels.
Labelled summed_over(const OperatorCall& call, const Labelled& operand, const Labels& labels) {
  if (labels.empty()) return operand;
  Labels rest;
  for (const int label : operand.labels) {
    if (!is_among(labels, label)) rest.push_back(label);
  }
  for (const int place : places_of(operand.labels, labels)) {
    call.require_no_batch(operand.value, place, "it sums over");
  }
  Labels all = rest;
  all.insert(all.end(), labels.begin(), labels.end());
  const Value value = in_order(call, operand, all);
  const Axes axes(value.axes.begin(), value.axes.begin() + std::ssize(rest));
  const std::int64_t rows = size_of(axes);
  const Var sums = sum_rows(matrix(value, rows, value.size() / rows));
  return {rest, call.result(sums, axes)};
}

// Without axes of length one whose label has another length in the other operand: they broadcast.
Labelled without_units(const OperatorCall& call, const Labelled& operand, const Labelled& other) {
  Labelled result;
  Axes axes;
  for (std::size_t i = 0; i < operand.labels.size(); ++i) {
    const auto found = std::ranges::find(other.labels, operand.labels[i]);
    const Axis& axis = operand.value.axes[i];
    if (found != other.labels.end() && is_unit(axis)) {
      const auto place = static_cast<std::size_t>(found - other.labels.begin());
      if (!is_unit(other.value.axes[place])) continue;
    }
    result.labels.push_back(operand.labels[i]);
    axes.push_back(axis);
  }
  result.value = with_axes(call, operand.value, std::move(axes));
  return result;
}

// The labels of one operand, by their role.
struct Roles {
  Labels shared;      ///< in both, and needed later: a stack of products
  Labels own;         ///< in this one alone, and needed later
  Labels contracted;  ///< in both, and not needed
  Labels done;        ///< in this one alone, and not needed
};

Roles roles_of(const Labelled& operand, const Labelled& other, const Labels& needed) {
  Roles roles;
  for (const int label : operand.labels) {
    const bool is_needed = is_among(needed, label);
    const bool is_shared = is_among(other.labels, label);
    Labels& role = is_shared ? (is_needed ? roles.shared : roles.contracted)
                             : (is_needed ? roles.own : roles.done);
    role.push_back(label);
  }
  return roles;
}

void require_same_axes(const OperatorCall& call, const Labelled& a, const Labelled& b) {
  for (std::size_t i = 0; i < a.labels.size(); ++i) {
    const auto found = std::ranges::find(b.labels, a.labels[i]);
    if (found == b.labels.end()) continue;
    const Axis& x = a.value.axes[i];
    const Axis& y = b.value.axes[static_cast<std::size_t>(found - b.labels.begin())];
    if (x == y) continue;
    if (x.has_batch || y.has_batch) {
      call.refuse("shapes {} and {} let samples meet other things than themselves",
                  text(a.value.axes),
                  text(b.value.axes));
    }
    call.refuse("shapes {} and {} do not fit its equation", text(a.value.axes), text(b.value.axes));
  }
}

Labelled multiplied(const OperatorCall& call, Labelled a, Labelled b, const Labels& needed) {
  const Labelled whole_a = a;
  a = without_units(call, a, b);
  b = without_units(call, b, whole_a);
  require_same_axes(call, a, b);
  a = summed_over(call, a, roles_of(a, b, needed).done);
  b = summed_over(call, b, roles_of(b, a, needed).done);
  const Roles of_a = roles_of(a, b, needed);
  const Roles of_b = roles_of(b, a, needed);
  for (const int place : places_of(a.labels, of_a.contracted)) {
    call.require_no_batch(a.value, place, "it sums over");
  }
  const auto ordered = [&](const Labelled& operand, const Labels& own) {
    Labels labels = of_a.shared;
    labels.insert(labels.end(), own.begin(), own.end());
    labels.insert(labels.end(), of_a.contracted.begin(), of_a.contracted.end());
    return in_order(call, operand, labels);
  };
  const Value left = ordered(a, of_a.own);
  const Value right = ordered(b, of_b.own);
  const auto num_shared = std::ssize(of_a.shared);
  Labels labels = of_a.shared;
  Axes axes(left.axes.begin(), left.axes.begin() + num_shared);
  const std::int64_t stack = size_of(axes);
  const auto append = [&](const Labels& own, const Value& value) {
    std::int64_t count = 1;
    for (std::size_t i = 0; i < own.size(); ++i) {
      labels.push_back(own[i]);
      axes.push_back(value.axes[static_cast<std::size_t>(num_shared) + i]);
      count *= axes.back().size;
    }
    return count;
  };
  const std::int64_t rows = append(of_a.own, left);
  const std::int64_t cols = append(of_b.own, right);
  if (std::ranges::count_if(axes, &Axis::has_batch) > 1) {
    call.refuse("shapes {} and {} let each sample meet all others of the batch (N)",
                text(a.value.axes),
                text(b.value.axes));
  }
  call.checked_size(axes);
  const std::int64_t length = left.size() / (stack * rows);
  if (length == 1 && rows == 1 && cols == 1) {
    const Var product = hadamard(matrix(left, stack, 1), matrix(right, stack, 1));
    return {labels, call.result(product, axes)};
  }
  const Var product = stacked_matmul(matrix(left, stack * rows, length),
                                     matrix(right, stack * cols, length),
                                     {.stack = stack, .transpose_b = true});
  return {labels, call.result(product, axes)};
}

// Without an arrow: the axes of the ellipsis, then labels that occur once, alphabetically.
Labels implied_result(const std::vector<Labels>& operands, int num_dots) {
  std::map<int, int> counts;
  for (const Labels& labels : operands) {
    for (const int label : labels) ++counts[label];
  }
  Labels result;
  for (int k = num_dots; k > 0; --k) result.push_back(-k);
  for (const auto& [label, count] : counts) {
    if (label > 0 && count == 1) result.push_back(label);
  }
  return result;
}

}  // namespace

Values lower_einsum(const OperatorCall& call) {
  const Equation equation = equation_of(call);
  std::vector<Labels> terms;
  int most_dots = 0;
  for (std::size_t i = 0; i < equation.operands.size(); ++i) {
    const std::string& term = equation.operands[i];
    const int rank = call.input(i).rank();
    const bool has_dots = term.find("...") != std::string::npos;
    const int num_letters = static_cast<int>(term.size()) - (has_dots ? 3 : 0);
    const int num_dots = has_dots ? rank - num_letters : 0;
    if (num_dots < 0 || (!has_dots && num_letters != rank)) {
      call.refuse("term '{}' does not fit a tensor {}", printable(term), text(call.input(i).axes));
    }
    most_dots = std::max(most_dots, num_dots);
    terms.push_back(labels_of(call, term, num_dots));
  }
  const Labels result = equation.result ? labels_of(call, *equation.result, most_dots)
                                        : implied_result(terms, most_dots);
  for (const int label : result) {
    const bool is_there = std::ranges::any_of(
        terms, [label](const Labels& labels) { return is_among(labels, label); });
    if (!is_there || std::ranges::count(result, label) > 1) {
      call.refuse("its result's labels must be among its operands', each once");
    }
  }
  Labelled product = without_repeats(call, terms.front(), call.real(0));
  for (std::size_t i = 1; i < terms.size(); ++i) {
    Labels needed = result;
    for (std::size_t k = i + 1; k < terms.size(); ++k) {
      needed.insert(needed.end(), terms[k].begin(), terms[k].end());
    }
    product = multiplied(call, product, without_repeats(call, terms[i], call.real(i)), needed);
  }
  Labels done;
  for (const int label : product.labels) {
    if (!is_among(result, label)) done.push_back(label);
  }
  product = summed_over(call, product, done);
  return {in_order(call, product, result)};
}

}  // namespace hesscope::onnx
