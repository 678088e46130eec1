// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/figures/internal/figure_data.h>
#include <hesscope/plot/shared_axes.h>
#include <hesscope/report/internal/result_parts.h>

namespace hesscope::report {
namespace {

using figures::FigureKind;
using figures::FigureRequest;
using figures::Source;

std::string words_of(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

// Whether several sources can be laid over one another in this figure; landscapes can as lines, and
// cannot as planes.
bool try_overlay(const FigureKind& kind,
                 std::span<const Source> sources,
                 const FigureRequest& request,
                 std::vector<Frame>& frames) {
  try {
    frames.push_back({.label = {}, .figure = figures::draw_figure(kind, sources, request)});
    return true;
  } catch (const ConfigError&) {
    return false;
  }
}

// One figure, or one for each checkpoint, on the same axes.
std::vector<Frame> frames_of(const FigureKind& kind, const Source& source, FigureRequest request) {
  const std::array one{source};
  if (!kind.has_step) return {{.label = {}, .figure = figures::draw_figure(kind, one, request)}};
  const figures::Checkpoints checkpoints = figures::read_checkpoints(source);
  std::vector<plot::Figure> drawn;
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < checkpoints.size(); ++i) {
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
  for (const Source& source : sources) {
    const bool has_data = figures::can_draw(kind, *source.result);
    // A run without checkpoints has nothing to show.
    if (has_data && (!kind.has_step || figures::read_checkpoints(source).size() > 0)) {
      able.push_back(source);
    }
  }
  if (able.empty()) return {};
  Picture picture{
      .id = "figure-" + kind.name, .title = words_of(kind.name), .text = kind.summary + "."};
  picture.title.front() = static_cast<char>(std::toupper(picture.title.front()));
  picture.text.front() = static_cast<char>(std::toupper(picture.text.front()));
  if (kind.has_step) picture.slider = "Checkpoint";
  for (const figures::VariableName& variable : kind.needs) {
    if (variable.name != "step") {
      picture.definitions.push_back(definition_id(variable.group, variable.name));
    }
  }
  std::vector<std::string> quantities = kind.quantities;
  if (quantities.empty()) quantities.emplace_back();
  const bool is_one = able.size() == 1;
  const auto name_of = [&](const std::string& who, const std::string& quantity) {
    const std::string what = words_of(quantity);
    return who.empty() || what.empty() ? who + what : who + ": " + what;
  };
  const auto has_quantity = [&](const Source& source, const std::string& quantity) {
    // Of a landscape only those asked for are there.
    return quantity.empty() || kind.topic != figures::Topic::kLandscape ||
           source.result->find(io::kLandscapeGroup, quantity) != nullptr;
  };
  if (!is_one && kind.takes_several) {
    for (const std::string& quantity : quantities) {
      const bool all_have_it = std::ranges::all_of(
          able, [&](const Source& source) { return has_quantity(source, quantity); });
      View view{.name = name_of("all", quantity)};
      if (all_have_it && try_overlay(kind, able, {.quantity = quantity}, view.frames)) {
        picture.views.push_back(std::move(view));
      }
    }
  }
  for (const Source& source : able) {
    // All of a result's quantities in one figure, where there is such a figure.
    const std::string who = is_one ? "" : source.label;
    if (kind.takes_several && !kind.has_step && kind.topic != figures::Topic::kLandscape) {
      picture.views.push_back({.name = name_of(who, quantities.size() > 1 ? "all_quantities" : ""),
                               .frames = frames_of(kind, source, {})});
      continue;
    }
    for (const std::string& quantity : quantities) {
      if (!has_quantity(source, quantity)) continue;
      picture.views.push_back({.name = name_of(who, quantity),
                               .frames = frames_of(kind, source, {.quantity = quantity})});
    }
  }
  return {std::move(picture)};
}

}  // namespace hesscope::report
