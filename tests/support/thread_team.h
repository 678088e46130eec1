// SPDX-License-Identifier: BSD-3-Clause
//
// A team whose ranks are threads of one process.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <hesscope/core/team.h>

namespace hesscope::test {

/// What the ranks of a ThreadTeam share: queues from each rank to each.
class Exchange {
 public:
  void put(int from, int to, const void* data, std::size_t size) {
    const auto* bytes = static_cast<const std::byte*>(data);
    {
      const std::lock_guard lock(mutex_);
      queues_[{from, to}].emplace_back(bytes, bytes + size);
      ++num_messages_;
    }
    changed_.notify_all();
  }

  void take(int from, int to, void* data, std::size_t size) {
    std::unique_lock lock(mutex_);
    auto& queue = queues_[{from, to}];
    changed_.wait(lock, [&] { return !queue.empty(); });
    const std::vector<std::byte> message = std::move(queue.front());
    queue.pop_front();
    if (message.size() != size) throw std::logic_error("ranks do not make the same calls");
    std::memcpy(data, message.data(), size);
  }

  long num_messages() {
    const std::lock_guard lock(mutex_);
    return num_messages_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> queues_;
  long num_messages_ = 0;
};

class ThreadTeam final : public Team {
 public:
  ThreadTeam(std::shared_ptr<Exchange> exchange, int size, int rank)
      : exchange_(std::move(exchange)), size_(size), rank_(rank) {}

  int size() const override { return size_; }

  int rank() const override { return rank_; }

  std::string place() const override { return "rank " + std::to_string(rank_) + " on here"; }

  void begin() override { is_at_work_ = true; }

  void end() override { is_at_work_ = false; }

  bool is_at_work() const override { return is_at_work_; }

  void send(int to, std::span<const double> numbers) override {
    exchange_->put(rank_, to, numbers.data(), numbers.size_bytes());
  }

  void receive(int from, std::span<double> numbers) override {
    exchange_->take(from, rank_, numbers.data(), numbers.size_bytes());
  }

  void broadcast(int from, std::span<std::byte> bytes) override {
    if (rank_ != from) return exchange_->take(from, rank_, bytes.data(), bytes.size());
    for (int to = 0; to < size_; ++to) {
      if (to != from) exchange_->put(from, to, bytes.data(), bytes.size());
    }
  }

  int smallest(int number) override {
    int least = number;
    if (rank_ == 0) {
      for (int from = 1; from < size_; ++from) {
        int theirs = 0;
        exchange_->take(from, 0, &theirs, sizeof theirs);
        least = std::min(least, theirs);
      }
    } else {
      exchange_->put(rank_, 0, &number, sizeof number);
    }
    broadcast(0, std::as_writable_bytes(std::span(&least, 1)));
    return least;
  }

 private:
  std::shared_ptr<Exchange> exchange_;
  int size_;
  int rank_;
  bool is_at_work_ = false;
};

/// Calls body(team) on `size` threads, one for each rank, and waits for them.
inline void on_ranks(int size, const std::function<void(const std::shared_ptr<Team>&)>& body) {
  const auto exchange = std::make_shared<Exchange>();
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      const auto team = std::make_shared<ThreadTeam>(exchange, size, rank);
      team->begin();
      body(team);
    });
  }
}

}  // namespace hesscope::test
