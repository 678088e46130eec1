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

  /// With one who does not take what is sent.
  enum class Patience { kNone, kEndless };

  /// Takes over the descriptor.
  MessageSocket(int descriptor, Patience patience) : descriptor_(descriptor), patience_(patience) {}

  /// From now on receive() ends by Interrupted, within a fraction of a second, once `stop` is
  /// requested. What was being received is lost.
  void heed(std::stop_token stop) { stop_ = std::move(stop); }

  /// False when the other end is closed, or our patience with it has come to an end.
  bool send(std::uint64_t kind, std::span<const std::byte> payload = {});

  /// @param max_bytes  of the payload; nothing is allocated for a longer one.
  /// @param seconds    less than 0 = without end. Time in which this process was stopped does not
  ///                   count; what is left is returned in it.
  Outcome receive(Message& message, std::size_t max_bytes, double& seconds);

 private:
  Outcome receive_bytes(std::span<std::byte> out, double& seconds);
  Outcome wait(double& seconds);

  Descriptor descriptor_;
  Patience patience_;
  std::stop_token stop_;
};

/// The child: it has copies of all that the parent has, but of its descriptors one at most, none of
/// its signal handlers, and leaves no core dump. Ends with `serve`.
class ChildProcess {
 public:
  /// @param kept   descriptor, above those of the standard streams, that the child has, too.
  /// @param serve  runs in the child with its end of the socket. Other threads do not exist there,
  ///               and what they were in the middle of is as they left it: locks other than
  ///               malloc's may be held for ever.
  /// @throws OutputError "<what>: ..." when the system allows no further process.
  ChildProcess(const std::string& what, int kept, const std::function<void(MessageSocket&)>& serve);

  /// Ends the child at once.
  ~ChildProcess();

  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  MessageSocket& socket() { return socket_; }

  /// False in a process forked from the one that made the child.
  bool is_ours() const;

  struct End {
    bool is_known = false;  ///< not where the program itself collects its children
    int exit_code = 0;
    int signal = 0;  ///< that killed it; 0 = none
  };

  /// How it ended, once the socket has. Ends it if it has not.
  End end();

 private:
  ChildProcess(std::array<int, 2> sockets,
               const std::string& what,
               int kept,
               const std::function<void(MessageSocket&)>& serve);

  pid_t owner_;
  pid_t child_ = -1;
  MessageSocket socket_;
};

/// In a child: address space it may use beyond what it has now. Does nothing where an address
/// sanitizer needs all of it.
class MemoryAllowance {
 public:
  MemoryAllowance();
  void set(std::uint64_t bytes) const;

 private:
  std::uint64_t bytes_at_start_ = 0;
  std::uint64_t most_ = 0;  ///< what the program was allowed
};

/// In a child: kills it after so many seconds, of processor time and of real time, of the work
/// between construction and destruction.
class TimeAllowance {
 public:
  explicit TimeAllowance(double seconds);
  ~TimeAllowance();
  TimeAllowance(const TimeAllowance&) = delete;
  TimeAllowance& operator=(const TimeAllowance&) = delete;
};

/// In a child: no file can be opened any more.
void forbid_further_files();

}  // namespace hesscope::io
