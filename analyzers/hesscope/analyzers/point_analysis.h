// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hesscope/analyzers/progress_meter.h>
#include <hesscope/analyzers/trajectory.h>
#include <hesscope/core/eigen.h>
#include <hesscope/core/status.h>
#include <hesscope/objective/fresh_samples.h>
#include <hesscope/objective/objective.h>
#include <hesscope/objective/sample_table.h>
#include <hesscope/problem/optimizer_state.h>
#include <hesscope/spectra/distributed_spectrum.h>
#include <hesscope/spectra/extremes.h>
#include <hesscope/spectra/operators.h>
#include <hesscope/spectra/spectrum.h>

namespace hesscope {

/// How a spectrum is found.
enum class SpectrumMethod {
  kAuto,        ///< kDense up to kLargestAssembled parameters, kMatrixFree beyond
  kDense,       ///< assembled matrix; all its eigenvalues (dense_spectrum)
  kIterative,   ///< assembled matrix; smallest, median and largest by counts (counted_spectrum)
  kMatrixFree,  ///< never assembled; smallest and largest by products (extreme_eigenpairs)
  /// The matrix is spread over several processes; all its eigenvalues (distributed_spectrum).
  /// Everything else is as with kMatrixFree.
  kDistributed,
};

/// "auto", "dense", "iterative", "matrix-free", "distributed", in the order of the methods.
const std::vector<std::string>& spectrum_method_names();
const std::string& name_of(SpectrumMethod method);

/// Whether one process has the whole matrix. kAuto must be resolved.
inline bool is_assembled(SpectrumMethod method) {
  return method == SpectrumMethod::kDense || method == SpectrumMethod::kIterative;
}

/// What kAuto stands for with that many parameters; other methods stand for themselves.
SpectrumMethod resolved(SpectrumMethod method, Eigen::Index num_parameters);

/// The names of the methods that need no other processes.
std::vector<std::string> names_of_methods_alone();

/// `name` is one of spectrum_method_names(). @throws PreconditionError.
SpectrumMethod spectrum_method_of(std::string_view name);

/// n = 20,000: a Hessian of 3.2 GB.
inline constexpr Eigen::Index kLargestAssembled = 20000;

/// Wall seconds spent on each kind of work.
struct WorkSeconds {
  double hessian = 0;
  double eigen = 0;
};

/// What the work at a point is expected to cost, in seconds or any other unit. Its progress is
/// measured by this.
struct PointCosts {
  double hessian = 1;   ///< if a matrix is assembled
  double spectrum = 1;  ///< by the method chosen
  double own = 0;       ///< of all analyzers, beyond these two
  // The cost of one more of each, for analyzers that divide their own work.
  double gauss_newton = 1;
  double decomposition = 1;
};

/// What an objective is made from, for analyzers for one kind of model.
struct ModelSamples {
  const Model* model = nullptr;
  const SampleTable* samples = nullptr;  ///< one record per row
};

struct GradientCovariance;  // noise/gradient_covariance.h

/// What analyzers may ask about one point of the landscape. Every quantity is computed when it is
/// first asked for, and kept, so that analyzers share it. Not safe for concurrent use.
class PointAnalysis {
 public:
  struct Options {
    SpectrumMethod method = SpectrumMethod::kAuto;
    std::uint64_t seed = 0;          ///< for random numbers
    ProgressCallback progress = {};  ///< of all work at the point
    PointCosts costs = {};
    const DistributedSolver* solver = nullptr;  ///< for kDistributed; must outlive this
    bool proves_fully = false;                  ///< for kDistributed: Spectrum::error_bound
  };

  /// `objective` must outlive this.
  PointAnalysis(const Objective& objective, Eigen::VectorXd theta, Options options);
  PointAnalysis(const Objective& objective, Eigen::VectorXd theta);
  PointAnalysis(const Objective&& objective, Eigen::VectorXd theta, Options options) = delete;
  PointAnalysis(const Objective&& objective, Eigen::VectorXd theta) = delete;

  const Objective& objective() const { return *objective_; }

  const Eigen::VectorXd& theta() const { return theta_; }

  std::uint64_t seed() const { return options_.seed; }

  const PointCosts& costs() const { return options_.costs; }

