// SPDX-License-Identifier: BSD-3-Clause
#include "part_option.h"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/ascii.h>
#include <hesscope/core/error.h>
#include <hesscope/core/parse_number.h>
#include <hesscope/core/printable.h>

#include "launcher.h"

namespace hesscope::cli {
namespace {

constexpr const char* kSlurm = "slurm";

// Without a sign.
std::optional<int> whole_number(std::string_view text) {
  return is_all_digits(text) ? parse_number<int>(text) : std::nullopt;
}

// The given part, or what is wrong with it.
struct Parsed {
  io::Part part = {};
  std::string problem = {};
};

Parsed part_of_text(const std::string& given) {
  const std::size_t slash = given.find('/');
  const auto index = whole_number(std::string_view(given).substr(0, slash));
  const auto count = slash == std::string::npos
                         ? std::nullopt
                         : whole_number(std::string_view(given).substr(slash + 1));
  if (!index || !count || *count == 0) {
    return {.problem = fmt::format(
                "must be I/N, as 0/8 for the first of 8 parts, or slurm in a job array of Slurm; "
                "got '{}'",
                escaped(given))};
  }
  if (*index >= *count) {
    return {.problem = fmt::format("parts are counted from 0, so that those of {0} are 0/{0} to "
                                   "{1}/{0}; got '{2}'",
                                   *count,
                                   *count - 1,
                                   given)};
  }
  return {.part = {.count = *count, .index = *index}};
}

// The number in a variable that Slurm sets in the tasks of a job array.
struct SlurmNumber {
  const char* name;
  std::optional<int> value = {};
};

// The position of a task in its job array: sbatch --array=0-7, or 1-8, or 0-14:2.
Parsed part_of_slurm() {
  SlurmNumber task{"SLURM_ARRAY_TASK_ID"};
  SlurmNumber count{"SLURM_ARRAY_TASK_COUNT"};
  SlurmNumber first{"SLURM_ARRAY_TASK_MIN"};
  SlurmNumber last{"SLURM_ARRAY_TASK_MAX"};
  for (SlurmNumber* number : {&task, &count, &first, &last}) {
    const char* const text = std::getenv(number->name);
    if (text == nullptr) {
      return {.problem = fmt::format(
                  "slurm: {} is not set, so that this is no task of a job array; start it by "
                  "sbatch --array=0-7, or say which part it is, as in --part 0/8",
                  number->name)};
    }
    number->value = whole_number(text);
    if (!number->value) {
      return {.problem = fmt::format("slurm: {} is '{}', not a number; say which part this is, as "
                                     "in --part 0/8",
                                     number->name,
                                     escaped(text))};
    }
  }
  const int size = *count.value;
  if (size == 1) {
    return {.problem = fmt::format(
                "slurm: this job array has one task only, {}; to repeat one of several say which "
                "part it is, counted from 0, as in --part 0/8; for the whole work leave --part out",
                *task.value)};
  }
  const int span = *last.value - *first.value;
  const int stride = size > 1 ? span / (size - 1) : 0;
  const int offset = *task.value - *first.value;
  const bool is_even = stride > 0 && span == stride * (size - 1) && offset >= 0 && offset <= span &&
                       offset % stride == 0;
  if (!is_even) {
    return {.problem = fmt::format(
                "slurm: task {} of {} from {} to {} has no place among them, as in an array with "
                "gaps; use one like --array=0-7, or say which part this is, as in --part 0/8",
                *task.value,
                size,
                *first.value,
                *last.value)};
  }
  return {.part = {.count = size, .index = offset / stride}};
}

// The path next to this program; empty if it was built without MPI.
std::string path_of_mpi_program() {
  std::error_code error;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path path = own.parent_path() / "hesscope-mpi";
  return !error && std::filesystem::exists(path, error) ? path.string() : "";
}

}  // namespace

void PartOption::declare(OptionTable& options) {
  options.group("Running");
  Option& part = options
                     .text("--part",
                           given_,
                           "I/N",
                           "Compute part I of N, counted from 0, and keep it beside the output; "
                           "the same command without this option puts the parts together\n"
                           "slurm: the part that this task of a job array of Slurm is")
                     .unrecorded()
                     .offering({kSlurm});
  part.take = [this](const std::string& given) {
    Parsed parsed = given == kSlurm ? part_of_slurm() : part_of_text(given);
    if (parsed.part.count > io::kMostParts) {
      parsed.problem =
          fmt::format("a run has at most {} parts; got {}", io::kMostParts, parsed.part.count);
    }
    given_ = given;
    share_.part = parsed.part;
    return parsed.problem;
  };
  options
      .flag("--merge-only",
            share_.merge_only,
            "Compute nothing: put together what parts have kept, or say what is missing")
      .unrecorded();
}

io::Share PartOption::share(bool shares_tasks) const {
  if (share_.part && share_.merge_only) {
    throw UsageError(
        "--part computes a part and --merge-only puts all of them together: give one of them");
  }
  if (!shares_tasks && (!share_.part || given_ == kSlurm)) refuse_many_tasks();
  return share_;
}

void PartOption::refuse_many_tasks() const {
  const std::optional<LaunchedTask> task = launched_task();
  if (!task || task->size <= 1) return;
  const std::string shared =
      path_of_mpi_program().empty()
          ? ""
          : "by hesscope-mpi in the place of hesscope they share the work of each checkpoint; ";
  throw ConfigError(fmt::format(
      "{} has started {} tasks ({}), each of which would do the same work; {}start one, "
      "or give each its part, as in sh -c 'hesscope ... --part ${}/{}', and then put "
      "the parts together by one without --part",
      task->launcher,
      task->size,
      task->size_variable,
      shared,
      task->rank_variable,
      task->size));
}

std::string PartOption::place(const std::string& output) const {
  return share_.part ? io::place_of(output, *share_.part).string() : output;
}

std::string PartOption::arguments() const {
  return share_.part ? arguments({*share_.part}) : std::string();
}

std::string PartOption::arguments(const std::vector<io::Part>& parts) {
  if (parts.empty()) return "";
  if (parts.size() == 1) return " --part " + parts.front().text();
  std::vector<int> indices;
  indices.reserve(parts.size());
  for (const io::Part& part : parts) indices.push_back(part.index);
  return fmt::format(" --part I/{} with I = {}", parts.front().count, fmt::join(indices, ", "));
}

}  // namespace hesscope::cli
