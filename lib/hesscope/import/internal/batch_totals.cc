// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <hesscope/import/internal/batch_totals.h>

namespace hesscope::onnx {
namespace {

using Kind = BatchTotal::Kind;

// How the result of a node may depend on totals.
enum class Linearity {
  kNone,
  kFirst,  ///< on its first input
  kSum,    ///< on all of them
  kOne,    ///< on one of them, if the others are factors
};

struct LinearOperator {
  std::string_view name;
  Linearity linearity;
};

constexpr auto kLinearOperators = std::to_array<LinearOperator>({
    {"Add", Linearity::kSum},
    {"Cast", Linearity::kFirst},
    {"Div", Linearity::kFirst},
    {"Flatten", Linearity::kFirst},
    {"Identity", Linearity::kFirst},
    {"Mean", Linearity::kSum},
    {"Mul", Linearity::kOne},
    {"Neg", Linearity::kFirst},
    {"ReduceMean", Linearity::kFirst},
    {"ReduceSum", Linearity::kFirst},
    {"Reshape", Linearity::kFirst},
    {"Squeeze", Linearity::kFirst},
    {"Sub", Linearity::kSum},
    {"Sum", Linearity::kSum},
    {"Unsqueeze", Linearity::kFirst},
});

Linearity linearity_of(const OperatorCall& call) {
  const auto known = std::ranges::find(kLinearOperators, call.node().op, &LinearOperator::name);
  const bool is_known = known != kLinearOperators.end() && call.node().domain.empty();
  return is_known ? known->linearity : Linearity::kNone;
}

// The inputs of a node that are totals.
struct Totals {
  std::vector<const BatchTotal*> totals;
  std::size_t first = 0;  ///< index of the first of them
  std::size_t num_others = 0;
  bool has_samples = false;  ///< another input has separate entries for samples

  explicit Totals(const OperatorCall& call) {
    for (std::size_t i = 0; i < call.num_inputs(); ++i) {
      if (!call.has(i)) continue;
      const Value& input = call.tensor_or_sequence(i);
      has_samples = has_samples || batch_axis(input.axes) >= 0;
      if (input.batch_total == nullptr) {
        ++num_others;
      } else {
        if (totals.empty()) first = i;
        totals.push_back(input.batch_total.get());
      }
    }
  }

  std::size_t count(Kind kind) const {
    return static_cast<std::size_t>(
        std::ranges::count(totals, kind, [](const BatchTotal* total) { return total->kind; }));
  }
};

bool is_linear(Linearity linearity, const Totals& of) {
  switch (linearity) {
    case Linearity::kNone:
      return false;
    case Linearity::kFirst:
      return of.first == 0 && of.totals.size() == 1;
    case Linearity::kOne:
      return of.totals.size() == 1;
    case Linearity::kSum:
      break;
  }
  return of.count(Kind::kCount) == 0;
}

}  // namespace

std::shared_ptr<const BatchTotal> own_batch_total(const OperatorCall& call, Kind kind) {
  return std::make_shared<const BatchTotal>(
      BatchTotal{.kind = kind, .place = place_of(call.node(), call.opset())});
}

std::shared_ptr<const BatchTotal> carried_batch_total(const OperatorCall& call) {
  const Totals of(call);
  if (of.totals.empty()) return nullptr;
  const BatchTotal& first = *of.totals.front();
  const Linearity linearity = linearity_of(call);
  const bool is_quotient = call.node().op == "Div" && of.totals.size() == 2;
  if (is_quotient && first.kind == Kind::kSum && of.totals.back()->kind == Kind::kCount) {
    return std::make_shared<const BatchTotal>(
        BatchTotal{.kind = Kind::kMean, .place = first.place});
  }
  if (!of.has_samples && is_linear(linearity, of)) {
    const std::size_t num_sums = of.count(Kind::kSum);
    const bool is_of_sums =
        num_sums == of.totals.size() && (linearity != Linearity::kSum || of.num_others == 0);
    if (num_sums == 0 || is_of_sums) return std::make_shared<const BatchTotal>(first);
    call.refuse(
        "input {} comes of {}, which takes a {} over the batch (N), and others do not: divide a "
        "sum by the number of samples first, x.shape[0], or take the mean",
        of.first + 1,
        first.place,
        first.name());
  }
  if (of.count(Kind::kCount) > 0) {
    call.refuse(
        "computes with the number of samples: a sample's result would depend on how many others "
        "there are in the batch");
  }
  call.refuse(
      "input {} comes of {}, which takes a {} over the batch (N): only a loss may be such a {}, "
      "with what is linear in it behind; here samples would interact",
      of.first + 1,
      first.place,
      first.name(),
      first.name());
}

}  // namespace hesscope::onnx
