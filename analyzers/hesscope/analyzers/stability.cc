// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/analyzers/internal/group_dimensions.h>
#include <hesscope/analyzers/internal/stability_quantities.h>
#include <hesscope/analyzers/internal/stability_settings.h>
#include <hesscope/analyzers/optimizer_preconditioner.h>
#include <hesscope/analyzers/option_error.h>
#include <hesscope/analyzers/spectrum_section.h>
#include <hesscope/analyzers/stability.h>
#include <hesscope/core/internal/wide.h>
#include <hesscope/spectra/condition_numbers.h>

namespace hesscope {
namespace {

using detail::effective;
using detail::EffectiveSetting;
using detail::PreconditionerChoice;

struct StabilityOptions {
  PreconditionerChoice preconditioner = PreconditionerChoice::kNone;
  GivenSettings given;
  bool is_recomputed = false;  // second moments that are not stored
  Eigen::Index batch_size = 0;
};

// Where second moments came from.
enum class Source : std::int8_t { kNone = 0, kCheckpoint = 1, kRecomputed = 2 };

class StabilityAnalyzer final : public Analyzer {
 public:
  explicit StabilityAnalyzer(const StabilityOptions& options) : options_(options) {
    declare_all(quantities(), headline());
  }

  std::vector<Dimension> dimensions(const Objective& objective) const override {
    if (!has_preconditioner()) return {};
    return {detail::rank_dimension("rank", objective.num_parameters())};
  }

