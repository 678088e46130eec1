// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/ascii.h>
#include <hesscope/core/error.h>
#include <hesscope/figures/internal/figure_data.h>
#include <hesscope/figures/internal/figures.h>

namespace hesscope::figures {
namespace {

const std::string kPath = io::kPathGroup;

class PathDrawing {
 public:
  explicit PathDrawing(const io::ResultReader& result)
      : result_(result), arc_(read_numbers(result, kPath, "arc_length", 1).reals()) {
    if (arc_.empty()) {
      throw InputError(fmt::format("{}: /path has no images", result.path().string()));
    }
    // If the ends coincide, all positions are the same.
    length_ = arc_.back() > 0 ? arc_.back() : 1;
    for (const double arc : arc_) places_.push_back(arc / length_);
    // There is a barrier only if the pass belongs to this path.
    has_pass_ = std::isfinite(read_number(result, kPath, "barrier")) &&
                std::isfinite(read_number(result, kPath, "saddle_loss"));
    saddle_place_ = read_number(result, kPath, "saddle_arc_length") / length_;
  }

  // Whether the checkpoints were aligned: the barrier without alignment often differs in size from
  // the others, and has a panel of its own.
  bool is_aligned() const {
    const std::vector<double> losses = read_numbers(result_, kPath, "unaligned_loss", 1).reals();
    return std::ranges::any_of(losses, [](double loss) { return std::isfinite(loss); });
  }

  plot::Panel unaligned() const {
    plot::Panel panel = panel_of("loss");
    add_straight(panel, "unaligned_loss", "not aligned", 2);
    add_straight(panel, "straight_loss", "aligned", 1);
    panel.note = "straight paths";
    return panel;
  }

  plot::Panel losses() const {
    plot::Panel panel = panel_of("loss");
    add_straight(panel, "straight_loss", "straight", 1);
    panel.series.push_back(plot::Line{.x = places_,
                                      .y = along_images("loss"),
                                      .label = band_label(),
                                      .colour = plot::line_colour(0),
                                      .markers = true});
    if (has_pass_) {
      panel.series.push_back(plot::Scatter{.x = {saddle_place_},
                                           .y = {read_number(result_, kPath, "saddle_loss")},
                                           .colour = plot::kInk,
                                           .radius = 3.5});
      const double index = read_number(result_, kPath, "saddle_index");
      panel.note = fmt::format("dot: the pass, of index {}", index);
    } else if (const std::string outcome = read_flag(result_, kPath, "saddle_outcome");
               !outcome.empty()) {
      panel.note = outcome == "no_pass"
                       ? "no pass: nowhere higher than both ends"
                       : fmt::format("the pass was not found: {}", as_words(outcome));
    }
    return panel;
  }

  plot::Panel curvature() const {
    plot::Panel panel = panel_of("eigenvalues of the Hessian");
    panel.y.scale = plot::ScaleKind::kSignedLog;
    panel.series.push_back(plot::Reference{.dash = plot::Dash::kSolid});
    const std::pair<const char*, const char*> shown[] = {{"lambda_max", "\u03bb_{max}"},
                                                         {"lambda_min", "\u03bb_{min}"},
                                                         {"tangent_curvature", "along the path"}};
    for (std::size_t k = 0; k < std::size(shown); ++k) {
      panel.series.push_back(plot::Line{.x = places_,
                                        .y = along_images(shown[k].first),
                                        .label = shown[k].second,
                                        .colour = plot::line_colour(k),
                                        .markers = true});
    }
    if (has_pass_) {
      panel.series.push_back(plot::Reference{.kind = plot::Reference::Kind::kVertical,
                                             .intercept = saddle_place_,
                                             .colour = plot::kInk});
    }
    return panel;
  }

 private:
  // A band that is still moving is not yet the path of minimum energy.
  std::string band_label() const {
    const std::string outcome = read_flag(result_, kPath, "band_outcome");
    return outcome.empty() || outcome == "converged" ? "minimum energy"
                                                     : fmt::format("band, {}", as_words(outcome));
  }

  std::vector<double> along_images(const std::string& name) const {
    return read_column(result_, kPath, name, arc_.size());
  }

  static plot::Panel panel_of(const std::string& label) {
    plot::Panel panel;
    panel.x.label = "distance along the path / its length";
    panel.y.label = label;
    return panel;
  }

  void add_straight(plot::Panel& panel,
                    const std::string& name,
                    const std::string& label,
                    std::size_t colour) const {
    std::vector<double> places = read_numbers(result_, kPath, "place", 1).reals();
    std::vector<double> losses = read_column(result_, kPath, name, places.size());
    panel.series.push_back(plot::Line{.x = std::move(places),
                                      .y = std::move(losses),
                                      .label = label,
                                      .colour = plot::line_colour(colour),
                                      .dash = plot::Dash::kDashed});
  }

  const io::ResultReader& result_;
  std::vector<double> arc_;
  double length_ = 1;
  std::vector<double> places_;
  bool has_pass_;
  double saddle_place_;
};

plot::Figure draw_path(std::span<const Source> sources, const FigureRequest& /*request*/) {
  const io::ResultReader& result = *sources[0].result;
  const PathDrawing drawing(result);
  plot::Figure figure{.title = {},
                      .description =
                          "The loss on the straight path between two checkpoints and on "
                          "the minimum-energy path, with its pass, and the sharpness "
                          "along the latter",
                      .panels = {}};
  if (drawing.is_aligned()) figure.panels.push_back(drawing.unaligned());
  figure.panels.push_back(drawing.losses());
  if (result.find(kPath, "lambda_max") != nullptr) figure.panels.push_back(drawing.curvature());
  return figure;
}

}  // namespace

FigureKind path_figure() {
  return {.name = kPath,
          .topic = Topic::kLandscape,
          .summary =
              "the loss on the straight and on the minimum-energy path between two "
              "checkpoints, the pass, and the sharpness along the path",
          .needs = {{kPath, "arc_length"},
                    {kPath, "loss"},
                    {kPath, "place"},
                    {kPath, "straight_loss"},
                    {kPath, "unaligned_loss"}},
          .made_by = "run_path()",
          .has_free_scales = true,
          .draw = draw_path};
}

}  // namespace hesscope::figures
