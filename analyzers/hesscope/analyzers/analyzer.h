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

/// One question about a checkpoint. Its answer is one group of the result file.
class Analyzer {
 public:
  /// What it asks of the point, which analyzers share, and what it needs in addition.
  struct Cost {
    bool asks_hessian = false;     ///< PointAnalysis::hessian()
    bool asks_spectrum = false;    ///< PointAnalysis::spectrum()
    double matrices = 0;           ///< n x n, held at once
    double numbers = 0;            ///< other numbers held at once
    double hessians = 0;           ///< each over all samples, if there is a matrix
    double gauss_newtons = 0;      ///< the same
    double decompositions = 0;     ///< of n x n matrices, the same
    double searches = 0;           ///< for both ends of the spectrum of H, if there is no matrix
    double products = 0;           ///< columns to which H is applied at once, the same
    double gradients = 0;          ///< over all samples
    double sample_gradients = 0;   ///< passes of per-sample gradients over all samples
    double fresh_samples = 0;      ///< drawn, with the gradient there
    double operations = 0;         ///< other floating-point operations in memory, roughly
    double matrix_operations = 0;  ///< the same, if there is a matrix
  };

  virtual ~Analyzer() = default;

  /// Dimensions that its variables use besides `checkpoint` and the root's, for an objective of
  /// this size. @throws ConfigError for an objective that it cannot analyze.
  virtual std::vector<Dimension> dimensions(const Objective& /*objective*/) const { return {}; }

  /// Whether the labels of those dimensions may differ at a checkpoint with an objective of its
  /// own. Its answers then carry their dimensions, and a file has the labels of all answers.
  virtual bool has_own_dimensions() const { return false; }

  /// Extends an answer of such an analyzer to the labels of all answers, which include its own.
  virtual Group spread(Group answer, const std::vector<Dimension>& /*all*/) const { return answer; }

  /// What it stores for each checkpoint, without values. The result file puts `checkpoint` before
  /// the dimensions.
  const Group& declared() const { return declared_; }

  /// What it stores for all checkpoints of a run together, in the same group; the names differ from
  /// those of declared(). Usually empty.
  const Group& declared_of_run() const { return declared_of_run_; }

  virtual Cost cost(const Objective& /*objective*/) const { return {}; }

  /// The option that asks for more samples than the objective has, as in "noise-sampling fresh", or
  /// "". With such an option, the data must be drawn and not come from a file.
  virtual std::string needs_fresh_samples() const { return {}; }

  /// The option that asks for the matrix itself, or "". Runs that do not assemble the matrix are
  /// then refused, because none of the n^2 numbers would exist.
  virtual std::string needs_matrix() const { return {}; }

  /// Whether it wants a bound on the error of every eigenvalue (Spectrum::error_bound). Only the
  /// method kDistributed has a proof of such bounds.
  virtual bool needs_full_proof() const { return false; }

  /// What the user should know about how it uses the optimiser states of checkpoints, together with
  /// given_settings() of the run: one sentence each, naming the file.
  /// @throws InputError if it cannot use one of them.
  virtual std::vector<std::string> remarks_on(std::span<const OptimizerState> /*optimizers*/,
                                              std::span<const ParameterBlock> /*blocks*/,
                                              const GivenSettings& /*given*/) const {
    return {};
  }

  /// The same about how it uses the samples, for example if they are too few for what it was asked.
  virtual std::vector<std::string> remarks_on_samples(const Objective& /*objective*/) const {
    return {};
  }

  /// The settings of the optimiser that it was given, which then hold for every analyzer of the run
  /// (PointAnalysis::given_settings()).
  virtual GivenSettings given_settings() const { return {}; }

  /// The answer at one point: declared() with values. A variable has as many numbers as its
  /// dimensions say, or none; runs refuse any other number. Numerical failure is in the statuses,
  /// not thrown.
  virtual Group analyze(PointAnalysis& point) const = 0;

  /// declared_of_run() with values, computed only from the answers of analyze() at every
  /// checkpoint, in order: an interrupted run has nothing else. Random numbers are drawn from the
  /// seed.
  virtual Group summarize(std::span<const Group> /*answers*/, std::uint64_t /*seed*/) const {
    return {};
  }

  /// Why numbers of an answer of analyze() failed, if more can be said than their statuses: the end
  /// of a warning. It uses only the declared() values: an interrupted run has nothing else.
  virtual std::string reason_of_failure(const Group& /*answer*/,
                                        std::span<const ParameterBlock> /*blocks*/) const {
    return {};
  }

 protected:
  /// Call this for each variable, in the order in which they are stored:
  ///   VariableId trace_ = declare({.name = "trace", .definition = "sum of H_ii", .headline = 1});
  VariableId declare(Variable variable) { return declared_.add(std::move(variable)); }

  VariableId declare_of_run(Variable variable) { return declared_of_run_.add(std::move(variable)); }

  /// The group that declare() adds to, for sections of variables that declare themselves:
  ///   SpectrumSection spectrum_{declaring(), "", "the Hessian", {.lambda_max = 1}};
  Group& declaring() { return declared_; }

  /// The same for declare_of_run().
  Group& declaring_of_run() { return declared_of_run_; }

 private:
  Group declared_;
  Group declared_of_run_;
};

/// AnalyzerKind::on_missing of analyzers that need the whole Hessian.
inline constexpr char kTakesMatrix[] = "its numbers need the matrix (`method` dense or iterative)";

/// An analyzer as users name and configure it.
struct AnalyzerKind {
  std::string name;           ///< on the command line and as the group in the result file
  std::string question = {};  ///< one line for help
  bool by_default = false;    ///< whether it runs unless others are asked for
  /// What the headline numbers need that a run may leave out (Status::kNotComputed).
  std::string on_missing = {};
  std::string on_not_stored = {};  ///< and for those that take what is not stored
  /// What its numbers about several checkpoints mean if these hold different buffers (running
  /// statistics, for example), as the end of a sentence; empty if its numbers belong to single
  /// checkpoints.
  std::string on_other_buffers = {};
  /// Its options, each with a fallback; each is an option of the command line. An option that is
  /// given asks for its analyzer.
  std::vector<SettingKey> options = {};
  /// Options that are neither flags nor choices, with values without which some of its variables
  /// are not declared.
  std::map<std::string, SettingValue> declaring_all = {};
  std::function<std::unique_ptr<Analyzer>(const Settings&)> create = {};
};

}  // namespace hesscope
