// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/isolation/internal/child_process.h>

#if defined(__SANITIZE_ADDRESS__)
#define HESSCOPE_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HESSCOPE_ADDRESS_SANITIZER 1
#endif
#endif

namespace hesscope::io {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kFirstOwn = STDERR_FILENO + 1;  // after the standard streams

struct Header {
  std::uint64_t kind = 0;
  std::uint64_t num_bytes = 0;
};

/// While it lives, blocks all signals that can be blocked, for the calling thread.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }

  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

// From here to the constructors: code that runs in the child.

/// Signals that kill the child keep their effect; those sent to the whole program (Ctrl-C) are left
/// to the parent.
void reset_signals() {
  struct sigaction action {};

  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &action, nullptr);
  sigset_t blocked;
  sigfillset(&blocked);
  for (const int fatal :
       {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGXCPU, SIGXFSZ, SIGALRM}) {
    sigdelset(&blocked, fatal);
  }
  ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
}

/// Closes all descriptors from `first` to `last`.
void close_all(unsigned first, unsigned last) {
  if (first > last || ::close_range(first, last, 0) == 0) return;
  const auto most = static_cast<unsigned>(std::clamp(::sysconf(_SC_OPEN_MAX), 1024L, 1L << 20));
  for (unsigned other = first; other <= std::min(last, most); ++other) {
    ::close(static_cast<int>(other));
  }
}

/// Keeps only these two descriptors: a lock that the parent releases must not be kept alive here.
/// Output to the standard streams is discarded.
void keep_only(int socket, int file) {
  const int nowhere = ::open("/dev/null", O_RDWR);
  for (int standard = 0; standard < kFirstOwn; ++standard) {
    if (nowhere < 0 || ::dup2(nowhere, standard) < 0) ::close(standard);
  }
  const auto [first, second] =
      std::minmax({static_cast<unsigned>(socket), static_cast<unsigned>(file)});
  close_all(kFirstOwn, first - 1);
  close_all(first + 1, second - 1);
  close_all(second + 1, ~0U);
}

/// As far as the hard limit allows.
void set_limit(int resource, rlim_t value) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return;
  limit.rlim_cur = std::min(value, limit.rlim_max);
  ::setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

/// Returns only if no thread of the parent was inside malloc at the fork. The C library's malloc is
/// always usable in a child; a sanitizer's (gcc 12) keeps the locks of threads that no longer
/// exist.
void require_malloc_at_rest() {
#ifdef HESSCOPE_ADDRESS_SANITIZER
  constexpr std::size_t kLargest = std::size_t{1} << 20;     // mapped separately
  constexpr std::size_t kMostCached = std::size_t{1} << 17;  // bytes per size that a thread keeps
  constexpr std::size_t kMostKept = 300;
  std::vector<std::unique_ptr<std::byte[]>> blocks;  // of each size more than a thread keeps
  for (std::size_t size = 16; size <= kLargest; size += std::max<std::size_t>(16, size / 8)) {
    const std::size_t count = std::min(kMostKept, kMostCached / size + 2);
    for (std::size_t i = 0; i < count; ++i) {
      blocks.push_back(std::make_unique_for_overwrite<std::byte[]>(size));
    }
  }
#endif
}

[[noreturn]] void run_child(int socket,
                            int file,
                            const std::function<void(MessageSocket&)>& serve) {
  reset_signals();
  const int own = ::fcntl(socket, F_DUPFD, kFirstOwn);  // avoids the standard streams
  if (own < 0) ::_exit(1);
  keep_only(own, file);
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_FSIZE, 0);
  ::prctl(PR_SET_DUMPABLE, 0);  // and no core dump to a program
  try {
    require_malloc_at_rest();
    MessageSocket end(own, MessageSocket::Patience::kEndless);
    serve(end);
  } catch (...) {
    ::_exit(1);
  }
  ::_exit(0);  // skips the parent's exit handlers and does not flush its streams
}

}  // namespace

bool MessageSocket::send(std::uint64_t kind, std::span<const std::byte> payload) {
  const Header header{kind, payload.size()};
  const int flags = MSG_NOSIGNAL | (patience_ == Patience::kNone ? MSG_DONTWAIT : 0);
  for (std::span<const std::byte> rest : {std::as_bytes(std::span(&header, 1)), payload}) {
    while (!rest.empty()) {
      const ssize_t count = ::send(descriptor_.number(), rest.data(), rest.size(), flags);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      rest = rest.subspan(static_cast<std::size_t>(count));
    }
  }
  return true;
}

MessageSocket::Outcome MessageSocket::receive(Message& message,
                                              std::size_t max_bytes,
                                              double& seconds) {
  if (stop_.stop_requested()) throw Interrupted();
  Header header;
  const auto outcome = receive_bytes(std::as_writable_bytes(std::span(&header, 1)), seconds);
  if (outcome != Outcome::kReceived) return outcome;
  if (header.num_bytes > max_bytes) return Outcome::kTooLong;
  message.kind = header.kind;
  message.payload.resize(static_cast<std::size_t>(header.num_bytes));
  return receive_bytes(std::as_writable_bytes(std::span(message.payload)), seconds);
}

