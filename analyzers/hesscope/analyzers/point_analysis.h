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
  kDense,       ///< the matrix is assembled; all its eigenvalues (dense_spectrum)
  kIterative,   ///< it is assembled; smallest, median and largest by counts (counted_spectrum)
  kMatrixFree,  ///< never assembled; smallest and largest by products (extreme_eigenpairs)
  /// It lies on several processes; all its eigenvalues (distributed_spectrum). All else is as with
  /// kMatrixFree.
  kDistributed,
};

/// "auto", "dense", "iterative", "matrix-free", "distributed", in the order of the methods.
const std::vector<std::string>& spectrum_method_names();
const std::string& name_of(SpectrumMethod method);

/// Whether one process has the whole matrix. kAuto must be resolved.
inline bool is_assembled(SpectrumMethod method) {
  return method == SpectrumMethod::kDense || method == SpectrumMethod::kIterative;
}

/// What kAuto stands for with so many parameters; others are themselves.
SpectrumMethod resolved(SpectrumMethod method, Eigen::Index num_parameters);

/// Those that need no other processes.
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

/// What the work at a point is foreseen to cost, in seconds or any other unit: what its progress
/// goes by.
struct PointCosts {
  double hessian = 1;   ///< where a matrix is assembled
  double spectrum = 1;  ///< by the method chosen
  double own = 0;       ///< of all analyzers, beyond these two
  // Of one more of each, for analyzers that divide their own work.
  double gauss_newton = 1;
  double decomposition = 1;
};

/// What an objective is made of, for analyzers that are about one kind of model.
struct ModelSamples {
  const Model* model = nullptr;
  const SampleTable* samples = nullptr;  ///< one record a row
};

struct GradientCovariance;  // noise/gradient_covariance.h

/// What analyzers may ask about one point of the landscape. Every quantity is computed when first
/// asked for and kept, so that analyzers share it. Not safe for concurrent use.
class PointAnalysis {
 public:
  struct Options {
    SpectrumMethod method = SpectrumMethod::kAuto;
    std::uint64_t seed = 0;          ///< of what is drawn
    ProgressCallback progress = {};  ///< of all work at the point
    PointCosts costs = {};
    const DistributedSolver* solver = nullptr;  ///< of kDistributed; must outlive this
    bool proves_fully = false;                  ///< of kDistributed: Spectrum::error_bound
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

  /// The own work of an analyzer, foreseen to cost so much, begins, and that of the one before
  /// ends.
  void begin_own(double cost) { own_.emplace(meter_, cost); }

  /// Of that work; the Hessian and the spectrum report theirs.
  const ProgressCallback& progress() const { return own_ ? own_->progress() : options_.progress; }

  /// kAuto resolved.
  SpectrumMethod method() const;

  /// Whether hessian() may be a matrix.
  bool is_assembled() const { return hesscope::is_assembled(method()); }

  double loss();
  const Eigen::VectorXd& gradient();

  /// Whether the gradient is zero within rounding: of the samples' gradients that cancel
  /// (gradient_covariance.h), or of the parameters, where the samples are fitted and have none:
  /// |g| <= 16 eps ||H D||_F with D = diag(theta), as rounding theta_i changes g by H_.i theta_i
  /// eps; estimated by products with random signs where H is not assembled. Only at a point whose
  /// status() is kOk. @cost a gradient, a pass of per-sample gradients and the Hessian or a few
  /// products with it.
  bool is_gradient_zero();

  /// The same for one who has gradient_covariance() here already.
  bool is_gradient_zero(const GradientCovariance& covariance);

  /// What rounding of the parameters makes of each entry of the gradient: 16 eps times the norm of
  /// that row of H D, as above. The norm of all of them is the 16 eps ||H D||_F up to which a
  /// gradient, of samples that are fitted too, is rounding. Only at a point whose status() is kOk.
  const Eigen::VectorXd& gradient_by_rounded_parameters();

  /// rounding_of_gradients(): what rounding of the samples' gradients makes of the gradient or an
  /// entry of it. Only at a point whose status() is kOk. @cost as is_gradient_zero().
  double gradient_rounding();

  /// The gradient with 0 for what may be rounding alone: all of it if is_gradient_zero(), and
  /// entries that are at most gradient_rounding() or their gradient_by_rounded_parameters(). For
  /// what depends on an entry's sign, or brings entries to the same size. Only at a point whose
  /// status() is kOk. @cost as is_gradient_zero().
  Eigen::VectorXd gradient_without_rounding();

  /// kNonFinite when the parameters, the loss or the gradient contain NaN or infinity.
  Status status();

  /// The Hessian, or nullptr where there is none: see hessian_status().
  const Eigen::MatrixXd* hessian();

