// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <hesscope/analysis/internal/checkpoint_records.h>
#include <hesscope/analysis/internal/run_steps.h>
#include <hesscope/analysis/internal/team_session.h>
#include <hesscope/analysis/internal/unit_run.h>
#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/core/stop_request.h>
#include <hesscope/core/stopwatch.h>
#include <hesscope/paths/elastic_band.h>
#include <hesscope/paths/internal/path_file.h>
#include <hesscope/paths/internal/path_inputs.h>
#include <hesscope/paths/internal/path_records.h>
#include <hesscope/paths/internal/path_summary.h>
#include <hesscope/paths/path.h>

namespace hesscope {
namespace {

using detail::PathFile;
using detail::PathInputs;
using Eigen::Index;
using Eigen::VectorXd;

// Steps of the band between two units.
constexpr std::int64_t kStepsPerUnit = 100;

// Shares of the progress.
constexpr double kAlignmentDone = 0.05;
constexpr double kBandDone = 0.6;

const char* const kAlignment = "alignment";

// One run: finished work is kept unit by unit, then put together.
class PathRun {
 public:
  PathRun(const PathRequest& request, const ProgressCallback& progress)
      : request_(request), progress_(progress) {
    const Stopwatch watch(result_.timings.load_seconds);
    inputs_.emplace(request);
  }

  PathResult execute() {
    const io::RunConfiguration configuration = inputs_->configuration(request_);
    detail::run_steps(request_,
                      inputs_->files(),
                      "path",
                      configuration,
                      {.probe = [&] { PathFile(request_, *inputs_, configuration); },
                       .read = [&] { detail::read_path(request_, *inputs_, result_); },
                       .compute = [&](detail::UnitRun& run) { compute(run); },
                       .assemble = [&](detail::UnitRun& run) { assemble(run, configuration); }},
                      result_);
    return std::move(result_);
  }

 private:
  const Objective& objective() const { return inputs_->objective(); }

  void compute(detail::UnitRun& run) {
    alignment_ = kept_alignment(run);
    state_ = kept_band(run, VectorXd(detail::vector_in(alignment_, "aligned_parameters")));
    const Stopwatch watch(result_.timings.curvature_seconds);
    result_.part = run.complete(units(), detail::part_of(progress_, kBandDone, 1));
  }

  std::vector<detail::DealtUnit> units() {
    std::vector<detail::DealtUnit> all = detail::root_units(inputs_->files());
    all.push_back({.name = "straight", .what = "the straight path", .make = [this](const auto&) {
                     return detail::straight_record(
                         objective(),
                         inputs_->first(),
                         detail::vector_in(alignment_, "aligned_parameters"),
                         request_.aligns ? &inputs_->second() : nullptr,
                         detail::num_places(request_));
                   }});
    all.push_back(
        {.name = "saddle", .what = "the pass", .make = [this](const ProgressCallback& progress) {
           return detail::saddle_record(objective(), state_, progress);
         }});
    for (Index i = 0; i < request_.num_images; ++i) {
      all.push_back({.name = image_name(i),
                     .what = fmt::format("image {} of {}", i + 1, request_.num_images),
                     .make = [this, i](const ProgressCallback& progress) {
                       return detail::image_record(
                           objective(), state_, i, request_.has_spectrum, progress);
                     }});
    }
    return all;
  }

  static std::string band_name(std::int64_t unit) { return fmt::format("band-{:06}", unit); }

  static std::string image_name(Index image) { return fmt::format("image-{:06}", image); }

  Group kept_alignment(detail::UnitRun& run) {
    const Stopwatch watch(result_.timings.alignment_seconds);
    if (std::optional<Group> record = run.find(kAlignment)) return *std::move(record);
    if (request_.share.merge_only) run.refuse_merge_without("the alignment");
    detail::report(progress_, 0);
    Group record = detail::alignment_record(objective(),
                                            inputs_->first(),
                                            inputs_->second(),
                                            request_.aligns,
                                            detail::part_of(progress_, 0, kAlignmentDone));
    run.keep(kAlignment, record);
    return record;
  }

