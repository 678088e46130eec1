// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/figures/internal/figure_data.h>
#include <hesscope/figures/internal/figures.h>

namespace hesscope::figures {
namespace {

const std::string kTracking = "tracking";

// One end of the spectrum: rows are checkpoints, columns pairs.
class EndOfTracks {
 public:
  EndOfTracks(const Source& source, const std::string& end)
      : end_(end), checkpoints_(read_checkpoints(source)) {
    const io::ResultReader& result = *source.result;
    const auto read = [&](const std::string& name) {
      return read_numbers(result, kTracking, name + "_" + end, 2, checkpoints_.size());
    };
    const Variable eigenvalues = read("eigenvalues");
    num_pairs_ = static_cast<std::size_t>(eigenvalues.shape[1]);
    eigenvalues_ = eigenvalues.reals();
    tracks_ = read_beside(result, "track");
    continued_ = read_beside(result, "continued");
    unproved_ = read_unproved(result, kTracking, "eigenvalues_" + end, checkpoints_.size());
  }

  plot::Panel panel() const {
    plot::Panel panel;
    panel.x = step_axis(checkpoints_);
    panel.y = {.label = end_ + " eigenvalues", .scale = plot::ScaleKind::kSignedLog};
    panel.y.threshold = signed_threshold(eigenvalues_, 0);
    panel.legend = plot::Legend::kNone;
    panel.series.push_back(plot::Reference{.dash = plot::Dash::kSolid});
    std::size_t num_unclear = 0;
    for (const Run& run : checkpoints_.runs) {
      num_unclear += add_unclear_links(run, panel);
      add_tracks(run, panel);
    }
    if (num_unclear > 0) {
      panel.note = fmt::format("{} link{} not clear", num_unclear, num_unclear == 1 ? "" : "s");
    }
    return panel;
  }

 private:
  // One number for each eigenvalue.
  std::vector<double> read_beside(const io::ResultReader& result, const std::string& what) const {
    const std::string name = what + "_" + end_;
    const Variable numbers = read_numbers(result, kTracking, name, 2, checkpoints_.size());
    if (numbers.reals().size() == eigenvalues_.size()) return numbers.reals();
    throw InputError(
        fmt::format("{}: variable '{}/{}': has not as many numbers as there are "
                    "eigenvalues; compute the result again",
                    result.path().string(),
                    kTracking,
                    name));
  }

  double at(const std::vector<double>& numbers, std::size_t checkpoint, std::size_t pair) const {
    return numbers[checkpoint * num_pairs_ + pair];
  }

  // From a pair that begins a track to the one that it continues best: dotted, because the link is
  // uncertain. Returns the number of links.
  std::size_t add_unclear_links(const Run& run, plot::Panel& panel) const {
    std::size_t count = 0;
    for (std::size_t i = run.begin + 1; i < run.end; ++i) {
      for (std::size_t k = 0; k < num_pairs_; ++k) {
        const double before = at(continued_, i, k);
        if (std::isnan(before)) continue;
        const auto j = static_cast<std::size_t>(before);
        if (j >= num_pairs_ || at(tracks_, i, k) == at(tracks_, i - 1, j)) continue;
        panel.series.push_back(plot::Line{.x = {checkpoints_.steps[i - 1], checkpoints_.steps[i]},
                                          .y = {at(eigenvalues_, i - 1, j), at(eigenvalues_, i, k)},
                                          .colour = plot::kGrey,
                                          .width = 0.75,
                                          .dash = plot::Dash::kDotted});
        ++count;
      }
    }
    return count;
  }

  // One line for each track; pairs of a cluster that is not whole are on no track.
  void add_tracks(const Run& run, plot::Panel& panel) const {
    std::map<double, plot::Line> lines;
    plot::Scatter apart{.colour = plot::kGrey};
    for (std::size_t i = run.begin; i < run.end; ++i) {
      for (std::size_t k = 0; k < num_pairs_; ++k) {
        const double track = at(tracks_, i, k);
        if (std::isnan(track)) {
          apart.x.push_back(checkpoints_.steps[i]);
          apart.y.push_back(at(eigenvalues_, i, k));
          continue;
        }
        plot::Line& line = lines[track];
        line.x.push_back(checkpoints_.steps[i]);
        line.y.push_back(at(eigenvalues_, i, k));
        line.uncertain.push_back(unproved_[i]);
      }
    }
    for (auto& [track, line] : lines) {
      line.colour = plot::line_colour(static_cast<std::size_t>(track));
      line.markers = true;
      panel.series.push_back(std::move(line));
    }
    if (!apart.x.empty()) panel.series.push_back(std::move(apart));
  }

  std::string end_;
  Checkpoints checkpoints_;
  std::size_t num_pairs_ = 0;
  std::vector<double> eigenvalues_;
  std::vector<double> tracks_;
  std::vector<double> continued_;
  std::vector<bool> unproved_;
};

plot::Figure draw_tracking(std::span<const Source> sources, const FigureRequest& /*request*/) {
  return {.title = {},
          .description =
              "The outermost eigenvalues of the Hessian over training steps; one colour for those "
              "whose eigenvectors continue one another, dotted lines where that is not clear",
          .panels = {EndOfTracks(sources[0], "largest").panel(),
                     EndOfTracks(sources[0], "smallest").panel()}};
}

}  // namespace

FigureKind tracking_figure() {
  FigureKind kind{.name = kTracking,
                  .topic = Topic::kSpectrum,
                  .summary = "outermost eigenvalues over steps, followed by their eigenvectors",
                  .needs = {{"", "step"}},
                  .made_by = "analyzer tracking",
                  .has_free_scales = true,
                  .draw = draw_tracking};
  for (const char* end : {"_largest", "_smallest"}) {
    for (const char* name : {"eigenvalues", "track", "continued"}) {
      kind.needs.push_back({kTracking, std::string(name) + end});
    }
  }
  return kind;
}

}  // namespace hesscope::figures
