// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <deque>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace hesscope {

/// A list that may grow while others read it: what all() has returned stays valid and unchanged.
/// For registries, which grow a few times at most. Safe to call concurrently.
template <typename T>
class GrowingList {
 public:
  explicit GrowingList(std::vector<T> first) { versions_.push_back(std::move(first)); }

  std::span<const T> all() const {
    const std::scoped_lock lock(mutex_);
    return versions_.back();
  }

  /// Appends an item, unless check(items so far) throws.
  template <typename Check>
  void add(T item, const Check& check) {
    const std::scoped_lock lock(mutex_);
    check(std::span<const T>(versions_.back()));
    std::vector<T> longer = versions_.back();
    longer.push_back(std::move(item));
    versions_.push_back(std::move(longer));
  }

 private:
  mutable std::mutex mutex_;
  std::deque<std::vector<T>> versions_;  // the last is the list
};

/// Adds a kind to the list, unless there is one with the same name: then it calls refuse("is there
/// already"), which throws.
template <typename Kind, typename Refuse>
void add_kind(GrowingList<Kind>& kinds, Kind kind, const Refuse& refuse) {
  const auto name = kind.name;
  kinds.add(std::move(kind), [&](std::span<const Kind> others) {
    if (std::ranges::find(others, name, &Kind::name) != others.end()) refuse("is there already");
  });
}

}  // namespace hesscope