  /// Begins the own work of an analyzer, which is expected to cost this much, and ends that of the
  /// previous analyzer.
  void begin_own(double cost) { own_.emplace(meter_, cost); }

  /// Progress of that work; the Hessian and the spectrum report their own.
  const ProgressCallback& progress() const { return own_ ? own_->progress() : options_.progress; }

  /// The method, with kAuto resolved.
  SpectrumMethod method() const;

  /// Whether hessian() may be a matrix.
  bool is_assembled() const { return hesscope::is_assembled(method()); }

  double loss();
  const Eigen::VectorXd& gradient();

  /// Whether the gradient is zero within rounding. Either the samples' gradients cancel
  /// (gradient_covariance.h), or, if the samples are fitted and have no gradients, rounding of the
  /// parameters explains it: |g| <= 16 eps ||H D||_F with D = diag(theta), since rounding theta_i
  /// changes g by H_.i theta_i eps. This is estimated by products with random vectors if H is
  /// not assembled. Only at a point whose status() is kOk. @cost a gradient, a pass of per-sample
  /// gradients and the Hessian or a few products with it.
  bool is_gradient_zero();

  /// The same for callers that already have gradient_covariance() at this point.
  bool is_gradient_zero(const GradientCovariance& covariance);

  /// The effect of rounding the parameters on each entry of the gradient: 16 eps times the norm of
  /// that row of H D, as above. The norm of all of them is 16 eps ||H D||_F, up to which a gradient
  /// is rounding, even if the samples are fitted. Only at a point whose status() is kOk.
  const Eigen::VectorXd& gradient_by_rounded_parameters();

  /// rounding_of_gradients(): what rounding of the samples' gradients makes of the gradient or an
  /// entry of it. Only at a point whose status() is kOk. @cost as is_gradient_zero().
  double gradient_rounding();

  /// The gradient with 0 for what may be rounding alone: all of it if is_gradient_zero(), and
  /// entries that are at most gradient_rounding() or their gradient_by_rounded_parameters(). For
  /// what depends on an entry's sign, or brings entries to the same size. Only at a point whose
  /// status() is kOk. @cost as is_gradient_zero().
  Eigen::VectorXd gradient_without_rounding();

  /// kNonFinite if the parameters, the loss or the gradient contain NaN or infinity.
  Status status();

  /// The Hessian, or nullptr if there is none: see hessian_status().
  const Eigen::MatrixXd* hessian();

  /// kOk; kNonFinite if the point or the Hessian contain NaN or infinity; kNotComputed without a
  /// matrix.
  Status hessian_status();

  /// How far the matrix is from the Hessian, as measured by a product (hessian_error.h); 0 without
  /// a matrix. @cost hessian_times() once, and n^2.
  double hessian_error();

  /// The diagonal of the Hessian, also if the matrix is spread over several processes; otherwise as
  /// hessian() and hessian_status().
  const Eigen::VectorXd* hessian_diagonal();
  Status diagonal_status();

  /// The Hessian as an operator, assembled or not. Only at a point whose status() is kOk, and if
  /// hessian_status() is not kNonFinite.
  const SymmetricOperator& hessian_operator();

  /// The spectrum by the chosen method, with a rounding band of at least hessian_error(). Its
  /// status is that of the point or the Hessian if that is not kOk. Without a matrix, it has only
  /// the two ends, with proof kConverged.
  const Spectrum& spectrum();

  /// The spectrum of another matrix, or the ends of that of another operator, by the same method.
  /// @param  least_band  lower limit of the rounding band: that of the larger matrices whose
  ///                     difference `matrix` is.
  Spectrum spectrum_of(const Eigen::MatrixXd& matrix,
                       const ProgressCallback& progress,
                       double least_band = 0.0);
  Spectrum ends_of(const SymmetricOperator& matrix,
                   const ProgressCallback& progress,
                   double least_band = 0.0);

  /// min(count, n) eigenpairs at each end, with proof; statuses as in spectrum(). Their last bits
  /// depend on `count`, so each count is computed separately. Then the answer for one analyzer does
  /// not depend on what others ask, in any run, interrupted or not.
  const Extremes& extremes(Eigen::Index count);

  /// The previous checkpoint on the trajectory, or nullptr.
  PointAnalysis* previous() const { return previous_.get(); }

