// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <hesscope/analyzers/internal/eigenpair_matching.h>
#include <hesscope/analyzers/internal/eigenvalue_clusters.h>
#include <hesscope/analyzers/internal/group_dimensions.h>
#include <hesscope/analyzers/internal/outermost_pairs.h>
#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/analyzers/tracking.h>
#include <hesscope/core/constants.h>

namespace hesscope {
namespace {

using detail::ClusteredEnd;
using detail::EigenpairMatching;
using detail::EigenvalueCluster;
using detail::TrackedPairs;
using Eigen::Index;

class TrackingAnalyzer final : public Analyzer {
 public:
  TrackingAnalyzer(Index count, double gap) : count_(count), gap_(gap) {}

  std::vector<Dimension> dimensions(const Objective& objective) const override {
    const Dimension pair = detail::pair_dimension(count_, objective);
    return {pair,
            detail::rank_dimension(
                "pair_before", pair.size, "the outermost first, at the checkpoint before")};
  }

  Cost cost(const Objective& objective) const override {
    Cost all = detail::cost_of_pairs(count_, objective);
    const auto pairs = static_cast<double>(count_);
    const auto n = static_cast<double>(objective.num_parameters());
    all.numbers += 4 * pairs * n;
    all.operations += 4 * pairs * pairs * n;
    return all;
  }

  Group analyze(PointAnalysis& point) const override {
    Group answer = declared();
    const detail::NeighbouringEnds ends = detail::neighbouring_ends(
        point, kName, [this](PointAnalysis& at, EndOfSpectrum Extremes::*member) {
          return detail::clustered_values(at, member, count_, gap_);
        });
    for (std::size_t e = 0; e < ends_.size(); ++e) {
      const ClusteredEnd* before = ends.before ? &ends.before->ends[e] : nullptr;
      describe(point, ends_[e], ends.here->ends[e], before, answer);
    }
    return answer;
  }

  Group summarize(std::span<const Group> answers, std::uint64_t /*seed*/) const override {
    Group result = declared_of_run();
    for (const End& end : ends_) {
      std::vector<TrackedPairs> pairs;
      std::size_t count = 0;
      bool has_no_order = false;
      for (const Group& answer : answers) {
        pairs.push_back(tracked(answer, end));
        count = std::max(count, pairs.back().cluster.size());
        if (answer[end.continued].status() == Status::kUndefinedNoOrder) has_no_order = true;
      }
      if (has_no_order) {
        result[end.track].set_missing(Status::kUndefinedNoOrder);
        continue;
      }
      if (count == 0) {  // no checkpoint has eigenvalues
        result[end.track].set_missing(answers.empty() ? Status::kNotComputed
                                                      : answers[0][end.cluster].status());
        continue;
      }
      std::vector<double> numbers;
      for (std::vector<double>& row : detail::track_numbers(pairs)) {
        row.resize(count, kNaN);
        numbers.insert(numbers.end(), row.begin(), row.end());
      }
      result[end.track].set_numbers(std::move(numbers), {Status::kOk});
      result[end.track].is_proved = std::ranges::all_of(
          answers, [&](const Group& answer) { return answer[end.eigenvalues].is_proved; });
    }
    return result;
  }

  static constexpr const char* kName = "tracking";

 private:
  // What is stored for one end.
  struct End {
    VariableId eigenvalues, cluster, overlaps, continued, overlap, error_bound, proof;
    VariableId track;  // of the run
  };

