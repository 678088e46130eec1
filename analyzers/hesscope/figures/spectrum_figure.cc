// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>

#include <hesscope/figures/internal/figure_data.h>
#include <hesscope/figures/internal/figures.h>
#include <hesscope/plot/scale.h>

namespace hesscope::figures {
namespace {

constexpr std::size_t kMostCheckpoints = 8;

// For a single checkpoint: the band in which rounding hides the sign, and what is known about the
// zeros.
void show_zeros(plot::Panel& panel,
                const Source& source,
                const plot::Line& line,
                double band,
                std::size_t checkpoint) {
  panel.note = zeros_text(source, checkpoint);
  if (!(band > 0) || line.x.empty()) return;
  panel.series.push_back(plot::Band{.x = {line.x.front(), line.x.back()},
                                    .low = {-band, -band},
                                    .high = {band, band},
                                    .label = "rounding",
                                    .colour = plot::kGrey});
}

plot::Figure draw_spectrum(std::span<const Source> sources, const FigureRequest& request) {
  plot::Panel panel;
  panel.x = {.label = "rank, from the smallest", .whole_numbers = true};
  panel.y = {.label = "eigenvalue of the Hessian", .scale = plot::ScaleKind::kSignedLog};
  std::vector<double> all;
  std::vector<double> steps;  // of the checkpoint that is drawn from each of several results
  double band = 0;
  const bool is_one = sources.size() == 1 && !request.step && !request.checkpoint;
  for (const Source& source : sources) {
    const Checkpoints checkpoints = read_checkpoints(source);
    const Variable rows =
        read_numbers(*source.result, "spectrum", "eigenvalues", 2, checkpoints.size());
    const std::vector<double> bands =
        read_column(*source.result, "spectrum", "rounding_band", checkpoints.size());
    const std::vector<std::size_t> chosen =
        is_one ? plot::evenly_spread(checkpoints.size(), kMostCheckpoints)
               : std::vector{chosen_checkpoint(source, checkpoints, request)};
    if (is_one && chosen.size() > 1) panel.legend = plot::Legend::kBeside;  // in their order
    if (is_one && chosen.size() < checkpoints.size()) {
      panel.note = fmt::format("{} of {} checkpoints", chosen.size(), checkpoints.size());
    }
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      plot::Line line;
      line.y = rows.row(chosen[k]);
      for (std::size_t r = 0; r < line.y.size(); ++r) line.x.push_back(static_cast<double>(r));
      line.label = is_one || request.checkpoint ? checkpoints.name_of(chosen[k]) : source.label;
      if (is_one && chosen.size() > 1) {
        // Ends before yellow, which is too light for a line.
        line.colour =
            plot::colour_at(plot::ColourMap::kViridis,
                            0.88 * static_cast<double>(k) / static_cast<double>(chosen.size() - 1));
      }
      all.insert(all.end(), line.y.begin(), line.y.end());
      if (sources.size() > 1 && !request.checkpoint) steps.push_back(checkpoints.steps[chosen[k]]);
      band = std::max(band, bands[chosen[k]] >= 0 ? bands[chosen[k]] : 0);
      if (sources.size() == 1 && !is_one)
        show_zeros(panel, source, line, bands[chosen[k]], chosen[k]);
      panel.series.push_back(std::move(line));
    }
  }
  const auto [least, most] = std::ranges::minmax_element(steps);
  if (!steps.empty() && *least < *most) {
    panel.note = fmt::format("at their last steps, {} to {}", *least, *most);
  }
  panel.y.threshold = signed_threshold(all, band);
  panel.series.insert(panel.series.begin(), plot::Reference{.dash = plot::Dash::kSolid});
  return {.title = {},
          .description =
              "Eigenvalues of the Hessian by rank, on a scale that is logarithmic on "
              "both sides of zero",
          .panels = {std::move(panel)}};
}

}  // namespace

FigureKind spectrum_figure() {
  return {.name = "spectrum",
          .topic = Topic::kSpectrum,
          .summary = "eigenvalues by rank; of several results, those of their last checkpoints",
          .needs = {{"", "step"}, {"spectrum", "eigenvalues"}, {"spectrum", "rounding_band"}},
          .made_by = "analyzer spectrum",
          .takes_several = true,
          .has_free_scales = true,
          .has_step = true,
          .draw = draw_spectrum};
}

}  // namespace hesscope::figures
