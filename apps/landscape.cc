// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <hesscope/landscape/landscape.h>

#include "checkpoint_options.h"
#include "commands.h"
#include "number_tables.h"
#include "progress_line.h"
#include "run_command.h"
#include "table.h"

namespace hesscope::cli {
namespace {

Json ends_of(const Eigen::VectorXd& axis) {
  return std::vector<double>{axis[0], axis[axis.size() - 1]};
}

Json span_json(const Grid& grid) {
  return {{"alpha", ends_of(grid.alpha)}, {"beta", ends_of(grid.beta)}};
}

// In the form of --span.
std::string span_text(const Grid& grid) {
  const auto ends = [](const Eigen::VectorXd& axis) {
    return fmt::format("{:.6g}:{:.6g}", axis[0], axis[axis.size() - 1]);
  };
  return fmt::format("{},{}", ends(grid.alpha), ends(grid.beta));
}

class LandscapeCommand final : public RunCommand {
 public:
  std::string name() const override { return "landscape"; }

  std::string summary() const override {
    return "Loss and curvature on a line or a plane through a checkpoint";
  }

  std::string description() const override {
    return "Computes the loss on a grid along one or two directions through a checkpoint, and with "
           "--curvature the gradient norm, the extreme eigenvalues and the number of negative ones "
           "of the exact Hessian at every point. All checkpoints that are given are projected on "
           "the plane, as the trajectory of the training.";
  }

  std::vector<std::string> examples() const override {
    return {
        "hesscope landscape step-000500.npz --problem problem.toml -o plane.h5 --directions random "
        "--grid 51x51",
        "hesscope landscape step-000500.npz --problem problem.toml -o plane.h5 --directions eigen "
        "--grid 51x51 --span -2:2 --curvature",
        "hesscope landscape checkpoints/ --problem problem.toml -o path.h5 --directions pca --grid "
        "51x51",
        "hesscope landscape a.npz b.npz --problem problem.toml -o line.h5 --directions between "
        "--grid 101x1 --span 0:1",
    };
  }

  void declare(OptionTable& options) override {
    const char* const directions = "Directions: centre + alpha direction_1 + beta direction_2";
    checkpoints_.declare_files(
        options,
        "Checkpoint files, or folders of them, as for 'hesscope analyze'; the last one by its step "
        "is the centre (with --directions between, the first one given)");
    declare_result_run(options);
    options.group(directions);
    std::vector<std::string> kinds;
    for (const DirectionKind& kind : direction_kinds()) kinds.push_back(kind.name);
    options.text("--directions", directions_, "KIND", "One of" + kinds_text())
        .required()
        .offering(kinds);
    options.group("Grid: where to look");
    options
        .text(
            "--grid",
            grid_,
            "NxM",
            "How many points along alpha and along beta; Nx1 and 1xM are lines through the centre")
        .required();
    options.text("--span",
                 span_,
                 "A:B[,C:D]",
                 "Ends of alpha and, after a comma, of beta (default: -1:1 for both; with "
                 "--directions pca: all checkpoints, with a margin)");
    options.flag("--curvature",
                 curvature_,
                 "Also compute, at every point, the gradient norm, the smallest and the largest "
                 "eigenvalue and the number of negative ones of the exact Hessian, and the second "
                 "derivatives within the plane");
    options.group(directions);
    options.choice("--normalization",
                   normalization_,
                   {"filter", "layer", "none"},
                   "How random directions are scaled by the weights (default: filter; with "
                   "--directions tensors: layer)\n"
                   "filter: by the rows of matrices\nlayer: by tensors\nnone: not at all");
    options.flag("--leave-out-vectors",
                 leaves_out_vectors_,
                 "Make random directions zero in tensors of rank 0 and 1, such as biases");
    checkpoints_.declare_reading(options);
    checkpoints_.declare_seed(options);
  }

  bool shares_work() const override { return !dry_run_; }

  void serve() override {
    serve_landscape(*team(), [this] { return make_request(); });
  }

 private:
  // One line for each kind of directions.
  static std::string kinds_text() {
    std::string text;
    for (const DirectionKind& kind : direction_kinds()) {
      const bool may_be_left_out = kind.argument.starts_with('[');
      const std::string argument = kind.argument.empty() ? ""
                                   : may_be_left_out     ? "[:" + kind.argument.substr(1)
                                                         : ":" + kind.argument;
      text += fmt::format("\n{}{}: {}", kind.name, argument, kind.meaning);
    }
    return text;
  }