  // The band at rest, or after its last step, starting from its last existing unit.
  BandState kept_band(detail::UnitRun& run, const VectorXd& aligned) {
    const Stopwatch watch(result_.timings.band_seconds);
    const ElasticBand band(objective(),
                           {.num_images = request_.num_images,
                            .tolerance = request_.tolerance,
                            .num_threads = request_.team ? 1 : request_.num_threads,
                            .stop = stop_requested_by(request_.stop)});
    const std::int64_t num_units = detail::ceil_div(request_.max_steps, kStepsPerUnit);
    std::int64_t unit = 0;
    std::optional<Group> record = run.find(band_name(0));
    while (record && unit < num_units) {
      std::optional<Group> next = run.find(band_name(unit + 1));
      if (!next) break;
      record = std::move(next);
      ++unit;
    }
    BandState state;
    if (record) {
      state = detail::band_in(*record);
    } else {
      if (request_.share.merge_only) run.refuse_merge_without("the band");
      state = band.straight(inputs_->first(), aligned);
      run.keep(band_name(0), detail::band_record(state));
    }
    while (unit < num_units && !state.is_done()) {
      if (request_.share.merge_only) run.refuse_merge_without("the band");
      const auto share = [&](std::int64_t units) {
        const double done = static_cast<double>(units) / static_cast<double>(num_units);
        return kAlignmentDone + (kBandDone - kAlignmentDone) * done;
      };
      const std::int64_t steps = std::min(kStepsPerUnit, request_.max_steps - state.num_steps);
      band.advance(state, steps, detail::part_of(progress_, share(unit), share(unit + 1)));
      run.keep(band_name(++unit), detail::band_record(state));
    }
    return state;
  }

  // Puts the units together in the file and in the summary.
  void assemble(detail::UnitRun& run, const io::RunConfiguration& configuration) {
    const Stopwatch watch(result_.timings.write_seconds);
    PathFile file(request_, *inputs_, configuration);
    const detail::CheckpointInputs& files = inputs_->files();
    const std::vector<Group> roots = detail::write_roots(run, files, file, result_);
    result_.checkpoints = detail::summaries_of(files, roots);
    result_.aligned_by = take_text(alignment_, detail::kFamilies);
    for (const std::string& family : take_text(alignment_, detail::kLeftOut)) {
      result_.warnings.push_back(fmt::format(
          "the alignment leaves out the invariance '{}', which has too many generators", family));
    }
    std::vector<Group> images;
    for (Index i = 0; i < request_.num_images; ++i) {
      images.push_back(run.read(image_name(i)));
      file.write_image(static_cast<std::size_t>(i), images.back());
    }
    const Group straight = run.read("straight");
    const Group saddle = run.read("saddle");
    const Group band = detail::band_summary(state_);
    for (const Group* record : {&straight, &saddle, &std::as_const(alignment_), &band}) {
      file.write_path(*record);
    }
    file.name_maps(result_.aligned_by);
    const Group scalars = detail::joined_scalars({&straight, &saddle, &alignment_, &band});
    detail::summarize_scalars(scalars, result_);
    detail::judge(scalars, images, result_);
    file.commit(result_.is_conclusive, result_.warnings);
  }

  // Takes out text that a record holds but a result does not.
  static std::vector<std::string> take_text(Group& record, const char* name) {
    const auto found = std::ranges::find(record.variables, name, &Variable::name);
    std::vector<std::string> words = std::get<std::vector<std::string>>(std::move(found->values));
    record.variables.erase(found);
    return words;
  }

  const PathRequest& request_;
  const ProgressCallback& progress_;
  PathResult result_;
  std::optional<PathInputs> inputs_;
  Group alignment_;
  BandState state_;
};

}  // namespace

PathResult run_path(const PathRequest& request, const ProgressCallback& progress) {
  const double start = wall_seconds();
  PathResult result = PathRun(request, progress).execute();
  result.timings.total_seconds = wall_seconds() - start;
  return result;
}

void serve_path(Team& team, const std::function<PathRequest()>& request) {
  detail::serve_inputs(team, [&] {
    const PathRequest asked = request();
    const auto inputs = std::make_shared<const PathInputs>(asked);
    return detail::ServedInputs{{inputs, &inputs->files()}, inputs->configuration(asked)};
  });
}

}  // namespace hesscope
