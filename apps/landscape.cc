// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/core/shell.h>
#include <hesscope/core/version.h>
#include <hesscope/landscape/landscape.h>
#include <hesscope/storage/unit_folder.h>

#include "checkpoint_options.h"
#include "commands.h"
#include "interrupt.h"
#include "json_document.h"
#include "output_text.h"
#include "progress_line.h"
#include "run_options.h"
#include "standard_streams.h"
#include "table.h"

namespace hesscope::cli {
namespace {

Json ends_of(const Eigen::VectorXd& axis) { return {axis[0], axis[axis.size() - 1]}; }

Json span_json(const Grid& grid) {
  return {{"alpha", ends_of(grid.alpha)}, {"beta", ends_of(grid.beta)}};
}

// As --span takes it.
std::string span_text(const Grid& grid) {
  const auto ends = [](const Eigen::VectorXd& axis) {
    return fmt::format("{:.6g}:{:.6g}", axis[0], axis[axis.size() - 1]);
  };
  return fmt::format("{},{}", ends(grid.alpha), ends(grid.beta));
}

class LandscapeCommand final : public Command {
 public:
  std::string name() const override { return "landscape"; }

  std::string summary() const override {
    return "Loss and curvature on a line or a plane through a checkpoint";
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
    checkpoints_.declare(
        options,
        "Checkpoint files, or folders of them, as for 'hesscope analyze'; the last "
        "one by its step is the centre (with --directions between, the first one "
        "given)");
    options.text("-p,--problem", problem_, "FILE.toml", "Problem file: model and data", true);
    options.group("Output");
    options.text("-o,--output", output_, "OUT.h5", "Result file to write", true);
    run_options_.declare(options,
                         "Replace an existing result",
                         "Check the inputs and estimate memory and time; compute nothing");
    options.seed("--seed", seed_, "Seed of all random numbers (default: 0)");
    options.group("Directions: centre + alpha direction_1 + beta direction_2");
    options.text("--directions", directions_, "KIND", "One of" + kinds_text(), true);
    options.choice("--normalization",
                   normalization_,
                   {"filter", "layer", "none"},
                   "How random directions are scaled by the weights (default: filter; with "
                   "--directions tensors: layer)\n"
                   "filter: by the rows of matrices\nlayer: by tensors\nnone: not at all");
    options.flag("--leave-out-vectors",
                 leaves_out_vectors_,
                 "Make random directions zero in tensors of rank 0 and 1, such as biases");
    options.group("Grid: where to look");
    options.text("--grid",
                 grid_,
                 "NxM",
                 "How many points along alpha and along beta; Nx1 and 1xM are lines through the "
                 "centre",
                 true);
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
  }

  // A line for each kind of directions.
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

  ExitCode run() override {
    LandscapeRequest request = make_request();
    if (run_options_.dry_run) return show_plan(plan_landscape(request));
    ProgressLine progress(name(), run_options_.quiet);
    const LandscapeResult result = interruptibly(*this, [&](const std::stop_token& stop) {
      request.stop = stop;
      return run_landscape(request, [&](double fraction) {
        progress.show("landscape", 0, 1, fraction);
        return caught_signal() == 0;
      });
    });
    progress.clear();
    if (run_options_.json) {
      print_json(document_of(result));
    } else if (!run_options_.quiet) {
      print_summary(result);
    }
    print_warnings(with_flags(result.warnings));
    return result.is_conclusive ? ExitCode::kDone : ExitCode::kInconclusive;
  }

  std::string on_interrupt() const override {
    return io::has_units(output_)
               ? resumption_text(output_ + ".units", command_text(), output_, run_options_.force)
               : Command::on_interrupt();
  }

 private:
  static void print_warnings(const std::vector<std::string>& warnings) {
    for (const std::string& warning : warnings) {
      print_message("hesscope landscape: warning: {}\n", warning);
    }
  }

  LandscapeRequest make_request() const {
    LandscapeRequest request;
    request.directions = directions_;
    request.has_default_span = span_.empty();
    request.grid = parse_grid(grid_, span_.empty() ? kDefaultSpan : span_);
    checkpoints_.fill(request);
    request.problem = problem_;
    request.output = output_;
    if (!normalization_.empty()) {
      request.normalization = normalization_ == "filter"  ? Normalization::kFilter
                              : normalization_ == "layer" ? Normalization::kLayer
                                                          : Normalization::kNone;
    }
    request.leaves_out_vectors = leaves_out_vectors_;
    request.curvature = curvature_;
    request.seed = seed_;
    request.overwrite = run_options_.force.overwrite();
    request.num_threads = run_options_.threads;
    request.command = command_text();
    return request;
  }

