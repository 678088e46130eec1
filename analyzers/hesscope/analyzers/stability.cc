// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <hesscope/analyzers/adam_preconditioner.h>
#include <hesscope/analyzers/group_dimensions.h>
#include <hesscope/analyzers/option_error.h>
#include <hesscope/analyzers/spectrum_section.h>
#include <hesscope/analyzers/stability.h>
#include <hesscope/spectra/condition_numbers.h>

namespace hesscope {
namespace {

struct StabilityOptions {
  bool has_adam = true;
  double learning_rate = 0;  // 0 = unknown
  Eigen::Index batch_size = 0;
  AdamOptions adam;
};

// Where Adam's second moments came from.
enum class Source : std::int8_t { kNone = 0, kCheckpoint = 1, kRecomputed = 2 };

class StabilityAnalyzer final : public Analyzer {
 public:
  explicit StabilityAnalyzer(const StabilityOptions& options) : options_(options) {}

  std::vector<Dimension> dimensions(const Objective& objective) const override {
    if (!options_.has_adam) return {};
    return {detail::rank_dimension("rank", objective.num_parameters())};
  }

  std::vector<Quantity> quantities() const override {
    std::vector<Quantity> all = {
        {.name = "sharpness",
         .long_name = "sharpness",
         .definition = "largest eigenvalue of the Hessian"},
        {.name = "gd_threshold",
         .long_name = "largest stable sharpness of gradient descent",
         .definition = "2 / learning_rate"},
        {.name = "gd_ratio",
         .long_name = "sharpness over gd_threshold",
         .definition = "sharpness / gd_threshold; above 1 gradient descent is unstable"},
        {.name = "momentum_threshold",
         .long_name = "largest stable sharpness of gradient descent with heavy-ball momentum",
         .definition = "(2 + 2 beta1) / learning_rate"},
        {.name = "momentum_ratio",
         .long_name = "sharpness over momentum_threshold",
         .definition = "sharpness / momentum_threshold"},
    };
    if (!options_.has_adam) return all;
    all.insert(
        all.end(),
        {{.name = "preconditioner",
          .dimensions = {"parameter"},
          .long_name = "Adam's preconditioner",
          .definition = "P = (1 - beta1^t) (sqrt(v / (1 - beta2^t)) + epsilon), corrections "
                        "1 where the number t of updates is not known"},
         {.name = "source",
          .type = Quantity::Type::kFlag,
          .long_name = "where Adam's second moments v are from",
          .definition = "checkpoint: stored there; recomputed: g^2 + (variance of the samples' "
                        "gradients) / batch_size, or g^2 for the whole data set",
          .flags = {"none", "checkpoint", "recomputed"}},
         {.name = "adam_threshold",
          .long_name = "largest stable preconditioned sharpness of Adam",
          .definition = "(2 + 2 beta1) / ((1 - beta1) learning_rate)"},
         {.name = "adam_ratio",
          .long_name = "preconditioned sharpness over adam_threshold",
          .definition = "lambda_max_preconditioned / adam_threshold"},
         {.name = "robust_diagonal_preconditioned",
          .long_name = "robust condition number of the preconditioned diagonal",
          .definition = "largest |H_ii / P_i| over the lower median of |H_ii / P_i|"},
         {.name = "robust_absolute_preconditioned",
          .long_name = "robust condition number of preconditioned eigenvalue magnitudes",
          .definition = "largest |lambda| over the lower median of |lambda|"}});
    const std::vector<Quantity> spectrum =
        spectrum_quantities("_preconditioned", "P^-1/2 H P^-1/2");
    all.insert(all.end(), spectrum.begin(), spectrum.end());
    return all;
  }

  std::vector<std::string> headline() const override {
    std::vector<std::string> names = {"sharpness", "gd_ratio", "momentum_ratio"};
    if (options_.has_adam) {
      names.insert(names.end(), {"lambda_max_preconditioned", "adam_ratio"});
    }
    return names;
  }

  Cost cost(const Objective& /*objective*/) const override {
    if (!options_.has_adam) return {};
    return {.matrices = 1, .hessians = 0, .decompositions = 1};
  }

  bool needs_adam_state() const override { return options_.has_adam; }

  Record analyze(PointAnalysis& point) const override {
    Record record;
    const Spectrum& spectrum = point.spectrum();
    const double momentum = 2 + 2 * options_.adam.beta1;
    record.set("sharpness", spectrum.largest.value, spectrum.status);
    if (spectrum.proof == Proof::kConverged) record.set_unproved("sharpness");
    set_threshold(record, "gd", 2, spectrum);
    set_threshold(record, "momentum", momentum, spectrum);
    if (options_.has_adam) precondition(point, record);
    return record;
  }

