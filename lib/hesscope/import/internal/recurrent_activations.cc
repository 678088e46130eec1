// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <string_view>

#include <hesscope/core/ascii.h>
#include <hesscope/core/printable.h>
#include <hesscope/import/internal/recurrent_activations.h>

namespace hesscope::onnx {
namespace {

Var as_constant(Var like, double value) {
  return like.graph().constant(std::span(&value, 1), 1, 1);
}

struct NamedActivation {
  std::string_view name;
  Var (*function)(Var x, double alpha, double beta);
  bool has_alpha = false;
  bool has_beta = false;
  double alpha = 0;  ///< if the file gives none
  double beta = 0;
};

constexpr std::array kActivations = {
    NamedActivation{"relu", [](Var x, double, double) { return relu(x); }},
    NamedActivation{"tanh", [](Var x, double, double) { return tanh(x); }},
    NamedActivation{"sigmoid", [](Var x, double, double) { return sigmoid(x); }},
    NamedActivation{"softsign",
                    [](Var x, double, double) { return elementary(Elementary::kSoftsign, x); }},
    NamedActivation{"softplus", [](Var x, double, double) { return softplus(x); }},
    NamedActivation{
        "affine",
        [](Var x, double alpha, double beta) { return alpha * x + as_constant(x, beta); },
        true,
        true,
        1,
        0},
    NamedActivation{
        "leakyrelu",
        [](Var x, double alpha, double) { return elementary(Elementary::kLeakyRelu, x, alpha); },
        true,
        false,
        0.01},
    NamedActivation{"thresholdedrelu",
                    [](Var x, double alpha, double) {
                      const Var zeros =
                          x.graph().constant(Eigen::MatrixXd::Zero(x.rows(), x.cols()));
                      return select(less(as_constant(x, alpha), x), x, zeros);
                    },
                    true,
                    false,
                    1},
    NamedActivation{"scaledtanh",
                    [](Var x, double alpha, double beta) { return alpha * tanh(beta * x); },
                    true,
                    true,
                    1,
                    1},
    NamedActivation{"hardsigmoid",
                    [](Var x, double alpha, double beta) {
                      return elementary(Elementary::kClip, alpha * x + as_constant(x, beta), 0, 1);
                    },
                    true,
                    true,
                    0.2,
                    0.5},
    NamedActivation{
        "elu",
        [](Var x, double alpha, double) { return elementary(Elementary::kElu, x, alpha, 1); },
        true,
        false,
        1},
};

// The next number of a list, if the function takes one and the list has one left.
double next_number(const std::vector<double>& list,
                   std::size_t& used,
                   bool takes,
                   double fallback) {
  return takes && used < list.size() ? list[used++] : fallback;
}

}  // namespace

std::vector<RecurrentActivation> recurrent_activations(const OperatorCall& call,
                                                       const std::vector<std::string>& fallback,
                                                       std::int64_t directions) {
  std::vector<std::string> names = call.texts("activations");
  if (names.empty()) {
    for (std::int64_t d = 0; d < directions; ++d) {
      names.insert(names.end(), fallback.begin(), fallback.end());
    }
  }
  if (names.size() != fallback.size() * static_cast<std::size_t>(directions)) {
    call.refuse("needs {} activations for each of {} directions, got {}",
                fallback.size(),
                directions,
                names.size());
  }
  const double bound = call.number("clip", 0);
  if (!(bound >= 0)) call.refuse("clip must not be negative, got {}", bound);
  const std::vector<double> alphas = call.numbers("activation_alpha");
  const std::vector<double> betas = call.numbers("activation_beta");
  std::size_t used_alphas = 0;
  std::size_t used_betas = 0;
  std::vector<RecurrentActivation> activations;
  for (const std::string& name : names) {
    const auto* const found =
        std::ranges::find(kActivations, lower_case(name), &NamedActivation::name);
    if (found == kActivations.end()) call.refuse("activation '{}' is not known", printable(name));
    RecurrentActivation one;
    one.function_ = found->function;
    one.alpha_ = next_number(alphas, used_alphas, found->has_alpha, found->alpha);
    one.beta_ = next_number(betas, used_betas, found->has_beta, found->beta);
    one.bound_ = bound;
    activations.push_back(one);
  }
  return activations;
}

}  // namespace hesscope::onnx
