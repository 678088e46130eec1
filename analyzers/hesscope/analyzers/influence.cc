// SPDX-License-Identifier: BSD-3-Clause
//
// With weights w_i of the samples, f_w = sum_i w_i loss_i has critical points theta(w). At
// w_i = 1/N,
//   d theta / d w_i = -H^+ g_i,
// and leaving sample i out, w_i = 0, gives the mean over the others up to a factor: to first order
//   delta theta = H^+ g_i / N.
// H^+ is the inverse on the orthogonal complement of the explained null space: of the critical
// points that an invariance makes of one, it leads to the nearest.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include <hesscope/analyzers/influence.h>
#include <hesscope/analyzers/internal/eigenvalue_clusters.h>
#include <hesscope/analyzers/internal/explained_zeros.h>
#include <hesscope/analyzers/internal/group_dimensions.h>
#include <hesscope/analyzers/internal/newton_influence_section.h>
#include <hesscope/analyzers/internal/outermost_pairs.h>
#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/analyzers/internal/unexplained_inverse.h>
#include <hesscope/core/error.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/objective/gradient_blocks.h>

namespace hesscope {
namespace {

using detail::UnexplainedHessian;
using detail::UnexplainedInverse;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Eigenvalues at the upper end that are computed: a larger cluster has no slopes.
constexpr Index kPairs = 3;

// Calls use(range, gradients) for all samples, block by block.
template <typename Use>
void for_each_gradient(PointAnalysis& point, double begin, double end, const Use& use) {
  const Objective& objective = point.objective();
  const ProgressCallback progress = detail::part_of(point.progress(), begin, end);
  const auto count = static_cast<double>(objective.num_samples());
  for_gradient_blocks(objective,
                      point.theta(),
                      objective.all_samples(),
                      [&](const MatrixXd& gradients, SampleRange range) {
                        use(range, gradients);
                        detail::report(progress, static_cast<double>(range.end) / count);
                      });
}

class InfluenceAnalyzer final : public Analyzer {
 public:
  InfluenceAnalyzer(Index count, double limit) : count_(count), limit_(limit) {}

  std::vector<Dimension> dimensions(const Objective& objective) const override {
    if (objective.num_samples() < 2) {
      throw ConfigError("analyzer 'influence' leaves samples out, and there is only one");
    }
    return {{.name = "sample", .size = objective.num_samples()},
            detail::rank_dimension("influential",
                                   std::min<std::int64_t>(count_, objective.num_samples()),
                                   "the most influential first")};
  }

  Cost cost(const Objective& objective) const override {
    const auto n = static_cast<double>(objective.num_parameters());
    const auto samples = static_cast<double>(objective.num_samples());
    const double described = std::min(static_cast<double>(count_), samples);
    constexpr double kProductInGradients = 6;  // the samples' own Hessians times a direction
    constexpr double kGradientsOfAPair = 9;
    Cost all = detail::cost_of_pairs(kPairs, objective);
    all.asks_spectrum = true;
    all.matrices = 9;
    all.numbers += 4 * static_cast<double>(gradient_block_size(objective)) * n + 6 * samples +
                   described * (2 * n + samples);
    all.hessians += 1 + 2 * described / samples;
    all.decompositions += 1;
    all.sample_gradients += 5 + kProductInGradients;
    all.gradients += kPairs * kGradientsOfAPair + 3;
    all.matrix_operations +=
        4 * n * n * n + 4 * samples * n * n + described * (n * n * n / 3 + 8 * n * n);
    return all;
  }

  Group analyze(PointAnalysis& point) const override {
    Group answer = declared();
    if (point.hessian() == nullptr) {
      answer.set_rest_missing(point.hessian_status());
      return answer;
    }
    const double unit = detail::mean_sample_gradient(point.objective(), point.theta());
    const double share = unit / static_cast<double>(point.objective().num_samples());
    // If the samples are fitted, their gradients are no scale to compare with.
    const bool is_zero = !(share > 0) || point.is_gradient_zero();
    const double size = is_zero ? 0 : detail::norm(point.gradient()) / share;
    answer[gradient_in_samples_].set(size);
    const detail::ClusteredEnd top = detail::clustered_end(
        point, &Extremes::largest, std::min(kPairs, point.theta().size()), detail::kClusterGap);
    set_explicit_slopes(point, top, answer);
    if (!(size <= limit_)) {
      answer.set_rest_missing(Status::kUndefinedNotStationary);
      return answer;
    }
    // The point stands for the critical point, where g is zero.
    const UnexplainedHessian hessian = detail::unexplained_hessian(
        point, detail::gradient_error(unit) + detail::norm(point.gradient()));
    if (hessian.status == Status::kOk) describe(point, hessian, top, answer);
    answer.set_rest_missing(hessian.status);
    return answer;
  }

