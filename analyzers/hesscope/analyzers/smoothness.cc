// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <iterator>
#include <string>

#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/analyzers/internal/smoothness_run.h>
#include <hesscope/analyzers/internal/step_rounding.h>
#include <hesscope/analyzers/pseudo_updates.h>
#include <hesscope/analyzers/smoothness.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/objective/gradient_blocks.h>

namespace hesscope {
namespace {

const std::string kStepInWords = "s: the step from this checkpoint to the next of its run";

const std::string kBuffersInWords =
    "; throughout for the model with this checkpoint's buffers (such as running statistics)";

const std::string kRulesInWords =
    "u: the update, without learning rate, of rules that each follow the gradients over all "
    "samples at the checkpoints so far, except gradients that are not finite: gradient descent; "
    "momentum 0.9; Adam (0.9, 0.999); Lion (0.9, 0.99); sign descent. Gradient entries of at most "
    "16 eps sqrt(tr S + |g|^2), with S the covariance of the samples' gradients, are rounding and "
    "count as 0, as do entries of at most 16 eps times the norm of their row of H diag(theta), "
    "which for rules with a memory is estimated by products with random vectors. The two rules "
    "without memory, gradient "
    "and sign descent, are undefined where the gradient is zero within rounding; the others are "
    "not computed by a training monitor, which sees no earlier checkpoints";

class SmoothnessAnalyzer final : public Analyzer {
 public:
  explicit SmoothnessAnalyzer(Eigen::Index num_secant_points)
      : num_secant_points_(num_secant_points) {}

  std::vector<Dimension> dimensions(const Objective& /*objective*/) const override {
    return {{.name = "rule",
             .size = static_cast<std::int64_t>(kPseudoRuleNames.size()),
             .labels = {kPseudoRuleNames.begin(), kPseudoRuleNames.end()},
             .definition = "update rules, without learning rates"}};
  }

  Cost cost(const Objective& objective) const override {
    // Products along the step and along the updates of other rules, and with random vectors.
    return {.asks_hessian = true,
            .asks_spectrum = true,
            .numbers = static_cast<double>(gradient_block_size(objective)) *
                       static_cast<double>(objective.num_parameters()),
            .products = 12,
            .gradients = static_cast<double>(num_secant_points_),
            .sample_gradients = 1};
  }

  Group analyze(PointAnalysis& point) const override {
    Group answer = declared();
    const Spectrum& spectrum = point.spectrum();
    answer[proof_].set_flag(static_cast<std::int8_t>(spectrum.proof));
    if (point.status() != Status::kOk) {
      answer.set_rest_missing(point.status());
      return answer;
    }
    answer[spectral_norm_].set(spectrum.norm(), spectrum.status);
    if (spectrum.status == Status::kOk && spectrum.proof == Proof::kConverged) {
      answer[spectral_norm_].is_proved = false;
    }
    answer[gradient_norm_].set(detail::norm(point.gradient()));
    answer[gradient_].set(point.gradient());
    if (const Eigen::MatrixXd* h = point.hessian()) {
      answer[hessian_diagonal_].set(h->diagonal());
    } else {
      answer[hessian_diagonal_].set_missing(point.hessian_status());
    }
    describe_step(point, answer);
    describe_rules(point, answer);
    return answer;
  }

  Group summarize(std::span<const Group> answers, std::uint64_t seed) const override {
    return run_.summarize(declared_of_run(), answers, seed);
  }

 private:
  static bool has_curvature(PointAnalysis& point) {
    return point.hessian_status() != Status::kNonFinite;
  }

  void describe_step(PointAnalysis& point, Group& answer) const {
    const Eigen::VectorXd* next = point.next_theta();
    if (next == nullptr || !next->allFinite()) {
      const Status status = next == nullptr ? point.no_neighbour_status() : Status::kNonFinite;
      for (const VariableId id : {directional_smoothness_,
                                  secant_smoothness_,
                                  step_norm_,
                                  step_first_order_,
                                  step_curvature_,
                                  step_loss_change_}) {
        answer[id].set_missing(status);
      }
      return;
    }
    const Eigen::VectorXd s = *next - point.theta();
    const double length = detail::norm(s);
    answer[step_norm_].set(length);
    answer[step_first_order_].set(detail::dot(point.gradient(), s).value());
    answer[step_loss_change_].set(point.objective().value(*next) - point.loss());
    const bool is_rounding = detail::is_step_rounding(point, *next);
    if (is_rounding) {
      answer[directional_smoothness_].set_missing(Status::kUndefinedZeroDenominator);
      answer[secant_smoothness_].set_missing(Status::kUndefinedZeroDenominator);
    } else {
      set_secant(point, *next, answer);
    }
    if (length == 0) {
      answer[step_curvature_].set(0);
      return;
    }
    if (!has_curvature(point)) {
      if (!is_rounding) answer[directional_smoothness_].set_missing(Status::kNonFinite);
      answer[step_curvature_].set_missing(Status::kNonFinite);
      return;
    }
    const Eigen::VectorXd v = s / length;
    const double curvature = detail::dot(v, point.hessian_operator().apply(v).col(0)).value();
    if (!is_rounding) answer[directional_smoothness_].set(curvature);
    answer[step_curvature_].set(0.5 * curvature * length * length);
  }

