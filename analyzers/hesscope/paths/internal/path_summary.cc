// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <hesscope/analysis/internal/analysis_summary.h>
#include <hesscope/analysis/internal/checkpoint_records.h>
#include <hesscope/analysis/internal/checkpoint_result.h>
#include <hesscope/analysis/internal/result_reading.h>
#include <hesscope/analysis/internal/unproved_numbers.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/paths/elastic_band.h>
#include <hesscope/paths/internal/path_quantities.h>
#include <hesscope/paths/internal/path_summary.h>

namespace hesscope::detail {
namespace {

void warn(const std::string& message, PathResult& result) {
  result.warnings.push_back(message);
  result.is_conclusive = false;
}

std::vector<std::string> split(const std::string& text) {
  constexpr std::string_view kBetween = "; ";
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(kBetween, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + kBetween.size();
  }
  return parts;
}

}  // namespace

Group joined_scalars(const std::vector<const Group*>& records) {
  Group scalars{.variables = scalar_quantities()};
  for (Variable& scalar : scalars.variables) {
    for (const Group* record : records) {
      const Variable* const found = record->find(scalar.name);
      if (found != nullptr && found->is_said()) scalar = *found;
    }
  }
  return scalars;
}

void summarize_scalars(const Group& scalars, PathResult& result) {
  std::vector<const Variable*> shown;
  for (const Variable& scalar : scalars.variables) shown.push_back(&scalar);
  // The numbers of the summary come first, in its order.
  std::ranges::stable_sort(shown, {}, [](const Variable* scalar) {
    return scalar->headline > 0 ? scalar->headline : 1000;
  });
  for (const Variable* scalar : shown) {
    result.numbers.push_back(headline_number(io::kPathGroup, *scalar));
  }
}

void judge(const Group& scalars, const std::vector<Group>& images, PathResult& result) {
  for (const CheckpointSummary& summary : result.checkpoints) {
    if (summary.status == Status::kOk) continue;
    warn(fmt::format("{}: {}", summary.checkpoint.path.string(), to_string(summary.status)),
         result);
  }
  const auto outcome = static_cast<BandOutcome>(static_cast<int>(scalars["band_outcome"].number()));
  if (outcome == BandOutcome::kMoving) {
    warn(fmt::format(
             "the band has not come to rest in {} steps: its force across is {:.3g} of the "
             "first; more `max_steps` or, where a path turns sharply, more `num_images` may bring "
             "it there, and a larger `tolerance` is content with it",
             scalars["band_steps"].number(),
             scalars["band_force"].number()),
         result);
  } else if (outcome == BandOutcome::kNonFinite) {
    warn("the loss or its gradient is not finite on the band", result);
  }
  if (scalars["alignment_error"].status() == Status::kFailed) {
    warn(
        "the alignment changed the loss, and was left out: the second checkpoint is taken as it is",
        result);
  }
  const Variable& index = scalars["saddle_index"];
  const Variable& search = scalars["saddle_outcome"];
  const bool is_elsewhere = search.number() == kElsewhere;
  if (index.status() == Status::kOk && index.number() != 1 && !is_elsewhere) {
    result.warnings.push_back(
        fmt::format("the critical point next to the highest place has index {}, not 1: the pass is "
                    "elsewhere, and the barrier is that of this point",
                    index.number()));
  }
  const bool has_failed = search.number() > 0 && search.number() < kNoPass;
  if (is_elsewhere) {
    warn(
        "the search for the pass led further away than the images are from each other, to a "
        "critical point that is none of this path; more `num_images` or a smaller `tolerance` let "
        "it begin nearer",
        result);
  }
  if (has_failed) {
    warn(fmt::format("the search for the pass, from a maximum of the band, ended as {}; a smaller "
                     "`tolerance` or more `num_images` let it begin nearer",
                     search.flag_meanings.at(static_cast<std::size_t>(search.number()))),
         result);
  }
  const bool is_without_pass = has_failed || is_elsewhere || outcome == BandOutcome::kNonFinite;
  std::set<std::string> said;
  const auto judge_one = [&](const Variable& variable) {
    const Status status = variable.worst_status();
    const bool is_of_pass = variable.name == "barrier" ||
                            variable.name.starts_with("barrier_from") ||
                            variable.name.starts_with("saddle_");
    if (is_without_pass && is_of_pass) return;
    const bool is_said_already = variable.name == "alignment_error" && status == Status::kFailed;
    const bool is_flawed = variable.is_said() && !is_conclusive(status) &&
                           status != Status::kNotComputed && !is_said_already;
    if (is_flawed && said.insert(variable.name).second) {
      warn(fmt::format("{}/{}: {}", io::kPathGroup, variable.name, to_string(status)), result);
    }
    if (!variable.is_proved && said.insert(variable.name).second) {
      warn(fmt::format("{}/{}: {}", io::kPathGroup, variable.name, kUnproved), result);
    }
  };
  std::ranges::for_each(scalars.variables, judge_one);
  for (const Group& image : images) std::ranges::for_each(image.variables, judge_one);
}

void read_path(const PathRequest& request, const PathInputs& inputs, PathResult& result) {
  const io::ResultReader file(request.output);
  result.checkpoints = summaries_of(
      inputs.files(),
      read_records(
          file, "", real_numbers({"loss", "gradient_norm"}), inputs.files().checkpoints.size()));
  summarize_scalars(read_record(file, io::kPathGroup, scalar_quantities()), result);
  const AttributeValue* const families = file.find_attribute(io::kPathGroup, "aligned_by");
  if (families != nullptr && std::holds_alternative<std::string>(*families)) {
    result.aligned_by = split(std::get<std::string>(*families));
  }
  read_conclusion(file, result);
}

}  // namespace hesscope::detail
