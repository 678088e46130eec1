// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <hesscope/analyzers/internal/eigenvalue_clusters.h>
#include <hesscope/analyzers/internal/flip_section.h>
#include <hesscope/analyzers/internal/oscillation_section.h>
#include <hesscope/analyzers/internal/outermost_pairs.h>
#include <hesscope/analyzers/internal/pair_numbers.h>
#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/analyzers/internal/stability_settings.h>
#include <hesscope/analyzers/sharpening.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/objective/gradient_blocks.h>

namespace hesscope {
namespace {

using detail::ClusteredEnd;
using detail::EigenvalueCluster;
using detail::KnownRate;
using detail::PairNumbers;

class SharpeningAnalyzer final : public Analyzer {
 public:
  SharpeningAnalyzer(Eigen::Index count, double gap) : count_(count), gap_(gap) {}

  std::vector<Dimension> dimensions(const Objective& objective) const override {
    if (!objective.has_third_derivatives()) {
      throw ConfigError(
          "analyzer 'sharpening' needs third derivatives of the loss, but this objective gives "
          "Hessians alone");
    }
    return {detail::pair_dimension(count_, objective)};
  }

  Cost cost(const Objective& objective) const override {
    const auto n = static_cast<double>(objective.num_parameters());
    const auto pairs = static_cast<double>(count_);
    // A pair of directions costs about three columns of H V.
    constexpr double kGradientsOfAPair = 9;
    Cost all = detail::cost_of_pairs(count_, objective);
    all.sample_gradients += 1;
    all.numbers += 12 * pairs * n;
    all.numbers += static_cast<double>(gradient_block_size(objective)) * n;
    all.gradients = 2 * pairs * kGradientsOfAPair;
    flip_.add_cost(objective, pairs, all);
    oscillation_.add_cost(objective, all);
    return all;
  }

  std::vector<std::string> remarks_on(std::span<const OptimizerState> optimizers,
                                      std::span<const ParameterBlock> /*blocks*/,
                                      const GivenSettings& /*given*/) const override {
    return detail::remarks_on_limits(optimizers);
  }

  Group analyze(PointAnalysis& point) const override {
    Group answer = declared();
    const detail::NeighbouringEnds ends = detail::neighbouring_ends(
        point, kName, [this](PointAnalysis& at, EndOfSpectrum Extremes::*member) {
          return detail::clustered_end(at, member, count_, gap_);
        });
    Eigen::VectorXd gradient = point.gradient();
    if (point.status() == Status::kOk && point.is_gradient_zero()) gradient.setZero();
    for (std::size_t e = 0; e < ends_.size(); ++e) {
      const ClusteredEnd* before = ends.before ? &ends.before->ends[e] : nullptr;
      describe(point, gradient, ends_[e], ends.here->ends[e], before, answer);
    }
    const KnownRate rate = known_rate(point);
    set_edge(gradient, ends.here->ends[0], rate, answer);
    flip_.set(point, ends.here->ends[0], rate, answer);
    oscillation_.set(point, gradient, ends.here->ends[0], rate, answer);
    return answer;
  }

  static constexpr const char* kName = "sharpening";

 private:
  // What is stored for one end.
  struct End {
    VariableId eigenvalues, cluster, gradients, gradient_norm, rate, self_stabilization;
    VariableId change, predicted_change, error_bound, proof;

    // The variables that need eigenvalues.
    std::array<VariableId, 8> all() const {
      return {eigenvalues,
              cluster,
              gradients,
              gradient_norm,
              rate,
              self_stabilization,
              change,
              predicted_change};
    }
  };

  // `gradient`, here and below: 0 if it is only rounding.
  void describe(PointAnalysis& point,
                const Eigen::VectorXd& gradient,
                const End& variables,
                const ClusteredEnd& end,
                const ClusteredEnd* before,
                Group& answer) const {
    answer[variables.proof].set_flag(static_cast<std::int8_t>(end.proof));
    answer[variables.error_bound].set(end.error_bound, end.status);
    if (end.status != Status::kOk) {
      for (const VariableId id : variables.all()) answer[id].set_missing(end.status);
      return;
    }
    const Eigen::Index count = end.values.size();
    answer[variables.eigenvalues].set(end.values);
    PairNumbers number(count);
    PairNumbers norm(count);
    PairNumbers rate(count);
    PairNumbers stabilization(count);
    const Eigen::Index n = end.vectors.rows();
    std::vector<double> gradients(static_cast<std::size_t>(count * n), kNaN);
    std::vector<Status> gradient_statuses(gradients.size(), Status::kNotComputed);
    for (std::size_t c = 0; c < end.clusters.size(); ++c) {
      const EigenvalueCluster& cluster = end.clusters[c];
      number.set(cluster, static_cast<double>(c));
      if (!cluster.has_gradient()) continue;
      norm.set(cluster, detail::norm(cluster.gradient));
      rate.set(cluster, 0.0 - cluster.gradient.dot(gradient));  // avoids -0
      stabilization.set(cluster, end.projected_gradient(cluster).squaredNorm());
      const Status status = cluster.gradient.allFinite() ? Status::kOk : Status::kNonFinite;
      for (Eigen::Index i = cluster.first; i < cluster.first + cluster.size; ++i) {
        std::copy_n(cluster.gradient.data(), n, gradients.data() + i * n);
        std::fill_n(gradient_statuses.begin() + i * n, n, status);
      }
    }
    number.store(answer[variables.cluster]);
    norm.store(answer[variables.gradient_norm]);
    rate.store(answer[variables.rate]);
    stabilization.store(answer[variables.self_stabilization]);
    answer[variables.gradients].set_numbers(std::move(gradients), std::move(gradient_statuses));
    set_changes(point, variables, end, before, answer);
    if (end.proof != Proof::kConverged) return;
    for (const VariableId id : variables.all()) answer[id].is_proved = false;
  }

