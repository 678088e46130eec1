// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include <hesscope/analysis/internal/result_reading.h>
#include <hesscope/analysis/internal/unit_run.h>
#include <hesscope/core/error.h>
#include <hesscope/core/name_list.h>
#include <hesscope/dataset/internal/dataset_bytes.h>

namespace hesscope::detail {

OutputState output_state(const std::filesystem::path& output,
                         const std::string& subject,
                         io::Overwrite overwrite,
                         const io::RunConfiguration& configuration) {
  const bool may_overwrite = overwrite != io::Overwrite::kNothing;
  OutputState state{.is_done = !may_overwrite && is_result_of(output, configuration),
                    .refusal = {}};
  if (state.is_done) return state;
  const auto is_of_kind = [&] { return is_result_about(output, subject); };
  state.refusal =
      !may_overwrite && is_of_kind()
          ? fmt::format(
                "exists already, of a run that differs in {}; choose another "
                "output, or replace it by `Overwrite::kOwnKind`",
                difference_of(output, configuration))
          : io::refusal_to_replace(
                output, overwrite, fmt::format("a result of `run_{}()`", subject), is_of_kind);
  return state;
}

UnitRun::UnitRun(const std::filesystem::path& output,
                 const std::string& subject,
                 io::Overwrite overwrite,
                 const io::Share& share,
                 const io::RunConfiguration& configuration,
                 const std::function<void()>& probe)
    : output_(output),
      share_(share),
      configuration_(configuration),
      lock_(share.part ? io::place_of(output, *share.part) : output),
      parts_(io::parts_at(output)) {
  const std::filesystem::path place = share.part ? io::place_of(output, *share.part) : output;
  io::remove_remnants(place);
  if (share.part) {
    std::erase(parts_, *share.part);
  } else {
    take_parts();
  }
  const OutputState state = output_state(output, subject, overwrite, configuration);
  is_done_ = state.is_done;
  if (is_done_) {
    // Left by a run that was killed just before it removed its units, or by parts that came late.
    io::remove_units(place, configuration);
    remove_parts();
    return;
  }
  if (!state.refusal.empty()) {
    throw OutputError(fmt::format("{}: {}", output.string(), state.refusal));
  }
  const auto others = overwrite == io::Overwrite::kNothing ? io::UnitFolder::Others::kRefuse
                                                           : io::UnitFolder::Others::kDiscard;
  for (std::size_t k = 0; k < part_locks_.size(); ++k) {
    io::admit_units(io::place_of(output, parts_[k]), configuration, others);
  }
  probe();
  units_.emplace(place, configuration, others);
  if (share.part && io::has_units(output)) units_->borrow(output);
  for (const io::Part& part : parts_) {
    const std::filesystem::path other = io::place_of(output, part);
    if (io::has_units(other)) units_->borrow(other);
  }
}

// Nobody else may work on them while they are merged.
void UnitRun::take_parts() {
  for (const io::Part& part : parts_) {
    const std::filesystem::path place = io::place_of(output_, part);
    part_locks_.emplace_back(place);
    io::remove_remnants(place);
  }
}

// A part removes only its own units.
void UnitRun::remove_parts() {
  if (part_locks_.empty()) return;
  for (const io::Part& part : parts_) {
    io::remove_units(io::place_of(output_, part), configuration_);
  }
}

void UnitRun::refuse_merge(const std::vector<std::string>& missing,
                           const std::function<bool(const io::Part&)>& is_in) const {
  std::vector<io::Part> able;
  const int count = parts_.empty() ? 0 : parts_.back().count;
  for (int index = 0; index < count; ++index) {
    const io::Part part{.count = count, .index = index};
    if (is_in(part)) able.push_back(part);
  }
  throw io::MissingPartsError(
      fmt::format("{}: no part has kept {}", output_.string(), first_names(missing, 1)),
      std::move(able));
}

void UnitRun::require_all(const std::vector<DealtUnit>& units) {
  std::vector<std::size_t> missing;
  std::vector<std::string> names;
  for (std::size_t k = 0; k < units.size(); ++k) {
    if (find(units[k].name)) continue;
    missing.push_back(k);
    names.push_back(units[k].what);
  }
  if (missing.empty()) return;
  refuse_merge(names, [&](const io::Part& part) {
    return std::ranges::any_of(missing, [&](std::size_t k) { return part.is_dealt(k); });
  });
}

std::optional<io::PartOutcome> UnitRun::complete(const std::vector<DealtUnit>& units,
                                                 const ProgressCallback& progress) {
  if (share_.merge_only) {
    require_all(units);
    return std::nullopt;
  }
  std::vector<const DealtUnit*> own;
  double total = 0;
  for (std::size_t k = 0; k < units.size(); ++k) {
    if (share_.part && !share_.part->is_dealt(k)) continue;
    own.push_back(&units[k]);
    total += units[k].work;
  }
  total = std::max(total, 1.0);
  std::size_t num_found = 0;
  double done = 0;
  for (const DealtUnit* unit : own) {
    const double begin = done / total;
    done += unit->work;
    report(progress, begin);
    if (find(unit->name)) {
      ++num_found;
    } else {
      keep(unit->name, unit->make(part_of(progress, begin, done / total)));
    }
  }
  report(progress, 1);
  if (!share_.part) return std::nullopt;
  flush();
  return io::PartOutcome{.part = *share_.part,
                         .num_units = units.size(),
                         .num_own = own.size(),
                         .num_found = num_found};
}

void UnitRun::finish() {
  units_->remove();
  remove_parts();
}

std::optional<Group> UnitRun::find(const std::string& name) {
  const std::optional<std::string> bytes = units_->read(name);
  return bytes ? io::group_from_bytes(*bytes) : std::nullopt;
}

Group UnitRun::read(const std::string& name) {
  std::optional<Group> record = find(name);
  if (!record) {
    throw OutputError(fmt::format(
        "{}: the part '{}', written before, cannot be read back", units_->path().string(), name));
  }
  return *std::move(record);
}

void UnitRun::keep(const std::string& name, const Group& record) {
  units_->write(name, io::to_bytes(record));
}

}  // namespace hesscope::detail