 private:
  // u_j' h_i u_j, the mean over the cluster of the largest eigenvalue.
  void set_explicit_slopes(PointAnalysis& point,
                           const detail::ClusteredEnd& top,
                           Group& answer) const {
    if (top.status != Status::kOk || !top.clusters.front().is_whole) {
      answer[explicit_slope_].set_missing(top.status == Status::kOk ? Status::kNotComputed
                                                                    : top.status);
      return;
    }
    const Objective& objective = point.objective();
    const Index count = objective.num_samples();
    const Index at_once = gradient_block_size(objective);
    VectorXd slopes = VectorXd::Zero(count);
    for (Index j = 0; j < top.clusters.front().size; ++j) {
      for (Index first = 0; first < count; first += at_once) {
        const SampleRange range = {first, std::min(first + at_once, count)};
        const MatrixXd u = top.vectors.col(j).replicate(1, range.size());
        slopes.segment(first, range.size()) +=
            (top.vectors.col(j).transpose() *
             objective.per_sample_hessian_times(point.theta(), u, range))
                .transpose();
      }
    }
    answer[explicit_slope_].set(slopes / static_cast<double>(top.clusters.front().size));
  }

  void describe(PointAnalysis& point,
                const UnexplainedHessian& hessian,
                const detail::ClusteredEnd& top,
                Group& answer) const {
    const UnexplainedInverse inverse(point, hessian, detail::part_of(point.progress(), 0, 0.3));
    if (inverse.status() != Status::kOk) {
      answer.set_rest_missing(inverse.status());
      return;
    }
    answer[num_explained_].set_count(hessian.num_explained());
    answer[num_negative_].set_count(inverse.num_negative());
    answer[num_zero_].set_count(inverse.num_zero());
    if (inverse.num_zero() > 0) {
      answer.set_rest_missing(Status::kUndefinedSingular);
      return;
    }
    const VectorXd self = set_of_all(point, inverse, top, answer);
    set_of_influential(point, hessian, inverse, self, answer);
  }

  // Returns self_influence.
  VectorXd set_of_all(PointAnalysis& point,
                      const UnexplainedInverse& inverse,
                      const detail::ClusteredEnd& top,
                      Group& answer) const {
    const Index count = point.objective().num_samples();
    const bool has_slope = top.status == Status::kOk && top.clusters.front().has_gradient();
    VectorXd self(count);
    VectorXd change(count);
    VectorXd slope = VectorXd::Zero(count);
    for_each_gradient(point, 0.3, 0.6, [&](SampleRange range, const MatrixXd& gradients) {
      const MatrixXd moved = inverse.times(gradients) / static_cast<double>(count);
      for (Index k = 0; k < range.size(); ++k) {
        self[range.begin + k] = gradients.col(k).dot(moved.col(k));
        change[range.begin + k] = detail::norm(moved.col(k));
        if (has_slope) {
          slope[range.begin + k] =
              -static_cast<double>(count) * top.clusters.front().gradient.dot(moved.col(k));
        }
      }
    });
    answer[self_influence_].set(self);
    answer[mean_self_influence_].set(self.mean());
    answer[change_norm_].set(change);
    if (has_slope) {
      answer[implicit_slope_].set(slope);
      const VectorXd explicit_slope =
          Eigen::Map<const VectorXd>(answer[explicit_slope_].reals().data(), count);
      answer[slope_].set(explicit_slope + slope);
    } else {
      const Status why = top.status == Status::kOk ? Status::kNotComputed : top.status;
      answer[implicit_slope_].set_missing(why);
      answer[slope_].set_missing(why);
    }
    return self;
  }

