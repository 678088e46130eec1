// SPDX-License-Identifier: BSD-3-Clause
//
// The newest states of a process that may be killed at any moment, in slots of one file that are
// overwritten in turn; and a table that grows next to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include <hesscope/storage/descriptor.h>

namespace hesscope::io {

/// Keeps the newest of a sequence of states, each with the same number of doubles. A written state
/// survives the end of the process, an anchored one also a power cut. A slot whose writing was
/// interrupted is recognised by its checksum, and an older one is used. Slots written by another
/// owner, whose file was copied here, are recognised likewise.
class StateJournal {
 public:
  /// Opens or creates the file.
  /// @param owner  identifies the states' owner; states of other owners are ignored.
  /// @throws OutputError if the file cannot be opened, or is not a regular file.
  StateJournal(std::filesystem::path path, std::size_t num_values, std::uint64_t owner);
  StateJournal(const StateJournal&) = delete;
  StateJournal& operator=(const StateJournal&) = delete;

  /// The intact states in the file, the newest first: at most four.
  std::vector<std::vector<double>> states() const;

  /// Whether intact states of another owner were found when the file was opened.
  bool held_others() const { return held_others_; }

  /// @throws OutputError if it cannot be written; PreconditionError for another number of values.
  /// @cost one system call and a CRC-32: a few microseconds for kilobytes.
  void write(std::span<const double> state);

  /// The same, and synced to disk: the state is kept until two others have been anchored. @cost
  /// additionally that of an fsync.
  void anchor(std::span<const double> state);

 private:
  void write_slot(std::size_t slot, std::span<const double> state);

  std::filesystem::path path_;
  std::size_t num_values_;
  std::uint64_t owner_;
  Descriptor descriptor_;
  bool held_others_ = false;
  std::uint64_t sequence_ = 0;   // of the newest state
  std::size_t next_slot_ = 0;    // of write()
  std::size_t next_anchor_ = 0;  // of anchor()
  std::vector<char> buffer_;     // a slot
};

/// Rows of a table that grows, each with the same number of doubles. An appended row survives the
/// end of the process, and after sync() also a power cut.
class RowLog {
 public:
  /// Opens or creates the file and drops everything from its first row on that is damaged or
  /// belongs to another owner. @throws OutputError as StateJournal does.
  RowLog(std::filesystem::path path, std::size_t num_columns, std::uint64_t owner);
  RowLog(const RowLog&) = delete;
  RowLog& operator=(const RowLog&) = delete;

  /// As for StateJournal.
  bool held_others() const { return held_others_; }

  /// Row-major. @throws OutputError if they cannot be read back.
  std::vector<double> rows() const;

  /// Drops all rows except the first num_rows. @throws OutputError.
  void truncate(std::size_t num_rows);

  /// @throws OutputError if it cannot be written; PreconditionError for another number of values.
  void append(std::span<const double> row);

  void sync() const;  ///< @throws OutputError if the system reports a failure.

 private:
  void shorten() const;

  std::filesystem::path path_;
  std::size_t num_columns_;
  std::uint64_t owner_;
  Descriptor descriptor_;
  bool held_others_ = false;
  std::size_t num_rows_ = 0;
  std::vector<char> buffer_;  // a row
};

}  // namespace hesscope::io
