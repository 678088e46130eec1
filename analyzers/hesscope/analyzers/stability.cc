// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/analyzers/internal/batch_sharpness_section.h>
#include <hesscope/analyzers/internal/batch_sizes.h>
#include <hesscope/analyzers/internal/group_dimensions.h>
#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/analyzers/internal/stability_sections.h>
#include <hesscope/analyzers/internal/stability_settings.h>
#include <hesscope/analyzers/optimizer_preconditioner.h>
#include <hesscope/analyzers/option_error.h>
#include <hesscope/analyzers/stability.h>
#include <hesscope/objective/gradient_blocks.h>
#include <hesscope/spectra/condition_numbers.h>

namespace hesscope {
namespace {

using detail::effective;
using detail::EffectiveSetting;
using detail::PreconditionedSection;
using detail::PreconditionerChoice;
using detail::SettingSection;
using detail::ThresholdSection;

struct StabilityOptions {
  PreconditionerChoice preconditioner = PreconditionerChoice::kNone;
  GivenSettings given;
  bool is_recomputed = false;  // second moments, if they are not stored
  Eigen::Index batch_size = 0;
  std::vector<Eigen::Index> batch_sizes = {};  // for the batch sharpness
};

// Where second moments come from.
enum class Source : std::int8_t { kNone = 0, kCheckpoint = 1, kRecomputed = 2 };

class StabilityAnalyzer final : public Analyzer {
 public:
  explicit StabilityAnalyzer(const StabilityOptions& options) : options_(options) {
    if (!options.batch_sizes.empty()) batches_.emplace(declaring(), options.batch_sizes);
    if (options.preconditioner == PreconditionerChoice::kNone) return;
    preconditioned_.emplace(declaring(), options.preconditioner == PreconditionerChoice::kAdam);
  }

  std::vector<Dimension> dimensions(const Objective& objective) const override {
    std::vector<Dimension> all;
    if (preconditioned_) all.push_back(detail::rank_dimension("rank", objective.num_parameters()));
    if (batches_) all.push_back(batches_->dimension(objective));
    return all;
  }

  Cost cost(const Objective& objective) const override {
    Cost cost{.asks_hessian = true, .asks_spectrum = true};
    if (preconditioned_) {
      cost.matrices = cost.decompositions = cost.searches = cost.sample_gradients = 1;
      cost.numbers =
          static_cast<double>(gradient_block_size(objective) * objective.num_parameters());
    }
    if (batches_) batches_->add_cost(objective, cost);
    return cost;
  }

  std::vector<std::string> remarks_on(std::span<const OptimizerState> optimizers,
                                      std::span<const ParameterBlock> blocks,
                                      const GivenSettings& given) const override {
    return detail::remarks_on_optimizers(
        optimizers, blocks, given, options_.preconditioner, options_.is_recomputed);
  }

  GivenSettings given_settings() const override { return options_.given; }

  Group analyze(PointAnalysis& point) const override {
    Group answer = declared();
    const Spectrum& spectrum = point.spectrum();
    answer[sharpness_].set(spectrum.largest.value, spectrum.status);
    if (spectrum.proof == Proof::kConverged) answer[sharpness_].is_proved = false;
    const OptimizerState& optimizer = point.optimizer();
    answer[optimizer_].set_flag(static_cast<std::int8_t>(optimizer.kind));
    const std::span<const OptimizerSettings> groups = optimizer.groups;
    const bool has_limit = detail::has_limit(optimizer);
    const EffectiveSetting rate =
        effective(groups, &OptimizerSettings::learning_rate, options_.given.learning_rate);
    learning_rate_.set(answer, rate);
    weight_decay_.set(answer, effective(groups, &OptimizerSettings::weight_decay, std::nullopt));
    const std::optional<LinearStep> momentum = momentum_step(answer, groups, optimizer.kind);
    gd_.set(answer,
            has_limit ? std::optional(gradient_descent_step()) : std::nullopt,
            rate.value,
            spectrum);
    with_momentum_.set(answer, has_limit ? momentum : std::nullopt, rate.value, spectrum);
    if (batches_) batches_->set(point, has_limit ? rate.value : std::nullopt, answer);
    if (preconditioned_) precondition(point, *preconditioned_, answer);
    return answer;
  }