  void set_changes(PointAnalysis& point,
                   const End& variables,
                   const ClusteredEnd& end,
                   const ClusteredEnd* before,
                   Group& answer) const {
    if (before == nullptr || before->status != Status::kOk) {
      const Status why = before == nullptr ? point.no_neighbour_status() : before->status;
      answer[variables.change].set_missing(why);
      answer[variables.predicted_change].set_missing(why);
      return;
    }
    PairNumbers change(end.values.size());
    PairNumbers predicted(end.values.size());
    const Eigen::VectorXd step = point.theta() - point.previous()->theta();
    for (const EigenvalueCluster& cluster : end.clusters) {
      if (!cluster.has_gradient()) continue;
      change.set(cluster,
                 cluster.mean - before->values.segment(cluster.first, cluster.size).mean());
      const auto gradient = before->gradient_of(cluster.first, cluster.size);
      if (gradient) predicted.set(cluster, (*gradient + cluster.gradient).dot(step) / 2);
    }
    change.store(answer[variables.change]);
    predicted.store(answer[variables.predicted_change]);
  }

  static KnownRate known_rate(PointAnalysis& point) {
    const OptimizerState& optimizer = point.optimizer();
    if (!detail::has_limit(optimizer)) return {.status = Status::kNotComputed};
    const detail::EffectiveSetting rate = detail::effective(
        optimizer.groups, &OptimizerSettings::learning_rate, point.given_settings().learning_rate);
    return {.status = rate.status(), .value = rate.value.value_or(kNaN)};
  }

