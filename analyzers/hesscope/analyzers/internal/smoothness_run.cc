// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <string>

#include <fmt/format.h>

#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/analyzers/internal/smoothness_run.h>
#include <hesscope/analyzers/smoothness_fit.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/noise/internal/gradient_rounding.h>

namespace hesscope::detail {
namespace {

// One way to fit a line: what follows L0 and L1 in the names, and what the fit is.
struct Fit {
  int l0_headline;  // L1 and the ends of the intervals follow; 0 = they are not shown
  const char* suffix;
  const char* words;
  const char* definition;
  const char* interval_words;
  const char* interval_definition;
  SmoothnessLine (*line)(std::span<const double>, std::span<const double>);
  LineIntervals (*intervals)(std::span<const double>,
                             std::span<const double>,
                             const BootstrapOptions&);
};

LineIntervals tightest_intervals(std::span<const double> x,
                                 std::span<const double> y,
                                 const BootstrapOptions& options) {
  return bootstrap_intervals(x, y, tightest_line, options);
}

constexpr Fit kFits[] = {
    {1,
     "",
     "least squares",
     "of the line L0 + L1 gradient_norm fitted to spectral_norm by least squares, with L0 and L1 "
     ">= 0, where a gradient that is zero within rounding has the norm 0",
     "confidence interval",
     "expanded percentile bootstrap of the unconstrained line over m checkpoints, treated as "
     "independent, at the normal distribution's tails beyond sqrt(m / (m - 2)) t, with t of "
     "Student's distribution with m - 2 degrees of freedom; where the unconstrained constant is "
     "below 0, moved up to be centred at 0; cut off at 0, so never below it; extended to the "
     "estimate where that is outside",
     nonnegative_line,
     nonnegative_intervals},
    {0,
     "_envelope",
     "tightest line above",
     "of the line L0 + L1 gradient_norm, with L0 and L1 >= 0, that lies above spectral_norm at "
     "every checkpoint and is lowest at the mean gradient_norm",
     "bootstrap interval",
     "percentiles over resampled checkpoints, whose lines are never above the line of all: how "
     "much it depends on single checkpoints, not a confidence interval",
     tightest_line,
     tightest_intervals},
};

int place_in_summary(const Fit& fit, int places_after_l0) {
  return fit.l0_headline == 0 ? 0 : fit.l0_headline + places_after_l0;
}

Variable line_constant(const Fit& fit, const std::string& constant, int headline) {
  return {
      .name = constant + fit.suffix,
      .long_name = fmt::format("{} of (L0, L1)-smoothness, {}", constant, fit.words),
      .definition = fmt::format(
          "{} {}; over all checkpoints of the result together, of which there must be at least {}",
          constant,
          fit.definition,
          kFewestPointsOfLine),
      .references = {papers::kZhangJ},
      .undefined = {Status::kUndefinedTooFewPoints,
                    Status::kUndefinedNoOrder,
                    Status::kUndefinedZeroDenominator},
      .headline = headline};
}

Variable interval_end(const Fit& fit,
                      const std::string& constant,
                      const std::string& end,
                      int headline) {
  const BootstrapOptions options;
  return {.name = fmt::format("{}{}_{}", constant, fit.suffix, end),
          .long_name = fmt::format(
              "{} end of the {} of {}{}", end, fit.interval_words, constant, fit.suffix),
          .definition = fmt::format("{}; {} resamples, level {}; for {} checkpoints or more",
                                    fit.interval_definition,
                                    options.num_resamples,
                                    options.level,
                                    kFewestPointsOfIntervals),
          .references = {papers::kEfron, papers::kHesterberg},
          .undefined = {Status::kUndefinedTooFewPoints,
                        Status::kUndefinedNoOrder,
                        Status::kUndefinedZeroDenominator},
          .headline = headline};
}

// Whether the gradient at a checkpoint is zero within rounding.
bool is_gradient_zero(const Variable& directional_slope) {
  const std::vector<double>& slopes = directional_slope.reals();
  return !slopes.empty() && std::isnan(slopes.front());
}

// The numbers of a variable, or nullptr if some are missing.
const std::vector<double>* numbers(const Variable& variable) {
  return variable.status() == Status::kOk ? &variable.reals() : nullptr;
}

}  // namespace

SmoothnessRun::SmoothnessRun(Group& group, const Sources& sources) : sources_(sources) {
  const auto declare_constant = [&](const Fit& fit, const std::string& name, int first) {
    return Constant{group.add(line_constant(fit, name, place_in_summary(fit, first))),
                    group.add(interval_end(fit, name, "lower", place_in_summary(fit, first + 1))),
                    group.add(interval_end(fit, name, "upper", place_in_summary(fit, first + 2)))};
  };
  for (const Fit& fit : kFits) {
    lines_.push_back({declare_constant(fit, "L0", 0), declare_constant(fit, "L1", 3)});
  }
  const auto declare_coordinate = [&](const std::string& name) {
    return group.add(
        {.name = name + "_coordinate",
         .dimensions = {"parameter"},
         .long_name = name + " of coordinate-wise (L0, L1)-smoothness",
         .definition =
             name + " of the line L0 + L1 |g_j| fitted to |H_jj| of parameter j by least squares, "
                    "with L0 and L1 >= 0, where |g_j| counts as 0 if g is zero within rounding or "
                    "|g_j| is at most 16 eps |g|; NaN where |g_j| is the same at all checkpoints",
         .references = {papers::kCrawshaw},
         .undefined = {Status::kUndefinedTooFewPoints,
                       Status::kUndefinedNoOrder,
                       Status::kUndefinedZeroDenominator}});
  };
  coordinates_ = {declare_coordinate("L0"), declare_coordinate("L1")};
}

void SmoothnessRun::set_lines(Group& result,
                              std::span<const double> x,
                              std::span<const double> y,
                              std::uint64_t seed) const {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const auto& [l0, l1] = lines_[i];
    const SmoothnessLine line = kFits[i].line(x, y);
    result[l0.value].set(line.l0, line.status);
    result[l1.value].set(line.l1, line.status);
    const LineIntervals found = kFits[i].intervals(x, y, {.seed = seed});
    result[l0.lower].set(found.l0_lower, found.status);
    result[l0.upper].set(found.l0_upper, found.status);
    result[l1.lower].set(found.l1_lower, found.status);
    result[l1.upper].set(found.l1_upper, found.status);
  }
}