  void describe(PointAnalysis& point,
                const End& variables,
                const ClusteredEnd& end,
                const ClusteredEnd* before,
                Group& answer) const {
    answer[variables.proof].set_flag(static_cast<std::int8_t>(end.proof));
    answer[variables.error_bound].set(end.error_bound, end.status);
    const std::array of_before = {variables.overlaps, variables.continued, variables.overlap};
    if (end.status != Status::kOk) {
      answer[variables.eigenvalues].set_missing(end.status);
      answer[variables.cluster].set_missing(end.status);
      for (const VariableId id : of_before) answer[id].set_missing(end.status);
      return;
    }
    answer[variables.eigenvalues].set(end.values);
    set_clusters(end, answer[variables.cluster]);
    if (end.proof == Proof::kConverged) {
      answer[variables.eigenvalues].is_proved = answer[variables.cluster].is_proved = false;
    }
    if (before == nullptr || before->status != Status::kOk) {
      const Status why = before == nullptr ? point.no_neighbour_status() : before->status;
      for (const VariableId id : of_before) answer[id].set_missing(why);
      return;
    }
    const EigenpairMatching matching = detail::match_eigenpairs(end, *before);
    set_matching(matching, variables, answer);
    if (end.proof != Proof::kConverged && before->proof != Proof::kConverged) return;
    for (const VariableId id : of_before) answer[id].is_proved = false;
  }

  // For clusters that end within the eigenvalues asked for.
  static void set_clusters(const ClusteredEnd& end, Variable& variable) {
    std::vector<double> numbers(static_cast<std::size_t>(end.values.size()), kNaN);
    std::vector<Status> statuses(numbers.size(), Status::kNotComputed);
    for (std::size_t c = 0; c < end.clusters.size(); ++c) {
      const EigenvalueCluster& cluster = end.clusters[c];
      if (!cluster.is_whole) continue;
      std::fill_n(numbers.begin() + cluster.first, cluster.size, static_cast<double>(c));
      std::fill_n(statuses.begin() + cluster.first, cluster.size, Status::kOk);
    }
    variable.set_numbers(std::move(numbers), std::move(statuses));
  }

  static void set_matching(const EigenpairMatching& matching, const End& variables, Group& answer) {
    const auto status_of = [](double number) {
      return std::isnan(number) ? Status::kNotComputed : Status::kOk;
    };
    const Index count = matching.overlaps.rows();
    std::vector<double> all;
    std::vector<Status> all_statuses;
    std::vector<double> continued;
    std::vector<double> own;
    std::vector<Status> statuses;
    for (Index i = 0; i < count; ++i) {
      for (Index j = 0; j < count; ++j) {
        all.push_back(matching.overlaps(i, j));
        all_statuses.push_back(status_of(all.back()));
      }
      const Index j = matching.continued[static_cast<std::size_t>(i)];
      continued.push_back(j < 0 ? kNaN : static_cast<double>(j));
      own.push_back(j < 0 ? kNaN : matching.overlaps(i, j));
      statuses.push_back(status_of(own.back()));
    }
    answer[variables.overlaps].set_numbers(std::move(all), std::move(all_statuses));
    answer[variables.continued].set_numbers(std::move(continued), statuses);
    answer[variables.overlap].set_numbers(std::move(own), statuses);
  }

  // What summarize() needs from an answer; all missing for a checkpoint without eigenvalues.
  static TrackedPairs tracked(const Group& answer, const End& end) {
    TrackedPairs pairs{.cluster = answer[end.cluster].numbers(),
                       .continued = answer[end.continued].numbers(),
                       .overlap = answer[end.overlap].numbers()};
    pairs.continued.resize(pairs.cluster.size(), kNaN);
    pairs.overlap.resize(pairs.cluster.size(), kNaN);
    return pairs;
  }

