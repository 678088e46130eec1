// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <string_view>

#include <hesscope/import/internal/batch_means.h>

namespace hesscope::onnx {
namespace {

// How a node may depend on means over the batch.
enum class Linearity {
  kFirst,  ///< on its first input
  kSum,    ///< on all of them
  kOne,    ///< on one of them, the others being factors
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

bool is_linear(const OperatorCall& call, std::size_t first, std::size_t num_means) {
  const auto known = std::ranges::find(kLinearOperators, call.node().op, &LinearOperator::name);
  if (known == kLinearOperators.end() || !call.node().domain.empty()) return false;
  switch (known->linearity) {
    case Linearity::kFirst:
      return first == 0 && num_means == 1;
    case Linearity::kOne:
      return num_means == 1;
    case Linearity::kSum:
      break;
  }
  return true;
}

}  // namespace

std::shared_ptr<const std::string> own_batch_mean(const OperatorCall& call) {
  return std::make_shared<const std::string>(place_of(call.node(), call.opset()));
}

std::shared_ptr<const std::string> carried_batch_mean(const OperatorCall& call) {
  std::shared_ptr<const std::string> mean;
  std::size_t first = 0;
  std::size_t num_means = 0;
  bool has_samples = false;
  for (std::size_t i = 0; i < call.num_inputs(); ++i) {
    if (!call.has(i)) continue;
    const Value& input = call.tensor_or_sequence(i);
    has_samples = has_samples || batch_axis(input.axes) >= 0;
    if (input.batch_mean == nullptr) continue;
    if (num_means++ == 0) first = i;
    mean = input.batch_mean;
  }
  if (num_means == 0) return nullptr;
  if (has_samples || !is_linear(call, first, num_means)) {
    call.refuse(
        "input {} comes of {}, which takes a mean over the batch (N): only a loss may be such a "
        "mean, with what is linear in it behind; here samples would interact",
        first + 1,
        *mean);
  }
  return mean;
}

}  // namespace hesscope::onnx
