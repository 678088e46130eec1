// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <hesscope/analyzers/internal/group_dimensions.h>
#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/analyzers/internal/step_rounding.h>
#include <hesscope/analyzers/norm_sharpness.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/noise/gradient_covariance.h>
#include <hesscope/objective/gradient_blocks.h>
#include <hesscope/spectra/ball_maximum.h>

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// What a ball is called and how it is described.
struct Norm {
  const char* name;
  const char* long_name;
  const char* ball;
  const char* steepest;
  const char* paper;
  int headline;
};

constexpr Norm kLinf = {
    "linf", "in the norm of the largest entry", "max |d_i| <= 1", "sign(g)", papers::kBalles, 1};
constexpr Norm kBlock = {"block",
                         "in the largest norm of a tensor",
                         "|d_b| <= 1 for each parameter tensor b",
                         "g_b / |g_b| in each tensor",
                         papers::kBernstein,
                         3};
constexpr Norm kSpectral = {"spectral",
                            "in the largest spectral norm of a matrix",
                            "||D_b||_2 <= 1 for each parameter tensor b, taken as a matrix of its "
                            "first dimension by all others, or a column for a vector",
                            "U V^T in each tensor with the gradient U S V^T",
                            papers::kBernstein,
                            5};

class NormSharpnessAnalyzer final : public Analyzer {
 public:
  explicit NormSharpnessAnalyzer(std::int64_t max_subproblems)
      : max_subproblems_(max_subproblems),
        linf_(declare_norm(kLinf)),
        absolute_sum_(
            declare({.name = "linf_absolute_sum",
                     .long_name = "sum of the magnitudes of the Hessian's entries",
                     .definition =
                         "sum of |H_ij|: a bound on linf_upper, to rounding, that takes no search",
                     .references = {papers::kBalles}})),
        num_subproblems_(declare(
            {.name = "linf_subproblems",
             .type = VariableType::kInt64,
             .long_name = "subproblems of branch and bound",
             .definition = fmt::format(
                 "number of semidefinite relaxations solved with some signs fixed, at most "
                 "norm-subproblems; 0 where none was needed, and for more than {} parameters",
                 kLargestBranched)})),
        block_(declare_norm(kBlock)),
        spectral_(declare_norm(kSpectral)),
        update_(declare_interaction("update",
                                    "update",
                                    "where u is the update that follows or, in an analysis of "
                                    "checkpoints, the step to the next one",
                                    true)),
        gradient_(declare_interaction("gradient", "gradient", "where u is the gradient", false)) {}

  std::vector<Dimension> dimensions(const Objective& objective) const override {
    return {detail::block_dimension("block_column", objective)};
  }

  Cost cost(const Objective& objective) const override {
    const auto n = static_cast<double>(objective.num_parameters());
    constexpr double kRelaxations = 3;
    constexpr double kSweeps = 300;
    constexpr double kRank = 24;
    const double sweep = 2 * kRank * n * n;
    const double branched =
        objective.num_parameters() <= kLargestBranched ? static_cast<double>(max_subproblems_) : 0;
    constexpr double kSubproblem = 64;  // sweeps and a decomposition
    return {.asks_hessian = true,
            .matrices = 3,
            .numbers = static_cast<double>(gradient_block_size(objective)) * n,
            .decompositions = 2 * kRelaxations,
            .products = 2 * static_cast<double>(objective.parameter_blocks().size()),
            .sample_gradients = 1,
            .matrix_operations = kRelaxations * kSweeps * sweep + branched * kSubproblem * sweep};
  }

