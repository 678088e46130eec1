// SPDX-License-Identifier: BSD-3-Clause
//
// Kinds of directions in which a landscape is looked at. A kind is a file next to this one and one
// line in direction_registry.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <hesscope/analysis/checkpoints.h>
#include <hesscope/analyzers/point_analysis.h>
#include <hesscope/core/eigen.h>
#include <hesscope/dataset/dataset.h>

namespace hesscope {

/// How directions that are drawn at random are scaled by the weights theta at the centre.
enum class Normalization {
  /// Every slice of a tensor along its first dimension (the rows of a matrix) is given the norm of
  /// the same slice of theta; a tensor of rank 0 or 1 is scaled as a whole.
  kFilter,
  kLayer,  ///< every tensor is given the norm of the same tensor of theta
  kNone,   ///< independent standard normal numbers
};

std::string to_string(Normalization normalization);

/// What a kind of directions may look at. All of it must outlive what is made of it.
struct DirectionContext {
  PointAnalysis& centre;                         ///< the point that the directions start from
  std::span<const Eigen::VectorXd> checkpoints;  ///< all points given, the centre among them
  std::span<const CheckpointFile> files;         ///< of these
  std::string key = {};                          ///< part of the files that was taken
  bool needs_second = true;                      ///< whether a second direction is wanted
  std::uint64_t seed = 0;
  Normalization normalization = Normalization::kFilter;
  bool leaves_out_vectors = false;  ///< tensors of rank 0 and 1 stay as they are at the centre
  std::stop_token stop = {};        ///< once it is requested, reading ends by Interrupted
};

/// One direction or two.
struct Directions {
  Status status = Status::kOk;
  Eigen::MatrixXd columns = {};  ///< n x 1 or n x 2; empty without kOk
  Group facts = {};              ///< the kind's quantities
};

/// Directions checked, but not computed.
struct PreparedDirections {
  std::vector<std::string> descriptions = {};     ///< what the first and the second are
  std::vector<std::filesystem::path> files = {};  ///< read besides the checkpoints
  std::vector<std::string> digests = {};          ///< of the bytes of each that were read
  /// Which checkpoint lies at alpha = 1, where the first direction leads to one.
  std::optional<std::size_t> path_end = {};
  std::function<Directions()> make = {};
};

/// A kind of directions as users name it: NAME or NAME:ARGUMENT.
struct DirectionKind {
  std::string name;
  std::string argument = {};  ///< its form for help, in brackets if it may be left out; empty: none
  std::string meaning = {};   ///< one line for help
  std::size_t min_checkpoints = 1;
  std::size_t max_checkpoints = std::numeric_limits<std::size_t>::max();
  bool is_centre_first = false;  ///< the centre is the first checkpoint, not the last
  /// Whether the plane is one of the trajectory: unless a span is chosen, the grid shows all
  /// checkpoints, and one that leaves some out is warned of.
  bool frames_trajectory = false;
  /// What scales random directions unless something else is asked for; none: nothing may be asked.
  std::optional<Normalization> normalization = {};
  /// Further quantities of the directions, without dimensions.
  std::vector<Variable> quantities = {};
  /// @throws ConfigError for an argument that cannot be; InputError where an input does not fit.
  std::function<PreparedDirections(const std::string& argument, const DirectionContext& context)>
      prepare;
  /// What of this can be said of an argument alone. @throws ConfigError. Empty = nothing.
  std::function<void(const std::string& argument, bool needs_second)> check = {};
};

/// The kind that `text`, NAME or NAME:ARGUMENT, names, and its argument.
struct NamedDirections {
  const DirectionKind* kind;
  std::string argument;
};

/// All kinds, in the order of the help text.
std::span<const DirectionKind> direction_kinds();

/// @throws ConfigError for an unknown kind (with the nearest known one), or an argument to a kind
///         that takes none, or none to one that needs it.
NamedDirections find_direction_kind(const std::string& text);

}  // namespace hesscope
