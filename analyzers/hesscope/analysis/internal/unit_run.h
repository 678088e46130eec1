// SPDX-License-Identifier: BSD-3-Clause
//
// What all resumable runs do with their output.
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
  std::string refusal;   ///< why it may not be written, behind its name; empty where it may
};

/// @param subject  of the result, as Provenance has it.
OutputState output_state(const std::filesystem::path& output,
                         const std::string& subject,
                         io::Overwrite overwrite,
                         const io::RunConfiguration& configuration);

/// What parts of a run are dealt, in a fixed order.
struct DealtUnit {
  std::string name;
  std::string what;  ///< it is of, for people
  double work = 1;   ///< by which progress is shared; at least 1, or 0 for next to none
  std::function<Group(const ProgressCallback& progress)> make;
};

/// A run whose answers are Records, kept unit by unit until its output is in place; or a part of
/// one, which keeps them beside those of the others.
class UnitRun {
 public:
  /// Takes the output's lock, removes what killed runs left half-written and opens the units. A
  /// part has a lock and units of its own, and sees those of other parts. The whole run has them
  /// all, and the locks of all parts.
  /// @param subject  of the result, as Provenance has it.
  /// @param probe    makes the output file without publishing it, so that what it refuses it
  ///                 refuses before the work; not called where is_done().
  /// @throws LockedError, also for the whole run while a part of it is under way; ConfigError for
  ///         units of another configuration, unless `overwrite` discards them; OutputError, also
  ///         for an output that may not be replaced, naming the first key in which its run differs;
  ///         what `probe` throws.
  UnitRun(const std::filesystem::path& output,
          const std::string& subject,
          io::Overwrite overwrite,
          const io::Share& share,
          const io::RunConfiguration& configuration,
          const std::function<void()>& probe);

  /// Whether the output is in place already, of this configuration and not to be replaced. There
  /// are no units then.
  bool is_done() const { return is_done_; }

  /// The unit of this name; nothing if it is not there, or damaged.
  std::optional<Group> find(const std::string& name);

  /// A unit that was kept before. @throws OutputError if it cannot be read back.
  Group read(const std::string& name);

  /// Keeps a unit, as UnitFolder::write() does.
  void keep(const std::string& name, const Group& record);

  /// Keeps now what keep() has taken.
  void flush() { units_->flush(); }

  /// The folder, for what the caller writes there in its own way.
  io::UnitFolder& folder() { return *units_; }

  /// Removes the units, those of parts too: the output is in place.
  void finish();

  /// Of the whole run: ends a merge to which units are missing.
  /// @param missing    what they are of, as in "the checkpoint step-000500.npz"; at least one.
  /// @param is_in      whether a part has any of them.
  /// @throws MissingPartsError.
  [[noreturn]] void refuse_merge(const std::vector<std::string>& missing,
                                 const std::function<bool(const io::Part&)>& is_in) const;

  /// Computes the units that are not there yet, one after the other: all of them, or of a part its
  /// own. Of a merge, refuse_merge() where one is missing.
  /// @return  what a part has come to; nothing for the whole run.
  std::optional<io::PartOutcome> complete(const std::vector<DealtUnit>& units,
                                          const ProgressCallback& progress);

  /// The same where a unit is not there that every part makes for itself.
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
  std::vector<io::Part> parts_;          // that left something, but for the own one
  std::deque<io::FileLock> part_locks_;  // of them, in the whole run
  bool is_done_ = false;
  std::optional<io::UnitFolder> units_;
};

}  // namespace hesscope::detail