  // `name` is the suffix of the names, and also occurs in the definitions.
  End declare_end(const std::string& name, bool is_headline) {
    const auto add = [&](Variable variable) {
      return declare(detail::of_end(std::move(variable), name));
    };
    Variable eigenvalues = detail::outermost_eigenvalues();
    eigenvalues.headline = is_headline ? 1 : 0;
    return {
        .eigenvalues = add(std::move(eigenvalues)),
        .cluster = add(
            {.name = "cluster",
             .type = VariableType::kInt64,
             .dimensions = {"pair"},
             .long_name = "cluster of an eigenvalue",
             .definition = "number of the cluster, from 0; the eigenvalues of a cluster are closer "
                           "to their neighbours than tracking-gap times the largest magnitude of "
                           "an eigenvalue, and are compared by the space of their eigenvectors; "
                           "missing where a cluster continues beyond the last pair"}),
        .overlaps =
            add({.name = "overlaps",
                 .dimensions = {"pair", "pair_before"},
                 .long_name = "overlap of an eigenvector with each one of the checkpoint before",
                 .definition = "|u^T v|; for clusters with orthonormal bases U and V of c and d "
                               "columns, sqrt(||U^T V||_F^2 / min(c, d)), the root mean square of "
                               "the cosines of their principal angles",
                 .references = {papers::kBjorck},
                 .undefined = {Status::kUndefinedNoOrder}}),
        .continued =
            add({.name = "continued",
                 .type = VariableType::kInt64,
                 .dimensions = {"pair"},
                 .long_name = "pair of the checkpoint before that an eigenpair continues",
                 .definition = "from the assignment of the pairs to those of the checkpoint before "
                               "with the largest sum of squared overlaps; as certain as overlap_" +
                               name + " says",
                 .references = {papers::kKuhn},
                 .undefined = {Status::kUndefinedNoOrder},
                 .headline = is_headline ? 2 : 0}),
        .overlap =
            add({.name = "overlap",
                 .dimensions = {"pair"},
                 .long_name = "overlap with the pair that an eigenpair continues",
                 .definition =
                     "entry of overlaps_" + name + " for continued_" + name +
                     "; between simple eigenvalues, no other pair has as large an overlap if it is "
                     "above 1/sqrt(2); below that it is not clear which pair is continued",
                 .undefined = {Status::kUndefinedNoOrder},
                 .headline = is_headline ? 3 : 0}),
        .error_bound = add(detail::error_bound_of_end()),
        .proof = add(detail::proof_of_end()),
        .track = declare_of_run(detail::of_end(
            {.name = "track",
             .type = VariableType::kInt64,
             .dimensions = {"checkpoint", "pair"},
             .long_name = "number of the track that an eigenpair is on",
             .definition =
                 "number of the track, from 0 in order of appearance; a pair is on the track of "
                 "the one that it continues if overlap_" +
                 name +
                 " is above 1/sqrt(2) and the cluster of that one passes into one cluster as a "
                 "whole; otherwise it begins a new track; missing where its cluster is",
             .undefined = {Status::kUndefinedNoOrder}},
            name)),
    };
  }

  Index count_;
  double gap_;
  std::array<End, 2> ends_ = {declare_end("largest", true), declare_end("smallest", false)};
};

}  // namespace

AnalyzerKind tracking_analyzer() {
  return {.name = TrackingAnalyzer::kName,
          .question =
              "which of the outermost eigenpairs continues which one of the checkpoint before, "
              "through crossings, judged by their eigenvectors",
          .by_default = false,
          .on_missing =
              "continuation needs the checkpoint before; a cluster that continues beyond the last "
              "of `tracking` needs more of them",
          .options = {{.name = "tracking",
                       .type = SettingKey::Type::kInteger,
                       .meaning = "how many eigenpairs at each end to follow",
                       .minimum = 1,
                       .maximum = 1000,
                       .fallback = SettingValue(std::int64_t{5})},
                      {.name = "tracking-gap",
                       .type = SettingKey::Type::kReal,
                       .meaning = "eigenvalues closer together than this times the largest are "
                                  "followed as one cluster",
                       .range = RealRange{0, 1},
                       .fallback = SettingValue(1e-6)}},
          .create = [](const Settings& settings) {
            return std::make_unique<TrackingAnalyzer>(settings.integer("tracking"),
                                                      settings.real("tracking-gap"));
          }};
}

}  // namespace hesscope
