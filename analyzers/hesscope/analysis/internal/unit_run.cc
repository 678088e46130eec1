// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include <fmt/format.h>

#include <hesscope/analysis/internal/result_reading.h>
#include <hesscope/analysis/internal/unit_run.h>
#include <hesscope/core/error.h>
#include <hesscope/dataset/internal/dataset_bytes.h>

namespace hesscope::detail {

UnitRun::UnitRun(const std::filesystem::path& output,
                 const std::string& subject,
                 io::Overwrite overwrite,
                 const io::RunConfiguration& configuration,
                 const std::function<void()>& probe)
    : lock_(output) {
  io::remove_remnants(output);
  const bool may_overwrite = overwrite != io::Overwrite::kNothing;
  is_done_ = !may_overwrite && is_result_of(output, configuration);
  if (is_done_) {
    // Of a run that was killed between the last two of its acts.
    io::remove_units(output, configuration);
    return;
  }
  const auto is_of_kind = [&] { return is_result_about(output, subject); };
  if (!may_overwrite && is_of_kind()) {
    throw OutputError(
        fmt::format("{}: exists already, of a run that differs in '{}'; choose another output, or "
                    "replace it by `Overwrite::kOwnKind`",
                    output.string(),
                    difference_of(output, configuration)));
  }
  io::require_replaceable(
      output, overwrite, fmt::format("a result of hesscope {}", subject), is_of_kind);
  probe();
  units_.emplace(
      output,
      configuration,
      may_overwrite ? io::UnitFolder::Others::kDiscard : io::UnitFolder::Others::kRefuse);
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