  // For the largest eigenvalues, in comparison with 2 / learning rate.
  void set_edge(const Eigen::VectorXd& gradient,
                const ClusteredEnd& end,
                const KnownRate& rate,
                Group& answer) const {
    Variable& gap = answer[gap_to_edge_];
    Variable& displacement = answer[displacement_];
    if (end.status != Status::kOk) {
      gap.set_missing(end.status);
      displacement.set_missing(end.status);
      return;
    }
    PairNumbers gaps(end.values.size());
    PairNumbers displacements(end.values.size());
    for (const EigenvalueCluster& cluster : end.clusters) {
      if (rate.status != Status::kOk) {
        gaps.set(cluster, kNaN, rate.status);
      } else if (rate.value == 0) {
        gaps.set(cluster, kNaN, Status::kUndefinedZeroDenominator);
      } else {
        gaps.set(cluster, 2 / rate.value - cluster.mean);
      }
      if (!cluster.has_gradient()) continue;
      // With unit vectors, so that no square underflows.
      const double norm = detail::norm(end.projected_gradient(cluster));
      if (norm == 0) {
        displacements.set(cluster, kNaN, Status::kUndefinedZeroDenominator);
        continue;
      }
      const double rate_over_stabilization =
          0.0 - (cluster.gradient / norm).dot(gradient / norm);  // avoids -0
      displacements.set(cluster,
                        rate_over_stabilization < 0 ? 0 : std::sqrt(2 * rate_over_stabilization));
    }
    gaps.store(gap);
    displacements.store(displacement);
    if (end.proof == Proof::kConverged) gap.is_proved = displacement.is_proved = false;
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
             .definition =
                 "number of the cluster, from 0; the eigenvalues of a cluster are closer to their "
                 "neighbours than cluster-gap times the largest magnitude of an eigenvalue, and "
                 "the quantities below are those of their mean; where a cluster continues beyond "
                 "the last pair, they are missing, except gap_to_edge"}),
        .gradients = add(
            {.name = "gradients",
             .dimensions = {"pair", "parameter"},
             .long_name = "gradient of an eigenvalue",
             .definition = "d lambda / d theta = T[v, v], where v is its unit eigenvector and T[u, "
                           "w] = d/de H(theta + e u) w at e = 0; for a cluster, the mean over its "
                           "eigenvectors, which is the gradient of the mean of its eigenvalues",
             .references = {papers::kMagnus, papers::kKato}}),
        .gradient_norm = add({.name = "gradient_norm",
                              .dimensions = {"pair"},
                              .long_name = "norm of the gradient of an eigenvalue",
                              .definition = "Euclidean norm of gradients_" + name}),
        .rate =
            add({.name = "rate",
                 .dimensions = {"pair"},
                 .long_name = "rate at which gradient flow changes an eigenvalue",
                 .definition =
                     "d lambda / dt = -(d lambda / d theta) . g along d theta / dt = -g; for the "
                     "largest eigenvalue, progressive sharpening where positive; g counts as 0 if "
                     "it is only rounding, |g| being at most 16 eps sqrt(tr S + |g|^2), with S the "
                     "covariance of the samples' gradients, or 16 eps ||H diag(theta)||_F",
                 .references = {papers::kCohen2021, papers::kDamian},
                 .headline = is_headline ? 2 : 0}),
        .self_stabilization =
            add({.name = "self_stabilization",
                 .dimensions = {"pair"},
                 .long_name = "self-stabilisation",
                 .definition =
                     "|P d lambda / d theta|^2, where P projects out the eigenvectors of its "
                     "cluster: an oscillation of amplitude x along its eigenvector lowers the "
                     "eigenvalue at the rate x^2 / 2 times this; 0 where P d lambda / d theta is "
                     "only rounding of d lambda / d theta, or at most twice the norm of d lambda / "
                     "d theta times the angle by which the eigenvectors may be off",
                 .references = {papers::kDamian},
                 .headline = is_headline ? 3 : 0}),
        .change = add({.name = "change",
                       .dimensions = {"pair"},
                       .long_name = "change of an eigenvalue since the checkpoint before",
                       .definition = "mean of the eigenvalues of its cluster minus that of the "
                                     "same ranks at the checkpoint before, each checkpoint with "
                                     "its own buffers (such as running statistics)",
                       .undefined = {Status::kUndefinedNoOrder}}),
        .predicted_change =
            add({.name = "predicted_change",
                 .dimensions = {"pair"},
                 .long_name = "change predicted by the gradients at both checkpoints",
                 .definition =
                     "(d lambda / d theta + that of the same ranks at the checkpoint before) / 2 . "
                     "(theta - theta at the checkpoint before): the trapezoidal rule, whose error "
                     "is of third order in the step; the effect of changed buffers is not included",
                 .undefined = {Status::kUndefinedNoOrder}}),
        .error_bound = add(detail::error_bound_of_end()),
        .proof = add(detail::proof_of_end()),
    };
  }

  Eigen::Index count_;
  double gap_;
  std::array<End, 2> ends_ = {declare_end("largest", true), declare_end("smallest", false)};
  VariableId gap_to_edge_ = declare(
      {.name = "gap_to_edge",
       .dimensions = {"pair"},
       .long_name = "distance of the largest eigenvalues from the edge of stability",
       .definition =
           std::string(
               "2 / learning_rate - lambda, with the learning rate as given or, if it is the same "
               "for all parameters, the checkpoint's; negative where gradient descent is "
               "unstable") +
           detail::kLimitInWords,
       .references = {papers::kCohen2021},
       .undefined = {Status::kUndefinedZeroDenominator, Status::kNotStored}});
  VariableId displacement_ =
      declare({.name = "displacement",
               .dimensions = {"pair"},
               .long_name = "amplitude at which self-stabilisation balances progressive sharpening",
               .definition = "sqrt(2 rate / self_stabilization) along the eigenvector, 0 where the "
                             "rate is not positive; oscillation_variance is its square, but with "
                             "the rate at the centre of the oscillation",
               .references = {papers::kDamian},
               .undefined = {Status::kUndefinedZeroDenominator}});
  detail::FlipSection flip_{declaring()};
  detail::OscillationSection oscillation_{declaring()};
};

}  // namespace

AnalyzerKind sharpening_analyzer() {
  return {
      .name = SharpeningAnalyzer::kName,
      .question =
          "how the outermost eigenvalues change: their gradients, progressive sharpening, "
          "self-stabilisation, the change between checkpoints next to its prediction; the "
          "oscillation at the edge of stability, and orbits of period two beyond it",
      .by_default = false,
      .on_missing =
          "a cluster that continues beyond the last of `sharpening` needs more of them; changes "
          "need the checkpoint before; derivatives along an eigenvector need an eigenvalue that is "
          "alone in its cluster",
      .on_not_stored =
          "`gap_to_edge`, `centre_gap`, the cycle and `period_two_half_width` take the learning "
          "rate that a checkpoint holds, or `learning-rate`",
      .on_other_buffers =
          "change_largest and change_smallest are between two models, and their "
          "predictions leave out what the buffers change",
      .options = {{.name = "sharpening",
                   .type = SettingKey::Type::kInteger,
                   .meaning = "number of eigenvalues at each end for which to find the gradients",
                   .minimum = 1,
                   .maximum = 1000,
                   .fallback = SettingValue(std::int64_t{3})},
                  {.name = "cluster-gap",
                   .type = SettingKey::Type::kReal,
                   .meaning =
                       "eigenvalues closer together than this times the largest form one cluster",
                   .range = RealRange{0, 1},
                   .fallback = SettingValue(1e-6)}},
      .create = [](const Settings& settings) {
        return std::make_unique<SharpeningAnalyzer>(settings.integer("sharpening"),
                                                    settings.real("cluster-gap"));
      }};
}

}  // namespace hesscope
