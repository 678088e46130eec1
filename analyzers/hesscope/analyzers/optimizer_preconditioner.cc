// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <hesscope/analyzers/adam_preconditioner.h>

namespace hesscope {

Eigen::VectorXd adam_preconditioner(const AdamState& state, const AdamOptions& options) {
  double first_correction = 1;
  double second_correction = 1;
  if (state.step) {
    const auto t = static_cast<double>(*state.step);
    // 1 - beta^t without cancellation for beta near 1.
    first_correction = -std::expm1(t * std::log(options.beta1));
    second_correction = -std::expm1(t * std::log(options.beta2));
  }
  return first_correction *
         ((state.second_moments / second_correction).array().sqrt() + options.epsilon);
}

AdamState stationary_adam_state(const Objective& objective,
                                const Eigen::VectorXd& theta,
                                const Eigen::VectorXd& gradient,
                                Eigen::Index batch_size) {
  AdamState state{gradient.array().square(), std::nullopt};
  const Eigen::Index num_samples = objective.num_samples();
  if (batch_size == 0 || num_samples < 2) return state;
  // Fixed blocks, so that no bit depends on anything but the data.
  constexpr Eigen::Index kSamples = 256;
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(theta.size());
  for (Eigen::Index first = 0; first < num_samples; first += kSamples) {
    const SampleRange range = {first, std::min(first + kSamples, num_samples)};
    const Eigen::MatrixXd gradients = objective.per_sample_gradients(theta, range);
    sum += (gradients.colwise() - gradient).rowwise().squaredNorm();
  }
  state.second_moments +=
      sum / (static_cast<double>(num_samples - 1) * static_cast<double>(batch_size));
  return state;
}

}  // namespace hesscope
