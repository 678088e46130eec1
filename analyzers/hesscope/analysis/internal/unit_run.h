// SPDX-License-Identifier: BSD-3-Clause
//
// How all resumable runs handle their output.
#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <hesscope/core/progress.h>
#include <hesscope/dataset/dataset.h>
#include <hesscope/storage/internal/file_lock.h>
#include <hesscope/storage/overwrite.h>
#include <hesscope/storage/part.h>
#include <hesscope/storage/run_configuration.h>
#include <hesscope/storage/unit_folder.h>

namespace hesscope::detail {

/// What a run finds at its output.
struct OutputState {
  bool is_done = false;  ///< it is there, of this configuration, and not to be replaced
  std::string refusal;   ///< why it may not be written, to follow its name; empty if it may
};

/// @param subject  of the result, as in Provenance.
OutputState output_state(const std::filesystem::path& output,
                         const std::string& subject,
                         io::Overwrite overwrite,
                         const io::RunConfiguration& configuration);

/// The units that are divided among the parts of a run, in a fixed order.
struct DealtUnit {
  std::string name;
  std::string what;  ///< its subject, for people
  double work = 1;   ///< weight in the progress; at least 1, or 0 for next to none
  std::function<Group(const ProgressCallback& progress)> make;
};

/// A run whose answers are Groups, kept unit by unit until its output is in place; or a part of
/// one, which keeps its units next to those of the other parts.
class UnitRun {
 public:
  /// Takes the output's lock, removes what killed runs left half-written and opens the units. A
  /// part has a lock and units of its own, and sees the units of other parts. The whole run sees
  /// all units and takes the locks of all parts.
  /// @param subject  of the result, as in Provenance.
  /// @param probe    makes the output file without publishing it, so that it can refuse something
  ///                 before the work begins; not called if is_done().
  /// @throws LockedError, for the whole run also while one of its parts is running; ConfigError for
  ///         units of another configuration, unless `overwrite` discards them; OutputError, also
  ///         for an output that may not be replaced, naming the first key in which its run differs;
  ///         what `probe` throws.
  UnitRun(const std::filesystem::path& output,
          const std::string& subject,
          io::Overwrite overwrite,
          const io::Share& share,
          const io::RunConfiguration& configuration,
          const std::function<void()>& probe);

  /// Whether the output is already in place, has this configuration and is not to be replaced. Then
  /// there are no units.
  bool is_done() const { return is_done_; }

  /// The unit with this name; nothing if it is missing or damaged.
  std::optional<Group> find(const std::string& name);

  /// A unit that was kept before. @throws OutputError if it cannot be read back.
  Group read(const std::string& name);

  /// Keeps a unit, as UnitFolder::write() does.
  void keep(const std::string& name, const Group& record);

  /// Writes at once what keep() has taken.
  void flush() { units_->flush(); }

  /// The folder, for contents that the caller writes there in its own way.
  io::UnitFolder& folder() { return *units_; }

  /// Removes the units, also those of parts: the output is in place.
  void finish();

  /// For the whole run: ends a merge for which units are missing.
  /// @param missing    what they belong to, as in "the checkpoint step-000500.npz"; at least one.
  /// @param is_in      whether a part has any of them.
  /// @throws MissingPartsError.
  [[noreturn]] void refuse_merge(const std::vector<std::string>& missing,
                                 const std::function<bool(const io::Part&)>& is_in) const;

  /// Computes the missing units one after the other: all of them, or a part's own. A merge calls
  /// refuse_merge() if one is missing.
  /// @return  what a part has done; nothing for the whole run.
  std::optional<io::PartOutcome> complete(const std::vector<DealtUnit>& units,
                                          const ProgressCallback& progress);

  /// The same if a unit is missing that every part makes for itself.
  [[noreturn]] void refuse_merge_without(const std::string& what) const {
    refuse_merge({what}, [](const io::Part&) { return true; });
  }

 private:
  void take_parts();
  void remove_parts();

  void require_all(const std::vector<DealtUnit>& units);

  std::filesystem::path output_;
  io::Share share_;
  io::RunConfiguration configuration_;
  io::FileLock lock_;
  std::vector<io::Part> parts_;          // that have left units, except this part
  std::deque<io::FileLock> part_locks_;  // on them, in the whole run
  bool is_done_ = false;
  std::optional<io::UnitFolder> units_;
};

}  // namespace hesscope::detail
