// SPDX-License-Identifier: BSD-3-Clause
//
// A team of several processes (ranks) that compute one thing. All ranks make the same call with the
// same arguments; within it, each does its share of the work and sends its results to the others,
// so that after every exchange all ranks hold the same numbers, bit-identical to those of a single
// process. The first rank leads: it announces the next call (objective.h); the others serve.
//
// An exception thrown by one rank is thrown by all, so none waits for a rank that has given up. A
// rank that cannot reach another throws OutputError from begin(), end() or an exchange, and cannot
// be used from then on.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <hesscope/core/eigen.h>

namespace hesscope {

class Team {
 public:
  Team();
  virtual ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  virtual int size() const = 0;
  virtual int rank() const = 0;

  /// What messages call this rank: "rank 2 on node7".
  virtual std::string place() const = 0;

  /// All ranks meet; until end() they share calls. May be called once only.
  virtual void begin() = 0;
  virtual void end() = 0;

  /// Whether begin() has been called and end() has not. Otherwise every rank computes alone.
  virtual bool is_at_work() const = 0;

  /// The ranks that have died during the work, as place() names them; only those that this rank can
  /// see, that is, on its machine. May be called from any thread.
  virtual std::vector<std::string> lost() const { return {}; }

  // Exchanges: called within call(), in the same order on all ranks.

  virtual void send(int to, std::span<const double> numbers) = 0;
  virtual void receive(int from, std::span<double> numbers) = 0;
  /// Sends the bytes of rank `from` to all other ranks.
  virtual void broadcast(int from, std::span<std::byte> bytes) = 0;
  /// The smallest of the ranks' numbers.
  virtual int smallest(int number) = 0;

  /// Like broadcast() from the first rank, for serving ranks, which may have to wait for long.
  virtual void await(std::span<std::byte> bytes) { broadcast(0, bytes); }

  /// Makes a call: runs `announce`, which informs the other ranks, on the first rank, then `body`
  /// on all ranks. Concurrent calls wait for each other.
  /// @throws what `body` throws on this rank. If it throws on another rank, ConfigError, InputError
  ///         and Interrupted are thrown as such, everything else as OutputError, with a message
  ///         that begins with place() of that rank.
  void call(const std::function<void()>& announce, const std::function<void()>& body);

  /// Within a call: runs this rank's share of something. If any rank throws, all do. Put what may
  /// fail on one rank alone, such as allocating memory, in here, but no exchanges: the other ranks
  /// would not notice an exception thrown elsewhere, or while they are in an exchange.
  void together(const std::function<void()>& share);

 private:
  void settle(const std::exception_ptr& error);

  struct State;
  std::unique_ptr<State> state_;
};

/// Cuts [0, count) into contiguous shares of about equal work: rank r has [cuts[r], cuts[r + 1]).
/// Shares may be empty; the first one is not, unless all are.
std::vector<Eigen::Index> equal_shares(Eigen::Index count,
                                       int num_ranks,
                                       const std::function<double(Eigen::Index)>& work = {});

/// Part of a column-major matrix.
struct MatrixPart {
  double* data;
  Eigen::Index rows;
  Eigen::Index cols;
  Eigen::Index stride;
};

/// Sends the part from `owner` to all ranks.
void share_part(Team& team, int owner, MatrixPart part);

/// Sends each column c from rank owners[c] to all ranks.
void share_columns(Team& team, std::span<const int> owners, Eigen::Ref<Eigen::MatrixXd> matrix);

}  // namespace hesscope