  void set_secant(PointAnalysis& point, const Eigen::VectorXd& next, Group& answer) const {
    Variable& secant_smoothness = answer[secant_smoothness_];
    double largest = kNaN;
    const double rounding = detail::rounding_between(point.theta(), next);
    for (Eigen::Index j = 1; j <= num_secant_points_; ++j) {
      const double a = static_cast<double>(j) / static_cast<double>(num_secant_points_ + 1);
      const Eigen::VectorXd x = a * point.theta() + (1 - a) * next;
      const double distance = detail::norm(x - point.theta());
      if (distance <= rounding) continue;  // a step of a few last bits
      const Eigen::VectorXd change = point.objective().gradient(x) - point.gradient();
      const double secant = detail::norm(change) / distance;
      if (!std::isfinite(secant)) return secant_smoothness.set_missing(Status::kNonFinite);
      largest = std::fmax(largest, secant);
    }
    secant_smoothness.set(largest,
                          std::isnan(largest) ? Status::kUndefinedZeroDenominator : Status::kOk);
  }

  void describe_rules(PointAnalysis& point, Group& answer) const {
    if (!has_curvature(point)) {
      for (const VariableId id :
           {directional_sharpness_, directional_sharpness_relative_, directional_slope_}) {
        answer[id].set_missing(Status::kNonFinite);
      }
      return;
    }
    Eigen::MatrixXd u = pseudo_updates(point);
    const Eigen::ArrayXd gradient = point.gradient_without_rounding();
    const bool is_first = point.trajectory() == nullptr || point.index() == 0;
    for (Eigen::Index r = 0; r < u.cols(); ++r) {
      const bool has_memory = !is_first && kHasPseudoRuleMemory[static_cast<std::size_t>(r)];
      if (!has_memory) u.col(r) = (gradient == 0).select(0.0, u.col(r));
    }
    const Eigen::VectorXd lengths = detail::column_norms(u);
    const bool is_defined = (lengths.array() != 0).all();
    for (Eigen::Index r = 0; r < u.cols(); ++r) {
      if (lengths[r] != 0) u.col(r) /= lengths[r];
    }
    Eigen::VectorXd slope = u.transpose() * point.gradient();
    Eigen::VectorXd sharpness =
        u.cwiseProduct(point.hessian_operator().apply(u)).colwise().sum().transpose();
    // A rule with memory depends on the path.
    const Status past = point.past_status();
    const auto is_defined_for = [&](Eigen::Index r) {
      return lengths[r] != 0 &&
             (past == Status::kOk || !kHasPseudoRuleMemory[static_cast<std::size_t>(r)]);
    };
    for (Eigen::Index r = 0; r < u.cols(); ++r) {
      if (!is_defined_for(r)) slope[r] = sharpness[r] = kNaN;
    }
    const Status status = past != Status::kOk     ? past
                          : !is_defined           ? Status::kUndefinedZeroDenominator
                          : sharpness.allFinite() ? Status::kOk
                                                  : Status::kNonFinite;
    answer[directional_slope_].set_rows(slope, status);
    answer[directional_sharpness_].set_rows(sharpness, status);
    const double band =
        point.spectrum().status == Status::kOk ? point.spectrum().rounding_band : 0.0;
    if (std::abs(sharpness[0]) > band) {
      answer[directional_sharpness_relative_].set_rows(sharpness / std::abs(sharpness[0]), status);
    } else {
      answer[directional_sharpness_relative_].set_missing(Status::kUndefinedZeroDenominator);
    }
  }

