// SPDX-License-Identifier: BSD-3-Clause
//
// Figures of experiments: numbers of several runs from several seeds, combined into a result file,
// a drawing and a text.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <hesscope/core/settings.h>
#include <hesscope/dataset/dataset.h>
#include <hesscope/plot/figure.h>
#include <hesscope/storage/overwrite.h>

namespace hesscope::detail {

class ExperimentResults;
struct ExperimentDocument;
struct ExperimentFigureKind;

/// A number that a paper, or somebody else, reports for a number of ours. The kind of its figure
/// decides which members say where that is (PublishedPlace).
struct PublishedValue {
  std::string variant = {};
  std::string run = {};       ///< or a family; "" = the figure's only one, or none in particular
  std::string quantity = {};  ///< the same
  std::optional<std::int64_t> step = {};
  double mean = 0;
  std::optional<double> deviation = {};        ///< standard deviation over seeds
  std::optional<std::int64_t> num_seeds = {};  ///< as many as ours if not given
  std::optional<double> least = {};            ///< start of a claimed range, instead of a number
  std::optional<double> most = {};
  std::string source = {};
};

/// One [[figure.event]]: the first step at which a quantity is at or beyond a level.
struct FigureEvent {
  std::string name;
  std::string quantity;
  bool is_above = true;  ///< at least the level; else at most
  double level = 0;
};

/// One [[figure.mark]]: a step with a name, a line across the panel.
struct FigureMark {
  std::string name;
  std::int64_t step = 0;
};

/// One [[figure]].
struct ExperimentFigure {
  std::string name;
  std::string location;
  const ExperimentFigureKind* kind = nullptr;
  std::string title;
  std::string published;              ///< "Figure 4"
  Settings settings;                  ///< the kind's keys
  std::vector<std::string> variants;  ///< in the order of the file
  std::vector<std::string> runs;      ///< the same
  std::vector<std::int64_t> steps;
  std::vector<std::int64_t> seeds;  ///< empty = all
  std::vector<std::string> quantities;
  std::vector<std::string> headings;  ///< of the quantities; empty = those in their files
  std::vector<FigureEvent> events;
  std::vector<FigureMark> marks;
  std::vector<PublishedValue> published_values;
};

/// What a published value says, in addition to its variant, about the place of its number in a
/// figure.
struct PublishedPlace {
  enum class Run : std::uint8_t {
    kNone,      ///< it names no run
    kOfFigure,  ///< one of the figure's, required if there are several
    kFamily,    ///< one of their families, likewise
  };
  enum class Step : std::uint8_t { kNone, kOptional, kRequired };

  Run run = Run::kNone;
  Step step = Step::kNone;
  /// The quantities of the figure that it may name, which is required if there are several; nullptr
  /// = it names none.
  std::vector<std::string> (*quantities)(const ExperimentFigure& figure) = nullptr;
};

struct FigureContent {
  Group data;  ///< the root of the figure's result file; NaN for missing numbers
  plot::Figure figure;
  std::string text;              ///< Markdown, below the title
  std::size_t num_compared = 0;  ///< published values with which ours are compared
  std::vector<std::string> disagreements = {};
  std::vector<std::string> undecided = {};  ///< where the spreads leave the verdict open
  std::vector<std::vector<std::string>> comparison =
      {};  ///< the comparisons as rows; the first is a heading
};

/// Options for computing what a figure needs.
struct FigureWork {
  io::Overwrite overwrite = io::Overwrite::kNothing;
  bool merge_only = false;  ///< computing is an error, io::MissingPartsError
  int num_threads = 0;
  std::stop_token stop = {};
  std::string command;
  std::function<bool(double fraction)> progress;  ///< asks to stop by returning false
};

/// The outcome of that work.
struct FigureWorkDone {
  std::vector<std::string> warnings = {};
  bool is_conclusive = true;    ///< as in AnalysisResult
  bool is_done_already = true;  ///< for all of it, as in AnalysisResult
};

/// Keys of figures that name a quantity.
inline constexpr const char* kQuantityKeys[] = {
    "quantity", "standard_error", "limit", "x", "y", "bound"};

struct ExperimentFigureKind {
  std::string name;
  std::string summary;           ///< one line
  std::vector<SettingKey> keys;  ///< those of kQuantityKeys are GROUP/NAME
  /// The steps that it shows without 'steps', in words; nullptr: it takes none.
  const char* steps_if_absent = nullptr;
  bool takes_quantities = false;
  bool takes_seeds = false;
  bool takes_events = false;
  bool takes_marks = false;
  bool takes_headings = false;
  bool takes_arrays = false;    ///< its quantities may have dimensions
  bool has_equal_axes = false;  ///< panels show the same for different runs, and share scales
  std::optional<PublishedPlace> published = {};  ///< empty: no published values are shown
  FigureContent (*make)(const ExperimentResults& results, const ExperimentFigure& figure);
  /// Checks that need a document whose variants and measures are read.
  /// @throws ConfigError. nullptr = none.
  void (*check)(const ExperimentFigure& figure, const ExperimentDocument& document) = nullptr;
  /// Computes what it shows beyond histories and measures, into the folders of the runs; existing
  /// results stay. nullptr = nothing. @throws Interrupted if progress asks for it.
  FigureWorkDone (*compute)(const ExperimentResults& results,
                            const ExperimentFigure& figure,
                            const FigureWork& work) = nullptr;
};

}  // namespace hesscope::detail