  void set_previous(std::shared_ptr<PointAnalysis> previous) { previous_ = std::move(previous); }

  /// The training run of which this is checkpoint number index(), or nullptr.
  Trajectory* trajectory() const { return trajectory_.get(); }

  std::size_t index() const { return index_; }

  /// Why previous() or next_theta() does not exist: the run begins or ends here, or its order is
  /// not known.
  Status no_neighbour_status() const {
    return has_order() ? Status::kNotComputed : Status::kUndefinedNoOrder;
  }

  /// Whether the checkpoints before and after this one are known.
  bool has_order() const {
    return trajectory_ == nullptr || trajectory_->known() != KnownOfRun::kAlone;
  }

  /// kOk if all earlier checkpoints of the run are known; else why they are not.
  Status past_status() const {
    if (!has_order()) return Status::kUndefinedNoOrder;
    const bool has_past = trajectory_ == nullptr || trajectory_->known() == KnownOfRun::kAll;
    return has_past ? Status::kOk : Status::kNotComputed;
  }

  /// The parameters at the next checkpoint on the trajectory, or nullptr.
  const Eigen::VectorXd* next_theta() const {
    const bool has_next = trajectory_ != nullptr && index_ + 1 < trajectory_->size();
    return has_next ? &trajectory_->point(index_ + 1) : nullptr;
  }

  void set_trajectory(std::shared_ptr<Trajectory> trajectory, std::size_t index) {
    trajectory_ = std::move(trajectory);
    index_ = index;
  }

  /// What the checkpoint holds of its optimiser; kind kNone if it holds nothing.
  const OptimizerState& optimizer() const { return optimizer_; }

  void set_optimizer(OptimizerState state) { optimizer_ = std::move(state); }

  /// The user's settings of the optimiser, which take precedence over those in the checkpoint.
  const GivenSettings& given_settings() const { return given_settings_; }

  void set_given_settings(const GivenSettings& given) { given_settings_ = given; }

  /// More samples from the distribution of the objective's samples, or nullptr.
  const FreshSamples* fresh_samples() const { return fresh_samples_; }

  /// `samples` must outlive this.
  void set_fresh_samples(const FreshSamples* samples) { fresh_samples_ = samples; }

  /// The model behind the objective, and its samples; nothing if there is no model.
  const std::optional<ModelSamples>& model_samples() const { return model_samples_; }

  /// Everything that `samples` points to must outlive this.
  void set_model_samples(const ModelSamples& samples) { model_samples_ = samples; }

  /// Keeps something alive as long as this: the owner of an objective that belongs only to this
  /// point.
  void keep(std::shared_ptr<const void> owner) { owner_ = std::move(owner); }

  /// Frees the memory of the Hessian and of the previous point; both can be computed again.
  void release();

  const WorkSeconds& seconds() const { return seconds_; }

 private:
  const Objective::ValueAndGradient& value_and_gradient();

  // For kDistributed, at a finite point.
  const DistributedSpectrum& distributed();

  std::shared_ptr<const void> owner_;
  const Objective* objective_;
  Eigen::VectorXd theta_;
  Options options_;
  std::shared_ptr<PointAnalysis> previous_;
  std::shared_ptr<Trajectory> trajectory_;
  std::size_t index_ = 0;
  OptimizerState optimizer_;
  GivenSettings given_settings_;
  const FreshSamples* fresh_samples_ = nullptr;
  std::optional<ModelSamples> model_samples_;
  std::optional<Objective::ValueAndGradient> value_and_gradient_;
  std::optional<bool> is_gradient_zero_;
  std::optional<double> gradient_rounding_;
  std::optional<Eigen::VectorXd> gradient_by_rounded_parameters_;
  std::optional<Eigen::MatrixXd> hessian_;
  std::optional<Status> hessian_status_;
  std::optional<double> hessian_error_;
  std::optional<Eigen::VectorXd> diagonal_;
  std::optional<DistributedSpectrum> distributed_;
  std::unique_ptr<SymmetricOperator> operator_;
  std::optional<Spectrum> spectrum_;
  std::map<Eigen::Index, Extremes> extremes_;  // by their number
  WorkSeconds seconds_;
  ProgressMeter meter_;
  std::optional<ProgressMeter::Part> own_;
};

}  // namespace hesscope