 private:
  // NAME_threshold = factor / learning_rate, and NAME_ratio of the largest eigenvalue to it.
  void set_threshold(Record& record,
                     const std::string& name,
                     double factor,
                     const Spectrum& spectrum) const {
    if (options_.learning_rate == 0) {
      record.set_missing(name + "_threshold", Status::kNotComputed);
      record.set_missing(name + "_ratio", Status::kNotComputed);
      return;
    }
    const double threshold = factor / options_.learning_rate;
    record.set(name + "_threshold", threshold);
    record.set(name + "_ratio", spectrum.largest.value / threshold, spectrum.status);
  }

  void precondition(PointAnalysis& point, Record& record) const {
    record.set_flag("source", static_cast<std::int8_t>(Source::kNone));
    const Status status = point.status() != Status::kOk ? point.status() : point.spectrum().status;
    if (status != Status::kOk) {
      record.set_rest_missing(quantities(), status);
      return;
    }
    const auto& stored = point.adam_state();
    record.set_flag("source",
                    static_cast<std::int8_t>(stored ? Source::kCheckpoint : Source::kRecomputed));
    const AdamState state =
        stored ? *stored
               : stationary_adam_state(
                     point.objective(), point.theta(), point.gradient(), options_.batch_size);
    const Eigen::VectorXd p = adam_preconditioner(state, options_.adam);
    record.set("preconditioner", p);
    if (!p.allFinite() || !(p.minCoeff() > 0)) {
      record.set_rest_missing(quantities(), Status::kNonFinite);
      return;
    }
    set_preconditioned(point, p, record);
  }

  void set_preconditioned(PointAnalysis& point, const Eigen::VectorXd& p, Record& record) const {
    const Eigen::MatrixXd* h = point.hessian();
    Spectrum spectrum;
    if (h != nullptr) {
      const Eigen::VectorXd scale = p.array().rsqrt();
      const Eigen::MatrixXd preconditioned = scale.asDiagonal() * *h * scale.asDiagonal();
      spectrum = point.spectrum_of(preconditioned);
      const ConditionNumbers numbers = condition_numbers(preconditioned.diagonal(), spectrum);
      record.set("robust_diagonal_preconditioned",
                 numbers.robust_diagonal.value,
                 numbers.robust_diagonal.status);
      record.set("robust_absolute_preconditioned",
                 numbers.robust_absolute.value,
                 numbers.robust_absolute.status);
    } else {
      spectrum = point.ends_of(PreconditionedOperator(point.hessian_operator(), p));
      record.set_missing("robust_diagonal_preconditioned", Status::kNotComputed);
      record.set_missing("robust_absolute_preconditioned", Status::kNotComputed);
    }
    set_spectrum(record, spectrum, "_preconditioned");
    const double beta1 = options_.adam.beta1;
    set_threshold(record, "adam", (2 + 2 * beta1) / (1 - beta1), spectrum);
  }

  StabilityOptions options_;
};

double require(const Settings& settings, const std::string& name, double minimum, double maximum) {
  const double value = settings.real(name);
  if (value >= minimum && value <= maximum) return value;
  throw OptionError(name, fmt::format("must be from {} to {}, got {}", minimum, maximum, value));
}

SettingKey real_key(const std::string& name, double fallback, const std::string& meaning) {
  return {.name = name,
          .type = SettingKey::Type::kReal,
          .meaning = meaning,
          .fallback = SettingValue(fallback)};
}

}  // namespace

AnalyzerEntry stability_analyzer() {
  return {
      .name = "stability",
      .question = "the sharpness against what the optimiser can stand",
      .by_default = false,
      .on_missing = "ratios take --learning-rate",
      .options = {{.name = "preconditioner",
                   .meaning = "whose preconditioned sharpness to compute, too",
                   .choices = {"none", "adam"},
                   .fallback = SettingValue(std::string("none"))},
                  real_key("learning-rate", 0, "for the thresholds of stability; 0 = unknown"),
                  real_key("beta1", 0.9, "Adam's first average, or the momentum"),
                  real_key("beta2", 0.999, "Adam's second average"),
                  real_key("epsilon", 1e-8, "Adam's epsilon"),
                  {.name = "batch-size",
                   .type = SettingKey::Type::kInteger,
                   .meaning = "samples a gradient, where Adam's second moments are not in the "
                              "checkpoint; 0 = all",
                   .minimum = 0,
                   .maximum = 1'000'000'000,
                   .fallback = SettingValue(std::int64_t{0})}},
      .create =
          [](const Settings& settings) {
            constexpr double kBelowOne = 1 - 1e-12;
            StabilityOptions options;
            options.has_adam = settings.text("preconditioner") == "adam";
            options.learning_rate = require(settings, "learning-rate", 0, 1e100);
            options.batch_size = settings.integer("batch-size");
            options.adam = {.beta1 = require(settings, "beta1", 0, kBelowOne),
                            .beta2 = require(settings, "beta2", 0, kBelowOne),
                            .epsilon = require(settings, "epsilon", 1e-300, 1e100)};
            return std::make_unique<StabilityAnalyzer>(options);
          },
  };
}

}  // namespace hesscope
