// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/analysis/internal/checkpoint_names.h>
#include <hesscope/analysis/internal/checkpoint_order.h>
#include <hesscope/analysis/internal/result_reading.h>
#include <hesscope/analysis/internal/unproved_numbers.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/distinct_names.h>
#include <hesscope/core/error.h>
#include <hesscope/figures/internal/figure_data.h>

namespace hesscope::figures {
namespace {

[[noreturn]] void refuse(const io::ResultReader& result,
                         const std::string& group,
                         const std::string& name,
                         const std::string& what) {
  throw InputError(fmt::format("{}: variable '{}/{}': {}",
                               result.path().string(),
                               group.empty() ? "" : "/" + group,
                               name,
                               what));
}

// The variable of the same group that says how eigenvalues, and numbers taken from them, were
// found.
std::string proof_of(const std::string& name) {
  constexpr std::string_view kValues[] = {
      "lambda_min", "lambda_median", "lambda_max", "spectral_norm", "eigenvalues"};
  for (const std::string_view value : kValues) {
    if (name.starts_with(value)) return "proof" + name.substr(value.size());
  }
  return {};
}

// True where the variable `proof` says "converged"; false everywhere if there is none.
std::vector<bool> unproved_by_group(const io::ResultReader& result,
                                    const std::string& group,
                                    const std::string& proof,
                                    std::size_t count) {
  std::vector<bool> unproved(count, false);
  const Variable* const listed = result.find(group, proof);
  if (listed == nullptr || listed->type != VariableType::kInt8) return unproved;
  const auto converged = std::ranges::find(listed->flag_meanings, "converged");
  if (converged == listed->flag_meanings.end()) return unproved;
  const std::vector<std::int64_t> flags = result.read_integers(group, proof);
  for (std::size_t i = 0; i < std::min(count, flags.size()); ++i) {
    unproved[i] = flags[i] == converged - listed->flag_meanings.begin();
  }
  return unproved;
}

// Empty if the result does not name them.
std::vector<std::filesystem::path> files_of(const io::ResultReader& result, std::size_t count) {
  if (result.find("", "checkpoint_file") == nullptr) return {};
  const std::vector<std::string> files = result.read_text("", "checkpoint_file");
  if (files.size() != count) return {};
  return {files.begin(), files.end()};
}

// The distinct names of the folders of runs; each run is given by its first checkpoint.
std::vector<std::string> folder_names(const std::vector<Run>& runs,
                                      const std::vector<std::filesystem::path>& files) {
  if (files.empty()) return std::vector<std::string>(runs.size());
  std::vector<std::filesystem::path> folders;
  for (const Run& run : runs) folders.push_back(detail::named_run_folder(files[run.begin]));
  return distinct_names(folders);
}

}  // namespace

Variable read_numbers(const io::ResultReader& result,
                      const std::string& group,
                      const std::string& name,
                      std::size_t rank,
                      std::size_t num_rows) {
  // Compares the shape before the data are read.
  const Variable* listed = result.find(group, name);
  if (listed != nullptr && listed->shape.size() != rank) {
    refuse(result,
           group,
           name,
           fmt::format("must have {} dimensions, has {}", rank, listed->shape.size()));
  }
  if (listed != nullptr && num_rows > 0 && listed->shape[0] < num_rows) {
    refuse(result,
           group,
           name,
           fmt::format("must have {} rows or more, has {}", num_rows, listed->shape[0]));
  }
  Variable found = result.read(group, name);
  if (found.type == VariableType::kText) refuse(result, group, name, "must hold numbers, has text");
  found.values = found.numbers();
  found.type = VariableType::kDouble;
  return found;
}

std::vector<double> read_row(const io::ResultReader& result,
                             const std::string& group,
                             const std::string& name,
                             std::size_t rank,
                             std::size_t index,
                             std::optional<std::size_t> size) {
  const Variable* const listed = result.find(group, name);
  const bool is_double = listed != nullptr && listed->type == VariableType::kDouble;
  std::vector<double> row = is_double && listed->shape.size() == rank && listed->shape[0] > index
                                ? result.read_double_slice(group, name, index)
                                : read_numbers(result, group, name, rank, index + 1).row(index);
  if (size && row.size() != *size) {
    refuse(result,
           group,
           name,
           fmt::format("must have {} values at each checkpoint, has {}", *size, row.size()));
  }
  return row;
}

std::vector<double> read_column(const io::ResultReader& result,
                                const std::string& group,
                                const std::string& name,
                                std::size_t size) {
  const Variable* variable = result.find(group, name);
  if (variable != nullptr && variable->shape.size() == 1 && variable->shape[0] != size) {
    refuse(
        result, group, name, fmt::format("must have {} values, has {}", size, variable->shape[0]));
  }
  return read_numbers(result, group, name, 1).reals();
}

double read_number(const io::ResultReader& result,
                   const std::string& group,
                   const std::string& name) {
  const Variable* variable = result.find(group, name);
  if (variable == nullptr ||
      !std::ranges::all_of(variable->shape, [](std::uint64_t extent) { return extent == 1; })) {
    return kNaN;
  }
  return read_numbers(result, group, name, variable->shape.size()).number();
}

std::string read_flag(const io::ResultReader& result,
                      const std::string& group,
                      const std::string& name) {
  const Variable* const variable = result.find(group, name);
  const double flag = read_number(result, group, name);
  if (variable == nullptr || !(flag >= 0)) return {};
  const auto place = static_cast<std::size_t>(flag);
  const std::vector<std::string>& meanings = variable->flag_meanings;
  return place < meanings.size() ? meanings[place] : std::string();
}

std::vector<bool> read_unproved(const io::ResultReader& result,
                                const std::string& group,
                                const std::string& name,
                                std::size_t count) {
  std::vector<bool> unproved = unproved_by_group(result, group, proof_of(name), count);
  const std::vector<bool> named = detail::UnprovedNumbers(result).rows_of(group, name, count);
  for (std::size_t i = 0; i < count; ++i) unproved[i] = unproved[i] || named[i];
  return unproved;
}

std::string Checkpoints::name_of(std::size_t i) const {
  std::string name = fmt::format("{} {}", unit, steps[i]);
  const auto run = std::ranges::find_if(runs, [i](const Run& each) { return i < each.end; });
  if (run != runs.end() && !run->folder.empty()) name += ", " + run->folder;
  return name;
}

Checkpoints read_checkpoints(const Source& source) {
  const io::ResultReader& result = *source.result;
  Checkpoints found;
  found.steps = read_numbers(result, "", "step", 1).reals();
  const std::size_t count = found.size();
  found.has_steps = std::none_of(
      found.steps.begin(), found.steps.end(), [](double step) { return std::isnan(step); });
  if (result.find("", "step")->long_name.starts_with("epoch")) found.unit = "epoch";
  const std::vector<std::filesystem::path> files = files_of(result, count);
  const std::optional<CheckpointOrder> order = detail::order_of_result(result);
  const auto begins_run = [&](std::size_t i) {
    if (i == 0) return true;
    if (order && !files.empty()) return detail::ends_run(files[i - 1], files[i], *order);
    return found.steps[i] <= found.steps[i - 1];
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (begins_run(i)) found.runs.push_back({i, i, source.label});
    found.runs.back().end = i + 1;
  }
  if (found.runs.size() > 1) {
    const std::vector<std::string> folders = folder_names(found.runs, files);
    for (std::size_t k = 0; k < folders.size(); ++k) {
      found.runs[k].folder = folders[k];
      std::string& label = found.runs[k].label;
      label += label.empty() || folders[k].empty() ? folders[k] : ": " + folders[k];
    }
  }
  if (!found.has_steps) {
    found.unit = "checkpoint";
    for (std::size_t i = 0; i < count; ++i) found.steps[i] = static_cast<double>(i);
  }
  return found;
}

std::size_t chosen_checkpoint(const Source& source,
                              const Checkpoints& checkpoints,
                              const FigureRequest& request) {
  if (checkpoints.size() == 0) {
    throw InputError(fmt::format("{}: holds no checkpoint", source.result->path().string()));
  }
  if (request.checkpoint) {
    if (*request.checkpoint < checkpoints.size()) return *request.checkpoint;
    throw ConfigError(fmt::format("{}: has no checkpoint {}: it holds {}, counted from 0",
                                  source.result->path().string(),
                                  *request.checkpoint,
                                  checkpoints.size()));
  }
  if (!request.step) return checkpoints.size() - 1;
  const auto wanted = static_cast<double>(*request.step);
  // If several runs have this step, the last of them; the same if no step is given.
  const auto found = std::find(checkpoints.steps.rbegin(), checkpoints.steps.rend(), wanted);
  if (!checkpoints.has_steps || found == checkpoints.steps.rend()) {
    throw ConfigError(fmt::format(
        "{}: has no checkpoint of step {}{}",
        source.result->path().string(),
        *request.step,
        checkpoints.has_steps
            ? fmt::format("; its {}s are {}", checkpoints.unit, fmt::join(checkpoints.steps, ", "))
            : ": its checkpoints have no steps"));
  }
  return static_cast<std::size_t>(checkpoints.steps.rend() - found) - 1;
}

std::string zeros_text(const Source& source, std::size_t checkpoint) {
  const auto count = [&](const char* group, const char* name) -> std::optional<std::int64_t> {
    if (source.result->find(group, name) == nullptr) return std::nullopt;
    const double value = read_row(*source.result, group, name, 1, checkpoint).front();
    return std::isfinite(value) ? std::optional(static_cast<std::int64_t>(value)) : std::nullopt;
  };
  const std::optional<std::int64_t> zeros = count("spectrum", "num_zero");
  if (!zeros) return {};
  std::string text = fmt::format("{} zero within rounding", *zeros);
  const auto explained = count("structure", "num_explained");
  if (!explained || *zeros == 0) return text;
  text += fmt::format(", {} of them explained", *explained);
  if (const auto dead = count("structure", "num_dead"); dead > 0) {
    text += fmt::format(", {} by dead parameters", *dead);
  }
  return text;
}

plot::Axis step_axis(const Checkpoints& checkpoints) {
  plot::Axis axis;
  axis.label = checkpoints.axis_label();
  axis.whole_numbers = true;
  return axis;
}

std::vector<Source> named(std::span<const Source> sources) {
  std::vector<Source> all(sources.begin(), sources.end());
  if (all.size() == 1) all.front().label.clear();
  return all;
}

std::vector<plot::Line> curves(const Checkpoints& checkpoints,
                               std::span<const double> values,
                               const std::vector<bool>& unproved) {
  constexpr std::size_t kFewPoints = 40;
  constexpr std::size_t kManyPoints = 1000;
  std::vector<plot::Line> lines;
  for (const Run& run : checkpoints.runs) {
    plot::Line line;
    for (std::size_t i = run.begin; i < run.end; ++i) {
      line.x.push_back(checkpoints.steps[i]);
      line.y.push_back(values[i]);
      if (!unproved.empty()) line.uncertain.push_back(unproved[i]);
    }
    line.label = run.label;
    line.markers = line.x.size() <= kFewPoints;
    if (line.x.size() > kManyPoints) line.width = 0.8;
    lines.push_back(std::move(line));
  }
  return lines;
}

double signed_threshold(std::span<const double> values, double band) {
  constexpr double kSmallest = 1e-9;
  double smallest = kInfinity;
  double largest = 0;
  for (const double value : values) {
    const double magnitude = std::abs(value);
    if (!std::isfinite(magnitude)) continue;
    largest = std::max(largest, magnitude);
    if (magnitude > band) smallest = std::min(smallest, magnitude);
  }
  if (!(largest > 0)) return 1;
  const double wanted = std::clamp(smallest, kSmallest * largest, largest);
  return std::max(std::pow(10.0, std::floor(std::log10(wanted))),
                  std::numeric_limits<double>::min());
}

}  // namespace hesscope::figures
