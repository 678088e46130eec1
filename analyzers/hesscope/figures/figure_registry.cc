// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/core/status.h>
#include <hesscope/core/suggest.h>
#include <hesscope/figures/figure_registry.h>
#include <hesscope/figures/internal/figures.h>
#include <hesscope/figures/internal/seed_bands.h>

namespace hesscope::figures {
namespace {

std::string path_of(const VariableName& variable) {
  return variable.group.empty() ? "/" + variable.name
                                : fmt::format("/{}/{}", variable.group, variable.name);
}

void require_data(const FigureKind& kind, const io::ResultReader& result) {
  for (const VariableName& variable : kind.needs) {
    if (result.find(variable.group, variable.name) != nullptr) continue;
    const std::vector<std::string> others = drawable_figures(result);
    throw InputError(fmt::format(
        "{}: the figure '{}' needs {}, which the file does not have; `{}` stores it; {}",
        result.path().string(),
        kind.name,
        path_of(variable),
        kind.made_by,
        others.empty() ? "there is no figure of what the file has"
                       : fmt::format("figures of what the file has: {}", fmt::join(others, ", "))));
  }
}

void require_suitable(const FigureKind& kind, std::size_t count, const FigureRequest& request) {
  const auto refuse = [&](const std::string& what) {
    throw ConfigError(fmt::format("the figure '{}' {}", kind.name, what));
  };
  if (count > 1 && !kind.takes_several) refuse(fmt::format("is of one result, got {}", count));
  if ((request.x_scale || request.y_scale) && !kind.has_free_scales) refuse("has fixed scales");
  if ((request.step || request.checkpoint) && !kind.has_step)
    refuse("shows all checkpoints: it takes no step");
  if (request.quantity.empty()) return;
  if (kind.quantities.empty()) refuse("has no quantities to choose from");
  if (std::find(kind.quantities.begin(), kind.quantities.end(), request.quantity) ==
      kind.quantities.end()) {
    refuse("has no quantity " + name_among(request.quantity, kind.quantities));
  }
}

// Whether some of them belong to one experiment.
bool have_seeds(std::span<const Source> sources) {
  std::set<std::string> labels;
  for (const Source& source : sources) labels.insert(source.label);
  return labels.size() < sources.size();
}

// A figure's own lower end may be 0, which does not exist on a logarithmic axis.
void put_scale(plot::Axis& axis, plot::ScaleKind scale) {
  axis.scale = scale;
  if (scale == plot::ScaleKind::kLog && axis.lower && *axis.lower <= 0) axis.lower.reset();
}

}  // namespace

std::span<const FigureKind> figure_kinds() {
  // In the order of lists and reports, one per line.
  // clang-format off
  static const std::vector<FigureKind> kinds = {
      eigenvalues_figure(),
      condition_figure(),
      spectrum_figure(),
      tracking_figure(),
      histogram_figure(),
      density_figure(),
      population_figure(),
      smoothness_figure(),
      stability_figure(),
      edge_figure(),
      sharpening_figure(),
      norm_sharpness_figure(),
      noise_figure(),
      influence_figure(),
      landscape_figure(),
      path_figure(),
      critical_figure(),
      blocks_figure(),
      history_figure(),
  };
  // clang-format on
  return kinds;
}

const FigureKind& find_figure_kind(const std::string& name) {
  return find_named(figure_kinds(), name, "figure");
}

bool can_draw(const FigureKind& kind, const io::ResultReader& result) {
  return std::all_of(kind.needs.begin(), kind.needs.end(), [&](const VariableName& variable) {
    return result.find(variable.group, variable.name) != nullptr;
  });
}

std::vector<std::string> drawable_quantities(const FigureKind& kind,
                                             const io::ResultReader& result) {
  if (!can_draw(kind, result)) return {};
  if (kind.quantities.empty()) return {""};
  std::vector<std::string> drawable = kind.quantities;
  if (kind.quantity_group.empty()) return drawable;
  std::erase_if(drawable, [&](const std::string& quantity) {
    return result.find(kind.quantity_group, quantity) == nullptr;
  });
  return drawable;
}

std::vector<std::string> drawable_figures(const io::ResultReader& result) {
  std::vector<std::string> names;
  for (const FigureKind& kind : figure_kinds()) {
    if (can_draw(kind, result)) names.push_back(kind.name);
  }
  return names;
}

bool lacks_undefined_alone(const FigureKind& kind, std::span<const Source> sources) {
  const auto are_undefined = [](const io::ResultReader& result, const VariableName& variable) {
    const auto& [group, name] = variable;
    const Variable* const found = result.find(group, name);
    if (found == nullptr || found->type != VariableType::kDouble) return true;
    const std::vector<double> values = result.read_doubles(group, name);
    std::vector<std::int64_t> statuses;
    const std::string status = status_name(name);
    if (result.find(group, status) != nullptr) statuses = result.read_integers(group, status);
    if (statuses.empty()) statuses = {static_cast<std::int64_t>(Status::kNonFinite)};
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!std::isnan(values[i])) continue;
      // There is one status for each checkpoint, which may have many values.
      const std::int64_t code = statuses[i * statuses.size() / values.size()];
      if (!is_conclusive(static_cast<Status>(code))) return false;
    }
    return true;
  };
  return std::ranges::all_of(sources, [&](const Source& source) {
    return std::ranges::all_of(kind.needs, [&](const VariableName& variable) {
      return are_undefined(*source.result, variable);
    });
  });
}

plot::Figure draw_figure(const FigureKind& kind,
                         std::span<const Source> sources,
                         const FigureRequest& request) {
  if (sources.empty()) throw PreconditionError("draw_figure: needs at least one source");
  require_suitable(kind, sources.size(), request);
  for (const Source& source : sources) require_data(kind, *source.result);
  plot::Figure figure = kind.draw(sources, request);
  if (!request.title.empty()) figure.title = request.title;
  if (request.width > 0) figure.width = request.width;
  if (request.height > 0) figure.height = request.height;
  figure.magnification = request.magnification;
  figure.notes = request.notes;
  for (plot::Panel& panel : figure.panels) {
    if (have_seeds(sources)) merge_seeds(panel);
    if (request.x_scale) put_scale(panel.x, *request.x_scale);
    if (request.y_scale) put_scale(panel.y, *request.y_scale);
  }
  return figure;
}

}  // namespace hesscope::figures