  // The command without what cannot change a result.
  std::string command_text() const {
    return fmt::format("hesscope landscape {} --problem {} --directions {} --grid {}{}{}{}{}{}{}",
                       shell_words(checkpoints_.paths),
                       shell_word(problem_),
                       shell_word(directions_),
                       grid_,
                       span_.empty() ? "" : fmt::format(" --span {}", span_),
                       curvature_ ? " --curvature" : "",
                       normalization_.empty() ? "" : " --normalization " + normalization_,
                       leaves_out_vectors_ ? " --leave-out-vectors" : "",
                       checkpoints_.arguments(),
                       seed_ == 0 ? "" : fmt::format(" --seed {}", seed_));
  }

  ExitCode show_plan(const LandscapePlan& plan) const {
    if (run_options_.json) {
      Json document;
      document["command"] = "landscape";
      document["dry_run"] = true;
      document["output"] = output_;
      document["model"] = plan.model_kind;
      document["checkpoints"] = plan.num_checkpoints;
      document["centre"] = plan.centre.string();
      document["directions"] = plan.directions;
      document["parameters"] = plan.num_parameters;
      document["samples"] = plan.num_samples;
      document["points"] = plan.num_points;
      document["span"] = span_json(plan.grid);
      document["peak_memory_bytes"] = plan.peak_memory_bytes;
      document["seconds"] = plan.seconds;
      document["done_already"] = plan.is_done_already;
      document["warnings"] = with_flags(plan.warnings);
      print_json(document);
    } else if (!run_options_.quiet) {
      print_text(
          "model        {}\ncheckpoints  {}\ncentre       {}\nparameters   {}\nsamples      {}\n"
          "points       {}\nspan         {}\nmemory       about {}\ntime         about {}\n"
          "output       {} ({})\n",
          plan.model_kind,
          plan.num_checkpoints,
          plan.centre.string(),
          plan.num_parameters,
          plan.num_samples,
          plan.num_points,
          span_text(plan.grid),
          bytes_text(plan.peak_memory_bytes),
          duration_text(plan.seconds),
          output_,
          output_state(output_, run_options_.force, plan.is_done_already));
      for (const std::string& direction : plan.directions) {
        print_text("direction    {}\n", direction);
      }
    }
    print_warnings(with_flags(plan.warnings));
    return ExitCode::kDone;
  }

  Json document_of(const LandscapeResult& result) const {
    Json document;
    document["command"] = "landscape";
    document["hesscope_version"] = kVersion;
    document["output"] = output_;
    document["centre"] = result.centre;
    document["checkpoints"] = Json::array();
    for (const CheckpointSummary& summary : result.checkpoints) {
      document["checkpoints"].push_back(json_of(summary));
    }
    Json& landscape = document["landscape"];
    landscape["points"] = result.num_points;
    landscape["non_finite_points"] = result.num_non_finite;
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

  void print_summary(const LandscapeResult& result) const {
    std::vector<std::vector<std::string>> rows = {{"/", "loss", "gradient_norm"}};
    for (const HeadlineNumber& number : result.checkpoints.front().numbers) {
      rows[0].push_back(number.name);
    }
    for (const CheckpointSummary& summary : result.checkpoints) {
      rows.push_back(
          {summary.checkpoint.path.filename().string(),
           cell_text(summary.loss, std::isfinite(summary.loss) ? Status::kOk : summary.status),
           cell_text(summary.gradient_norm, summary.status)});
      for (const HeadlineNumber& number : summary.numbers) {
        rows.back().push_back(cell_text(number.value, number.status));
      }
    }
    print_text("{}", table_text(rows));
    rows.assign(1, {"/landscape", ""});
    for (const HeadlineNumber& number : result.numbers) {
      rows.push_back({number.name, cell_text(number.value, number.status)});
    }
    print_text("\n{}\n", table_text(rows));
    if (result.num_non_finite > 0) {
      print_text(
          "the loss is not finite at {} of {} points\n", result.num_non_finite, result.num_points);
    }
    print_text("{}", ending_text(output_, result.is_done_already, result.timings.total_seconds));
  }

  static std::string cell_text(double value, Status status) {
    return status == Status::kOk ? number_text(value) : std::string(to_string(status));
  }

  static constexpr const char* kDefaultSpan = "-1:1";

  CheckpointOptions checkpoints_;
  std::string problem_;
  std::string output_;
  std::string directions_;
  std::string grid_;
  std::string span_;
  std::string normalization_;
  std::uint64_t seed_ = 0;
  bool curvature_ = false;
  bool leaves_out_vectors_ = false;
  RunOptions run_options_;
};

}  // namespace

std::unique_ptr<Command> make_landscape_command() { return std::make_unique<LandscapeCommand>(); }

}  // namespace hesscope::cli
