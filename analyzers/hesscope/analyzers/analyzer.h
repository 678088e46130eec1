// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <hesscope/analyzers/point_analysis.h>
#include <hesscope/analyzers/record.h>
#include <hesscope/core/settings.h>

namespace hesscope {

/// One question about a checkpoint. Its answer is a group of the result file.
class Analyzer {
 public:
  /// A dimension of the group beyond `checkpoint` and the root's `parameter`.
  struct Dimension {
    std::string name;
    std::int64_t size;
    // A coordinate variable, if any.
    std::vector<std::string> labels = {};    ///< names along it
    std::vector<std::int64_t> numbers = {};  ///< or numbers
    std::string definition = {};             ///< what these are, in words
  };

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

  /// Dimensions its quantities use, for an objective of this size.
  virtual std::vector<Dimension> dimensions(const Objective& objective) const = 0;

  virtual std::vector<Quantity> quantities() const = 0;

  /// Numbers worth showing in a summary, by name, most important first.
  virtual std::vector<std::string> headline() const = 0;

  virtual Cost cost(const Objective& /*objective*/) const { return {}; }

  /// The option that asks for more samples than the objective has, if one does, as in
  /// "noise-sampling fresh": with it the data must be drawn, not a file.
  virtual std::string needs_fresh_samples() const { return {}; }

  /// What the user should know of how it takes what checkpoints hold of their optimisers: one
  /// sentence each, naming the file. @throws InputError if it cannot take something.
  virtual std::vector<std::string> remarks_on(std::span<const OptimizerState> /*optimizers*/,
                                              std::span<const ParameterBlock> /*blocks*/) const {
    return {};
  }

  /// The answer at one point. Numerical failure is in the record's statuses, not thrown.
  virtual Record analyze(PointAnalysis& point) const = 0;

  /// What is asked of all checkpoints of a run together: stored in the same group without the
  /// dimension `checkpoint`. Names apart from those of quantities().
  virtual std::vector<Quantity> run_quantities() const { return {}; }

  /// Those of them worth showing in a summary, as headline().
  virtual std::vector<std::string> run_headline() const { return {}; }

  /// The answer to that, from the answers of analyze() at every checkpoint, in order, and nothing
  /// else: an interrupted run has only those.
  /// @param seed  of what is drawn.
  virtual Record summarize(std::span<const Record> /*records*/, std::uint64_t /*seed*/) const {
    return {};
  }
};

/// AnalyzerKind::on_missing of analyzers that need the whole Hessian.
inline constexpr char kTakesMatrix[] = "its numbers take the matrix (`method` dense or iterative)";

/// An analyzer as users name and configure it.
struct AnalyzerKind {
  std::string name;         ///< on the command line and as the group in the result file
  std::string question;     ///< one line for help
  bool by_default = false;  ///< whether it runs unless others are asked for
  /// What it takes for the headline numbers that a run may leave out (Status::kNotComputed).
  std::string on_missing = {};
  std::string on_not_stored = {};  ///< and for those that take what is not stored
  /// What it can be told; each has a fallback and is an option of the command line. An option that
  /// is given asks for its analyzer.
  std::vector<SettingKey> options = {};
  std::function<std::unique_ptr<Analyzer>(const Settings&)> create = {};
};

}  // namespace hesscope
