// SPDX-License-Identifier: BSD-3-Clause
//
// A run divided among processes that share nothing but files, on one machine or on many.
//
// Each process is given one of N parts. It computes the units of its part and keeps them where no
// other writes, in OUTPUT.part-I-of-N.units, under a lock of its own: file systems of clusters need
// not know locks between machines. A part leaves no result. The whole run, afterwards, finds what
// the parts have kept, computes what is missing, and writes the result. Parts are no part of a
// RunConfiguration: how the work was divided changes no bit of the result.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <hesscope/core/error.h>

namespace hesscope::io {

/// Who looks for what is missing asks one part after the other.
inline constexpr int kMostParts = 100'000;

/// One of `count` parts of a run's units. Every unit is in exactly one of them; a part may be
/// empty. Whatever takes one throws PreconditionError unless 0 <= index < count <= kMostParts.
struct Part {
  int count = 1;
  int index = 0;  ///< from 0

  /// Whether a unit is in it where they are dealt out in turn: those that follow each other cost
  /// about the same, and each part gets some of all kinds.
  bool is_dealt(std::size_t unit) const;

  /// The first of its units and the one after the last, where neighbours stay together because they
  /// share work.
  std::pair<std::size_t, std::size_t> range(std::size_t num_units) const;

  std::string text() const;  ///< "I/N"

  bool operator==(const Part&) const = default;

  /// Those of fewer parts come first.
  bool operator<(const Part& other) const {
    return count != other.count ? count < other.count : index < other.index;
  }
};

/// What of a run is to be done.
struct Share {
  /// The units of this part, and no result; nothing = the whole run.
  std::optional<Part> part = {};
  /// Of the whole run: the result of what parts have kept. To compute anything is an error.
  bool merge_only = false;
};

/// What became of a part.
struct PartOutcome {
  Part part;
  std::size_t num_units = 0;  ///< of the whole run
  std::size_t num_own = 0;    ///< of this part
  std::size_t num_found = 0;  ///< of those, there before
};

/// What was to be merged is not all there. The message says what is missing.
class MissingPartsError : public InputError {
 public:
  /// @param parts  that would compute it, of those into which the run was divided; none where
  ///               nothing tells how it was.
  MissingPartsError(const std::string& message, std::vector<Part> parts)
      : InputError(message), parts_(std::move(parts)) {}

  const std::vector<Part>& parts() const { return parts_; }

 private:
  std::vector<Part> parts_;
};

/// OUTPUT.part-I-of-N: what a part's units and lock are named after.
std::filesystem::path place_of(const std::filesystem::path& output, const Part& part);

/// The parts of a run that have left something beside its output, or are under way. Those of most
/// parts come last.
std::vector<Part> parts_at(const std::filesystem::path& output);

}  // namespace hesscope::io