  std::vector<Variable> quantities() const {
    std::vector<Variable> all = detail::stability_quantities();
    if (!has_preconditioner()) return all;
    const std::vector<Variable> more = detail::preconditioned_quantities(prefix());
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  std::vector<std::string> headline() const {
    std::vector<std::string> names = {"sharpness", "gd_ratio", "momentum_ratio"};
    if (has_preconditioner()) {
      names.insert(names.end(), {"lambda_max_preconditioned", prefix() + "_ratio", "source"});
    }
    return names;
  }

  Cost cost(const Objective& /*objective*/) const override {
    if (!has_preconditioner()) return {.asks_hessian = true, .asks_spectrum = true};
    return {.asks_hessian = true,
            .asks_spectrum = true,
            .matrices = 1,
            .decompositions = 1,
            .searches = 1,
            .sample_gradients = 1};
  }

  std::vector<std::string> remarks_on(std::span<const OptimizerState> optimizers,
                                      std::span<const ParameterBlock> blocks) const override {
    return detail::remarks_on_optimizers(
        optimizers, blocks, options_.given, options_.preconditioner, options_.is_recomputed);
  }

  Group analyze(PointAnalysis& point) const override {
    Group record = declared();
    const Spectrum& spectrum = point.spectrum();
    record["sharpness"].set(spectrum.largest.value, spectrum.status);
    if (spectrum.proof == Proof::kConverged) record["sharpness"].is_proved = false;
    const OptimizerState& optimizer = point.optimizer();
    record["optimizer"].set_flag(static_cast<std::int8_t>(optimizer.kind));
    const std::span<const OptimizerSettings> groups = optimizer.groups;
    const bool ascends = std::ranges::any_of(groups, &OptimizerSettings::is_maximizing);
    const EffectiveSetting rate =
        effective(groups, &OptimizerSettings::learning_rate, options_.given.learning_rate);
    set_setting(record, "learning_rate", rate);
    set_setting(
        record, "weight_decay", effective(groups, &OptimizerSettings::weight_decay, std::nullopt));
    const std::optional<LinearStep> momentum = momentum_step(record, groups, optimizer.kind);
    set_ratio(record,
              "gd",
              ascends ? std::nullopt : std::optional(gradient_descent_step()),
              rate.value,
              spectrum);
    set_ratio(record, "momentum", ascends ? std::nullopt : momentum, rate.value, spectrum);
    if (has_preconditioner()) precondition(point, record);
    return record;
  }

 private:
  bool has_preconditioner() const { return options_.preconditioner != PreconditionerChoice::kNone; }

  // Of the names of its threshold and ratio.
  std::string prefix() const {
    return options_.preconditioner == PreconditionerChoice::kAdam ? "adam" : "optimizer";
  }

  static void set_setting(Group& record, const std::string& name, const EffectiveSetting& setting) {
    const bool differs = !setting.value && setting.source == detail::SettingSource::kCheckpoint;
    if (setting.value) {
      record[name].set(*setting.value);
    } else {
      record[name].set_missing(differs ? Status::kNotComputed : Status::kNotStored);
    }
    record[name + "_source"].set_flag(static_cast<std::int8_t>(setting.source));
  }

  // SGD's own; for others, the hypothetical one with their beta1.
  std::optional<LinearStep> momentum_step(Group& record,
                                          std::span<const OptimizerSettings> groups,
                                          OptimizerKind kind) const {
    const bool is_sgd = kind == OptimizerKind::kSgd && groups.front().momentum;
    const EffectiveSetting momentum =
        effective(groups,
                  is_sgd ? &OptimizerSettings::momentum : &OptimizerSettings::beta1,
                  options_.given.beta1,
                  kDefaultBeta1);
    set_setting(record, "momentum", momentum);
    if (!momentum.value) return std::nullopt;
    if (!is_sgd) return heavy_ball_step(*momentum.value);
    const LinearStep step = sgd_step(groups.front(), options_.given);
    const bool is_one = std::ranges::all_of(
        groups, [&](const auto& group) { return sgd_step(group, options_.given) == step; });
    return is_one ? std::optional(step) : std::nullopt;
  }

  // NAME_threshold = stable_limit / learning_rate, and NAME_ratio of the largest eigenvalue to it.
  static void set_ratio(Group& record,
                        const std::string& name,
                        const std::optional<LinearStep>& step,
                        const std::optional<double>& learning_rate,
                        const Spectrum& spectrum) {
    const std::string threshold = name + "_threshold";
    const std::string ratio = name + "_ratio";
    if (!step || !learning_rate) {
      record[threshold].set_missing(Status::kNotComputed);
      record[ratio].set_missing(Status::kNotComputed);
      return;
    }
    const double limit = stable_limit(*step);
    if (*learning_rate == 0 || !std::isfinite(limit)) {  // it does not move
      record[threshold].set_missing(Status::kUndefinedZeroDenominator);
    } else {
      record[threshold].set(limit / *learning_rate);
    }
    record[ratio].set((spectrum.largest.value * (detail::Wide(*learning_rate) / limit)).value(),
                      spectrum.status);
  }

  // Adam's state at a checkpoint that has no second moments, or none that are Adam's.
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

  // The state to take, and where its second moments are from; none without any.
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

  // All that is not there yet, for this reason.
  void leave_out(Group& record, Status status) const {
    Spectrum none;
    none.status = status;
    set_spectrum(record, none, "_preconditioned");
    record.set_rest_missing(status);
  }

  void precondition(PointAnalysis& point, Group& record) const {
    const std::span<const OptimizerSettings> groups = point.optimizer().groups;
    using S = OptimizerSettings;
    set_setting(record, "beta1", effective(groups, &S::beta1, options_.given.beta1, kDefaultBeta1));
    set_setting(record, "beta2", effective(groups, &S::beta2, options_.given.beta2, kDefaultBeta2));
    set_setting(
        record, "epsilon", effective(groups, &S::epsilon, options_.given.epsilon, kDefaultEpsilon));
    record["source"].set_flag(static_cast<std::int8_t>(Source::kNone));
    const Status status = point.status() != Status::kOk ? point.status() : point.spectrum().status;
    if (status != Status::kOk) return leave_out(record, status);
    const auto [state, source] = state_of(point);
    record["source"].set_flag(static_cast<std::int8_t>(source));
    if (!state) return leave_out(record, Status::kNotStored);
    if (source == Source::kRecomputed && !state->second_moments.allFinite()) {
      // Infinite P means that nothing is trained, not that squares overflow.
      return leave_out(record, Status::kNonFinite);
    }
    const Preconditioner preconditioner =
        optimizer_preconditioner(*state, options_.given, point.objective().parameter_blocks());
    const Eigen::VectorXd& p = preconditioner.diagonal;
    if (p.hasNaN() || !(p.minCoeff() > 0)) return leave_out(record, Status::kNonFinite);
    record["preconditioner"].set_rows(p, Status::kOk);  // infinite where nothing is trained
    set_preconditioned(point, preconditioner, record);
  }

  void set_preconditioned(PointAnalysis& point,
                          const Preconditioner& preconditioner,
                          Group& record) const {
    const Eigen::VectorXd& p = preconditioner.diagonal;
    const Eigen::MatrixXd* h = point.hessian();
    Spectrum spectrum;
    if (h != nullptr) {
      const Eigen::VectorXd scale = p.array().rsqrt();
      const Eigen::MatrixXd preconditioned = scale.asDiagonal() * *h * scale.asDiagonal();
      spectrum = point.spectrum_of(preconditioned, point.progress());
      const ConditionNumbers numbers = condition_numbers(preconditioned.diagonal(), spectrum);
      record["robust_diagonal_preconditioned"].set(numbers.robust_diagonal.value,
                                                   numbers.robust_diagonal.status);
      record["robust_absolute_preconditioned"].set(numbers.robust_absolute.value,
                                                   numbers.robust_absolute.status);
    } else {
      spectrum =
          point.ends_of(PreconditionedOperator(point.hessian_operator(), p), point.progress());
      record["robust_diagonal_preconditioned"].set_missing(Status::kNotComputed);
      record["robust_absolute_preconditioned"].set_missing(Status::kNotComputed);
    }
    set_spectrum(record, spectrum, "_preconditioned");
    set_ratio(record, prefix(), preconditioner.step, preconditioner.learning_rate, spectrum);
  }

  StabilityOptions options_;
};

// An option that may be left out.
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
      .question = "the sharpness compared with the largest at which the optimiser is stable",
      .by_default = false,
      .on_missing = "ratios take `learning-rate`",
      .on_not_stored =
          "`second-moments` recomputed with `batch-size` N asks for what Adam's would "
          "settle at there in batches of N",
      .options = {{.name = "preconditioner",
                   .meaning = "also compute the sharpness as this optimiser sees it\nadam: Adam\n"
                              "stored: the one whose state the checkpoint holds",
                   .choices = {"none", "adam", "stored"},
                   .fallback = SettingValue(std::string("none"))},
                  {.name = "second-moments",
                   .meaning = "which second moments the preconditioner takes\n"
                              "stored: the checkpoint's alone\n"
                              "recomputed: where it has none, what Adam's would settle at there",
                   .choices = {"stored", "recomputed"},
                   .fallback = SettingValue(std::string("stored"))},
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
                       "samples in a minibatch, where second moments are recomputed; 0 = all",
                   .minimum = 0,
                   .maximum = 1'000'000'000,
                   .fallback = SettingValue(std::int64_t{0})}},
      .create = create,
  };
}

}  // namespace hesscope
