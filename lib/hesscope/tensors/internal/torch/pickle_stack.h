// SPDX-License-Identifier: BSD-3-Clause
//
// The working state of the pickle machine: the bytes with its instructions, its stack with marks,
// and its memo.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/storage/internal/byte_order.h>
#include <hesscope/tensors/internal/torch/pickle_nodes.h>

namespace hesscope::io {

/// Reads the bytes of a pickle one after the other.
class PickleCursor {
 public:
  /// @param where  what the pickle is, for messages; it and the bytes must outlive the cursor.
  PickleCursor(const std::string& where, std::span<const std::byte> bytes)
      : where_(where), bytes_(bytes) {}

  template <typename... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    throw InputError(fmt::format("{} {} (at its byte {})",
                                 where_,
                                 fmt::format(format, std::forward<Args>(args)...),
                                 start_));
  }

  /// From now on, messages name the byte that comes next.
  void begin_instruction() { start_ = at_; }

  /// Where the current instruction begins.
  std::size_t start() const { return start_; }

  std::size_t remaining() const { return bytes_.size() - at_; }

  std::span<const std::byte> take(std::uint64_t size) {
    if (size > remaining()) refuse("is truncated: {} bytes are missing", size - remaining());
    const auto taken = bytes_.subspan(at_, static_cast<std::size_t>(size));
    at_ += taken.size();
    return taken;
  }

  template <typename T, ByteOrder order = ByteOrder::kLittle>
  T take_number() {
    return load<order, T>(take(sizeof(T)).data());
  }

  /// Includes the line feed.
  std::span<const std::byte> take_line() {
    std::size_t size = 0;
    while (size < remaining() && bytes_[at_ + size] != std::byte{'\n'}) ++size;
    return take(size + 1);
  }

 private:
  const std::string& where_;
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  std::size_t start_ = 0;
};

/// Stack, marks and memo, each bounded.
class PickleStack {
 public:
  PickleStack(const PickleCursor& cursor, std::size_t limit) : cursor_(cursor), limit_(limit) {}

  [[noreturn]] void refuse_size() const {
    cursor_.refuse("describes more than {} objects, more than are read", limit_);
  }

  /// Refuses kNoNode, which means that the document is full.
  void push(PickleIndex node) {
    if (node == kNoNode || nodes_.size() >= limit_) refuse_size();
    nodes_.push_back(node);
  }

  bool is_empty() const { return nodes_.empty() && marks_.empty(); }

  /// Nodes above the last mark, or all if there is none.
  std::span<const PickleIndex> above_mark() const {
    return std::span(nodes_).subspan(marks_.empty() ? 0 : marks_.back());
  }

  PickleIndex top() const {
    if (above_mark().empty()) cursor_.refuse("is damaged: its stack has nothing to take");
    return nodes_.back();
  }

  PickleIndex pop() {
    const PickleIndex node = top();
    nodes_.pop_back();
    return node;
  }

  std::vector<PickleIndex> pop(std::size_t count) {
    if (above_mark().size() < count) cursor_.refuse("is damaged: its stack has too little to take");
    std::vector<PickleIndex> taken(nodes_.end() - static_cast<std::ptrdiff_t>(count), nodes_.end());
    nodes_.resize(nodes_.size() - count);
    return taken;
  }

  void push_mark() {
    if (marks_.size() >= limit_) refuse_size();
    marks_.push_back(nodes_.size());
  }

  /// Removes and returns everything above the last mark, and removes the mark.
  std::vector<PickleIndex> pop_to_mark() {
    if (marks_.empty()) cursor_.refuse("is damaged: its stack has no mark");
    std::vector<PickleIndex> taken = pop(above_mark().size());
    marks_.pop_back();
    return taken;
  }

  /// Stores the top node in the memo under `key`.
  void remember(std::uint64_t key) {
    if (key >= limit_) cursor_.refuse("uses entry {} of its memo; {} are read", key, limit_);
    const PickleIndex node = top();
    if (key >= memo_.size()) memo_.resize(static_cast<std::size_t>(key) + 1, kNoNode);
    if (std::exchange(memo_[key], node) == kNoNode) ++num_remembered_;
  }

  /// Stores the top node under the current number of keys.
  void remember() { remember(num_remembered_); }

  void recall(std::uint64_t key) {
    if (key >= memo_.size() || memo_[key] == kNoNode) {
      cursor_.refuse("is damaged: entry {} of its memo is empty", key);
    }
    push(memo_[key]);
  }

 private:
  const PickleCursor& cursor_;
  std::size_t limit_;
  std::vector<PickleIndex> nodes_;
  std::vector<std::size_t> marks_;  // numbers of nodes below them
  std::vector<PickleIndex> memo_;
  std::uint64_t num_remembered_ = 0;
};

}  // namespace hesscope::io