MessageSocket::Outcome MessageSocket::receive_bytes(std::span<std::byte> out, double& seconds) {
  while (!out.empty()) {
    const ssize_t count = ::recv(descriptor_.number(), out.data(), out.size(), MSG_DONTWAIT);
    if (count > 0) {
      out = out.subspan(static_cast<std::size_t>(count));
    } else if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      const Outcome waited = wait(seconds);
      if (waited != Outcome::kReceived) return waited;
    } else if (count == 0 || errno != EINTR) {
      return Outcome::kEnded;
    }
  }
  return Outcome::kReceived;
}

MessageSocket::Outcome MessageSocket::wait(double& seconds) {
  constexpr double kSlice = 0.1;  // if a slice took far longer, this process was stopped
  while (seconds != 0) {
    if (stop_.stop_requested()) throw Interrupted();
    const double slice = seconds < 0 ? kSlice : std::min(kSlice, seconds);
    const int milliseconds = seconds < 0 ? -1 : std::max(1, static_cast<int>(slice * 1000));
    pollfd waited{descriptor_.number(), POLLIN, 0};
    const auto begin = Clock::now();
    const int count = ::poll(&waited, 1, milliseconds);
    if (seconds > 0) {
      const double passed = std::chrono::duration<double>(Clock::now() - begin).count();
      seconds = std::max(0.0, seconds - std::min(passed, 2 * kSlice));
    }
    if (count > 0) return Outcome::kReceived;
    if (count < 0 && errno != EINTR) return Outcome::kEnded;
  }
  return Outcome::kTimedOut;
}

ChildProcess::ChildProcess(const std::string& what,
                           int kept,
                           const std::function<void(MessageSocket&)>& serve)
    : ChildProcess(
          [&] {
            std::array<int, 2> pair{};
            if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) {
              const int error = errno;
              throw OutputError(fmt::format("{}: cannot be read in a separate process: {}",
                                            what,
                                            std::generic_category().message(error)));
            }
            return pair;
          }(),
          what,
          kept,
          serve) {}

ChildProcess::ChildProcess(std::array<int, 2> sockets,
                           const std::string& what,
                           int kept,
                           const std::function<void(MessageSocket&)>& serve)
    : owner_(::getpid()), socket_(sockets[0], MessageSocket::Patience::kNone) {
  int error = 0;
  {
    const BlockedSignals blocked;  // the parent's handlers never run in the child
    child_ = ::fork();
    error = errno;
    if (child_ == 0) run_child(sockets[1], kept, serve);
  }
  ::close(sockets[1]);
  if (child_ < 0) {
    throw OutputError(fmt::format(
        "{}: cannot be read in a separate process: {}; end other programs, or raise the limits "
        "on processes (ulimit -u) and memory",
        what,
        std::generic_category().message(error)));
  }
  process_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, child_, 0)));
}

ChildProcess::~ChildProcess() { end(); }

bool ChildProcess::is_ours() const { return ::getpid() == owner_; }

ChildProcess::End ChildProcess::end() {
  End result;
  if (child_ < 0 || !is_ours()) return result;
  // If it has already ended, this does not change the status. If the program collects its children
  // itself, the number may belong to another process by now, but the descriptor never does.
  const bool is_reached =
      process_.is_open() &&
      (::syscall(SYS_pidfd_send_signal, process_.number(), SIGKILL, nullptr, 0) == 0 ||
       errno == ESRCH);
  if (!is_reached) ::kill(child_, SIGKILL);
  int status = 0;
  pid_t waited = 0;
  do {
    waited = ::waitpid(child_, &status, 0);
  } while (waited < 0 && errno == EINTR);
  if (waited == std::exchange(child_, -1)) {
    result = {.is_known = true,
              .exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
              .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0};
  }
  return result;
}

MemoryAllowance::MemoryAllowance() {
#ifndef HESSCOPE_ADDRESS_SANITIZER
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0) return;
  most_ = limit.rlim_cur;
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  std::array<char, 64> text{};
  if (::read(file, text.data(), text.size() - 1) > 0) {
    bytes_at_start_ = std::strtoull(text.data(), nullptr, 10) *
                      static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  }
  ::close(file);
#endif
}

void MemoryAllowance::set(std::uint64_t bytes) const {
  if (bytes_at_start_ == 0) return;
  const rlim_t room = RLIM_INFINITY - bytes_at_start_;
  set_limit(RLIMIT_AS, std::min<rlim_t>(most_, bytes_at_start_ + std::min(bytes, room)));
}

TimeAllowance::TimeAllowance(double seconds) {
  constexpr double kLongest = 1e8;
  const double rounded = std::ceil(std::clamp(seconds, 0.0, kLongest));
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  set_limit(RLIMIT_CPU, static_cast<rlim_t>(used.tv_sec) + static_cast<rlim_t>(rounded) + 2);
  ::alarm(static_cast<unsigned>(rounded) + 5);  // a living parent acts first
}

TimeAllowance::~TimeAllowance() { ::alarm(0); }

void forbid_further_files() {
  set_limit(RLIMIT_NOFILE, 1);  // descriptor 0 is taken; with 0, poll() would fail
}

}  // namespace hesscope::io