 private:
  // SGD's and RMSprop's own momentum; 0 for Adagrad; for Adam and its variants, a hypothetical
  // heavy ball with their beta1; for an unknown optimiser, heavy ball with the momentum that it
  // stores, or beta1.
  std::optional<LinearStep> momentum_step(Group& answer,
                                          std::span<const OptimizerSettings> groups,
                                          OptimizerKind kind) const {
    const bool has_none = kind == OptimizerKind::kAdagrad;
    const bool is_stored =
        std::ranges::any_of(groups, [](const auto& group) { return group.momentum.has_value(); });
    const bool has_own =
        (kind == OptimizerKind::kSgd || kind == OptimizerKind::kRmsprop) && is_stored;
    const bool takes_momentum =
        has_own || has_none || (kind == OptimizerKind::kUnknown && is_stored);
    const EffectiveSetting momentum =
        effective(groups,
                  takes_momentum ? &OptimizerSettings::momentum : &OptimizerSettings::beta1,
                  options_.given.beta1,
                  has_none ? 0 : kDefaultBeta1);
    momentum_.set(answer, momentum);
    if (!momentum.value) return std::nullopt;
    if (!has_own) return heavy_ball_step(*momentum.value);
    const LinearStep step = sgd_step(groups.front(), options_.given);
    const bool is_one = std::ranges::all_of(
        groups, [&](const auto& group) { return sgd_step(group, options_.given) == step; });
    return is_one ? std::optional(step) : std::nullopt;
  }

  // Adam's state at a checkpoint without second moments, or without Adam's.
  OptimizerState recomputed(PointAnalysis& point) const {
    const OptimizerState& stored = point.optimizer();
    OptimizerState state{.kind = OptimizerKind::kAdam};
    const std::size_t num_blocks = point.objective().parameter_blocks().size();
    const bool is_adams = detail::is_of_adams_family(stored.kind);
    if (is_adams && stored.blocks.size() == num_blocks) {
      state.groups = stored.groups;
      for (const auto& block : stored.blocks) state.blocks.push_back({.group = block.group});
    } else {
      state.groups = {is_adams ? detail::common_settings(stored.groups) : OptimizerSettings()};
      state.blocks.assign(num_blocks, {.group = 0});
    }
    state.second_moments = stationary_second_moments(
        point.objective(), point.theta(), point.gradient(), options_.batch_size);
    return state;
  }

  // The state to use, and the source of its second moments; nothing if there are none.
  std::pair<std::optional<OptimizerState>, Source> state_of(PointAnalysis& point) const {
    const OptimizerState& stored = point.optimizer();
    const bool is_adams = detail::is_of_adams_family(stored.kind);
    const bool is_any = options_.preconditioner == PreconditionerChoice::kStored;
    if (stored.has_second_moments() && (is_adams || is_any)) return {stored, Source::kCheckpoint};
    const bool is_sgd = is_any && stored.kind == OptimizerKind::kSgd;
    if (is_sgd && !stored.blocks.empty()) return {stored, Source::kNone};
    if (options_.is_recomputed && (is_adams || !is_any)) {
      return {recomputed(point), Source::kRecomputed};
    }
    return {std::nullopt, Source::kNone};
  }

  // Marks everything that is not set yet as missing with this status.
  static void leave_out(const PreconditionedSection& section, Group& answer, Status status) {
    Spectrum none;
    none.status = status;
    section.spectrum.set(answer, none);
    answer.set_rest_missing(status);
  }

  void precondition(PointAnalysis& point,
                    const PreconditionedSection& section,
                    Group& answer) const {
    const std::span<const OptimizerSettings> groups = point.optimizer().groups;
    const GivenSettings& given = options_.given;
    using S = OptimizerSettings;
    section.beta1.set(answer, effective(groups, &S::beta1, given.beta1, kDefaultBeta1));
    section.beta2.set(answer, effective(groups, &S::beta2, given.beta2, kDefaultBeta2));
    section.epsilon.set(answer, effective(groups, &S::epsilon, given.epsilon, kDefaultEpsilon));
    answer[section.source].set_flag(static_cast<std::int8_t>(Source::kNone));
    const Status status = point.status() != Status::kOk ? point.status() : point.spectrum().status;
    if (status != Status::kOk) return leave_out(section, answer, status);
    const auto [state, source] = state_of(point);
    answer[section.source].set_flag(static_cast<std::int8_t>(source));
    if (!state) return leave_out(section, answer, Status::kNotStored);
    if (source == Source::kRecomputed && !state->second_moments.allFinite()) {
      // Infinite P means that a parameter is not trained, not that squares overflow.
      return leave_out(section, answer, Status::kNonFinite);
    }
    const Preconditioner preconditioner =
        optimizer_preconditioner(*state, given, point.objective().parameter_blocks());
    const Eigen::VectorXd& p = preconditioner.diagonal;
    if (p.hasNaN() || !(p.minCoeff() > 0)) return leave_out(section, answer, Status::kNonFinite);
    answer[section.preconditioner].set_rows(p, Status::kOk);  // infinite where nothing is trained
    set_preconditioned(point, preconditioner, section, answer);
  }

