// SPDX-License-Identifier: BSD-3-Clause
//
// A forked child that answers requests over a socket, for work that may crash or hang.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>

#include <sys/types.h>

#include <hesscope/storage/descriptor.h>

namespace hesscope::io {

/// Messages over one end of a connected stream socket. Never raises SIGPIPE.
class MessageSocket {
 public:
  enum class Outcome { kReceived, kEnded, kTimedOut, kTooLong };

  struct Message {
    std::uint64_t kind = 0;
    std::string payload;
  };

  /// Whether to wait for a peer that does not take what is sent.
  enum class Patience { kNone, kEndless };

  /// Takes over the descriptor.
  MessageSocket(int descriptor, Patience patience) : descriptor_(descriptor), patience_(patience) {}

  /// From now on receive() throws Interrupted within a fraction of a second after `stop` is
  /// requested. A message that was being received is lost.
  void heed(std::stop_token stop) { stop_ = std::move(stop); }

  /// False if the other end is closed, or our patience with it is exhausted.
  bool send(std::uint64_t kind, std::span<const std::byte> payload = {});

  /// @param max_bytes  of the payload; nothing is allocated for a longer one.
  /// @param seconds    less than 0 = unlimited. Time in which this process was stopped does not
  ///                   count; the remaining time is returned in it.
  Outcome receive(Message& message, std::size_t max_bytes, double& seconds);

 private:
  Outcome receive_bytes(std::span<std::byte> out, double& seconds);
  Outcome wait(double& seconds);

  Descriptor descriptor_;
  Patience patience_;
  std::stop_token stop_;
};

/// The child process. It has copies of everything that the parent has, but at most one of its
/// descriptors and none of its signal handlers, and leaves no core dump. It ends with `serve`.
class ChildProcess {
 public:
  /// @param kept   a descriptor, above those of the standard streams, that the child keeps.
  /// @param serve  runs in the child with its end of the socket. Other threads do not exist there,
  ///               and what they were doing is left unfinished: locks other than malloc's may be
  ///               held forever.
  /// @throws OutputError "<what>: ..." when the system allows no further process.
  ChildProcess(const std::string& what, int kept, const std::function<void(MessageSocket&)>& serve);

  /// Kills the child immediately.
  ~ChildProcess();

  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  MessageSocket& socket() { return socket_; }

  /// False in a process forked from the one that created the child.
  bool is_ours() const;

  struct End {
    bool is_known = false;  ///< false if the program itself collects its children
    int exit_code = 0;
    int signal = 0;  ///< the signal that killed it; 0 = none
  };

  /// How the child ended, to be called after its socket was closed. Kills the child if it is still
  /// running.
  End end();

 private:
  ChildProcess(std::array<int, 2> sockets,
               const std::string& what,
               int kept,
               const std::function<void(MessageSocket&)>& serve);

  pid_t owner_;
  pid_t child_ = -1;
  Descriptor process_;  // the child, by a descriptor (pidfd); none if the system has no such thing
  MessageSocket socket_;
};

/// In a child: limits the address space that it may use beyond its present size. Does nothing if an
/// address sanitizer needs all of it.
class MemoryAllowance {
 public:
  MemoryAllowance();
  void set(std::uint64_t bytes) const;

 private:
  std::uint64_t bytes_at_start_ = 0;
  std::uint64_t most_ = 0;  ///< the limit of the program
};

/// In a child: kills it if the work between construction and destruction takes more than so many
/// seconds of processor time or of real time.
class TimeAllowance {
 public:
  explicit TimeAllowance(double seconds);
  ~TimeAllowance();
  TimeAllowance(const TimeAllowance&) = delete;
  TimeAllowance& operator=(const TimeAllowance&) = delete;
};

/// In a child: forbids opening any further file.
void forbid_further_files();

}  // namespace hesscope::io
