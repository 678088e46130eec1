// SPDX-License-Identifier: BSD-3-Clause
//
// The newest states of a process that may be killed at any moment, in slots of one file that are
// written in turn and in place; and a table that grows beside them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include <hesscope/storage/descriptor.h>

namespace hesscope::io {

/// Keeps the newest of a sequence of states, each of the same number of doubles. A state that was
/// written survives the end of the process, and an anchored one that of the power. A slot that was
/// being written then is recognised by its checksum, and an older one counts. So is one that
/// another owner wrote: its file was copied here.
class StateJournal {
 public:
  /// Opens or creates the file.
  /// @param owner  says whose states they are; those of others do not count.
  /// @throws OutputError if it cannot be opened, or is no regular file.
  StateJournal(std::filesystem::path path, std::size_t num_values, std::uint64_t owner);
  StateJournal(const StateJournal&) = delete;
  StateJournal& operator=(const StateJournal&) = delete;

  /// The whole states that are there, the newest first: at most four.
  std::vector<std::vector<double>> states() const;

  /// Whether another owner's whole states were found when the file was opened.
  bool held_others() const { return held_others_; }

  /// @throws OutputError if it cannot be written; PreconditionError for another number of values.
  /// @cost one system call and a CRC-32: some microseconds for kilobytes.
  void write(std::span<const double> state);

  /// The same, and synced to disk: it stays until two others are. @cost that of an fsync in
  /// addition.
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

/// Rows of a table that grows, each of the same number of doubles. A row that was appended survives
/// the end of the process, and after sync() that of the power.
class RowLog {
 public:
  /// Opens or creates the file and drops what follows its first damaged row, or row of another
  /// owner. @throws OutputError as StateJournal does.
  RowLog(std::filesystem::path path, std::size_t num_columns, std::uint64_t owner);
  RowLog(const RowLog&) = delete;
  RowLog& operator=(const RowLog&) = delete;

  /// As of StateJournal.
  bool held_others() const { return held_others_; }

  /// Row-major. @throws OutputError if they cannot be read back.
  std::vector<double> rows() const;

  /// Forgets all but the first rows. @throws OutputError.
  void truncate(std::size_t num_rows);

  /// @throws OutputError if it cannot be written; PreconditionError for another number of values.
  void append(std::span<const double> row);

  void sync() const;  ///< @throws OutputError if the system says so.

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
