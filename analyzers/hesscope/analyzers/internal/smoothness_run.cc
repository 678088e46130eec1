// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <string>
#include <variant>

#include <fmt/format.h>

#include <hesscope/analyzers/internal/smoothness_run.h>
#include <hesscope/analyzers/smoothness_fit.h>

namespace hesscope::detail {
namespace {

// One way to fit a line: what follows L0 and L1 in names, and what it is.
struct Fit {
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
    {"",
     "least squares",
     "of the least-squares line L0 + L1 gradient_norm, L0 and L1 >= 0",
     "confidence interval",
     "never below 0: expanded percentile bootstrap of the free line over checkpoints as if "
     "independent, cut off at 0; where the free constant is below 0, moved up to be centred there",
     nonnegative_line,
     nonnegative_intervals},
    {"_envelope",
     "tightest line above",
     "of the line L0 + L1 gradient_norm, L0 and L1 >= 0, that lies above spectral_norm at every "
     "checkpoint and is lowest at the mean gradient_norm",
     "bootstrap interval",
     "percentiles over resampled checkpoints, whose lines are never above that of all: how far it "
     "hangs on single checkpoints, no confidence interval",
     tightest_line,
     tightest_intervals},
};

const char* const kConstants[] = {"L0", "L1"};

// The numbers of a quantity, or nullptr where they are not all there.
const std::vector<double>* numbers(const Group& record, const std::string& name) {
  const Variable* const variable = record.find(name);
  return variable != nullptr && variable->status() == Status::kOk ? &variable->reals() : nullptr;
}

// Whether it is of checkpoints that may be of no one path.
bool has_no_order(const Group& record) {
  const Variable* const step = record.find("step_norm");
  return step != nullptr && step->status() == Status::kUndefinedNoOrder;
}

void set_fit(Group& record,
             const Fit& fit,
             std::span<const double> x,
             std::span<const double> y,
             const BootstrapOptions& options) {
  const std::string suffix = fit.suffix;
  const SmoothnessLine line = fit.line(x, y);
  record["L0" + suffix].set(line.l0, line.status);
  record["L1" + suffix].set(line.l1, line.status);
  const LineIntervals found = fit.intervals(x, y, options);
  record["L0" + suffix + "_lower"].set(found.l0_lower, found.status);
  record["L0" + suffix + "_upper"].set(found.l0_upper, found.status);
  record["L1" + suffix + "_lower"].set(found.l1_lower, found.status);
  record["L1" + suffix + "_upper"].set(found.l1_upper, found.status);
}

// A line for each parameter; NaN for those whose derivative never changes.
void set_coordinates(Group& record,
                     const std::vector<const std::vector<double>*>& gradients,
                     const std::vector<const std::vector<double>*>& diagonals) {
  const auto n = static_cast<Eigen::Index>(gradients.front()->size());
  Eigen::MatrixXd constants(n, 2);
  Status status = Status::kOk;
  std::vector<double> x(gradients.size());
  std::vector<double> y(gradients.size());
  for (Eigen::Index j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = std::abs((*gradients[i])[static_cast<std::size_t>(j)]);
      y[i] = std::abs((*diagonals[i])[static_cast<std::size_t>(j)]);
    }
    const SmoothnessLine line = nonnegative_line(x, y);
    constants.row(j) << line.l0, line.l1;
    if (line.status != Status::kOk) status = line.status;
  }
  for (Eigen::Index k = 0; k < 2; ++k) {
    record[std::string(kConstants[k]) + "_coordinate"].set_rows(constants.col(k), status);
  }
}

}  // namespace

std::vector<Variable> smoothness_run_quantities() {
  const BootstrapOptions options;
  std::vector<Variable> all;
  for (const Fit& fit : kFits) {
    for (const std::string constant : kConstants) {
      all.push_back({.name = constant + fit.suffix,
                     .long_name = fmt::format("{} of (L0, L1)-smoothness, {}", constant, fit.words),
                     .definition = fmt::format(
                         "{} {}; over all checkpoints of the result together, {} or more",
                         constant,
                         fit.definition,
                         kFewestPointsOfLine)});
      for (const std::string end : {"lower", "upper"}) {
        all.push_back(
            {.name = fmt::format("{}{}_{}", constant, fit.suffix, end),
             .long_name = fmt::format(
                 "{} end of the {} of {}{}", end, fit.interval_words, constant, fit.suffix),
             .definition = fmt::format("{}; {} samples, level {}; of {} checkpoints or more",
                                       fit.interval_definition,
                                       options.num_resamples,
                                       options.level,
                                       kFewestPointsOfIntervals)});
      }
    }
  }
  for (const std::string constant : kConstants) {
    all.push_back({.name = constant + "_coordinate",
                   .dimensions = {"parameter"},
                   .long_name = constant + " of coordinate-wise (L0, L1)-smoothness",
                   .definition = constant +
                                 " of the least-squares line of |H_jj| over |g_j| of parameter j, "
                                 "L0 and L1 >= 0; NaN where |g_j| is the same at all checkpoints"});
  }
  return all;
}

Group summarize_smoothness(Group result, std::span<const Group> records, std::uint64_t seed) {
  std::vector<double> x;
  std::vector<double> y;
  std::vector<const std::vector<double>*> gradients;
  std::vector<const std::vector<double>*> diagonals;
  for (const Group& record : records) {
    const auto* gradient_norm = numbers(record, "gradient_norm");
    const auto* spectral_norm = numbers(record, "spectral_norm");
    if (gradient_norm != nullptr && spectral_norm != nullptr) {
      x.push_back(gradient_norm->front());
      y.push_back(spectral_norm->front());
    }
    const auto* gradient = numbers(record, "gradient");
    const auto* diagonal = numbers(record, "hessian_diagonal");
    if (gradient != nullptr && diagonal != nullptr) {
      gradients.push_back(gradient);
      diagonals.push_back(diagonal);
    }
  }
  if (std::ranges::any_of(records, has_no_order)) {
    result.set_rest_missing(Status::kUndefinedNoOrder);
    return result;
  }
  if (x.size() >= kFewestPointsOfLine) {
    for (const Fit& fit : kFits) set_fit(result, fit, x, y, {.seed = seed});
  }
  const bool has_diagonals = !gradients.empty() || x.empty();  // else there is no matrix
  if (gradients.size() >= kFewestPointsOfLine) {
    set_coordinates(result, gradients, diagonals);
  } else if (!has_diagonals) {
    for (const std::string constant : kConstants) {
      result[constant + "_coordinate"].set_missing(Status::kNotComputed);
    }
  }
  result.set_rest_missing(Status::kUndefinedTooFewPoints);
  return result;
}

}  // namespace hesscope::detail
