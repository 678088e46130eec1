// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <hesscope/analysis/internal/loss_check.h>
#include <hesscope/core/error.h>

namespace hesscope::detail {
namespace {

constexpr double kTolerance = 1e-4;  // of the number expected

const char* const kReasons =
    "they may differ in the data (another set, one batch, inputs scaled otherwise), in the model "
    "(activation, loss) or in the mean (a sum, a penalty added); an expected number needs five "
    "digits";

const Variable& loss_of(const Group& root) { return root["loss"]; }

bool differs(double loss, double expected) {
  return !(std::abs(loss - expected) <= kTolerance * std::abs(expected));
}

std::string words_of(LossSource source) {
  switch (source) {
    case LossSource::kRequest:
      return "the loss expected (`expected_losses`)";
    case LossSource::kProblemFile:
      return "the loss expected ([check] of the problem file)";
    default:
      return "the number 'loss' in the checkpoint";
  }
}

}  // namespace

ExpectedLoss expected_loss(const ProblemFile& problem,
                           const std::optional<std::int64_t>& step,
                           const std::optional<double>& asked,
                           const std::optional<double>& stored) {
  if (asked) return {*asked, LossSource::kRequest};
  if (problem.expected_loss) return {*problem.expected_loss, LossSource::kProblemFile};
  if (step) {
    const auto found = problem.expected_losses.find(*step);
    if (found != problem.expected_losses.end()) return {found->second, LossSource::kProblemFile};
  }
  if (stored && std::isfinite(*stored)) return {*stored, LossSource::kCheckpoint};
  return {};
}

void require_clear_losses(const ProblemFile& problem,
                          const CheckpointReading& reading,
                          std::size_t num_checkpoints,
                          std::size_t num_runs) {
  const std::size_t num_asked = reading.expected_losses.size();
  const auto is_finite = [](double loss) { return std::isfinite(loss); };
  if (num_asked > 0 && num_asked != num_checkpoints) {
    throw ConfigError(fmt::format(
        "`expected_losses`: {} losses for {} checkpoints; give one for each, in their order",
        num_asked,
        num_checkpoints));
  }
  if (!std::ranges::all_of(reading.expected_losses, is_finite)) {
    throw ConfigError("`expected_losses`: a loss must be a finite number");
  }
  if (num_asked > 0) return;
  if (problem.expected_loss && num_checkpoints > 1) {
    throw ConfigError(fmt::format(
        "{}: [check] has one loss, but there are {} checkpoints; say of which steps, as "
        "in loss = {{ 500 = {} }}",
        problem.check_place,
        num_checkpoints,
        *problem.expected_loss));
  }
  if (!problem.expected_losses.empty() && num_runs > 1) {
    throw ConfigError(
        fmt::format("{}: [check] has losses by step, but the checkpoints are of {} runs (folders); "
                    "take one at a time",
                    problem.check_place,
                    num_runs));
  }
}

std::vector<Variable> loss_check_quantities(std::span<const ExpectedLoss> expected) {
  const auto is_known = [](const ExpectedLoss& each) { return each.source != LossSource::kNobody; };
  if (std::ranges::none_of(expected, is_known)) return {};
  return loss_check_quantities();
}

std::vector<Variable> loss_check_quantities() {
  return {{.name = "expected_loss",
           .long_name = "loss known from elsewhere",
           .definition = "from the source that expected_loss_source names",
           .undefined = {Status::kNotStored}},
          {.name = "expected_loss_source",
           .type = VariableType::kInt8,
           .long_name = "where the expected loss is from",
           .definition = "the command, [check] of the problem file, or the number 'loss' in the "
                         "checkpoint",
           .flag_meanings = {"nobody", "request", "problem_file", "checkpoint"}},
          {.name = "loss_difference",
           .long_name = "difference from the loss known from elsewhere",
           .definition = fmt::format("loss - expected_loss; differs_from_expected where its "
                                     "magnitude exceeds {} of expected_loss",
                                     kTolerance),
           .undefined = {Status::kNotStored, Status::kDiffersFromExpected}}};
}

LossCheck check_losses(std::span<const ExpectedLoss> expected,
                       std::span<const CheckpointFile> checkpoints,
                       std::span<const Group> roots) {
  LossCheck check;
  const std::vector<Variable> quantities = loss_check_quantities(expected);
  if (quantities.empty()) {
    check.records.resize(expected.size());
    return check;
  }
  for (const LossSource source :
       {LossSource::kRequest, LossSource::kProblemFile, LossSource::kCheckpoint}) {
    std::vector<std::size_t> different;
    std::size_t count = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (expected[i].source != source) continue;
      ++count;
      const Variable& loss = loss_of(roots[i]);
      const bool is_there = loss.status() == Status::kOk;
      if (is_there && differs(loss.number(), expected[i].value)) different.push_back(i);
    }
    if (different.empty()) continue;
    const std::size_t first = different.front();
    check.warnings.push_back(fmt::format(
        "{}: the loss over the data is {:.6g}, but {} is {:.6g}{}; {}",
        checkpoints[first].path.string(),
        loss_of(roots[first]).number(),
        words_of(source),
        expected[first].value,
        count > 1 ? fmt::format(" (different in {} of {} checkpoints)", different.size(), count)
                  : "",
        kReasons));
    if (source != LossSource::kCheckpoint) check.is_as_said = false;
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    Group record{.variables = quantities};
    const auto& [value, source] = expected[i];
    record["expected_loss_source"].set_flag(static_cast<std::int8_t>(source));
    const Variable& loss = loss_of(roots[i]);
    if (source == LossSource::kNobody) {
      record["expected_loss"].set_missing(Status::kNotStored);
      record["loss_difference"].set_missing(Status::kNotStored);
    } else {
      record["expected_loss"].set(value);
      if (loss.status() != Status::kOk) {
        record["loss_difference"].set_missing(loss.status());
      } else {
        const double difference = loss.number() - value;
        const bool is_different = differs(loss.number(), value);
        record["loss_difference"].set_numbers(
            {difference}, {is_different ? Status::kDiffersFromExpected : Status::kOk});
      }
    }
    check.records.push_back(std::move(record));
  }
  return check;
}

}  // namespace hesscope::detail
