// SPDX-License-Identifier: BSD-3-Clause
//
// An Objective from a loss function of your own, written for one sample:
//
//   struct LogisticLoss {
//     Eigen::MatrixXd inputs;   // samples x n
//     Eigen::VectorXd labels;   // +1 or -1
//
//     template <typename T>
//     T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& theta, Eigen::Index sample) const {
//       using std::exp, std::log1p;
//       return log1p(exp(-labels(sample) * inputs.row(sample).dot(theta)));
//     }
//   };
//   const auto objective = hesscope::make_objective(LogisticLoss{X, y}, X.cols(), X.rows());
//   const Eigen::MatrixXd H = objective.hessian(theta);
//
// What is said of functions in autodiff/derivatives.h holds here too. The functor is called from
// many threads at once on a const object, so it must not write to shared state.
//
// How. An operation is a set of sweeps (autodiff/detail/jet_sweeps.h), each one a sum of Jets over
// samples; from nine parameters on gradients, blocks of Hessian columns and products come from
// records of the single samples' losses instead (autodiff/jet_tape.h), unless one is not finite.
// Sweeps run concurrently, and so do blocks of samples within one; the latter are joined in the
// fixed tree of Executor::sum. Nothing of the size of the result exists but the result.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <hesscope/autodiff/detail/jet_sweeps.h>
#include <hesscope/autodiff/jet_tape.h>
#include <hesscope/core/eigen.h>
#include <hesscope/core/executor.h>
#include <hesscope/objective/objective.h>

namespace hesscope {

struct FunctorObjectiveOptions {
  /// Threads to use; 0 = one per core this process may run on. Does not change results.
  int num_threads = 0;
  /// Samples summed one after the other, at least 1; results depend on it in their rounding.
  Eigen::Index samples_per_block = 64;
  /// Asked often; once the answer is true, whatever is being computed ends soon, by Interrupted.
  StopRequest stop = {};
  /// Names for the parameters, as require_blocks() wants them. Empty: one block "theta".
  std::vector<ParameterBlock> parameter_blocks = {};
};

namespace detail {

// Sums of doubles and Jets as the doubles that Executor::sum adds.
inline std::size_t num_doubles(double /*type*/) { return 1; }

inline void add_to(std::span<double> sum, double x) { sum[0] += x; }

inline void assign(double& x, std::span<const double> sum) { x = sum[0]; }

template <AnyJet J>
std::size_t num_doubles(const J& /*type*/) {
  return static_cast<std::size_t>(1 + J::kNumVariables + J::kNumSecond);
}

template <AnyJet J>
void add_to(std::span<double> sum, const J& x) {
  sum[0] += x.value;
  for (std::size_t i = 0; i < J::kNumVariables; ++i) sum[1 + i] += x.gradient[i];
  for (std::size_t k = 0; k < J::kNumSecond; ++k) sum[1 + J::kNumVariables + k] += x.hessian[k];
}

template <AnyJet J>
void assign(J& x, std::span<const double> sum) {
  x.value = sum[0];
  for (std::size_t i = 0; i < J::kNumVariables; ++i) x.gradient[i] = sum[1 + i];
  if constexpr (J::kOrder == 2) {
    for (std::size_t k = 0; k < J::kNumSecond; ++k) x.hessian[k] = sum[1 + J::kNumVariables + k];
  }
}

// What of a FunctorObjective does not depend on the functor.
class FunctorObjectiveBase : public Objective {
 public:
  Eigen::Index num_parameters() const override { return num_parameters_; }

  Eigen::Index num_samples() const override { return num_samples_; }

  std::span<const ParameterBlock> parameter_blocks() const override;

  /// Without what the functor holds and allocates itself, and the record of one loss per thread.
  double workspace_bytes() const override;

 protected:
  using BlockSum = std::function<void(SampleRange block, std::span<double> partial)>;

  FunctorObjectiveBase(Eigen::Index num_parameters,
                       Eigen::Index num_samples,
                       FunctorObjectiveOptions options);

  Eigen::Index num_blocks(SampleRange range) const;
  SampleRange block(SampleRange range, Eigen::Index index) const;

