// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/paths/internal/path_inputs.h>

namespace hesscope::detail {
namespace {

CheckpointInputs checked_inputs(const PathRequest& request) {
  const std::size_t count = request.checkpoints.size();
  if (count != 2) {
    throw ConfigError(
        fmt::format("a path leads from one checkpoint to another: expected 2, got {}", count));
  }
  if (request.num_images < 3) {
    throw ConfigError(fmt::format("`images` must be at least 3, the ends among them, got {}",
                                  request.num_images));
  }
  if (request.max_steps < 0) {
    throw ConfigError(fmt::format("`max_steps` must be at least 0, got {}", request.max_steps));
  }
  if (!(request.tolerance > 0 && request.tolerance <= 1)) {
    throw ConfigError(
        fmt::format("`tolerance` must be above 0 and at most 1, got {}", request.tolerance));
  }
  CheckpointRunRequest run = request;
  run.reading.order = CheckpointOrder::kGiven;
  return open_inputs("run_path", run, request.num_threads, request.stop);
}

}  // namespace

PathInputs::PathInputs(const PathRequest& request)
    : files_(checked_inputs(request)), objective_(files_.objective_at(0)) {
  for (std::size_t i = 0; i < files_.points.size(); ++i) {
    if (files_.points[i].allFinite()) continue;
    throw InputError(
        fmt::format("{}: the weights contain NaN or infinity, so no path leads from or to them",
                    files_.checkpoints[i].path.string()));
  }
  files_.require_output_apart(request.output);
  if (are_other_buffers(files_.problem.model(), files_.buffers[1].get(), files_.buffers[0].get())) {
    files_.warnings.push_back(fmt::format(
        "{}: the path is one of the model with the buffers of {} (running statistics, say); this "
        "checkpoint holds others, with which its own loss is given",
        files_.checkpoints[1].path.string(),
        files_.checkpoints[0].path.string()));
  }
}

io::RunConfiguration PathInputs::configuration(const PathRequest& request) const {
  io::RunConfiguration all = files_.configuration();
  const auto add = [&all](const std::string& key, const std::string& value) {
    all.emplace_back(key, value);
  };
  add("alignment", fmt::format("{}", request.aligns));
  add("spectrum", fmt::format("{}", request.has_spectrum));
  add("images", fmt::format("{}", request.num_images));
  add("max-steps", fmt::format("{}", request.max_steps));
  add("tolerance", fmt::format("{}", request.tolerance));
  add("seed", fmt::format("{}", request.seed));
  return all;
}

}  // namespace hesscope::detail
