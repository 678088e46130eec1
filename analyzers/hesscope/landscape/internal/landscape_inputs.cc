// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/landscape/internal/landscape_inputs.h>
#include <hesscope/storage/sha256.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::detail {
namespace {

// The kind, if what is asked of it fits it.
NamedDirections checked_directions(const LandscapeRequest& request) {
  const NamedDirections named = find_direction_kind(request.directions);
  const DirectionKind& kind = *named.kind;
  const std::size_t count = request.checkpoints.size();
  if (count == 0) throw PreconditionError("run_landscape: no checkpoints");
  require_grid("run_landscape", request.grid);
  if (count < kind.min_checkpoints || count > kind.max_checkpoints) {
    const bool is_exact = kind.max_checkpoints == kind.min_checkpoints;
    throw ConfigError(fmt::format("`directions` {}: needs {} {} checkpoints, got {}",
                                  kind.name,
                                  is_exact ? "exactly" : "at least",
                                  kind.min_checkpoints,
                                  count));
  }
  if (!kind.normalization && (request.normalization || request.leaves_out_vectors)) {
    throw ConfigError(
        fmt::format("{}: `directions` {} draws nothing that the weights scale",
                    request.normalization ? "`normalization`" : "`leaves_out_vectors`",
                    kind.name));
  }
  return named;
}

// From one checkpoint to another is as the user says.
CheckpointReading reading_of(const LandscapeRequest& request, const DirectionKind& kind) {
  CheckpointReading reading = request.reading;
  if (kind.is_centre_first) reading.order = CheckpointOrder::kGiven;
  return reading;
}

const Eigen::VectorXd& finite_centre(const CheckpointInputs& files, std::size_t index) {
  const Eigen::VectorXd& theta = files.points[index];
  if (!theta.allFinite()) {
    throw InputError(
        fmt::format("{}: the weights contain NaN or infinity, so there is no landscape around them",
                    files.checkpoints[index].path.string()));
  }
  return theta;
}

}  // namespace

LandscapeInputs::LandscapeInputs(const LandscapeRequest& request, ProgressCallback follow)
    : named_(checked_directions(request)),
      files_(open_inputs("run_landscape",
                         request.checkpoints,
                         reading_of(request, *named_.kind),
                         request.problem,
                         request.num_threads,
                         request.stop,
                         request.team)),
      centre_index_(named_.kind->is_centre_first ? 0 : files_.points.size() - 1),
      centre_objective_(files_.objective_at(centre_index_)),
      centre_(objective(),
              finite_centre(files_, centre_index_),
              {.seed = request.seed, .progress = std::move(follow)}),
      context_{.centre = centre_,
               .checkpoints = files_.points,
               .files = files_.checkpoints,
               .key = files_.key,
               .needs_second = request.grid.is_plane(),
               .seed = request.seed,
               .normalization = request.normalization.value_or(
                   named_.kind->normalization.value_or(Normalization::kNone)),
               .leaves_out_vectors = request.leaves_out_vectors,
               .stop = request.stop},
      prepared_(named_.kind->prepare(named_.argument, context_)) {
  const Eigen::Index n = objective().num_parameters();
  if (request.curvature && n > kLargestAssembled) {
    throw ConfigError(
        fmt::format("`curvature` needs the whole Hessian at every point, which is for up to {} "
                    "parameters; this model has {}",
                    kLargestAssembled,
                    n));
  }
  files_.require_output_apart(request.output, prepared_.files);
  const std::filesystem::path& centre = files_.checkpoints[centre_index_].path;
  const CheckpointFile& given =
      kind().is_centre_first ? request.checkpoints.front() : request.checkpoints.back();
  warn_of_other_buffers();
  if (centre != given.path) {
    files_.warnings.push_back(
        fmt::format("{}: the centre, as the last by its step; {} was given last (`order` given "
                    "takes the order given)",
                    centre.string(),
                    given.path.string()));
  }
}

// The surface is that of one model; what results say of each checkpoint is of its own.
void LandscapeInputs::warn_of_other_buffers() {
  const auto num_others = std::ranges::count_if(files_.buffers, [&](const auto& buffers) {
    const CheckpointBuffers* const of_centre = files_.buffers[centre_index_].get();
    return are_other_buffers(files_.problem.model(), buffers.get(), of_centre);
  });
  if (num_others == 0) return;
  files_.warnings.push_back(fmt::format(
      "{}: the surface is that of the model with this checkpoint's buffers (running statistics, "
      "say); {} of the {} other checkpoints hold{} others, with which {} loss is given",
      files_.checkpoints[centre_index_].path.string(),
      num_others,
      files_.points.size() - 1,
      num_others == 1 ? "s" : "",
      num_others == 1 ? "its" : "their"));
}

std::string LandscapeInputs::normalization() const {
  return kind().normalization ? to_string(context_.normalization) : "";
}

io::RunConfiguration LandscapeInputs::configuration(const LandscapeRequest& request) const {
  io::RunConfiguration all = files_.configuration();
  const auto add = [&all](const std::string& key, const std::string& value) {
    all.emplace_back(key, value);
  };
  add("directions", request.directions);
  for (std::size_t i = 0; i < prepared_.files.size(); ++i) {
    add(fmt::format("sha256 of {}", prepared_.files[i].string()), prepared_.digests[i]);
  }
  add("normalization", normalization());
  add("leave-out-vectors", fmt::format("{}", request.leaves_out_vectors));
  for (const auto& [name, axis] :
       {std::pair<const char*, const Eigen::VectorXd&>("alpha", request.grid.alpha),
        {"beta", request.grid.beta}}) {
    add(fmt::format("grid.{}", name), fmt::format("{}", axis.size()));
    if (is_framed(request)) {
      add(fmt::format("span.{}", name), "around the checkpoints");
      continue;
    }
    std::string bytes(reinterpret_cast<const char*>(axis.data()),
                      static_cast<std::size_t>(axis.size()) * sizeof(double));
    add(fmt::format("span.{}", name),
        fmt::format(
            "{} to {}, sha256 {}", axis[0], axis[axis.size() - 1], io::sha256_of_text(bytes)));
  }
  add("curvature", fmt::format("{}", request.curvature));
  add("seed", fmt::format("{}", request.seed));
  return all;
}

}  // namespace hesscope::detail
