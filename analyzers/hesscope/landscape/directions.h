// SPDX-License-Identifier: BSD-3-Clause
//
// Kinds of directions in which a landscape can be drawn. A kind is a file next to this one and one
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
#include <hesscope/tensors/tensor_map.h>

namespace hesscope {

/// How randomly drawn directions are scaled by the weights theta at the centre.
enum class Normalization {
  /// Every slice of a tensor along its first dimension (every row of a matrix) gets the norm of the
  /// same slice of theta; a tensor of rank 0 or 1 is scaled as a whole.
  kFilter,
  kLayer,  ///< every tensor gets the norm of the same tensor of theta
  kNone,   ///< independent standard normal numbers
};

std::string to_string(Normalization normalization);

/// What a kind of directions may use. All of it must outlive what is made from it.
struct DirectionContext {
  PointAnalysis& centre;                         ///< the point that the directions start from
  std::span<const Eigen::VectorXd> checkpoints;  ///< all given points, including the centre
  std::span<const CheckpointFile> files;         ///< the files of these points
  std::string key = {};                          ///< the part of the files that was read
  const io::TensorMap* map = nullptr;            ///< for the names in it; null = none
  bool needs_second = true;                      ///< whether a second direction is needed
  std::uint64_t seed = 0;
  Normalization normalization = Normalization::kFilter;
  bool leaves_out_vectors = false;  ///< tensors of rank 0 and 1 stay as they are at the centre
  std::stop_token stop = {};        ///< when it is requested, reading ends by Interrupted
};

/// One direction or two.
struct Directions {
  Status status = Status::kOk;
  Eigen::MatrixXd columns = {};  ///< n x 1 or n x 2; empty without kOk
  Group facts = {};              ///< quantities of the kind
};

/// Directions that are checked but not yet computed.
struct PreparedDirections {
  std::vector<std::string> descriptions = {};     ///< of the first and the second
  std::vector<std::filesystem::path> files = {};  ///< read in addition to the checkpoints
  std::vector<std::string> digests = {};          ///< of the bytes that were read from each
  /// Which checkpoint is at alpha = 1, if the first direction leads to one.
  std::optional<std::size_t> path_end = {};
  std::function<Directions()> make = {};
};

/// A kind of directions as users name it: NAME or NAME:ARGUMENT.
struct DirectionKind {
  std::string name;
  std::string argument = {};  ///< its form for help, in brackets if optional; empty: none
  std::string meaning = {};   ///< one line for help
  std::size_t min_checkpoints = 1;
  std::size_t max_checkpoints = std::numeric_limits<std::size_t>::max();
  bool is_centre_first = false;  ///< the centre is the first checkpoint, not the last
  /// Whether the plane shows a trajectory: unless a span is chosen, the grid shows all checkpoints;
  /// a warning says if a grid leaves some out.
  bool frames_trajectory = false;
  /// How random directions are scaled by default; empty: no scaling may be asked for.
  std::optional<Normalization> normalization = {};
  /// Further quantities of the directions, without dimensions.
  std::vector<Variable> quantities = {};
  /// @throws ConfigError for an invalid argument; InputError if an input does not fit.
  std::function<PreparedDirections(const std::string& argument, const DirectionContext& context)>
      prepare;
  /// The checks that are possible with the argument alone. @throws ConfigError. Empty = none.
  std::function<void(const std::string& argument, bool needs_second)> check = {};
};

/// The kind and the argument that `text` names: NAME or NAME:ARGUMENT.
struct NamedDirections {
  const DirectionKind* kind;
  std::string argument;
};

/// All kinds, in the order of the help text.
std::span<const DirectionKind> direction_kinds();

/// @throws ConfigError for an empty text, an unknown kind (with the nearest known one), an argument
///         to a kind that takes none, or a missing argument.
NamedDirections find_direction_kind(const std::string& text);

}  // namespace hesscope
