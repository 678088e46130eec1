// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

namespace hesscope::detail {

/// Allocates places for runs of entries that are in use for a while: first fit, so that a freed
/// place is soon reused while it is still in a cache.
class EntrySlots {
 public:
  int take(int size) {
    const auto hole = std::find_if(
        holes_.begin(), holes_.end(), [&](const Hole& h) { return h.end - h.begin >= size; });
    if (hole != holes_.end()) {
      const int begin = hole->begin;
      hole->begin += size;
      if (hole->begin == hole->end) holes_.erase(hole);
      return begin;
    }
    int begin = size_;
    if (!holes_.empty() && holes_.back().end == size_) {
      begin = holes_.back().begin;
      holes_.pop_back();
    }
    size_ = begin + size;
    return begin;
  }

  void give_back(int begin, int size) {
    auto next = std::lower_bound(holes_.begin(), holes_.end(), begin, [](const Hole& h, int entry) {
      return h.begin < entry;
    });
    next = holes_.insert(next, {begin, begin + size});
    if (const auto after = std::next(next); after != holes_.end() && after->begin == next->end) {
      next->end = after->end;
      holes_.erase(after);
    }
    if (next != holes_.begin() && std::prev(next)->end == next->begin) {
      std::prev(next)->end = next->end;
      holes_.erase(next);
    }
  }

  /// The largest number of entries in use at the same time, including holes between them.
  int size() const { return size_; }

 private:
  struct Hole {
    int begin;
    int end;
  };

  std::vector<Hole> holes_;  // ascending, no two adjacent
  int size_ = 0;
};

}  // namespace hesscope::detail
