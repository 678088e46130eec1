// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include <fmt/format.h>

#include <hesscope/analyzers/record_bytes.h>
#include <hesscope/analyzers/result_root.h>
#include <hesscope/analyzers/unit_run.h>
#include <hesscope/core/error.h>

namespace hesscope::detail {

UnitRun::UnitRun(const std::filesystem::path& output,
                 bool overwrite,
                 const io::RunConfiguration& configuration,
                 const std::function<void()>& probe)
    : lock_(output) {
  io::remove_remnants(output);
  is_published_ = io::has_units(output) && is_result_of(output, configuration);
  if (!is_published_) probe();
  units_.emplace(output,
                 configuration,
                 overwrite ? io::UnitFolder::Others::kDiscard : io::UnitFolder::Others::kRefuse);
}

std::optional<Record> UnitRun::find(const std::string& name) const {
  const std::optional<std::string> bytes = units_->read(name);
  return bytes ? record_from_bytes(*bytes) : std::nullopt;
}

Record UnitRun::read(const std::string& name) const {
  std::optional<Record> record = find(name);
  if (!record) {
    throw OutputError(fmt::format(
        "{}: the part '{}', written before, cannot be read back", units_->path().string(), name));
  }
  return *std::move(record);
}

std::filesystem::path UnitRun::path_of(const std::string& name) const {
  return units_->path() / (name + ".unit");
}

void UnitRun::keep(const std::string& name, const Record& record) const {
  units_->write(name, to_bytes(record));
}

}  // namespace hesscope::detail
