// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <hesscope/analyzers/attention_terms.h>
#include <hesscope/analyzers/internal/jacobian_cost.h>
#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/linalg/singular_values.h>
#include <hesscope/noise/internal/gradient_rounding.h>

namespace hesscope {
namespace {

// The tensors of the model, checked.
struct Layout {
  Eigen::Index heads;
  Eigen::Index embedding;       // D
  Eigen::Index head_dimension;  // d
  Eigen::Index values;          // offset of WV (H, D, d)
  Eigen::Index output;          // offset of WO (H d), which WQ, WK and WV precede
};

Layout layout_of(const Objective& objective) {
  const auto blocks = objective.parameter_blocks();
  const auto find = [&](const char* name, std::size_t rank) -> const ParameterBlock* {
    const auto found = std::find_if(blocks.begin(), blocks.end(), [&](const ParameterBlock& block) {
      return block.name == name && block.shape.size() == rank;
    });
    return found == blocks.end() ? nullptr : &*found;
  };
  const ParameterBlock* wv = find("WV", 3);
  const ParameterBlock* wo = find("WO", 1);
  if (!objective.has_gauss_newton() || wv == nullptr || wo == nullptr ||
      wo->size != wv->shape[0] * wv->shape[2] ||
      wo->offset + wo->size != objective.num_parameters()) {
    throw ConfigError(
        "'attention-terms': is of the model 'attention', with WV (heads, D, d) and WO (heads * d)");
  }
  return {wv->shape[0], wv->shape[1], wv->shape[2], wv->offset, wo->offset};
}

// The matrix whose singular values are stored.
const std::string kOfAttendedInputs =
    " of B, which has a row for each token of each sample: that of [S_1 X, ..., S_H X] of its "
    "sample, with the tokens X and the attention S_h of head h, whose row for a token has the "
    "weights of all tokens";

const std::string kOfRounding =
    "at most (max(rows, columns) + 10) eps times the largest, and so only rounding";

class AttentionTermsAnalyzer final : public Analyzer {
 public:
  std::vector<Dimension> dimensions(const Objective& objective) const override {
    layout_of(objective);
    return {};
  }

  // Two Jacobians: another one for B.
  Cost cost(const Objective& objective) const override {
    Cost cost = detail::jacobian_cost(objective);
    cost.sample_gradients *= 2;
    return cost;
  }

  Group analyze(PointAnalysis& point) const override {
    Group answer = declared();
    if (point.status() != Status::kOk) {
      answer.set_rest_missing(point.status());
      return answer;
    }
    const Objective& objective = point.objective();
    const Layout layout = layout_of(objective);
    double least = kInfinity;
    for (Eigen::Index h = 0; h < layout.heads; ++h) {
      least = std::min(least, detail::norm(output_of(point, layout, h)));
    }
    answer[wo_norm_min_].set(least);
    const Eigen::MatrixXd j = objective.prediction_jacobian(point.theta(), objective.all_samples());
    const auto num_samples = static_cast<double>(objective.num_samples());
    const double loss = point.loss();
    const double error = detail::kGradientRounding * detail::norm(j * point.theta().asDiagonal());
    const bool is_fitted = !(detail::Wide(loss) > detail::Wide(error) * error / num_samples);
    answer[rate_].set(
        is_fitted ? kNaN
                  : (detail::sum_of_squares(point.gradient().head(layout.output)) / loss).value(),
        is_fitted ? Status::kUndefinedZeroDenominator : Status::kOk);
    const double scale = 4.0 / num_samples;
    const SingularEnds kernel = singular_ends(j.leftCols(layout.output));
    answer[kernel_rate_bound_].set(scale * kernel.smallest * kernel.smallest, kernel.status);
    const SingularEnds b = singular_ends(attended_inputs(point, layout));
    answer[b_sigma_min_].set(b.smallest, b.status);
    answer[b_sigma_max_].set(b.largest, b.status);
    answer[rate_bound_].set(scale * std::pow(least * b.smallest, 2), b.status);
    return answer;
  }

 private:
  static Eigen::VectorXd output_of(const PointAnalysis& point,
                                   const Layout& layout,
                                   Eigen::Index h) {
    return point.theta().segment(layout.output + h * layout.head_dimension, layout.head_dimension);
  }

  // B, which does not depend on WO: the derivatives with respect to the first column of every WV_h
  // where it is passed on as it is, and the others not at all.
  static Eigen::MatrixXd attended_inputs(const PointAnalysis& point, const Layout& layout) {
    const Objective& objective = point.objective();
    Eigen::VectorXd theta = point.theta();
    for (Eigen::Index i = layout.output; i < theta.size(); ++i) {
      theta[i] = (i - layout.output) % layout.head_dimension == 0 ? 1 : 0;
    }
    const Eigen::MatrixXd j = objective.prediction_jacobian(theta, objective.all_samples());
    Eigen::MatrixXd b(j.rows(), layout.heads * layout.embedding);
    for (Eigen::Index row = 0; row < b.cols(); ++row) {  // in the WV of all heads
      b.col(row) = j.col(layout.values + row * layout.head_dimension);
    }
    return b;
  }

  VariableId wo_norm_min_ = declare({.name = "wo_norm_min",
                                     .long_name = "least norm of a head's output weights",
                                     .definition = "least over heads h of |WO_h|",
                                     .references = {papers::kSong},
                                     .headline = 1});
  VariableId b_sigma_min_ = declare({.name = "b_sigma_min",
                                     .long_name = "smallest singular value of the attended inputs",
                                     .definition = "smallest singular value" + kOfAttendedInputs +
                                                   "; 0 for more rows than columns, and where it "
                                                   "is " +
                                                   kOfRounding,
                                     .references = {papers::kSong},
                                     .headline = 2});
  VariableId b_sigma_max_ = declare({.name = "b_sigma_max",
                                     .long_name = "largest singular value of the attended inputs",
                                     .definition = "largest singular value" + kOfAttendedInputs,
                                     .references = {papers::kSong}});
  VariableId rate_bound_ =
      declare({.name = "rate_bound",
               .long_name = "lower bound on the squared gradient over the loss",
               .definition = "(4 / samples) wo_norm_min^2 b_sigma_min^2; 0 where b_sigma_min is",
               .references = {papers::kSong},
               .headline = 3});
  VariableId kernel_rate_bound_ =
      declare({.name = "kernel_rate_bound",
               .long_name = "the same bound from all of WQ, WK and WV",
               .definition = "(4 / samples) times the smallest eigenvalue of J J^T, with J the "
                             "Jacobian of all predictions with respect to WQ, WK and WV; 0 where "
                             "the smallest singular value of J is " +
                             kOfRounding,
               .references = {papers::kSong},
               .headline = 4});
  VariableId rate_ = declare(
      {.name = "rate",
       .long_name = "squared norm of the gradient over the loss",
       .definition =
           "|gradient|^2 / loss, with the gradient with respect to WQ, WK and WV; undefined where "
           "the loss is zero within rounding of the parameters, that is, at most (16 eps ||J "
           "diag(theta)||_F)^2 / samples, with J with respect to all of them",
       .references = {papers::kSong},
       .undefined = {Status::kUndefinedZeroDenominator},
       .headline = 5});
};

}  // namespace

AnalyzerKind attention_terms_analyzer() {
  return {.name = "attention-terms",
          .question = "terms that bound the convergence rate of over-parametrised attention",
          .by_default = false,
          .options = {},
          .create = [](const Settings&) { return std::make_unique<AttentionTermsAnalyzer>(); }};
}

}  // namespace hesscope