  // result = sum over the blocks of `range` of what `add` adds to its partial.
  void sum_blocks(SampleRange range, std::span<double> result, const BlockSum& add) const;

  // Calls body(i) for i in [0, count), concurrently.
  void for_each(std::size_t count, const std::function<void(std::size_t)>& body) const;

  // Records the loss of a sample at theta.
  using Recording =
      std::function<RecordedJet(const Vector& theta, JetTape& tape, Eigen::Index sample)>;

  // By records of the samples' losses. Return false, and leave the work to Jets, if a derivative is
  // not finite or a loss too long to record.
  bool gradient_recorded(const Vector& theta,
                         SampleRange range,
                         const Recording& record_loss,
                         ValueAndGradient& result) const;
  bool hessian_recorded(const Vector& theta,
                        SampleRange range,
                        const Recording& record_loss,
                        const ProgressCallback& progress,
                        Matrix& result) const;
  bool hessian_times_recorded(const Vector& theta,
                              const Matrix& directions,
                              SampleRange range,
                              const Recording& record_loss,
                              Matrix& result) const;
  bool per_sample_gradients_recorded(const Vector& theta,
                                     SampleRange range,
                                     const Recording& record_loss,
                                     Matrix& result) const;

 private:
  Eigen::Index num_parameters_;
  Eigen::Index num_samples_;
  Eigen::Index samples_per_block_;
  std::vector<ParameterBlock> blocks_;
  Executor executor_;
};

}  // namespace detail

/// The mean of loss(theta, i) over samples i as an Objective. See the top of this file.
///
/// @tparam F  copyable or movable, with
///            `template <typename T> T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& theta,
///            Eigen::Index sample) const`.
///            An exception it throws arrives at the caller.
/// @cost   per sample of the range that of hesscope::gradient, hessian (the loss being recorded
///         n / 8 times) and hessian_times (once for every eight directions). Memory: the result
///         and, per thread, n Jets of up to 261 doubles or the record of one loss.
template <typename F>
class FunctorObjective final : public detail::FunctorObjectiveBase {
  static_assert(
      detail::GivesScalar<F, double, Eigen::Index>,
      "hesscope: the loss must be callable as loss(theta, sample) on a const object with "
      "const Eigen::Matrix<double, Eigen::Dynamic, 1>& theta and Eigen::Index sample, and "
      "return a double");
  static_assert(
      detail::GivesScalar<F, Jet<1, 4>, Eigen::Index>,
      "hesscope: the loss must be generic in its scalar: template <typename T> "
      "T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& theta, Eigen::Index sample) "
      "const, returning T, not double");

 public:
  /// @throws PreconditionError if num_parameters, num_samples or samples_per_block is below 1, or
  ///         by require_blocks().
  FunctorObjective(F loss,
                   Eigen::Index num_parameters,
                   Eigen::Index num_samples,
                   FunctorObjectiveOptions options = {})
      : FunctorObjectiveBase(num_parameters, num_samples, std::move(options)),
        loss_(std::move(loss)) {}

 private:
  double do_value(const ConstVectorRef& theta, SampleRange range) const override {
    return mean_loss<double>(theta, range);
  }

  ValueAndGradient do_value_and_gradient(const ConstVectorRef& theta,
                                         SampleRange range) const override {
    const Vector point = theta;
    ValueAndGradient result{0.0, Vector(point.size())};
    if (point.size() >= detail::kSmallestRecorded &&
        gradient_recorded(point, range, recording(), result)) {
      return result;
    }
    detail::with_gradient_jet<Eigen::Dynamic>(point.size(), [&]<AnyJet J>() {
      const std::vector<detail::JetSweep> sweeps = detail::gradient_sweeps<J>(point.size());
      for_each(sweeps.size(), [&](std::size_t s) {
        const J y = mean_loss(detail::seeded<J>(point, sweeps[s]), range);
        if (s == 0) result.value = y.value;
        detail::store_gradient(y, sweeps[s], result.gradient.data());
      });
    });
    return result;
  }

