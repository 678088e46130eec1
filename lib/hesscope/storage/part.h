// SPDX-License-Identifier: BSD-3-Clause
//
// A run divided among processes that share nothing but files, on one machine or on many.
//
// Each process is given one of N parts. It computes the units of its part and keeps them in a place
// of its own, OUTPUT.part-I-of-N.units, under its own lock: cluster file systems need not support
// locks between machines. A part produces no result. The whole run, started afterwards, finds what
// the parts have kept, computes what is missing, and writes the result. Parts do not belong to a
// RunConfiguration: how the work is divided does not change a bit of the result.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <hesscope/core/error.h>

namespace hesscope::io {

/// A limit, because the search for missing units asks one part after the other.
inline constexpr int kMostParts = 100'000;

/// One of `count` parts of a run's units. Every unit is in exactly one part; a part may be empty.
/// All functions that take a part throw PreconditionError unless 0 <= index < count <= kMostParts.
struct Part {
  int count = 1;
  int index = 0;  ///< from 0

  /// Whether a unit belongs to this part if units are dealt out in turn. Neighbouring units cost
  /// about the same, so each part gets some of every kind.
  bool is_dealt(std::size_t unit) const;

  /// The first unit of this part and the one after its last, if neighbouring units stay together
  /// because they share work.
  std::pair<std::size_t, std::size_t> range(std::size_t num_units) const;

  std::string text() const;  ///< "I/N"

  bool operator==(const Part&) const = default;

  /// Divisions into fewer parts come first.
  bool operator<(const Part& other) const {
    return count != other.count ? count < other.count : index < other.index;
  }
};

/// Which portion of a run is to be done.
struct Share {
  /// Only the units of this part, without a result; nothing = the whole run.
  std::optional<Part> part = {};
  /// For the whole run: only merges what the parts have kept. If anything is left to compute, that
  /// is an error.
  bool merge_only = false;
};

/// What a part has done.
struct PartOutcome {
  Part part;
  std::size_t num_units = 0;  ///< of the whole run
  std::size_t num_own = 0;    ///< of this part
  std::size_t num_found = 0;  ///< of those, already there before
};

/// Some of what was to be merged is missing. The message says what.
class MissingPartsError : public InputError {
 public:
  /// @param parts  the parts, in the division that was used, that would compute what is missing;
  ///               none if that division is unknown.
  MissingPartsError(const std::string& message, std::vector<Part> parts)
      : InputError(message), parts_(std::move(parts)) {}

  const std::vector<Part>& parts() const { return parts_; }

 private:
  std::vector<Part> parts_;
};

/// OUTPUT.part-I-of-N: the base name of a part's units and lock.
std::filesystem::path place_of(const std::filesystem::path& output, const Part& part);

/// The parts of a run that have left something next to its output, or are running. Divisions into
/// more parts come last.
std::vector<Part> parts_at(const std::filesystem::path& output);

}  // namespace hesscope::io