  void set_of_influential(PointAnalysis& point,
                          const UnexplainedHessian& hessian,
                          const UnexplainedInverse& inverse,
                          const VectorXd& self,
                          Group& answer) const {
    const Objective& objective = point.objective();
    const Index count = objective.num_samples();
    const Index described = std::min(count_, count);
    const double weight = 1 / static_cast<double>(count);
    std::vector<Index> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
      return std::abs(self[a]) > std::abs(self[b]);
    });
    order.resize(static_cast<std::size_t>(described));
    MatrixXd gradients(point.theta().size(), described);
    VectorXd samples(described);
    for (Index k = 0; k < described; ++k) {
      const Index i = order[static_cast<std::size_t>(k)];
      samples[k] = static_cast<double>(i);
      gradients.col(k) = objective.per_sample_gradients(point.theta(), {i, i + 1});
    }
    answer[influential_sample_].set_numbers({samples.data(), samples.data() + described},
                                            {Status::kOk});
    const MatrixXd change = weight * inverse.times(gradients);
    answer[parameter_change_].set_rows(change.transpose());
    MatrixXd losses(described, count);
    for_each_gradient(point, 0.6, 0.7, [&](SampleRange range, const MatrixXd& of_samples) {
      losses.middleCols(range.begin, range.size()) = change.transpose() * of_samples;
    });
    answer[loss_change_].set_rows(losses);
    newton_.set(point,
                hessian,
                inverse,
                order,
                gradients,
                detail::part_of(point.progress(), 0.7, 1),
                answer);
  }

  Variable of_critical_point(Variable variable) const {
    variable.undefined = {Status::kUndefinedNotStationary, Status::kUndefinedSingular};
    return variable;
  }

