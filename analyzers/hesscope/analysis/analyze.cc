// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <hesscope/analysis/analyze.h>
#include <hesscope/analysis/internal/analysis_costs.h>
#include <hesscope/analysis/internal/analysis_summary.h>
#include <hesscope/analysis/internal/checked_answers.h>
#include <hesscope/analysis/internal/checkpoint_inputs.h>
#include <hesscope/analysis/internal/checkpoint_result.h>
#include <hesscope/analysis/internal/chosen_analyzers.h>
#include <hesscope/analysis/internal/named_points.h>
#include <hesscope/analysis/internal/point_sequence.h>
#include <hesscope/analysis/internal/result_reading.h>
#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope {

using detail::ChosenAnalyzer;

const Group& Answers::group(std::string_view analyzer) const {
  std::vector<std::string> names;
  for (const Group& group : groups_) {
    if (group.name == analyzer) return group;
    names.push_back(group.name);
  }
  throw PreconditionError("Answers: " + unknown_name("analyzer of this run", analyzer, names));
}

const Variable& Answers::find(std::string_view analyzer, std::string_view quantity) const {
  const Group& group = this->group(analyzer);
  if (const Variable* const variable = group.find(quantity)) return *variable;
  std::vector<std::string> names;
  for (const Variable& variable : group.variables) names.push_back(variable.name);
  throw PreconditionError("Answers: " +
                          unknown_name(fmt::format("quantity of '{}'", analyzer), quantity, names));
}

Eigen::VectorXd Answers::values(std::string_view analyzer, std::string_view quantity) const {
  const Variable& variable = find(analyzer, quantity);
  const std::vector<double> numbers = variable.numbers();
  const bool is_one_count = variable.type != VariableType::kDouble && numbers.size() == 1;
  if (is_one_count && std::isnan(numbers.front())) return {};
  return Eigen::Map<const Eigen::VectorXd>(numbers.data(), std::ssize(numbers));
}

double Answers::number(std::string_view analyzer, std::string_view quantity) const {
  return find(analyzer, quantity).number();
}

Status Answers::status(std::string_view analyzer, std::string_view quantity) const {
  return find(analyzer, quantity).status();
}

struct Analysis::Impl {
  detail::ResultSubject subject;
  io::RunConfiguration configuration;
  std::uint64_t seed = 0;
  std::vector<ChosenAnalyzer> analyzers;
  std::vector<std::vector<Dimension>> dimensions;  // one list for each analyzer
  std::vector<CheckpointFile> files;  // names and steps of the points, as the root has them
  std::vector<std::string> digests;
  std::vector<Group> roots;
  std::vector<PointAnswers> points;
  Answers run;
  AnalysisResult summary;
  std::vector<std::string> remarks;  // on the points' optimisers
};

std::span<const PointAnswers> Analysis::points() const& { return impl_->points; }

const PointAnswers& Analysis::operator[](std::size_t index) const {
  if (index < impl_->points.size()) return impl_->points[index];
  throw PreconditionError(fmt::format(
      "Analysis: there is no point {}, counted from 0, of {}", index, impl_->points.size()));
}

const PointAnswers& Analysis::operator[](std::string_view name) const {
  std::vector<std::string> names;
  for (const PointAnswers& point : impl_->points) {
    if (point.name() == name) return point;
    names.push_back(point.name());
  }
  throw PreconditionError("Analysis: " + unknown_name("point", name, names));
}

const Answers& Analysis::run() const { return impl_->run; }

std::vector<std::string> Analysis::analyzers() const { return names_of(impl_->analyzers); }

std::span<const std::string> Analysis::warnings() const& { return impl_->summary.warnings; }

bool Analysis::is_conclusive() const { return impl_->summary.is_conclusive; }

