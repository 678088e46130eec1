// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace hesscope::detail {

/// Workspaces of one kind for tasks: as many as are ever in use at the same time. Safe for
/// concurrent use.
template <typename T>
class Pool {
 public:
  /// @param make  creates a new workspace.
  explicit Pool(std::function<T()> make) : make_(std::move(make)) {}

  /// Calls use(T&) with a workspace that is exclusively its own until it returns or throws.
  template <typename F>
  auto with(F use) {
    struct Loan {
      Pool* pool;
      T item;

      ~Loan() { pool->put(std::move(item)); }
    } loan{this, take()};

    return use(loan.item);
  }

 private:
  T take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        T item = std::move(idle_.back());
        idle_.pop_back();
        return item;
      }
    }
    return make_();
  }

  // If there is no memory for its place in the list, it is dropped.
  void put(T item) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      idle_.push_back(std::move(item));
    } catch (...) {
    }
  }

  std::function<T()> make_;
  std::mutex mutex_;
  std::vector<T> idle_;
};

}  // namespace hesscope::detail
