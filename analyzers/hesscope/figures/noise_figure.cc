// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/figures/internal/figure_data.h>
#include <hesscope/figures/internal/figures.h>
#include <hesscope/plot/scale.h>

namespace hesscope::figures {
namespace {

class NoiseRow {
 public:
  NoiseRow(const io::ResultReader& result, std::size_t checkpoint)
      : result_(result), checkpoint_(checkpoint) {}

  std::vector<double> list(const char* name) const {
    return read_row(result_, "noise", name, 2, checkpoint_);
  }

  double number(const char* name) const {
    return read_row(result_, "noise", name, 1, checkpoint_).front();
  }

 private:
  const io::ResultReader& result_;
  std::size_t checkpoint_;
};

plot::Panel histogram_panel(const NoiseRow& noise) {
  plot::Panel panel;
  panel.title = "Distribution";
  panel.x.label = "gradient noise";
  panel.y.label = "density";
  panel.legend = plot::Legend::kInside;
  const std::vector<double> edges = noise.list("histogram_edges");
  if (edges.empty()) throw InputError("the histogram of the noise has no edges; compute it again");
  panel.series.push_back(plot::Bars{.edges = edges, .heights = noise.list("histogram_density")});
  const double mean = noise.number("mean");
  const double deviation = noise.number("standard_deviation");
  plot::Line normal{.label = "normal"};
  normal.colour = plot::line_colour(1);
  constexpr int kPoints = 200;
  for (int k = 0; k <= kPoints; ++k) {
    const double x =
        edges.front() + (edges.back() - edges.front()) * static_cast<double>(k) / kPoints;
    const double z = (x - mean) / deviation;
    normal.x.push_back(x);
    normal.y.push_back(std::exp(-z * z / 2) / (deviation * std::sqrt(2 * std::numbers::pi)));
  }
  panel.series.push_back(std::move(normal));
  return panel;
}

plot::Panel qq_panel(const NoiseRow& noise) {
  plot::Panel panel;
  panel.title = "Normal QQ plot";
  panel.x.label = "normal quantile";
  panel.y.label = "gradient noise";
  plot::Reference line{.kind = plot::Reference::Kind::kSloped};
  line.intercept = noise.number("qq_intercept");
  line.slope = noise.number("qq_slope");
  line.colour = plot::line_colour(1);
  line.dash = plot::Dash::kSolid;
  plot::Scatter points;
  points.x = noise.list("qq_theoretical");
  points.y = noise.list("qq_sample");
  points.radius = 1.2;
  panel.series = {points};
  if (std::isfinite(line.intercept) && std::isfinite(line.slope)) panel.series.push_back(line);
  const double r = noise.number("qq_correlation");
  if (std::isfinite(r)) panel.note = "r = " + plot::short_number(r);
  return panel;
}

plot::Figure draw_noise(std::span<const Source> sources, const FigureRequest& request) {
  const Checkpoints checkpoints = read_checkpoints(sources[0]);
  const std::size_t checkpoint = chosen_checkpoint(sources[0], checkpoints, request);
  const NoiseRow noise(*sources[0].result, checkpoint);
  plot::Panel histogram = histogram_panel(noise);
  const double size = noise.number("batch_size");
  histogram.note = checkpoints.name_of(checkpoint);
  if (std::isfinite(size)) histogram.note += fmt::format(", batches of {}", size);
  return {.title = {},
          .description =
              "Distribution of the norms of minibatch gradients minus the full "
              "gradient, and their quantiles against those of a normal distribution",
          .panels = {std::move(histogram), qq_panel(noise)}};
}

}  // namespace

FigureKind noise_figure() {
  FigureKind kind{.name = "noise",
                  .topic = Topic::kNoise,
                  .summary = "gradient noise at a checkpoint: histogram and normal QQ plot",
                  .needs = {{"", "step"}},
                  .made_by = "analyzer noise",
                  .has_step = true,
                  .draw = draw_noise};
  for (const char* name : {"histogram_edges",
                           "histogram_density",
                           "mean",
                           "standard_deviation",
                           "batch_size",
                           "qq_theoretical",
                           "qq_sample",
                           "qq_slope",
                           "qq_intercept",
                           "qq_correlation"}) {
    kind.needs.push_back({"noise", name});
  }
  return kind;
}

}  // namespace hesscope::figures