void Analysis::write(const std::filesystem::path& output, const WriteOptions& options) const {
  io::require_replaceable(output, options.overwrite, "a result of hesscope analysis", [&] {
    return detail::is_result_about(output, "analysis");
  });
  detail::CheckpointResult file(
      output,
      io::existing_of(options.overwrite),
      impl_->subject,
      {.subject = "analysis",
       .command = options.command.empty() ? "hesscope::analyze()" : options.command,
       .seed = impl_->seed,
       .num_checkpoints = impl_->points.size(),
       .steps = detail::steps_of(impl_->files),
       .definitions = detail::definitions_of_points()},
      impl_->configuration);
  for (std::size_t k = 0; k < impl_->analyzers.size(); ++k) {
    const ChosenAnalyzer& chosen = impl_->analyzers[k];
    file.add_group(chosen.name,
                   chosen.analyzer->declared(),
                   chosen.analyzer->declared_of_run(),
                   impl_->dimensions[k]);
  }
  for (std::size_t i = 0; i < impl_->points.size(); ++i) {
    file.name_checkpoint(i, impl_->files[i], impl_->digests[i]);
    file.write(i, "", impl_->roots[i]);
    for (const Group& answer : impl_->points[i].groups_) {
      file.write(i, answer.name, answer);
    }
  }
  for (const Group& answer : impl_->run.groups_) file.write_of_run(answer.name, answer);
  file.commit(impl_->summary.is_conclusive, impl_->summary.warnings);
}

// One call of analyze().
class AnalysisRun {
 public:
  AnalysisRun(const detail::PointSubject& subject,
              const std::vector<NamedPoint>& points,
              const std::vector<std::string>& analyzers,
              const AnalyzeOptions& options)
      : subject_(subject), points_(points), options_(options) {
    detail::require_points("analyze", subject_.objective(), points);
    impl_->subject = subject_.described;
    impl_->seed = options.seed;
    impl_->analyzers = detail::choose_analyzers(analyzers, {}, options.options);
    // The same refusals as in run_analysis().
    detail::need_full_proof(impl_->analyzers, options.method);
    detail::require_matrix(impl_->analyzers, options.method, subject_.objective().num_parameters());
    for (const ChosenAnalyzer& chosen : impl_->analyzers) {
      require_samples(chosen);
      impl_->dimensions.push_back(chosen.analyzer->dimensions(subject_.objective()));
    }
    impl_->files = detail::files_of(points);
    impl_->digests = detail::digests_of(points);
    impl_->configuration = configuration();
    add_remarks();
  }

