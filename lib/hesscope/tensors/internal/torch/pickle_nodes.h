// SPDX-License-Identifier: BSD-3-Clause
//
// The content of a Python pickle as data: a graph of nodes that refer to each other by index. It
// may share nodes and have cycles, as Python's objects may.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hesscope::io {

enum class PickleKind : std::uint8_t {
  kNone,
  kBool,
  kInteger,
  kWideInteger,  ///< beyond 64 bits: its value is not kept
  kReal,
  kText,
  kBytes,
  kTuple,
  kList,
  kSet,
  kDict,
  kGlobal,      ///< a class or function by name, never looked up
  kPersistent,  ///< an object outside the pickle: for PyTorch, a storage
  kObject,      ///< anything made by a class or function, which is never called
};

/// "dict", "an object", ...: for messages.
std::string_view to_string(PickleKind kind);

using PickleIndex = std::uint32_t;
inline constexpr PickleIndex kNoNode = 0xFFFFFFFF;

/// What is known of an object without creating it. Each may be kNoNode except the first two.
struct PickledObject {
  PickleIndex callable;   ///< what Python would call: a kGlobal or a kObject
  PickleIndex arguments;  ///< a kTuple
  PickleIndex contents;   ///< kDict or kList: inserted contents, as for subclasses of these
  PickleIndex state;      ///< from which Python would set its attributes
};

/// Nodes in one arena. Memory: 24 bytes per node, 8 per element of a container, and the pickle
/// itself.
class PickleDocument {
 public:
  /// @param bytes  the pickle, to which texts refer; less than 4 GiB.
  /// @param limit  on nodes, and on the elements of all containers together.
  PickleDocument(std::string bytes, std::size_t limit);
  PickleDocument(PickleDocument&&) = default;
  PickleDocument& operator=(PickleDocument&&) = default;

  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(bytes_)); }

  PickleIndex root() const { return root_; }

  PickleKind kind(PickleIndex node) const { return nodes_[node].kind; }

  /// The position in the pickle of the instruction that created the node.
  std::size_t offset(PickleIndex node) const { return nodes_[node].offset; }

  std::size_t num_nodes() const { return nodes_.size(); }

  /// For a kBool or kInteger.
  std::int64_t integer(PickleIndex node) const;

  /// For a kReal.
  double real(PickleIndex node) const;

  /// For a kText or kBytes: its bytes as stored. For a kGlobal: its module, a line feed, its name.
  std::string_view text(PickleIndex node) const;

  /// True for the global with this name in this module.
  bool is_global(PickleIndex node, std::string_view module, std::string_view name) const;

  /// For a kTuple, kList or kSet in order; for a kDict key, value, key, value, ...
  std::vector<PickleIndex> elements(PickleIndex node) const;

  std::size_t num_elements(PickleIndex node) const { return nodes_[node].words[2]; }

  PickledObject object(PickleIndex node) const;

  /// The identifier of a kPersistent.
  PickleIndex identifier(PickleIndex node) const { return nodes_[node].words[0]; }

  /// @name For the reader that fills the arena. Each returns the new node, or kNoNode beyond the
  /// limit.
  /// @{
  PickleIndex add(PickleKind kind, std::size_t offset);
  PickleIndex add_integer(PickleKind kind, std::int64_t value, std::size_t offset);
  PickleIndex add_real(double value, std::size_t offset);
  /// `text` is a part of bytes().
  PickleIndex add_text(PickleKind kind, std::span<const std::byte> text, std::size_t offset);
  /// A global whose module and name are not a contiguous part of the pickle.
  PickleIndex add_named(std::string_view module, std::string_view name, std::size_t offset);
  PickleIndex add_object(const PickledObject& object, std::size_t offset);
  PickleIndex add_persistent(PickleIndex identifier, std::size_t offset);
  /// False beyond the limit.
  bool append(PickleIndex container, PickleIndex element);
  void set_object(PickleIndex node, const PickledObject& object);

  void set_root(PickleIndex node) { root_ = node; }

  /// @}

 private:
  struct Node {
    PickleKind kind = PickleKind::kNone;
    std::uint32_t offset = 0;
    // An integer or real: its bits, low half first. Text: position and length, and 1 if the
    // position is in names_. A container: first and last link, number of links. An object: its four
    // fields.
    std::array<std::uint32_t, 4> words{};
  };

  struct Link {
    PickleIndex element;
    std::uint32_t next;
  };

  std::uint64_t bits(PickleIndex node) const;

  std::string bytes_;
  std::string names_;  // of globals put together from two texts
  std::size_t limit_;
  std::vector<Node> nodes_;
  std::vector<Link> links_;
  PickleIndex root_ = kNoNode;
};

}  // namespace hesscope::io
