// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>

#include <hesscope/analysis/internal/checkpoint_records.h>
#include <hesscope/analysis/internal/named_points.h>
#include <hesscope/analysis/internal/result_reading.h>
#include <hesscope/landscape/internal/landscape_file.h>
#include <hesscope/landscape/internal/landscape_summary.h>
#include <hesscope/landscape/map_landscape.h>

namespace hesscope {

struct LandscapeMap::Impl {
  detail::ResultSubject subject;
  io::RunConfiguration configuration;
  detail::LandscapeDescription description;
  std::vector<Variable> scalars;      // of the file, in its order
  std::vector<CheckpointFile> files;  // names and steps of the points, as the root has them
  std::vector<std::string> digests;
  std::vector<Group> roots;
  detail::LandscapeParts parts;
  LandscapeResult summary;
  Eigen::MatrixXd loss;
  Group group;
};

const Grid& LandscapeMap::grid() const { return impl_->summary.grid; }

const Eigen::MatrixXd& LandscapeMap::loss() const { return impl_->loss; }

const Group& LandscapeMap::group() const { return impl_->group; }

std::span<const std::string> LandscapeMap::warnings() const& { return impl_->summary.warnings; }

bool LandscapeMap::is_conclusive() const { return impl_->summary.is_conclusive; }

void LandscapeMap::write(const std::filesystem::path& output, const WriteOptions& options) const {
  io::require_replaceable(output, options.overwrite, "a result of hesscope landscape", [&] {
    return detail::is_result_about(output, "landscape");
  });
  detail::LandscapeFile file(
      output,
      io::existing_of(options.overwrite),
      {.subject = impl_->subject,
       .provenance = {.subject = "landscape",
                      .command =
                          options.command.empty() ? "hesscope::map_landscape()" : options.command,
                      .seed = impl_->description.seed,
                      .num_checkpoints = impl_->files.size(),
                      .steps = detail::steps_of(impl_->files),
                      .definitions = detail::definitions_of_points()},
       .configuration = impl_->configuration,
       .checkpoints = impl_->files,
       .digests = impl_->digests,
       .description = impl_->description,
       .grid = grid(),
       .scalars = impl_->scalars});
  for (std::size_t i = 0; i < impl_->roots.size(); ++i) file.write(i, "", impl_->roots[i]);
  file.write_parts(impl_->parts);
  file.commit(impl_->summary.is_conclusive, impl_->summary.warnings);
}

// One call of map_landscape().
class LandscapeMapping {
 public:
  LandscapeMapping(const detail::PointSubject& subject,
                   const std::vector<NamedPoint>& points,
                   const LandscapeOptions& options,
                   const ProgressCallback& progress)
      : subject_(subject),
        points_(points),
        progress_(progress),
        thetas_(thetas_of(subject, points)),
        files_(detail::files_of(points)),
        view_(options,
              detail::checked_directions("map_landscape", options, points.size()),
              subject.objective(),
              thetas_,
              files_,
              "",
              nullptr,
              [&progress](double) { return !progress || progress(0); }) {}

  LandscapeMap execute() {
    advance(0);
    describe();
    const Group directions = view_.make_directions();
    std::optional<detail::FoundPlane> found;
    std::optional<Group> centre;
    std::optional<Surface> surface;
    if (directions["direction_1"].status() == Status::kOk) {
      found = view_.find_plane(directions);
      if (!found->left_out.empty()) impl_->summary.warnings.push_back(found->left_out);
      centre = view_.measure_centre(found->plane);
      view_.centre().release();
      surface = view_.make_surface(*found);
    }
    summarize_points(found ? found->grid : view_.options().grid);
    const detail::CheckpointRun as_given{.size = impl_->summary.checkpoints.size()};
    impl_->parts = view_.assemble(directions,
                                  impl_->summary.checkpoints,
                                  {&as_given, 1},
                                  found ? &*found : nullptr,
                                  centre ? &*centre : nullptr,
                                  surface ? surface->num_tiles() : 0,
                                  [&](Eigen::Index tile) {
                                    return surface->tile(tile, [&](double done) { advance(done); });
                                  });
    detail::summarize_landscape(impl_->parts, impl_->summary);
    gather();
    return LandscapeMap(impl_);
  }

 private:
  static std::vector<Eigen::VectorXd> thetas_of(const detail::PointSubject& subject,
                                                const std::vector<NamedPoint>& points) {
    detail::require_points("map_landscape", subject.objective(), points);
    std::vector<Eigen::VectorXd> thetas;
    for (const NamedPoint& point : points) thetas.push_back(point.theta);
    return thetas;
  }

  void describe() {
    impl_->subject = subject_.described;
    impl_->files = files_;
    impl_->digests = detail::digests_of(points_);
    impl_->description = view_.description();
    impl_->configuration = detail::configuration_of_points(impl_->subject, points_, impl_->digests);
    view_.add_configuration(impl_->configuration);
    impl_->scalars = view_.kind().quantities;
    for (const Variable& quantity : view_.scalars()) impl_->scalars.push_back(quantity);
  }

  // Summarizes each point, and the grid.
  void summarize_points(const Grid& grid) {
    LandscapeResult& summary = impl_->summary;
    for (std::size_t i = 0; i < thetas_.size(); ++i) {
      PointAnalysis point(subject_.objective(), thetas_[i]);
      const Group& root = impl_->roots.emplace_back(detail::root_record(point));
      summary.checkpoints.push_back(detail::summary_of(files_[i], impl_->digests[i], root));
    }
    summary.centre = view_.centre_index();
    summary.num_points = grid.num_points();
    summary.grid = grid;
  }

  void advance(double points) {
    done_ += points;
    const auto total = static_cast<double>(view_.options().grid.num_points());
    detail::report(progress_, std::min(done_ / total, 1.0));
  }

  // Collects what callers may ask for.
  void gather() {
    const Grid& grid = impl_->summary.grid;
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    impl_->loss = Eigen::Map<const RowMajor>(
        impl_->parts.surface.variables.front().reals().data(), grid.beta.size(), grid.alpha.size());
    Group& group = impl_->group;
    group.name = std::string(io::kLandscapeGroup);
    for (Variable variable : impl_->parts.surface.variables) {
      variable.dimensions = {"beta", "alpha"};
      group.add(std::move(variable));
    }
    for (const Group* part :
         {&impl_->parts.directions, &impl_->parts.scalars, &impl_->parts.trajectory}) {
      for (const Variable& variable : part->variables) group.add(variable);
    }
  }

  const detail::PointSubject& subject_;
  const std::vector<NamedPoint>& points_;
  const ProgressCallback& progress_;
  std::vector<Eigen::VectorXd> thetas_;
  std::vector<CheckpointFile> files_;
  detail::LandscapeView view_;
  double done_ = 0;  // points of the grid
  std::shared_ptr<LandscapeMap::Impl> impl_ = std::make_shared<LandscapeMap::Impl>();
};

LandscapeMap map_landscape(const Objective& objective,
                           const std::vector<NamedPoint>& points,
                           const LandscapeOptions& options,
                           const ProgressCallback& progress) {
  return LandscapeMapping(detail::PointSubject(objective), points, options, progress).execute();
}

LandscapeMap map_landscape(const Problem& problem,
                           const std::vector<NamedPoint>& points,
                           const LandscapeOptions& options,
                           const ProgressCallback& progress) {
  return LandscapeMapping(detail::PointSubject(problem), points, options, progress).execute();
}

}  // namespace hesscope
