// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/figures/internal/figure_data.h>
#include <hesscope/figures/internal/figures.h>

namespace hesscope::figures {
namespace {

const std::string kStability = "stability";
const std::string kBatchRatio = "batch_sharpness_ratio";
constexpr double kNone = 0;  // of the flag `source`
constexpr double kRecomputed = 2;

struct Ratio {
  const char* name;
  const char* label;
  bool is_preconditioned;
};

constexpr Ratio kRatios[] = {{"gd_ratio", "gradient descent", false},
                             {"momentum_ratio", "with momentum", false},
                             {"adam_ratio", "Adam", true},
                             {"optimizer_ratio", "the optimiser", true}};

bool has_any(std::span<const double> values) {
  return std::ranges::any_of(values, [](double value) { return std::isfinite(value); });
}

// The values at which `source` says that second moments were recomputed, or those at which it does
// not.
std::vector<double> chosen(std::vector<double> values,
                           std::span<const double> source,
                           bool is_recomputed) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if ((source[i] == kRecomputed) != is_recomputed) values[i] = kNaN;
  }
  return values;
}

class Drawing {
 public:
  explicit Drawing(const Source& source)
      : result_(*source.result),
        checkpoints_(read_checkpoints(source)),
        sharpness_unproved_(read_unproved(result_, "spectrum", "lambda_max", checkpoints_.size())) {
    panel_.x = step_axis(checkpoints_);
    panel_.y = {.label = "sharpness over the largest stable one", .scale = plot::ScaleKind::kLog};
    panel_.series.push_back(plot::Reference{.intercept = 1, .is_in_range = true});
  }

  plot::Panel panel() && {
    for (std::size_t k = 0; k < std::size(kRatios); ++k) {
      if (result_.find(kStability, kRatios[k].name) != nullptr)
        add(kRatios[k], plot::line_colour(k));
    }
    if (result_.find(kStability, kBatchRatio) != nullptr) add_batches();
    return std::move(panel_);
  }

 private:
  void add(const Ratio& ratio, const plot::Colour& colour) {
    const std::size_t count = checkpoints_.size();
    const std::vector<double> values = read_column(result_, kStability, ratio.name, count);
    std::vector<bool> unproved = read_unproved(result_, kStability, ratio.name, count);
    if (!ratio.is_preconditioned) {
      for (std::size_t i = 0; i < count; ++i) {
        unproved[i] = unproved[i] || sharpness_unproved_[i];
      }
      return add_lines(values, ratio.label, colour, false, unproved);
    }
    const std::vector<double> source =
        read_column(result_, kStability, "source", checkpoints_.size());
    add_lines(chosen(values, source, false), ratio.label, colour, false, unproved);
    add_lines(chosen(values, source, true),
              fmt::format("{}, moments recomputed", ratio.label),
              colour,
              true,
              unproved);
    std::size_t num_missing = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (source[i] == kNone && !std::isfinite(values[i])) ++num_missing;
    }
    if (num_missing > 0) {
      panel_.note = fmt::format(
          "{} of {} checkpoints hold no second moments", num_missing, checkpoints_.size());
    }
  }

  // One line for each minibatch size.
  void add_batches() {
    const Variable ratios = read_numbers(result_, kStability, kBatchRatio, 2, checkpoints_.size());
    const std::vector<double> sizes =
        read_numbers(result_, kStability, ratios.dimensions.back(), 1).numbers();
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      std::vector<double> values(checkpoints_.size());
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = ratios.row(i).at(k);
      add_lines(values,
                fmt::format("batches of {}", sizes[k]),
                plot::line_colour(std::size(kRatios) + k),
                false,
                {});
    }
  }

  void add_lines(const std::vector<double>& values,
                 const std::string& label,
                 const plot::Colour& colour,
                 bool is_recomputed,
                 const std::vector<bool>& unproved) {
    if (!has_any(values)) return;
    for (plot::Line& line : curves(checkpoints_, values, unproved)) {
      line.label = checkpoints_.runs.size() > 1 ? line.label + ": " + label : label;
      line.colour = colour;
      line.markers = true;
      if (is_recomputed) line.dash = plot::Dash::kDotted;
      panel_.series.push_back(std::move(line));
    }
  }

  const io::ResultReader& result_;
  Checkpoints checkpoints_;
  std::vector<bool> sharpness_unproved_;  // the sharpness is the largest eigenvalue of /spectrum
  plot::Panel panel_;
};

plot::Figure draw_stability(std::span<const Source> sources, const FigureRequest& /*request*/) {
  return {.title = {},
          .description =
              "Sharpness over the largest stable sharpness of gradient descent, with "
              "momentum, and of the preconditioned optimiser, and the sharpness that "
              "gradients of minibatches see over that of gradient descent, over training steps; "
              "above 1 they are unstable",
          .panels = {Drawing(named(sources)[0]).panel()}};
}

}  // namespace

FigureKind stability_figure() {
  return {.name = "stability",
          .topic = Topic::kStability,
          .summary = "sharpness against the largest that optimisers are stable at",
          .needs = {{"", "step"}, {kStability, "gd_ratio"}, {kStability, "momentum_ratio"}},
          .made_by = "analyzer stability",
          .has_free_scales = true,
          .draw = draw_stability};
}

}  // namespace hesscope::figures
