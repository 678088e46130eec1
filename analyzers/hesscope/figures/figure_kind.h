// SPDX-License-Identifier: BSD-3-Clause
//
// Figures of result files: for each kind what it shows, which variables it needs, and how it is
// drawn. They know the groups that the analyzers write, and so stand beside them; how a figure is
// put on paper is left to the plot module.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hesscope/dataset/result_reader.h>
#include <hesscope/plot/figure.h>

namespace hesscope::figures {

/// A result file and what it is called in legends.
struct Source {
  const io::ResultReader* result = nullptr;
  std::string label;
};

struct FigureRequest {
  std::string quantity = {};              ///< "" = the kind's own choice
  std::optional<std::int64_t> step = {};  ///< of the checkpoint to show, where a figure shows one
  std::optional<std::size_t> checkpoint = {};  ///< or its place among those of the result
  std::optional<plot::ScaleKind> x_scale = {};
  std::optional<plot::ScaleKind> y_scale = {};
  std::string title = {};
  double width = 0;  ///< in points, 1/72 inch; 0 = the figure's own
  double height = 0;
  double magnification = 1;  ///< as plot::Figure::magnification
  bool notes = true;         ///< as plot::Figure::notes
};

/// A variable of a result file.
struct VariableName {
  std::string group;  ///< "" for the root
  std::string name;
};

/// What a figure is about, in the order of a report's sections.
enum class Topic : std::uint8_t {
  kTraining,
  kSpectrum,
  kSmoothness,
  kStability,
  kBlocks,
  kNoise,
  kInfluence,
  kLandscape,
};

struct FigureKind {
  std::string name;
  Topic topic = Topic::kTraining;
  std::string summary;                    ///< one line
  std::vector<VariableName> needs;        ///< all of which must be there
  std::string made_by;                    ///< what stores them: "analyzer NAME" or a function
  bool takes_several = false;             ///< whether results can be laid over one another
  bool has_free_scales = false;           ///< whether its scales can be chosen
  bool has_step = false;                  ///< whether it shows one checkpoint
  std::vector<std::string> quantities{};  ///< that can be chosen; empty = none
  std::string
      quantity_group{};  ///< where a result may lack some of them; "" = `needs` has them all
  bool shows_all_quantities = false;  ///< of one result, unless one is chosen

  /// @throws InputError if a variable has not the shape it should have; ConfigError if the request
  ///         names what the result does not have.
  plot::Figure (*draw)(std::span<const Source> sources, const FigureRequest& request) = nullptr;
};

}  // namespace hesscope::figures
