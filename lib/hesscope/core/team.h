// SPDX-License-Identifier: BSD-3-Clause
//
// Several processes, the ranks of a team, that compute one thing. All of them make the same call
// with the same arguments; within it each does its share of the work and gives the others what it
// found, so that after every exchange all of them hold the same numbers, to the last bit those of
// one process alone. The first rank leads: it says which call is next (objective.h), the others
// serve.
//
// What a rank throws, all ranks throw: none waits for one that has given up. A rank that cannot
// reach another throws OutputError from begin(), end() or an exchange, and is of no use from then
// on.
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

  /// This rank as messages name it: "rank 2 on node7".
  virtual std::string place() const = 0;

  /// All ranks meet; from now to end() they share calls. Once.
  virtual void begin() = 0;
  virtual void end() = 0;

  /// Whether begin() has been called, and end() has not: else every rank computes alone.
  virtual bool is_at_work() const = 0;

  /// The ranks that have died while they were at work, as place() names them: those that this one
  /// can see, on its machine. From any thread.
  virtual std::vector<std::string> lost() const { return {}; }

  // Exchanges, within a call, in the same order on all ranks.

  virtual void send(int to, std::span<const double> numbers) = 0;
  virtual void receive(int from, std::span<double> numbers) = 0;
  /// Gives all others what `from` has.
  virtual void broadcast(int from, std::span<std::byte> bytes) = 0;
  /// Of the ranks' numbers.
  virtual int smallest(int number) = 0;

  /// As broadcast(), of those who serve and may wait for long; on the first rank that gives.
  virtual void await(std::span<std::byte> bytes) { broadcast(0, bytes); }

  /// A call: on the first rank `announce`, which tells the others, then on all of them `body`. One
  /// at a time: concurrent ones wait for each other.
  /// @throws what `body` throws on this rank; what it throws on another one, in words that begin
  ///         with place() of that: ConfigError, InputError, Interrupted, and OutputError for all
  ///         else.
  void call(const std::function<void()>& announce, const std::function<void()>& body);

  /// Within a call: this rank's share of something. Where any rank throws, all do. What may fail on
  /// one rank alone, such as taking memory, belongs in here, and exchanges do not: what is thrown
  /// elsewhere, or while other ranks are in an exchange, they would not see.
  void together(const std::function<void()>& share);

 private:
  void settle(const std::exception_ptr& error);

  struct State;
  std::unique_ptr<State> state_;
};

/// Cuts [0, count) into shares of about equal work, as neighbours: rank r has [cuts[r],
/// cuts[r + 1]). Shares may be empty; the first one is not, unless all are.
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

/// All ranks get what `owner` has.
void share_part(Team& team, int owner, MatrixPart part);

/// All ranks get column c as owners[c] has it.
void share_columns(Team& team, std::span<const int> owners, Eigen::Ref<Eigen::MatrixXd> matrix);

}  // namespace hesscope
