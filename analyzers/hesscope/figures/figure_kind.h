// SPDX-License-Identifier: BSD-3-Clause
//
// Figures of result files: for each kind, what it shows, which variables it needs, and how it is
// drawn. Figures know the groups that the analyzers write, so they are next to the analyzers; the
// plot module puts them on paper.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hesscope/dataset/result_reader.h>
#include <hesscope/plot/figure.h>

namespace hesscope::figures {

/// A result file and its name in legends.
struct Source {
  const io::ResultReader* result = nullptr;
  std::string label;
};

struct FigureRequest {
  std::string quantity = {};              ///< "" = the kind's own choice
  std::optional<std::int64_t> step = {};  ///< that of the checkpoint to show, if a figure shows one
  std::optional<std::size_t> checkpoint = {};  ///< or its position in the result
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

/// The subject of a figure, in the order of a report's sections.
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
  std::vector<VariableName> needs;        ///< which must all exist
  std::string made_by;                    ///< what stores them: "analyzer NAME" or a function
  bool takes_several = false;             ///< whether it can show several results at once
  bool has_free_scales = false;           ///< whether its scales can be chosen
  bool has_step = false;                  ///< whether it shows one checkpoint
  std::vector<std::string> quantities{};  ///< to choose from; empty = none
  std::string
      quantity_group{};  ///< where a result may lack some of them; "" = `needs` has them all
  bool shows_all_quantities = false;  ///< for one result, unless one is chosen

  /// @throws InputError if a variable does not have the expected shape; ConfigError if the request
  ///         names something that the result does not have.
  plot::Figure (*draw)(std::span<const Source> sources, const FigureRequest& request) = nullptr;
};

}  // namespace hesscope::figures