  Group analyze(PointAnalysis& point) const override {
    Group answer = declared();
    if (point.status() != Status::kOk || point.hessian_status() == Status::kNonFinite) {
      answer.set_rest_missing(Status::kNonFinite);
      return answer;
    }
    const GradientCovariance covariance =
        gradient_covariance(point.objective(), point.theta(), {.with_matrix = false});
    const VectorXd gradient = point.is_gradient_zero(covariance)
                                  ? VectorXd(VectorXd::Zero(point.theta().size()))
                                  : point.gradient();
    set_interaction(point, gradient, gradient_, answer);
    if (const VectorXd* next = point.next_theta()) {
      set_interaction(point, detail::step_without_rounding(point, *next), update_, answer);
    } else {
      for (const VariableId id : {update_.blocks, update_.within, update_.across}) {
        answer[id].set_missing(point.no_neighbour_status());
      }
    }
    const auto blocks = point.objective().parameter_blocks();
    // Entries that a norm scales to the same size must not be rounding errors.
    const VectorXd& by_parameters = point.gradient_by_rounded_parameters();
    const double by_samples = rounding_of_gradients(covariance);
    VectorXd tensors = gradient;
    VectorXd rounding(static_cast<Index>(blocks.size()));
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const ParameterBlock& block = blocks[b];
      auto part = tensors.segment(block.offset, block.size);
      const double of_block = detail::norm(by_parameters.segment(block.offset, block.size));
      rounding[static_cast<Index>(b)] = std::max(by_samples, of_block);
      if (detail::norm(part) <= rounding[static_cast<Index>(b)]) part.setZero();
    }
    set_steepest(point, steepest_on_cube(point.gradient_without_rounding()), linf_, answer);
    set_steepest(point, steepest_on_block_balls(tensors, blocks), block_, answer);
    set_steepest(point, steepest_on_spectral_balls(tensors, blocks, rounding), spectral_, answer);
    if (const MatrixXd* h = point.hessian()) describe(point, *h, answer);
    answer.set_rest_missing(Status::kNotComputed);
    return answer;
  }

 private:
  struct NormSection {
    VariableId lower;
    VariableId upper;
    VariableId is_closed;
    VariableId direction;
    VariableId steepest;
  };

  struct Interaction {
    VariableId blocks;
    VariableId within;
    VariableId across;
  };

  NormSection declare_norm(const Norm& norm) {
    const std::string name = norm.name;
    std::vector<std::string> references = {norm.paper};
    if (name == kLinf.name) references.emplace_back(papers::kXie);
    NormSection section{};
    section.lower =
        declare({.name = name + "_sharpness",
                 .long_name = fmt::format("sharpness {}", norm.long_name),
                 .definition = fmt::format("d^T H d for d = {}_direction: the largest value found "
                                           "over {}; the maximum where {}_gap is closed",
                                           name,
                                           norm.ball,
                                           name),
                 .references = references,
                 .headline = norm.headline});
    section.upper =
        declare({.name = name + "_upper",
                 .long_name = fmt::format("proved upper bound on {}_sharpness", name),
                 .definition = fmt::format(
                     "tr Y for a Y with the ball's structure (diagonal, a multiple of I for each "
                     "tensor, or I x Y_b for each matrix) for which the eigenvalues of Y - H prove "
                     "it positive semidefinite: an upper bound on d^T H d over {}",
                     norm.ball),
                 .references = {papers::kNesterov},
                 .headline = norm.headline + 1});
    section.is_closed = declare(
        {.name = name + "_gap",
         .type = VariableType::kInt8,
         .long_name = fmt::format("whether {}_sharpness is the maximum", name),
         .definition = fmt::format(
             "closed where {}_upper exceeds {}_sharpness by no more than rounding can cause",
             name,
             name),
         .flag_meanings = {"open", "closed"}});
    section.direction =
        declare({.name = name + "_direction",
                 .dimensions = {"parameter"},
                 .long_name = fmt::format("direction that attains {}_sharpness", name),
                 .definition = fmt::format("d with {}; its sign is arbitrary", norm.ball)});
    section.steepest = declare(
        {.name = name + "_steepest_curvature",
         .long_name = fmt::format("curvature along steepest descent {}", norm.long_name),
         .definition = fmt::format(
             "d^T H d with d = {}, the d with the largest g . d over {}; d is 0 for {} whose g is "
             "only rounding, that is, at most 16 eps sqrt(tr S + |g|^2), with S the covariance of "
             "the samples' gradients, or at most 16 eps ||its rows of H diag(theta)||_F; undefined "
             "where all of g is rounding",
             norm.steepest,
             norm.ball,
             norm.name == std::string(kLinf.name)       ? "an entry"
             : norm.name == std::string(kSpectral.name) ? "a tensor, or a singular value of one,"
                                                        : "a tensor"),
         .references = references,
         .undefined = {Status::kUndefinedZeroDenominator}});
    return section;
  }

  Interaction declare_interaction(const std::string& name,
                                  const std::string& of,
                                  const std::string& where,
                                  bool is_update) {
    std::vector<Status> undefined = {Status::kUndefinedZeroDenominator};
    if (is_update) undefined.push_back(Status::kUndefinedNoOrder);
    Interaction ids{};
    ids.blocks = declare({.name = name + "_curvature",
                          .dimensions = {"block", "block_column"},
                          .long_name = fmt::format("curvature along the {} by tensors", of),
                          .definition = fmt::format("u_a^T H_ab u_b / |u|^2, {}; the sum over all "
                                                    "pairs is edge/{}_curvature, and both are "
                                                    "undefined for the same u",
                                                    where,
                                                    name),
                          .undefined = undefined});
    ids.within = declare({.name = name + "_curvature_within",
                          .long_name = fmt::format("curvature along the {} within tensors", of),
                          .definition = fmt::format("sum of {}_curvature over all (a, a)", name),
                          .undefined = undefined,
                          .headline = is_update ? 7 : 0});
    ids.across =
        declare({.name = name + "_curvature_across",
                 .long_name = fmt::format("curvature along the {} across tensors", of),
                 .definition = fmt::format("sum of {}_curvature over all (a, b) with a != b", name),
                 .undefined = undefined,
                 .headline = is_update ? 8 : 0});
    return ids;
  }

  static void set_interaction(PointAnalysis& point,
                              const VectorXd& direction,
                              const Interaction& ids,
                              Group& answer) {
    const auto set_missing = [&](Status status) {
      for (const VariableId id : {ids.blocks, ids.within, ids.across}) {
        answer[id].set_missing(status);
      }
    };
    const double norm = detail::norm(direction);
    if (!std::isfinite(norm)) return set_missing(Status::kNonFinite);
    if (norm == 0) return set_missing(Status::kUndefinedZeroDenominator);
    const auto blocks = point.objective().parameter_blocks();
    const auto count = static_cast<Index>(blocks.size());
    MatrixXd parts = MatrixXd::Zero(direction.size(), count);  // column a: u_a / |u|
    for (Index a = 0; a < count; ++a) {
      const ParameterBlock& block = blocks[static_cast<std::size_t>(a)];
      parts.col(a).segment(block.offset, block.size) =
          direction.segment(block.offset, block.size) / norm;
    }
    const MatrixXd products = parts.transpose() * point.hessian_operator().apply(parts);
    const MatrixXd curvatures = (products + products.transpose()) / 2;
    answer[ids.blocks].set_symmetric(curvatures);
    const double within = curvatures.trace();
    answer[ids.within].set(within);
    MatrixXd others = curvatures;
    others.diagonal().setZero();
    answer[ids.across].set(others.sum());
  }

  static void set_steepest(PointAnalysis& point,
                           const VectorXd& direction,
                           const NormSection& section,
                           Group& answer) {
    if (direction.isZero(0)) {
      answer[section.steepest].set_missing(Status::kUndefinedZeroDenominator);
    } else {
      answer[section.steepest].set(direction.dot(point.hessian_operator().apply(direction).col(0)));
    }
  }

  void describe(PointAnalysis& point, const MatrixXd& h, Group& answer) const {
    answer[absolute_sum_].set(h.cwiseAbs().sum());
    const auto blocks = point.objective().parameter_blocks();
    const BallMaximumOptions options = {.max_subproblems = max_subproblems_, .seed = point.seed()};
    const ProgressCallback& progress = point.progress();
    const BallMaximum cube = maximum_on_cube(h, options, detail::part_of(progress, 0, 0.6));
    set_norm(cube, linf_, answer);
    if (cube.status == Status::kOk) answer[num_subproblems_].set_count(cube.num_subproblems);
    set_norm(maximum_on_block_balls(h, blocks, options, detail::part_of(progress, 0.6, 0.8)),
             block_,
             answer);
    set_norm(maximum_on_spectral_balls(h, blocks, options, detail::part_of(progress, 0.8, 1)),
             spectral_,
             answer);
  }

  static void set_norm(const BallMaximum& found, const NormSection& section, Group& answer) {
    if (found.status != Status::kOk) {
      for (const VariableId id : {section.lower, section.upper, section.direction}) {
        answer[id].set_missing(found.status);
      }
      return;
    }
    answer[section.lower].set(found.lower);
    answer[section.upper].set(found.upper);
    answer[section.is_closed].set_flag(found.is_closed ? 1 : 0);
    answer[section.direction].set(found.direction);
  }

  std::int64_t max_subproblems_;
  NormSection linf_;
  VariableId absolute_sum_;
  VariableId num_subproblems_;
  NormSection block_;
  NormSection spectral_;
  Interaction update_;
  Interaction gradient_;
};

}  // namespace

AnalyzerKind norm_sharpness_analyzer() {
  return {
      .name = "norm-sharpness",
      .question =
          "sharpness in the norms of sign descent, of descent by blocks and of Muon, "
          "with proved bounds; curvature of the update within and across tensors",
      .by_default = false,
      .on_missing =
          "the norms need the matrix (`method` dense or iterative), the update a next checkpoint",
      .options = {{.name = "norm-subproblems",
                   .type = SettingKey::Type::kInteger,
                   .meaning = "maximum number of subproblems that branch and bound may solve for "
                              "the norm of the largest entry; 0 = none",
                   .minimum = 0,
                   .maximum = 1'000'000,
                   .fallback = SettingValue(std::int64_t{1000})}},
      .create = [](const Settings& settings) {
        return std::make_unique<NormSharpnessAnalyzer>(settings.integer("norm-subproblems"));
      }};
}

}  // namespace hesscope