  Matrix do_hessian_times(const ConstVectorRef& theta,
                          const ConstMatrixRef& directions,
                          SampleRange range) const override {
    const Vector point = theta;
    const Matrix v = directions;
    Matrix result(v.rows(), v.cols());
    if (point.size() >= detail::kSmallestRecorded &&
        hessian_times_recorded(point, v, range, recording(), result)) {
      return result;
    }
    const std::vector<detail::JetSweep> sweeps = detail::direction_sweeps(v.rows(), v.cols());
    for_each(sweeps.size(), [&](std::size_t s) {
      detail::with_direction_jet(sweeps[s], [&]<AnyJet J>() {
        const J y = mean_loss(detail::seeded_along<J>(point, v, sweeps[s]), range);
        detail::store_products(y, sweeps[s], result);
      });
    });
    return result;
  }

  Matrix do_hessian(const ConstVectorRef& theta,
                    SampleRange range,
                    const ProgressCallback& progress) const override {
    const Vector point = theta;
    Matrix result(point.size(), point.size());
    if (point.size() >= detail::kSmallestRecorded &&
        hessian_recorded(point, range, recording(), progress, result)) {
      return result;
    }
    detail::with_hessian_jet<Eigen::Dynamic>(point.size(), [&]<AnyJet J>() {
      const std::vector<detail::JetSweep> sweeps = detail::hessian_sweeps<J>(point.size());
      detail::ProgressCounter counter(progress,
                                      static_cast<Eigen::Index>(sweeps.size()) * num_blocks(range));
      for_each(sweeps.size(), [&](std::size_t s) {
        const J y = mean_loss(detail::seeded<J>(point, sweeps[s]), range, &counter);
        detail::store_hessian(y, sweeps[s], result);
      });
    });
    return result;
  }

  Matrix do_per_sample_gradients(const ConstVectorRef& theta, SampleRange range) const override {
    const Vector point = theta;
    Matrix result(point.size(), range.size());
    if (point.size() >= detail::kSmallestRecorded &&
        per_sample_gradients_recorded(point, range, recording(), result)) {
      return result;
    }
    detail::with_gradient_jet<Eigen::Dynamic>(point.size(), [&]<AnyJet J>() {
      const std::vector<detail::JetSweep> sweeps = detail::gradient_sweeps<J>(point.size());
      for_each(static_cast<std::size_t>(num_blocks(range)), [&](std::size_t b) {
        const SampleRange samples = block(range, static_cast<Eigen::Index>(b));
        for (const detail::JetSweep& sweep : sweeps) {
          const detail::VectorOf<J> x = detail::seeded<J>(point, sweep);
          for (Eigen::Index i = samples.begin; i < samples.end; ++i) {
            const J y = loss_(x, i);
            detail::store_gradient(y, sweep, result.data() + (i - range.begin) * result.rows());
          }
        }
      });
    });
    return result;
  }

  // The mean over `range` for a scalar of any kind.
  template <typename T>
  T mean_loss(const detail::VectorOf<T>& theta,
              SampleRange range,
              detail::ProgressCounter* counter = nullptr) const {
    T total(0.0);
    std::vector<double> sums(detail::num_doubles(total));
    sum_blocks(range, sums, [&](SampleRange samples, std::span<double> partial) {
      T sum(0.0);
      for (Eigen::Index i = samples.begin; i < samples.end; ++i) sum += loss_(theta, i);
      detail::add_to(partial, sum);
      if (counter != nullptr) counter->advance();
    });
    detail::assign(total, sums);
    return total / static_cast<double>(range.size());
  }

  Recording recording() const {
    return [this](const Vector& theta, detail::JetTape& tape, Eigen::Index sample) {
      return detail::record(loss_, theta, tape, sample);
    };
  }

  F loss_;
};

/// FunctorObjective with the functor's type deduced. Arguments as its constructor's.
template <typename F>
FunctorObjective<F> make_objective(F loss,
                                   Eigen::Index num_parameters,
                                   Eigen::Index num_samples,
                                   FunctorObjectiveOptions options = {}) {
  return FunctorObjective<F>(std::move(loss), num_parameters, num_samples, std::move(options));
}

}  // namespace hesscope