  Analysis execute() {
    std::vector<Eigen::VectorXd> thetas;
    std::vector<detail::SequencePoint> given;
    for (const NamedPoint& point : points_) {
      thetas.push_back(point.theta);
      given.push_back({point.step, point.optimizer});
    }
    detail::PointSequence sequence(
        {.objective = &subject_.objective(),
         .fresh_samples = subject_.fresh_samples,
         .model_samples = subject_.model_samples,
         .method = options_.method,
         .seed = options_.seed,
         .given_settings = detail::given_settings(impl_->analyzers),
         .progress = [this](std::size_t i, double done) { return goes_on(i, done); }},
        thetas,
        std::move(given));
    const detail::AnalysisCosts costs = foreseen_costs(thetas);
    sequence.set_costs(costs.point);
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (!goes_on(i, 0)) throw Interrupted();
      analyze_point(*sequence.visit(i), i, costs);
      if (!goes_on(i, 1)) throw Interrupted();
    }
    summarize_run();
    return Analysis(impl_);
  }

 private:
  void require_samples(const ChosenAnalyzer& chosen) const {
    const std::string option = chosen.analyzer->needs_fresh_samples();
    if (option.empty() || subject_.fresh_samples != nullptr) return;
    throw ConfigError(
        fmt::format("{} draws new samples, which needs a Problem whose data are drawn; this is {}",
                    option,
                    subject_.described.name));
  }

  // Adds remarks of the analyzers on the points' optimisers.
  void add_remarks() {
    std::vector<OptimizerState> states;
    for (const NamedPoint& point : points_) {
      states.push_back(point.optimizer);
      if (states.back().file.empty()) states.back().file = point.name;
    }
    const auto remarks = detail::remarks_of(impl_->analyzers, states, subject_.objective());
    impl_->remarks.insert(impl_->remarks.end(), remarks.begin(), remarks.end());
    impl_->summary.warnings = impl_->remarks;
  }

  io::RunConfiguration configuration() const {
    io::RunConfiguration all =
        detail::configuration_of_points(impl_->subject, points_, impl_->digests);
    for (auto& entry : detail::configuration_of(impl_->analyzers, options_.method, options_.seed)) {
      all.push_back(std::move(entry));
    }
    return all;
  }

  detail::AnalysisCosts foreseen_costs(const std::vector<Eigen::VectorXd>& thetas) const {
    const detail::ForeseenAnalysis analysis = {.objective = &subject_.objective(),
                                               .theta = &detail::some_finite(thetas),
                                               .fresh_samples = subject_.fresh_samples,
                                               .method = options_.method,
                                               .analyzers = impl_->analyzers};
    return options_.progress ? costs_for_progress(analysis, points_.size())
                             : guessed_costs(analysis);
  }

  bool goes_on(std::size_t i, double done) const {
    return !options_.progress || options_.progress(i, points_.size(), done);
  }

  void analyze_point(PointAnalysis& point, std::size_t i, const detail::AnalysisCosts& costs) {
    AnalysisResult& summary = impl_->summary;
    const Group root = detail::root_record(point);
    detail::add_checkpoint(
        summary, impl_->files[i], impl_->digests[i], point.theta().allFinite(), root);
    PointAnswers answers;
    answers.name_ = points_[i].name;
    answers.loss_ = summary.checkpoints.back().loss;
    answers.gradient_norm_ = summary.checkpoints.back().gradient_norm;
    answers.status_ = summary.checkpoints.back().status;
    for (std::size_t k = 0; k < impl_->analyzers.size(); ++k) {
      const ChosenAnalyzer& chosen = impl_->analyzers[k];
      point.begin_own(costs.own[k]);
      const Group& answer = answers.groups_.emplace_back(detail::answer_at(chosen, point));
      const std::string reason =
          chosen.analyzer->reason_of_failure(answer, subject_.objective().parameter_blocks());
      detail::add_record(summary, chosen.name, answer, reason);
    }
    point.release();
    impl_->roots.push_back(root);
    impl_->points.push_back(std::move(answers));
  }

  void summarize_run() {
    for (std::size_t k = 0; k < impl_->analyzers.size(); ++k) {
      const ChosenAnalyzer& chosen = impl_->analyzers[k];
      if (chosen.analyzer->declared_of_run().variables.empty()) continue;
      std::vector<Group> answers;
      for (const PointAnswers& point : impl_->points) answers.push_back(point.groups_[k]);
      const Group& answer = impl_->run.groups_.emplace_back(
          detail::answer_of_run(chosen, subject_.objective(), answers, options_.seed));
      detail::add_run_record(impl_->summary, chosen.name, answer);
    }
    detail::warn_of_unproved(impl_->summary);
  }

  const detail::PointSubject& subject_;
  const std::vector<NamedPoint>& points_;
  const AnalyzeOptions& options_;
  std::shared_ptr<Analysis::Impl> impl_ = std::make_shared<Analysis::Impl>();
};

Analysis analyze(const Objective& objective,
                 const std::vector<NamedPoint>& points,
                 const std::vector<std::string>& analyzers,
                 const AnalyzeOptions& options) {
  return AnalysisRun(detail::PointSubject(objective), points, analyzers, options).execute();
}

Analysis analyze(const Problem& problem,
                 const std::vector<NamedPoint>& points,
                 const std::vector<std::string>& analyzers,
                 const AnalyzeOptions& options) {
  return AnalysisRun(detail::PointSubject(problem), points, analyzers, options).execute();
}

}  // namespace hesscope