  static void set_preconditioned(PointAnalysis& point,
                                 const Preconditioner& preconditioner,
                                 const PreconditionedSection& section,
                                 Group& answer) {
    const Eigen::VectorXd& p = preconditioner.diagonal;
    const Eigen::MatrixXd* h = point.hessian();
    Spectrum spectrum;
    if (h != nullptr) {
      const Eigen::VectorXd scale = p.array().rsqrt();
      const Eigen::MatrixXd preconditioned = scale.asDiagonal() * *h * scale.asDiagonal();
      spectrum = point.spectrum_of(preconditioned, point.progress());
      const ConditionNumbers numbers = condition_numbers(preconditioned.diagonal(), spectrum);
      answer[section.robust_diagonal].set(numbers.robust_diagonal);
      answer[section.robust_absolute].set(numbers.robust_absolute);
    } else {
      spectrum =
          point.ends_of(PreconditionedOperator(point.hessian_operator(), p), point.progress());
      answer[section.robust_diagonal].set_missing(Status::kNotComputed);
      answer[section.robust_absolute].set_missing(Status::kNotComputed);
    }
    section.spectrum.set(answer, spectrum);
    section.threshold.set(answer, preconditioner.step, preconditioner.learning_rate, spectrum);
  }

  StabilityOptions options_;
  VariableId sharpness_ = declare({.name = "sharpness",
                                   .long_name = "sharpness",
                                   .definition = "largest eigenvalue of the Hessian",
                                   .references = {papers::kCohen2021},
                                   .headline = 1});
  ThresholdSection gd_{
      declaring(),
      {.name = "gd_threshold",
       .long_name = "largest stable sharpness of gradient descent",
       .definition = std::string("2 / learning_rate") + detail::kLimitInWords,
       .references = {papers::kCohen2021},
       .undefined = {Status::kUndefinedZeroDenominator}},
      {.name = "gd_ratio",
       .long_name = "sharpness over gd_threshold",
       .definition = "sharpness / gd_threshold; above 1 gradient descent is unstable",
       .references = {papers::kCohen2021},
       .headline = 2}};
  ThresholdSection with_momentum_{
      declaring(),
      {.name = "momentum_threshold",
       .long_name = "largest stable sharpness of gradient descent with momentum",
       .definition =
           std::string(
               "(2 + 2 m) / learning_rate for heavy ball with momentum m; if the checkpoint is of "
               "SGD with dampening or Nesterov momentum, divided by 1 - dampening or by 1 + 2 m") +
           detail::kLimitInWords,
       .references = {papers::kCohen2021},
       .undefined = {Status::kUndefinedZeroDenominator}},
      {.name = "momentum_ratio",
       .long_name = "sharpness over momentum_threshold",
       .definition = "sharpness / momentum_threshold",
       .references = {papers::kCohen2021},
       .headline = 3}};
  VariableId optimizer_ =
      declare({.name = "optimizer",
               .type = VariableType::kInt8,
               .long_name = "the checkpoint's optimiser",
               .definition =
                   "as identified by the names of its settings and of its state; adam may be AdamW",
               .flag_meanings = {kOptimizerKindNames.begin(), kOptimizerKindNames.end()}});
  SettingSection learning_rate_{
      declaring(),
      "learning_rate",
      "learning rate",
      "the one in force at the checkpoint, which a schedule may have changed"};
  SettingSection momentum_{declaring(),
                           "momentum",
                           "momentum",
                           "the momentum m of SGD, RMSprop or an unknown optimiser if it is "
                           "stored; 0 for Adagrad; otherwise beta1, as for Adam and its variants"};
  SettingSection weight_decay_{declaring(),
                               "weight_decay",
                               "the optimiser's weight decay",
                               "not part of the analyzed loss; as an L2 term it would be added to "
                               "every eigenvalue of the Hessian"};
  std::optional<detail::BatchSharpnessSection> batches_;
  std::optional<PreconditionedSection> preconditioned_;
};

// An option that may be omitted.
std::optional<double> given(const Settings& settings,
                            const std::string& name,
                            double minimum,
                            double maximum) {
  if (!settings.has(name)) return std::nullopt;
  const double value = settings.real(name);
  if (value >= minimum && value <= maximum) return value;
  throw OptionError(name, fmt::format("must be from {} to {}, got {}", minimum, maximum, value));
}

SettingKey real_key(const std::string& name, const std::string& meaning) {
  return {.name = name, .type = SettingKey::Type::kReal, .meaning = meaning, .is_optional = true};
}

std::unique_ptr<Analyzer> create(const Settings& settings) {
  constexpr double kBelowOne = 1 - 1e-12;
  StabilityOptions options;
  const std::string& preconditioner = settings.text("preconditioner");
  if (preconditioner == "adam") options.preconditioner = PreconditionerChoice::kAdam;
  if (preconditioner == "stored") options.preconditioner = PreconditionerChoice::kStored;
  options.is_recomputed = settings.text("second-moments") == "recomputed";
  options.batch_size = settings.integer("batch-size");
  options.batch_sizes = detail::batch_sizes_from(settings, "batch-sharpness");
  options.given = {.learning_rate = given(settings, "learning-rate", 0, 1e100),
                   .beta1 = given(settings, "beta1", 0, kBelowOne),
                   .beta2 = given(settings, "beta2", 0, kBelowOne),
                   .epsilon = given(settings, "epsilon", 1e-300, 1e100)};
  if (options.given.learning_rate == 0) options.given.learning_rate.reset();
  return std::make_unique<StabilityAnalyzer>(options);
}

}  // namespace

AnalyzerKind stability_analyzer() {
  return {
      .name = "stability",
      .question =
          "how the sharpness compares with the largest one at which the optimiser is stable",
      .by_default = false,
      .on_missing = "ratios take `learning-rate`",
      .on_not_stored =
          "`preconditioner` adam and `second-moments` recomputed, with `batch-size` N, ask for "
          "what Adam's would settle at there in batches of N; `learning-rate` is what ratios of "
          "gradient descent take",
      .options = {{.name = "preconditioner",
                   .meaning = "also compute the sharpness as this optimiser sees it\nadam: Adam\n"
                              "stored: the one whose state the checkpoint holds",
                   .choices = {"none", "adam", "stored"},
                   .fallback = SettingValue(std::string("none"))},
                  {.name = "second-moments",
                   .meaning = "which second moments the preconditioner takes\nstored: the "
                              "checkpoint's alone\nrecomputed: where it has none, the values that "
                              "Adam's would settle at there",
                   .choices = {"stored", "recomputed"},
                   .fallback = SettingValue(std::string("stored")),
                   .only_with = SettingKey::Company{"preconditioner", {"adam", "stored"}}},
                  real_key("learning-rate",
                           "learning rate, instead of the checkpoint's; 0 = the checkpoint's"),
                  real_key("beta1",
                           "decay of Adam's first average, or momentum, instead of the "
                           "checkpoint's or 0.9"),
                  real_key("beta2",
                           "decay of Adam's second average, instead of the checkpoint's or 0.999"),
                  real_key("epsilon", "Adam's epsilon, instead of the checkpoint's or 1e-8"),
                  {.name = "batch-size",
                   .type = SettingKey::Type::kInteger,
                   .meaning =
                       "samples per minibatch where second moments are recomputed: drawn anew at "
                       "every step, as if from a distribution, so that even a minibatch as large "
                       "as the data set differs from it; 0 = the whole data set at every step",
                   .minimum = 0,
                   .maximum = detail::kMaxBatchSize,
                   .fallback = SettingValue(std::int64_t{0}),
                   .only_with = SettingKey::Company{"second-moments", {"recomputed"}}},
                  {.name = "batch-sharpness",
                   .meaning = "also compute the curvature that gradients of minibatches of these "
                              "sizes see, for example 1,8,64",
                   .is_optional = true}},
      .declaring_all = {{"batch-sharpness", SettingValue(std::string("1"))}},
      .create = create,
  };
}

}  // namespace hesscope
