// SPDX-License-Identifier: BSD-3-Clause
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/settings.h>
#include <hesscope/paths/path.h>

#include "checkpoint_options.h"
#include "commands.h"
#include "number_tables.h"
#include "progress_line.h"
#include "run_command.h"
#include "table.h"

namespace hesscope::cli {
namespace {

class PathCommand final : public RunCommand {
 public:
  std::string name() const override { return "path"; }

  std::string summary() const override {
    return "The lowest way from one checkpoint to another, its pass and its barrier";
  }

  std::string description() const override {
    return "Aligns the second of two checkpoints with the first by what the model does not see "
           "(places and signs of hidden units, scales, bases), and finds the barrier on the "
           "straight path between them, the path of minimum energy by an elastic band with exact "
           "gradients, the pass on it by Newton's method on the exact Hessian, with its index by "
           "counts, and the spectrum of the Hessian along the path.";
  }

  std::vector<std::string> examples() const override {
    return {
        "hesscope path a.npz b.npz --problem problem.toml -o path.h5",
        "hesscope path a.npz b.npz --problem problem.toml -o path.h5 --images 33 --max-steps 20000",
        "hesscope path a.npz b.npz --problem problem.toml -o path.h5 --no-alignment --json",
        "hesscope plot path.h5 --figure path -o path.svg",
    };
  }

  void declare(OptionTable& options) override {
    checkpoints_.declare_files(options, "The two checkpoints, the first one and the one to go to");
    declare_result_run(options);
    options.group("Path");
    options.integer(
        "--images",
        images_,
        3,
        100'000,
        "How many points of the minimum-energy path, its ends among them (default: 17)");
    options.integer("--max-steps",
                    max_steps_,
                    0,
                    1'000'000'000,
                    "At most how many steps to bring the path to rest (default: 5000)");
    options.setting(
        {.name = "tolerance",
         .type = SettingKey::Type::kReal,
         .meaning = "the gradient across the path that is rest, relative to the largest "
                    "on the straight path",
         .range = RealRange{},
         .fallback = SettingValue(1e-3)},
        settings_);
    options.flag("--no-alignment",
                 is_unaligned_,
                 "Take the second checkpoint as it is: hidden units in other places, say, then are "
                 "another network");
    options.flag("--no-spectrum",
                 has_no_spectrum_,
                 "Leave out the eigenvalues along the path; the pass has its index all the same");
    checkpoints_.declare_reading(options);
    checkpoints_.declare_seed(options);
  }

  bool shares_work() const override { return !dry_run_; }

  void serve() override {
    serve_path(*team(), [this] { return make_request(); });
  }

 private:
  PathRequest make_request() const {
    PathRequest request;
    fill(request);
    checkpoints_.fill(request);
    request.aligns = !is_unaligned_;
    request.has_spectrum = !has_no_spectrum_;
    request.num_images = images_;
    request.max_steps = max_steps_;
    const auto tolerance = settings_.find("tolerance");
    if (tolerance != settings_.end()) request.tolerance = std::get<double>(tolerance->second);
    request.command = recorded();
    return request;
  }

  Report plan() override {
    const PathPlan plan = plan_path(make_request());
    Json document = plan_document();
    document["model"] = plan.model_kind;
    document["parameters"] = plan.num_parameters;
    document["samples"] = plan.num_samples;
    document["images"] = plan.num_images;
    add_foreseen(document, plan);
    const std::string text = facts_text({{"model", plan.model_kind},
                                         {"parameters", fmt::to_string(plan.num_parameters)},
                                         {"samples", fmt::to_string(plan.num_samples)},
                                         {"images", fmt::to_string(plan.num_images)},
                                         {"memory", "about " + bytes_text(plan.peak_memory_bytes)},
                                         {"time",
                                          fmt::format("at most {}{}",
                                                      duration_text(plan.seconds),
                                                      is_unaligned_ ? "" : ", and the alignment")},
                                         {"output", output_text(plan)}});
    return {.document = document, .text = text, .warnings = plan.warnings};
  }

  Report compute(const std::stop_token& stop, const ShowProgress& progress) override {
    PathRequest request = make_request();
    request.stop = stop;
    const PathResult result =
        run_path(request, [&](double fraction) { return progress("path", 0, 1, fraction); });
    if (result.part) return part_report(*result.part, "units", result.warnings);
    return {.document = document_of(result),
            .text = summary_of(result),
            .warnings = result.warnings,
            .is_conclusive = result.is_conclusive};
  }

  Json document_of(const PathResult& result) const {
    Json document = result_document();
    document["checkpoints"] = json_of(result.checkpoints);
    document["aligned_by"] = result.aligned_by;
    add_numbers(document, result.numbers);
    document["done_already"] = result.is_done_already;
    document["warnings"] = with_flags(result.warnings);
    document["timings"] = {{"load_seconds", result.timings.load_seconds},
                           {"alignment_seconds", result.timings.alignment_seconds},
                           {"band_seconds", result.timings.band_seconds},
                           {"curvature_seconds", result.timings.curvature_seconds},
                           {"write_seconds", result.timings.write_seconds},
                           {"total_seconds", result.timings.total_seconds}};
    return document;
  }

  std::string summary_of(const PathResult& result) const {
    std::string text = table_text(loss_rows(result.checkpoints));
    std::vector<std::vector<std::string>> rows = {{"/path", ""}};
    for (const HeadlineNumber& number : result.numbers) {
      rows.push_back({number.name, cell_text(number)});
    }
    if (!is_unaligned_) {
      text += result.aligned_by.empty()
                  ? "aligned by nothing: no units or invariances were found\n"
                  : fmt::format("aligned by {}\n", fmt::join(result.aligned_by, "; "));
    }
    std::string takes;
    if (const std::vector<std::string> names = names_without_alignment(result); !names.empty()) {
      takes =
          fmt::format("{} take the alignment (leave out --no-alignment)", fmt::join(names, ", "));
    }
    text += fmt::format("\n{}\n{}", table_text(rows), legend_text(result.numbers, takes));
    return text + ending_text(result.is_done_already, result.timings.total_seconds);
  }

  // Numbers that are missing because nothing was aligned.
  std::vector<std::string> names_without_alignment(const PathResult& result) const {
    std::vector<std::string> names;
    for (const HeadlineNumber& number : result.numbers) {
      const bool is_of_alignment = number.name.starts_with("unaligned_") ||
                                   number.name.starts_with("num_") ||
                                   number.name == "alignment_error";
      const bool is_left_out = is_unaligned_ && number.status == Status::kNotComputed;
      if (is_of_alignment && is_left_out) names.push_back(number.name);
    }
    return names;
  }

  CheckpointOptions checkpoints_;
  int images_ = 17;
  int max_steps_ = 5000;
  std::map<std::string, SettingValue> settings_;
  bool is_unaligned_ = false;
  bool has_no_spectrum_ = false;
};

}  // namespace

std::unique_ptr<Command> make_path_command() { return std::make_unique<PathCommand>(); }

}  // namespace hesscope::cli