  /// kOk; kNonFinite when the point or the Hessian contain NaN or infinity; kNotComputed without
  /// a matrix.
  Status hessian_status();

  /// How far the matrix is from the Hessian, as a product with it shows (hessian_error.h); 0
  /// without a matrix. @cost hessian_times() once, and n^2.
  double hessian_error();

  /// Its diagonal, also where it lies on several processes; else as hessian() and hessian_status().
  const Eigen::VectorXd* hessian_diagonal();
  Status diagonal_status();

  /// The Hessian as an operator, assembled or not. Only at a point whose status() is kOk, and where
  /// hessian_status() is not kNonFinite.
  const SymmetricOperator& hessian_operator();

  /// The spectrum by the method chosen, its rounding band at least hessian_error(); its status is
  /// that of the point or the Hessian where that is not kOk. Without a matrix it has the two ends
  /// only, with proof kConverged.
  const Spectrum& spectrum();

  /// The spectrum of another matrix, or the ends of that of another operator, by the same method.
  /// @param  least_band  the rounding band is at least this: that of larger matrices which `matrix`
  ///         is the difference of.
  Spectrum spectrum_of(const Eigen::MatrixXd& matrix,
                       const ProgressCallback& progress,
                       double least_band = 0.0);
  Spectrum ends_of(const SymmetricOperator& matrix,
                   const ProgressCallback& progress,
                   double least_band = 0.0);

  /// min(count, n) eigenpairs at each end, with proof; statuses as of spectrum(). Their last bits
  /// depend on `count`, and so each count has its own: what one analyzer asks changes no other's
  /// answer, whichever run, and whether a run was interrupted between them.
  const Extremes& extremes(Eigen::Index count);

  /// The checkpoint before this one on the trajectory, or nullptr.
  PointAnalysis* previous() const { return previous_.get(); }

  void set_previous(std::shared_ptr<PointAnalysis> previous) { previous_ = std::move(previous); }

  /// The training run that this is checkpoint number index() of, or nullptr.
  Trajectory* trajectory() const { return trajectory_.get(); }

  std::size_t index() const { return index_; }

  /// Why previous() or next_theta() is not there: the run begins or ends here, or its order is not
  /// known.
  Status no_neighbour_status() const {
    return has_order() ? Status::kNotComputed : Status::kUndefinedNoOrder;
  }

  /// Whether it is known which checkpoints come before and after this one.
  bool has_order() const {
    return trajectory_ == nullptr || trajectory_->known() != KnownOfRun::kAlone;
  }

  /// kOk where all checkpoints of the run before this one are known; else why they are not.
  Status past_status() const {
    if (!has_order()) return Status::kUndefinedNoOrder;
    const bool has_past = trajectory_ == nullptr || trajectory_->known() == KnownOfRun::kAll;
    return has_past ? Status::kOk : Status::kNotComputed;
  }

  /// The parameters at the checkpoint after this one on the trajectory, or nullptr.
  const Eigen::VectorXd* next_theta() const {
    const bool has_next = trajectory_ != nullptr && index_ + 1 < trajectory_->size();
    return has_next ? &trajectory_->point(index_ + 1) : nullptr;
  }

  void set_trajectory(std::shared_ptr<Trajectory> trajectory, std::size_t index) {
    trajectory_ = std::move(trajectory);
    index_ = index;
  }

  /// What the checkpoint holds of its optimiser; of kind kNone where there is none.
  const OptimizerState& optimizer() const { return optimizer_; }

  void set_optimizer(OptimizerState state) { optimizer_ = std::move(state); }

  /// What the user says of the optimiser, which wins over what the checkpoint holds.
  const GivenSettings& given_settings() const { return given_settings_; }

  void set_given_settings(const GivenSettings& given) { given_settings_ = given; }

  /// More samples of the distribution that the objective's were drawn from, or nullptr.
  const FreshSamples* fresh_samples() const { return fresh_samples_; }

  /// `samples` must outlive this.
  void set_fresh_samples(const FreshSamples* samples) { fresh_samples_ = samples; }

  /// The model behind the objective and its samples; nothing where it is no model's.
  const std::optional<ModelSamples>& model_samples() const { return model_samples_; }

  /// What they point to must outlive this.
  void set_model_samples(const ModelSamples& samples) { model_samples_ = samples; }

  /// What is to live as long as this: the owner of an objective that is this point's alone.
  void keep(std::shared_ptr<const void> owner) { owner_ = std::move(owner); }

  /// Gives back the memory of the Hessian and of the point before; both can be had again.
  void release();

  const WorkSeconds& seconds() const { return seconds_; }

 private:
  const Objective::ValueAndGradient& value_and_gradient();

  // Of kDistributed, at a point that is finite.
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