// One line for each parameter; NaN for parameters whose derivative never changes.
void SmoothnessRun::set_coordinates(Group& result,
                                    const std::vector<const std::vector<double>*>& gradients,
                                    const std::vector<const std::vector<double>*>& diagonals,
                                    const std::vector<bool>& are_zero) const {
  const auto n = static_cast<Eigen::Index>(gradients.front()->size());
  Eigen::MatrixXd constants(n, 2);
  Status status = Status::kOk;
  std::vector<double> x(gradients.size());
  std::vector<double> y(gradients.size());
  std::vector<double> rounding;  // of each gradient
  for (const std::vector<double>* gradient : gradients) {
    rounding.push_back(kGradientRounding *
                       norm(Eigen::Map<const Eigen::VectorXd>(gradient->data(), n)));
  }
  for (Eigen::Index j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = std::abs((*gradients[i])[static_cast<std::size_t>(j)]);
      if (are_zero[i] || x[i] <= rounding[i]) x[i] = 0;
      y[i] = std::abs((*diagonals[i])[static_cast<std::size_t>(j)]);
    }
    const SmoothnessLine line = nonnegative_line(x, y);
    constants.row(j) << line.l0, line.l1;
    if (line.status != Status::kOk) status = line.status;
  }
  result[coordinates_[0]].set_rows(constants.col(0), status);
  result[coordinates_[1]].set_rows(constants.col(1), status);
}

Group SmoothnessRun::summarize(Group result,
                               std::span<const Group> answers,
                               std::uint64_t seed) const {
  std::vector<double> x;
  std::vector<double> y;
  std::vector<const std::vector<double>*> gradients;
  std::vector<const std::vector<double>*> diagonals;
  std::vector<bool> are_zero;  // of the gradients
  bool has_no_order = false;   // the checkpoints may not lie on one path
  bool is_proved = true;
  for (const Group& answer : answers) {
    const bool is_zero = is_gradient_zero(answer[sources_.directional_slope]);
    const auto* gradient_norm = numbers(answer[sources_.gradient_norm]);
    const auto* spectral_norm = numbers(answer[sources_.spectral_norm]);
    if (gradient_norm != nullptr && spectral_norm != nullptr) {
      x.push_back(is_zero ? 0.0 : gradient_norm->front());
      y.push_back(spectral_norm->front());
      is_proved = is_proved && answer[sources_.spectral_norm].is_proved;
    }
    const auto* gradient = numbers(answer[sources_.gradient]);
    const auto* diagonal = numbers(answer[sources_.hessian_diagonal]);
    if (gradient != nullptr && diagonal != nullptr) {
      gradients.push_back(gradient);
      diagonals.push_back(diagonal);
      are_zero.push_back(is_zero);
    }
    if (answer[sources_.step_norm].status() == Status::kUndefinedNoOrder) has_no_order = true;
  }
  if (has_no_order) {
    result.set_rest_missing(Status::kUndefinedNoOrder);
    return result;
  }
  if (x.size() >= kFewestPointsOfLine) {
    set_lines(result, x, y, seed);
    for (const auto& [l0, l1] : lines_) {
      for (const VariableId id : {l0.value, l0.lower, l0.upper, l1.value, l1.lower, l1.upper}) {
        result[id].is_proved = is_proved;
      }
    }
  }
  const bool has_diagonals = !gradients.empty() || x.empty();  // else there is no matrix
  if (gradients.size() >= kFewestPointsOfLine) {
    set_coordinates(result, gradients, diagonals, are_zero);
  } else if (!has_diagonals) {
    for (const VariableId id : coordinates_) result[id].set_missing(Status::kNotComputed);
  }
  result.set_rest_missing(Status::kUndefinedTooFewPoints);
  return result;
}

}  // namespace hesscope::detail