  Eigen::Index num_secant_points_;
  VariableId spectral_norm_ = declare({.name = "spectral_norm",
                                       .long_name = "spectral norm of the Hessian",
                                       .definition = "largest magnitude of an eigenvalue",
                                       .headline = 1});
  VariableId proof_ =
      declare({.name = "proof",
               .type = VariableType::kInt8,
               .long_name = "how the outermost eigenvalues were established",
               .definition = "as /spectrum/proof",
               .flag_meanings = {std::begin(kProofMeanings), std::end(kProofMeanings)}});
  VariableId gradient_norm_ = declare({.name = "gradient_norm",
                                       .long_name = "Euclidean norm of the gradient",
                                       .definition = "as /gradient_norm",
                                       .headline = 2});
  VariableId directional_smoothness_ =
      declare({.name = "directional_smoothness",
               .long_name = "curvature along the step to the next checkpoint",
               .definition = "v^T H v, v = s / |s|; " + kStepInWords + detail::kStepRoundingInWords,
               .undefined = {Status::kUndefinedZeroDenominator, Status::kUndefinedNoOrder},
               .headline = 3});
  VariableId secant_smoothness_ = declare(
      {.name = "secant_smoothness",
       .long_name = "change of the gradient along the step to the next checkpoint",
       .definition = "largest |g(x_a) - g(x)| / |x_a - x| for x_a = a x + (1 - a) x_next, a = j "
                     "/ (K + 1), j = 1 .. K, K = " +
                     std::to_string(num_secant_points_) +
                     "; leaving out any x_a that equals x within rounding, that is, with |x_a - x| "
                     "at most 2 eps times the larger of |x| and |x_next|; undefined where "
                     "directional_smoothness is" +
                     kBuffersInWords,
       .references = {papers::kZhangJ},
       .undefined = {Status::kUndefinedZeroDenominator, Status::kUndefinedNoOrder},
       .headline = 4});
  VariableId step_norm_ = declare({.name = "step_norm",
                                   .long_name = "length of the step to the next checkpoint",
                                   .definition = "|s|; " + kStepInWords,
                                   .undefined = {Status::kUndefinedNoOrder}});
  VariableId step_first_order_ =
      declare({.name = "step_first_order",
               .long_name = "change of the loss over the step, to first order",
               .definition = "g^T s; " + kStepInWords,
               .undefined = {Status::kUndefinedNoOrder}});
  VariableId step_curvature_ =
      declare({.name = "step_curvature",
               .long_name = "change of the loss over the step, the second-order part",
               .definition = "s^T H s / 2; " + kStepInWords,
               .undefined = {Status::kUndefinedNoOrder}});
  VariableId step_loss_change_ = declare(
      {.name = "step_loss_change",
       .long_name = "change of the loss over the step",
       .definition =
           "loss at the parameters of the next checkpoint minus loss at this one" + kBuffersInWords,
       .undefined = {Status::kUndefinedNoOrder}});
  VariableId directional_sharpness_ =
      declare({.name = "directional_sharpness",
               .dimensions = {"rule"},
               .long_name = "curvature along the updates of other optimisers",
               .definition = "u^T H u / |u|^2; " + kRulesInWords,
               .references = {papers::kPan},
               .undefined = {Status::kUndefinedZeroDenominator, Status::kUndefinedNoOrder}});
  VariableId directional_sharpness_relative_ =
      declare({.name = "directional_sharpness_relative",
               .dimensions = {"rule"},
               .long_name = "directional_sharpness relative to gradient descent",
               .definition = "directional_sharpness over its magnitude for the rule sgd; undefined "
                             "where that is within the rounding band of the spectrum",
               .references = {papers::kPan},
               .undefined = {Status::kUndefinedZeroDenominator, Status::kUndefinedNoOrder}});
  VariableId directional_slope_ =
      declare({.name = "directional_slope",
               .dimensions = {"rule"},
               .long_name = "change of the loss per length along the updates of other optimisers",
               .definition = "g^T u / |u|; " + kRulesInWords,
               .references = {papers::kPan},
               .undefined = {Status::kUndefinedZeroDenominator, Status::kUndefinedNoOrder}});
  VariableId gradient_ = declare({.name = "gradient",
                                  .dimensions = {"parameter"},
                                  .long_name = "gradient",
                                  .definition = "derivatives of the mean loss"});
  VariableId hessian_diagonal_ = declare({.name = "hessian_diagonal",
                                          .dimensions = {"parameter"},
                                          .long_name = "diagonal of the Hessian",
                                          .definition = "as /hessian/diagonal"});
  detail::SmoothnessRun run_{declaring_of_run(),
                             {.spectral_norm = spectral_norm_,
                              .gradient_norm = gradient_norm_,
                              .directional_slope = directional_slope_,
                              .step_norm = step_norm_,
                              .gradient = gradient_,
                              .hessian_diagonal = hessian_diagonal_}};
};

}  // namespace

AnalyzerKind smoothness_analyzer() {
  return {.name = "smoothness",
          .question =
              "how fast the gradient changes: at most, along the steps, and in terms of (L0, L1) "
              "over the run",
          .by_default = false,
          .on_missing = "quantities along a step need the checkpoint after it",
          .on_other_buffers =
              "step_loss_change and secant_smoothness are of the model with the "
              "buffers of the checkpoint where the step begins",
          .options = {{.name = "secant-points",
                       .type = SettingKey::Type::kInteger,
                       .meaning =
                           "number of points between two checkpoints at which to compare gradients",
                       .minimum = 1,
                       .maximum = 1000,
                       .fallback = SettingValue(std::int64_t{1})}},
          .create = [](const Settings& settings) {
            return std::make_unique<SmoothnessAnalyzer>(settings.integer("secant-points"));
          }};
}

}  // namespace hesscope