  Index count_;
  double limit_;
  VariableId mean_self_influence_ = declare(of_critical_point(
      {.name = "mean_self_influence",
       .long_name = "mean self-influence",
       .definition = "mean of self_influence, tr(H^+ C) / N with C the mean of g_i g_i^T: how much "
                     "higher the loss of a sample is if it is left out, an estimate of the gap "
                     "between unseen samples and these",
       .references = {papers::kTakeuchi, papers::kKoh},
       .headline = 1}));
  VariableId gradient_in_samples_ = declare(
      {.name = "gradient_in_samples",
       .long_name = "gradient in units of what one sample adds to it",
       .definition = "|g| / (mean |g_i| / N), where g_i is the gradient of sample i of N; 0 if g "
                     "is zero within rounding, that is, |g| is at most 16 eps times sqrt(tr S + "
                     "|g|^2), with S the covariance of the g_i, or times ||H diag(theta)||_F; "
                     "above influence-gradient the point does not count as stationary",
       .headline = 2});
  VariableId num_explained_ = declare(of_critical_point(
      {.name = "num_explained",
       .type = VariableType::kInt64,
       .long_name = "number of explained zero eigenvalues",
       .definition =
           "as /structure/num_explained, except that a parameter along which the loss of some "
           "sample has a slope, here or at the nearby point of /structure/dead, is not dead; H^+ "
           "is the inverse of H on the space orthogonal to their eigenvectors"}));
  VariableId num_negative_ = declare(of_critical_point(
      {.name = "num_negative",
       .type = VariableType::kInt64,
       .long_name = "number of negative eigenvalues",
       .definition =
           "negative eigenvalues of H other than the explained ones and those that num_zero "
           "counts; if there are any, the influences are those of a saddle, not of a minimum",
       .headline = 3}));
  VariableId num_zero_ = declare(of_critical_point(
      {.name = "num_zero",
       .type = VariableType::kInt64,
       .long_name = "number of zero eigenvalues that nothing explains",
       .definition =
           "eigenvalues lambda of H, with unit eigenvectors v and other than the explained ones, "
           "that cannot be told from zero: |lambda| is at most rounding_band or at most 2 |v^T "
           "(H(theta + p) - H) v|, where p = -H^+ g over the eigenvalues above sqrt(eps) ||H|| in "
           "magnitude leads to the intended critical point; or, if it is below that, at most 2 "
           "|v^T (H(theta + q) - H) v|, where q is the sum of -v sign(v.g) (|v.g| + eps ||H|| "
           "|theta|) / lambda over those of them above ten rounding bands, which is how far away "
           "that point may be along them; if there are any, there is no H^+"}));
  VariableId self_influence_ = declare(of_critical_point(
      {.name = "self_influence",
       .dimensions = {"sample"},
       .long_name = "self-influence",
       .definition =
           "g_i^T H^+ g_i / N: how much the loss of a sample grows to first order if it is left "
           "out together with 1/N of all terms of the loss that belong to every sample: weight "
           "decay and, where targets have weights or are ignored, the sum of these weights. "
           "Training without the sample, in contrast, keeps all weight decay and divides by the "
           "weights of the other targets; with such weights the result is the same only for "
           "samples whose targets weigh as much as an average sample's",
       .references = {papers::kKoh}}));
  VariableId change_norm_ =
      declare(of_critical_point({.name = "parameter_change_norm",
                                 .dimensions = {"sample"},
                                 .long_name = "how far the parameters move without a sample",
                                 .definition = "|H^+ g_i| / N",
                                 .references = {papers::kKoh}}));
  VariableId explicit_slope_ = declare(
      {.name = "lambda_max_slope_fixed",
       .dimensions = {"sample"},
       .long_name = "slope of lambda_max in the weight of a sample, at fixed parameters",
       .definition = "u^T h_i u, where h_i is the Hessian of sample i's loss and u the unit "
                     "eigenvector of lambda_max or, for a cluster of two or three, the mean over "
                     "its eigenvectors; its mean over the samples is lambda_max; not computed for "
                     "a larger cluster, nor are the slopes that follow from it",
       .references = {papers::kMagnus}});
  VariableId implicit_slope_ = declare(of_critical_point(
      {.name = "lambda_max_slope_moved",
       .dimensions = {"sample"},
       .long_name = "slope of lambda_max in the weight of a sample, through the parameters",
       .definition = "-T[u, u] . H^+ g_i with T[u, u] = d lambda_max / d theta, as "
                     "/sharpening/gradients_largest, since the critical point moves by d theta / d "
                     "w_i = -H^+ g_i; its sum over the samples is 0",
       .references = {papers::kMagnus, papers::kKoh}}));
  VariableId slope_ = declare(of_critical_point(
      {.name = "lambda_max_slope",
       .dimensions = {"sample"},
       .long_name = "slope of lambda_max in the weight of a sample",
       .definition = "lambda_max_slope_fixed + lambda_max_slope_moved: d lambda_max / d w_i at the "
                     "critical point of sum_i w_i loss_i, all w_i = 1/N",
       .references = {papers::kMagnus, papers::kKoh}}));
  VariableId influential_sample_ = declare(of_critical_point(
      {.name = "influential_sample",
       .type = VariableType::kInt64,
       .dimensions = {"influential"},
       .long_name = "most influential samples",
       .definition =
           "positions in the data, from 0, of the samples with the largest |self_influence|"}));
  VariableId parameter_change_ = declare(of_critical_point(
      {.name = "parameter_change",
       .dimensions = {"influential", "parameter"},
       .long_name = "how the parameters move without a sample",
       .definition =
           "H^+ g_i / N: to first order, the critical point without the sample minus that with it",
       .references = {papers::kKoh}}));
  VariableId loss_change_ = declare(of_critical_point(
      {.name = "loss_change",
       .dimensions = {"influential", "sample"},
       .long_name = "change of each sample's loss if an influential one is left out",
       .definition = "g_j^T H^+ g_i / N for sample j if sample i is left out",
       .references = {papers::kKoh}}));
  detail::NewtonInfluenceSection newton_{declaring()};
};

}  // namespace

AnalyzerKind influence_analyzer() {
  return {.name = "influence",
          .question =
              "what leaving out each sample changes: parameters, losses, the largest eigenvalue",
          .by_default = false,
          .on_missing = kTakesMatrix,
          .options = {{.name = "influence",
                       .type = SettingKey::Type::kInteger,
                       .meaning =
                           "number of the most influential samples for which to store all changes",
                       .minimum = 1,
                       .maximum = 1'000'000,
                       .fallback = SettingValue(std::int64_t{10})},
                      {.name = "influence-gradient",
                       .type = SettingKey::Type::kReal,
                       .meaning = "largest gradient, in units of what one sample adds to it, at "
                                  "which a point counts as stationary",
                       .range = RealRange{},
                       .fallback = SettingValue(1e-3)}},
          .create = [](const Settings& settings) {
            return std::make_unique<InfluenceAnalyzer>(settings.integer("influence"),
                                                       settings.real("influence-gradient"));
          }};
}

}  // namespace hesscope
