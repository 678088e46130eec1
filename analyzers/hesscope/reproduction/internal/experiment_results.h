// SPDX-License-Identifier: BSD-3-Clause
//
// The results of an experiment's trainings and measures, by variant, run and seed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hesscope/dataset/result_reader.h>
#include <hesscope/reproduction/internal/experiment_document.h>
#include <hesscope/reproduction/internal/experiment_parts.h>

namespace hesscope::detail {

/// One run of one variant from one seed.
struct TrainedRun {
  std::string variant;
  std::string run;
  std::uint64_t seed = 0;
  std::filesystem::path folder;
  std::int64_t num_steps = 0;  ///< that were made
  bool has_diverged = false;
  std::vector<std::string> measures = {};  ///< measures whose results in the folder belong to it
};

/// A quantity by steps, with its own dimensions.
struct ArraySeries {
  std::string long_name;                ///< as in the file
  std::vector<std::string> dimensions;  ///< beyond the steps, slowest first
  std::vector<std::size_t> shape;
  std::map<std::int64_t, std::vector<double>> values;  ///< row-major; NaN where missing
};

/// Not safe for concurrent use: it caches what it has read.
class ExperimentResults {
 public:
  ExperimentResults(const ExperimentDocument& document, std::vector<TrainedRun> runs);

  const ExperimentDocument& document() const { return *document_; }

  const std::vector<TrainedRun>& runs() const { return runs_; }

  const ExperimentVariant& variant(const std::string& name) const;

  /// For figures of any of the variants; runs have the same titles in all.
  const std::string& run_title(const std::string& run) const;

  /// The title of a family of learning rates, without any rate; for a single run, its own title.
  std::string family_title(const std::string& family) const;

  /// nullptr if there is none.
  const TrainedRun* find(const std::string& variant,
                         const std::string& run,
                         std::uint64_t seed) const;

  /// Seeds of the named variants, ascending, each once.
  std::vector<std::uint64_t> seeds(const std::vector<std::string>& variants) const;

  /// The result file, of the first of the run's measures that has the group or of the named
  /// measure; nothing if there is none.
  std::optional<std::filesystem::path> measured(const TrainedRun& run,
                                                const std::string& group,
                                                const std::string& measure = {}) const;

  /// A QuantityName by steps: from the history, a monitor or a measure. Empty if it was not
  /// measured; NaN where it is missing. @throws InputError.
  std::map<std::int64_t, double> series(const TrainedRun& run, const std::string& quantity) const;

  /// The same for a quantity that may have dimensions.
  ArraySeries array_series(const TrainedRun& run, const std::string& quantity) const;

  /// The long name of a quantity in the files: "robust condition number of the diagonal"; empty if
  /// no run has it.
  std::string long_name(const std::string& quantity) const;

 private:
  // A file, and the group in it.
  struct Place {
    std::filesystem::path path;
    std::string group;
    bool is_history = false;
  };

  using SeriesByQuantity = std::map<std::string, ArraySeries>;

  std::optional<Place> place_of(const TrainedRun& run, const QuantityName& quantity) const;

  // nullptr if it is not cached.
  const ArraySeries* find_kept(const std::filesystem::path& path,
                               const std::string& quantity) const;

  // The quantities of this file that the document's figures show, without those that have
  // dimensions beyond the steps.
  SeriesByQuantity figures_series(const io::ResultReader& file,
                                  std::span<const std::int64_t> steps,
                                  const TrainedRun& run) const;

  // @param steps  those of the rows of the file.
  ArraySeries read_series(const io::ResultReader& file,
                          std::span<const std::int64_t> steps,
                          const TrainedRun& run,
                          const Place& place,
                          const QuantityName& quantity) const;

  const ExperimentDocument* document_;
  std::vector<TrainedRun> runs_;
  std::vector<std::string> quantities_;  // in the document's figures, each once
  // By file. Opening a file takes a process (io::ResultReader), and figures share files. So
  // everything that figures show from a file is read when the first of them asks for some of it.
  mutable std::map<std::filesystem::path, SeriesByQuantity> kept_;
};

}  // namespace hesscope::detail
