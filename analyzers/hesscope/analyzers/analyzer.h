// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <hesscope/analyzers/point_analysis.h>
#include <hesscope/core/settings.h>
#include <hesscope/dataset/dataset.h>

namespace hesscope {

/// One question about a checkpoint. Its answer is a group of the result file.
class Analyzer {
 public:
  /// What it asks of the point, which analyzers share, and what it needs beyond that.
  struct Cost {
    bool asks_hessian = false;     ///< PointAnalysis::hessian()
    bool asks_spectrum = false;    ///< PointAnalysis::spectrum()
    double matrices = 0;           ///< n x n, held at once
    double numbers = 0;            ///< other numbers held at once
    double hessians = 0;           ///< each over all samples, where there is a matrix
    double gauss_newtons = 0;      ///< the same
    double decompositions = 0;     ///< of n x n matrices, the same
    double searches = 0;           ///< for the ends of the spectrum of H, where there is no matrix
    double products = 0;           ///< columns that H is applied to side by side, the same
    double gradients = 0;          ///< over all samples
    double sample_gradients = 0;   ///< passes of per-sample gradients over all samples
    double fresh_samples = 0;      ///< drawn, with the gradient there
    double operations = 0;         ///< other floating-point operations in memory, roughly
    double matrix_operations = 0;  ///< the same, where there is a matrix
  };

  virtual ~Analyzer() = default;

  /// Dimensions that its variables use besides `checkpoint` and the root's, for an objective of
  /// this size. @throws ConfigError for an objective that it cannot analyze.
  virtual std::vector<Dimension> dimensions(const Objective& /*objective*/) const { return {}; }

  /// Whether labels of those dimensions may be others at another checkpoint with its own objective.
  /// Its answers have their dimensions with them then, and a file has the labels of all of them.
  virtual bool has_own_dimensions() const { return false; }

  /// An answer of such an analyzer along the labels of all answers, among which are its own.
  virtual Group spread(Group answer, const std::vector<Dimension>& /*all*/) const { return answer; }

  /// What it stores of each checkpoint, nothing said yet. The result file puts `checkpoint` before
  /// the dimensions.
  const Group& declared() const { return declared_; }

  /// What it stores of all checkpoints of a run together, in the same group; names apart from those
  /// of declared(). Empty for most.
  const Group& declared_of_run() const { return declared_of_run_; }

  virtual Cost cost(const Objective& /*objective*/) const { return {}; }

  /// The option that asks for more samples than the objective has, if one does, as in
  /// "noise-sampling fresh": with it the data must be drawn, not a file.
  virtual std::string needs_fresh_samples() const { return {}; }

  /// The option that asks for the matrix itself, if one does: runs that do not assemble it are
  /// refused, since of n^2 numbers none would be there.
  virtual std::string needs_matrix() const { return {}; }

  /// Whether it wants a bound on the error of every eigenvalue (Spectrum::error_bound), for which
  /// the method kDistributed alone has a proof.
  virtual bool needs_full_proof() const { return false; }

  /// What the user should know of how it takes what checkpoints hold of their optimisers: one
  /// sentence each, naming the file; beside given_settings() of the run.
  /// @throws InputError if it cannot take something.
  virtual std::vector<std::string> remarks_on(std::span<const OptimizerState> /*optimizers*/,
                                              std::span<const ParameterBlock> /*blocks*/,
                                              const GivenSettings& /*given*/) const {
    return {};
  }

  /// The same of how it takes the samples, as where they are too few for what it was asked.
  virtual std::vector<std::string> remarks_on_samples(const Objective& /*objective*/) const {
    return {};
  }

  /// What it is told of the optimiser, which then counts for every analyzer of the run
  /// (PointAnalysis::given_settings()).
  virtual GivenSettings given_settings() const { return {}; }

  /// The answer at one point: declared() with values, of as many numbers as the dimensions say or
  /// none; runs refuse another. Numerical failure is in its statuses, not thrown.
  virtual Group analyze(PointAnalysis& point) const = 0;

  /// declared_of_run() with values, from the answers of analyze() at every checkpoint, in order,
  /// and nothing else: an interrupted run has only those.
  /// The seed is that of what is drawn.
  virtual Group summarize(std::span<const Group> /*answers*/, std::uint64_t /*seed*/) const {
    return {};
  }

  /// Why numbers of an answer of analyze() failed, where it says more than their statuses: the end
  /// of a warning. From the declared() values alone: an interrupted run has only those.
  virtual std::string reason_of_failure(const Group& /*answer*/,
                                        std::span<const ParameterBlock> /*blocks*/) const {
    return {};
  }

 protected:
  /// To be called for each variable, in the order in which they are stored:
  ///   VariableId trace_ = declare({.name = "trace", .definition = "sum of H_ii", .headline = 1});
  VariableId declare(Variable variable) { return declared_.add(std::move(variable)); }

  VariableId declare_of_run(Variable variable) { return declared_of_run_.add(std::move(variable)); }

  /// Where declare() declares, for sections of variables that declare themselves:
  ///   SpectrumSection spectrum_{declaring(), "", "the Hessian", {.lambda_max = 1}};
  Group& declaring() { return declared_; }

  /// The same for declare_of_run().
  Group& declaring_of_run() { return declared_of_run_; }

 private:
  Group declared_;
  Group declared_of_run_;
};

/// AnalyzerKind::on_missing of analyzers that need the whole Hessian.
inline constexpr char kTakesMatrix[] = "its numbers take the matrix (`method` dense or iterative)";

/// An analyzer as users name and configure it.
struct AnalyzerKind {
  std::string name;           ///< on the command line and as the group in the result file
  std::string question = {};  ///< one line for help
  bool by_default = false;    ///< whether it runs unless others are asked for
  /// What it takes for the headline numbers that a run may leave out (Status::kNotComputed).
  std::string on_missing = {};
  std::string on_not_stored = {};  ///< and for those that take what is not stored
  /// What its numbers about several checkpoints are where these hold other buffers (running
  /// statistics, say), as the end of a sentence; empty where they are none's but their own.
  std::string on_other_buffers = {};
  /// What it can be told; each has a fallback and is an option of the command line. An option that
  /// is given asks for its analyzer.
  std::vector<SettingKey> options = {};
  /// Options that are neither flags nor choices, with values without which some of its variables
  /// are not declared.
  std::map<std::string, SettingValue> declaring_all = {};
  std::function<std::unique_ptr<Analyzer>(const Settings&)> create = {};
};

}  // namespace hesscope
