// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/ascii.h>
#include <hesscope/core/error.h>
#include <hesscope/figures/internal/figure_data.h>
#include <hesscope/plot/shared_axes.h>
#include <hesscope/report/internal/result_parts.h>

namespace hesscope::report {
namespace {

using figures::FigureKind;
using figures::FigureRequest;
using figures::Source;

// Several sources in one figure; empty if the figure cannot show them so, like landscapes that are
// planes.
std::vector<Frame> overlay(const FigureKind& kind,
                           std::span<const Source> sources,
                           const FigureRequest& request) {
  try {
    return {{.label = {}, .figure = figures::draw_figure(kind, sources, request)}};
  } catch (const ConfigError&) {
    return {};
  }
}

// The quantities that all sources have.
std::vector<std::string> common_quantities(const FigureKind& kind,
                                           std::span<const Source> sources) {
  std::vector<std::string> common = figures::drawable_quantities(kind, *sources.front().result);
  for (const Source& source : sources) {
    const std::vector<std::string> own = figures::drawable_quantities(kind, *source.result);
    std::erase_if(common, [&](const std::string& quantity) {
      return std::ranges::find(own, quantity) == own.end();
    });
  }
  return common;
}

// The largest number of slider frames: the page has a separate drawing for each.
constexpr std::size_t kMostFrames = 200;

// All of `count` checkpoints or, if there are more than kMostFrames, evenly spread ones, including
// the first and the last.
std::vector<std::size_t> shown_checkpoints(std::size_t count) {
  const std::size_t num_shown = std::min(count, kMostFrames);
  std::vector<std::size_t> shown;
  for (std::size_t k = 0; k < num_shown; ++k) {
    shown.push_back(num_shown < count ? k * (count - 1) / (num_shown - 1) : k);
  }
  return shown;
}

// One figure, or one for each checkpoint shown, with the same axes.
std::vector<Frame> frames_of(const FigureKind& kind, const Source& source, FigureRequest request) {
  const std::array one{source};
  if (!kind.has_step) return {{.label = {}, .figure = figures::draw_figure(kind, one, request)}};
  const figures::Checkpoints checkpoints = figures::read_checkpoints(source);
  std::vector<plot::Figure> drawn;
  std::vector<std::string> labels;
  for (const std::size_t i : shown_checkpoints(checkpoints.size())) {
    request.checkpoint = i;
    drawn.push_back(figures::draw_figure(kind, one, request));
    labels.push_back(checkpoints.name_of(i));
  }
  plot::share_axes(drawn);
  std::vector<Frame> frames;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    frames.push_back({.label = std::move(labels[i]), .figure = std::move(drawn[i])});
  }
  return frames;
}

}  // namespace

std::vector<Picture> pictures_of(const FigureKind& kind, std::span<const Source> sources) {
  std::vector<Source> able;
  std::size_t most_checkpoints = 0;
  for (const Source& source : sources) {
    if (!figures::can_draw(kind, *source.result)) continue;
    const std::size_t count = kind.has_step ? figures::read_checkpoints(source).size() : 0;
    // A run without checkpoints has nothing to show.
    if (kind.has_step && count == 0) continue;
    most_checkpoints = std::max(most_checkpoints, count);
    able.push_back(source);
  }
  if (able.empty()) return {};
  Picture picture{.id = "figure-" + kind.name,
                  .title = capitalized(as_words(kind.name)),
                  .text = capitalized(kind.summary) + "."};
  if (kind.has_step) picture.slider = "Checkpoint";
  if (most_checkpoints > kMostFrames) {
    picture.text += fmt::format(
        " Of {} checkpoints the slider has {}, evenly spread.", most_checkpoints, kMostFrames);
  }
  for (const figures::VariableName& variable : kind.needs) {
    if (variable.name != "step") {
      picture.definitions.push_back(definition_id(variable.group, variable.name));
    }
  }
  const bool is_one = able.size() == 1;
  const auto add_view = [&](const std::string& who,
                            const std::string& what,
                            std::vector<Frame> frames) {
    if (frames.empty()) return;
    picture.views.push_back({.name = who.empty() || what.empty() ? who + what : who + ": " + what,
                             .frames = std::move(frames)});
  };
  if (!is_one && kind.takes_several) {
    for (const std::string& quantity : common_quantities(kind, able)) {
      add_view("all", as_words(quantity), overlay(kind, able, {.quantity = quantity}));
    }
  }
  for (const Source& source : able) {
    const std::string who = is_one ? "" : source.label;
    if (kind.shows_all_quantities) {
      add_view(who, "all quantities", frames_of(kind, source, {}));
      continue;
    }
    for (const std::string& quantity : figures::drawable_quantities(kind, *source.result)) {
      add_view(who, as_words(quantity), frames_of(kind, source, {.quantity = quantity}));
    }
  }
  return {std::move(picture)};
}

}  // namespace hesscope::report