  LandscapeRequest make_request() const {
    LandscapeRequest request;
    request.directions = directions_;
    request.has_default_span = span_.empty();
    request.grid = parse_grid(grid_, span_.empty() ? "-1:1" : span_);
    fill(request);
    checkpoints_.fill(request);
    if (!normalization_.empty()) {
      request.normalization = normalization_ == "filter"  ? Normalization::kFilter
                              : normalization_ == "layer" ? Normalization::kLayer
                                                          : Normalization::kNone;
    }
    request.leaves_out_vectors = leaves_out_vectors_;
    request.curvature = curvature_;
    request.command = recorded();
    return request;
  }

  Report plan() override {
    const LandscapePlan plan = plan_landscape(make_request());
    Json document = plan_document();
    document["model"] = plan.model_kind;
    document["checkpoints"] = plan.num_checkpoints;
    document["centre"] = plan.centre.string();
    document["directions"] = plan.directions;
    document["parameters"] = plan.num_parameters;
    document["samples"] = plan.num_samples;
    document["points"] = plan.num_points;
    document["span"] = span_json(plan.grid);
    add_foreseen(document, plan);
    std::string text = facts_text({{"model", plan.model_kind},
                                   {"checkpoints", fmt::to_string(plan.num_checkpoints)},
                                   {"centre", plan.centre.string()},
                                   {"parameters", fmt::to_string(plan.num_parameters)},
                                   {"samples", fmt::to_string(plan.num_samples)},
                                   {"points", fmt::to_string(plan.num_points)},
                                   {"span", span_text(plan.grid)},
                                   {"memory", "about " + bytes_text(plan.peak_memory_bytes)},
                                   {"time", "about " + duration_text(plan.seconds)},
                                   {"output", output_text(plan)}});
    for (const std::string& direction : plan.directions) {
      text += facts_text({{"direction", direction}});
    }
    return {.document = document, .text = text, .warnings = plan.warnings};
  }

  Report compute(const std::stop_token& stop, const ShowProgress& progress) override {
    LandscapeRequest request = make_request();
    request.stop = stop;
    const LandscapeResult result = run_landscape(
        request, [&](double fraction) { return progress("landscape", 0, 1, fraction); });
    if (result.part) return part_report(*result.part, "units", result.warnings);
    return {.document = document_of(result),
            .text = summary_of(result),
            .warnings = result.warnings,
            .is_conclusive = result.is_conclusive};
  }

  Json document_of(const LandscapeResult& result) const {
    Json document = result_document();
    document["centre"] = result.centre;
    document["checkpoints"] = json_of(result.checkpoints);
    document["landscape"]["points"] = result.num_points;
    document["landscape"]["non_finite_points"] = result.num_non_finite;
    add_numbers(document, result.numbers);
    document["span"] = span_json(result.grid);
    document["done_already"] = result.is_done_already;
    document["warnings"] = with_flags(result.warnings);
    document["timings"] = {{"load_seconds", result.timings.load_seconds},
                           {"directions_seconds", result.timings.directions_seconds},
                           {"grid_seconds", result.timings.grid_seconds},
                           {"write_seconds", result.timings.write_seconds},
                           {"total_seconds", result.timings.total_seconds}};
    return document;
  }

  std::string summary_of(const LandscapeResult& result) const {
    std::vector<std::vector<std::string>> rows = loss_rows(result.checkpoints);
    std::vector<HeadlineNumber> all = result.numbers;
    for (const HeadlineNumber& number : result.checkpoints.front().numbers) {
      rows[0].push_back(number.name);
    }
    for (std::size_t i = 0; i < result.checkpoints.size(); ++i) {
      for (const HeadlineNumber& number : result.checkpoints[i].numbers) {
        rows[i + 1].push_back(cell_text(number));
        all.push_back(number);
      }
    }
    std::string text = table_text(rows);
    rows.assign(1, {"/landscape", ""});
    for (const HeadlineNumber& number : result.numbers) {
      rows.push_back({number.name, cell_text(number)});
    }
    text += fmt::format("\n{}\n{}", table_text(rows), legend_text(all));
    if (result.num_non_finite > 0) {
      text += fmt::format(
          "the loss is not finite at {} of {} points\n", result.num_non_finite, result.num_points);
    }
    return text + ending_text(result.is_done_already, result.timings.total_seconds);
  }

  CheckpointOptions checkpoints_;
  std::string directions_;
  std::string grid_;
  std::string span_;
  std::string normalization_;
  bool curvature_ = false;
  bool leaves_out_vectors_ = false;
};

}  // namespace

std::unique_ptr<Command> make_landscape_command() { return std::make_unique<LandscapeCommand>(); }

}  // namespace hesscope::cli
