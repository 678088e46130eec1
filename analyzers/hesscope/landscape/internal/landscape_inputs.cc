// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <hesscope/landscape/internal/landscape_inputs.h>

namespace hesscope::detail {
namespace {

// A path from one checkpoint to another keeps the user's order.
CheckpointInputs opened(const LandscapeRequest& request, const DirectionKind& kind) {
  CheckpointRunRequest run = request;
  if (kind.is_centre_first) run.reading.order = CheckpointOrder::kGiven;
  return open_inputs("run_landscape", run, request.num_threads, request.stop);
}

}  // namespace

LandscapeInputs::LandscapeInputs(const LandscapeRequest& request, ProgressCallback follow)
    : named_(checked_directions("run_landscape", request, request.checkpoints.size())),
      files_(opened(request, *named_.kind)),
      centre_objective_(files_.objective_at(centre_among(files_.points.size(), *named_.kind))),
      view_(request,
            named_,
            *centre_objective_.objective,
            files_.points,
            files_.checkpoints,
            files_.key,
            files_.tensor_map ? &*files_.tensor_map : nullptr,
            std::move(follow)) {
  files_.require_output_apart(request.output, view_.prepared().files);
  const std::filesystem::path& centre = files_.checkpoints[view_.centre_index()].path;
  const CheckpointFile& given =
      named_.kind->is_centre_first ? request.checkpoints.front() : request.checkpoints.back();
  warn_of_other_buffers();
  if (centre == given.path) return;
  const std::string of_runs =
      files_.runs.size() > 1 ? fmt::format(" checkpoint of the last of {} runs", files_.runs.size())
                             : std::string();
  files_.warnings.push_back(fmt::format(
      "{}: the centre, as the last{} by its step; {} was given last (`order` given takes the order "
      "given)",
      centre.string(),
      of_runs,
      given.path.string()));
}

// The surface belongs to one model; the numbers of each checkpoint belong to its own model.
void LandscapeInputs::warn_of_other_buffers() {
  const auto num_others = std::ranges::count_if(files_.buffers, [&](const auto& buffers) {
    const CheckpointBuffers* const of_centre = files_.buffers[view_.centre_index()].get();
    return are_other_buffers(files_.problem.model(), buffers.get(), of_centre);
  });
  if (num_others == 0) return;
  files_.warnings.push_back(fmt::format(
      "{}: the surface is that of the model with this checkpoint's buffers (running statistics, "
      "say); {} of the {} other checkpoints hold{} others, with which {} loss is given",
      files_.checkpoints[view_.centre_index()].path.string(),
      num_others,
      files_.points.size() - 1,
      num_others == 1 ? "s" : "",
      num_others == 1 ? "its" : "their"));
}

io::RunConfiguration LandscapeInputs::configuration() const {
  io::RunConfiguration all = files_.configuration();
  view_.add_configuration(all);
  return all;
}

}  // namespace hesscope::detail
