// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/hdf5/internal/hdf5_handle.h>
#include <hesscope/isolation/internal/child_process.h>
#include <hesscope/isolation/internal/isolated_child.h>
#include <hesscope/isolation/internal/isolated_file.h>
#include <hesscope/isolation/internal/isolated_protocol.h>
#include <hesscope/storage/internal/read_checks.h>

namespace hesscope::io {
namespace {

using Outcome = MessageSocket::Outcome;
using Message = MessageSocket::Message;
using namespace isolated;  // NOLINT(google-build-using-namespace): the protocol, all of it

// A child forked while a foreign thread was inside HDF5, or inside a sanitizer's malloc, never
// becomes ready; the next one will.
constexpr std::array<double, 5> kReadySeconds = {1, 2, 5, 10, 10};
constexpr std::size_t kMaxIdleReaders = 8;

/// A child, and the memory it shares with us.
struct Reader {
  Reader(const InputFile& file, const ReadLimits& limits, const OpenServer& open)
      : blocks(file.path().string()),
        child(file.path().string(), file.descriptor(), [&](MessageSocket& socket) {
          serve(socket, blocks, file.path().string(), limits, open);
        }) {
    blocks.keep_from_other_children();
    child.socket().heed(file.stop());
  }

  SharedBlocks blocks;
  ChildProcess child;
};

MessageSocket& socket_of(ChildProcess& child) { return child.socket(); }

MessageSocket& socket_of(Reader& reader) { return reader.child.socket(); }

bool is_ready(MessageSocket& socket, double seconds) {
  Message message;
  return socket.receive(message, 0, seconds) == Outcome::kReceived && message.kind == kReady;
}

/// The result of `start`, once its child reports that HDF5 is usable.
template <typename Start>
auto started(const std::string& path, Start start) {
  for (const double seconds : kReadySeconds) {
    auto result = [&] {
      const QuietHdf5 at_rest;  // and initialised, so that the child need not do it
      return start();
    }();
    if (is_ready(socket_of(*result), seconds)) return result;
  }
  throw OutputError(
      path +
      ": cannot be read: the process for it does not start; does another thread of this program "
      "use HDF5 without pause?");
}

/// A number that no other owner of children has had.
std::uint64_t next_owner() {
  static std::atomic<std::uint64_t> count{0};
  return ++count;
}

/// The children that wait for a request from their owner, in the order of waiting time: only few,
/// however many files are open. An owner has several if it is used by several threads.
class IdleReaders {
 public:
  void put(std::uint64_t owner, std::unique_ptr<Reader> reader) {
    std::unique_ptr<Reader> oldest;  // destroyed outside the lock
    const std::lock_guard lock(mutex_);
    readers_.emplace_back(owner, std::move(reader));
    if (readers_.size() <= kMaxIdleReaders) return;
    oldest = std::move(readers_.front().second);
    readers_.erase(readers_.begin());
  }

  /// nullptr if it has none.
  std::unique_ptr<Reader> take(std::uint64_t owner) {
    std::unique_ptr<Reader> reader;
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(readers_, owner, &Entry::first);
    if (found == readers_.end()) return nullptr;
    reader = std::move(found->second);
    readers_.erase(found);
    return reader;
  }

  void end_all_of(std::uint64_t owner) {
    while (take(owner) != nullptr) {
    }
  }

 private:
  using Entry = std::pair<std::uint64_t, std::unique_ptr<Reader>>;

  std::mutex mutex_;
  std::vector<Entry> readers_;
};

/// Never destroyed: files with static storage duration may be closed later.
IdleReaders& idle_readers() {
  static IdleReaders& readers = *new IdleReaders;
  return readers;
}

}  // namespace

class IsolatedFile::Impl {
 public:
  Impl(std::shared_ptr<const InputFile> file,
       const IsolatedFormat& format,
       const ReadLimits& limits,
       std::size_t max_listing_bytes,
       OpenServer open)
      : file_(std::move(file)),
        path_(file_->path().string()),
        format_(format),
        limits_(limits),
        max_listing_bytes_(max_listing_bytes),
        open_(std::move(open)) {
    std::unique_ptr<Reader> reader = start();
    listing_ = listing_from(*reader);
    idle_readers().put(owner_, std::move(reader));
  }

  ~Impl() { idle_readers().end_all_of(owner_); }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const std::string& path() const { return path_; }

  const std::string& listing() const { return listing_; }

  [[noreturn]] void refuse_listing() const { refuse_reply(listing_it()); }

  std::vector<double> read(const ArrayRequest& request, const std::string& name) const {
    const std::string doing = fmt::format("reading '{}'", name);
    std::unique_ptr<Reader> reader = idle_readers().take(owner_);
    if (reader != nullptr && !reader->child.is_ours()) reader = nullptr;
    double seconds = seconds_for(request.num_elements, limits_);
    for (int attempt = 0; reader == nullptr || !has_begun(*reader, request, seconds, doing);
         ++attempt) {  // it had ended because it was idle
      constexpr int kMaxAttempts = 5;
      if (attempt == kMaxAttempts) refuse_end(*reader, doing);
      reader = restart();
    }
    // Not earlier: a child would keep its copy of overwritten pages.
    std::vector<double> out =
        allocate_elements(fmt::format("{}: '{}'", path_, name), request.num_elements);
    const std::optional<std::string> error = receive(*reader, out, seconds, doing);
    idle_readers().put(owner_, std::move(reader));
    if (error) throw InputError(*error);
    return out;
  }

 private:
  /// Malformed, as far as can be seen from outside.
  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(
        fmt::format("{}: malformed {}: {}; {}", path_, format_.name, what, format_.remedy));
  }

  [[noreturn]] void refuse_reply(const std::string& doing) const {
    refuse(fmt::format("the process reading it sent a malformed reply while {}", doing));
  }

  [[noreturn]] void refuse_time(const std::string& doing, double seconds) const {
    refuse(fmt::format("{} took more than {:.3g} s and was stopped", doing, seconds));
  }

  [[noreturn]] void refuse_end(Reader& reader, const std::string& doing) const {
    const ChildProcess::End end = reader.child.end();
    if (end.signal == SIGKILL) {
      throw InputError(
          fmt::format("{}: the process reading it was killed while {} (signal 9; is there enough "
                      "memory?)",
                      path_,
                      doing));
    }
    if (end.signal != 0) {
      refuse(fmt::format("reading it crashed with signal {} while {}", end.signal, doing));
    }
    refuse(fmt::format("the process reading it ended{} while {}",
                       end.is_known ? fmt::format(" with code {}", end.exit_code) : "",
                       doing));
  }

  std::unique_ptr<Reader> start() const {
    return started(path_, [&] { return std::make_unique<Reader>(*file_, limits_, open_); });
  }

  std::unique_ptr<Reader> restart() const {
    file_->require_unchanged();
    std::unique_ptr<Reader> reader = start();
    if (listing_from(*reader) != listing_) {
      throw InputError(fmt::format("{}: it changed since it was opened; open it again", path_));
    }
    return reader;
  }

  std::string listing_it() const { return fmt::format("listing its {}", format_.holds); }

  std::string listing_from(Reader& reader) const {
    const std::string doing = listing_it();
    Message message;
    double seconds = limits_.max_seconds;
    switch (reader.child.socket().receive(message, max_listing_bytes_, seconds)) {
      case Outcome::kEnded:
        refuse_end(reader, doing);
      case Outcome::kTimedOut:
        refuse_time(doing, limits_.max_seconds);
      case Outcome::kTooLong:
        refuse_reply(doing);
      case Outcome::kReceived:
        break;
    }
    if (message.kind == kError) throw InputError(message.payload);
    if (message.kind != kListing) refuse_reply(doing);
    return std::move(message.payload);
  }

  /// Requests an array. @returns false if the child is gone.
  bool has_begun(Reader& reader,
                 const ArrayRequest& request,
                 double& seconds,
                 const std::string& doing) const {
    MessageSocket& socket = reader.child.socket();
    if (!socket.send(kRead, std::as_bytes(std::span(&request, 1)))) return false;
    Message message;
    const Outcome outcome = socket.receive(message, 0, seconds);
    if (outcome == Outcome::kEnded) return false;
    if (outcome == Outcome::kTimedOut) {
      refuse_time(doing, seconds_for(request.num_elements, limits_));
    }
    if (outcome != Outcome::kReceived || message.kind != kStarted) refuse_reply(doing);
    return true;
  }

  /// Fills `out` with the requested array. @returns the child's message if it cannot read it.
  std::optional<std::string> receive(Reader& reader,
                                     std::span<double> out,
                                     double& seconds,
                                     const std::string& doing) const {
    MessageSocket& socket = reader.child.socket();
    std::size_t done = 0;
    std::uint64_t num_blocks = 0;
    for (Message message;;) {
      const Outcome outcome = socket.receive(message, kMaxErrorBytes, seconds);
      if (outcome == Outcome::kEnded) refuse_end(reader, doing);
      if (outcome == Outcome::kTimedOut) refuse_time(doing, seconds_for(out.size(), limits_));
      if (outcome == Outcome::kTooLong) refuse_reply(doing);
      if (message.kind == kBlock) {
        const std::uint64_t count = number_in(message);
        if (count == 0 || count > kBlockElements || count > out.size() - done) refuse_reply(doing);
        const std::span<double> block = reader.blocks.block(num_blocks++).first(count);
        std::ranges::copy(block, out.begin() + static_cast<std::ptrdiff_t>(done));
        done += count;
        socket.send(kTaken);  // if it has ended meanwhile, the next message shows it
      } else if (message.kind == kDone && done == out.size()) {
        return std::nullopt;
      } else if (message.kind == kError) {
        return std::move(message.payload);
      } else {
        refuse_reply(doing);
      }
    }
  }

  std::shared_ptr<const InputFile> file_;
  std::string path_;
  IsolatedFormat format_;
  ReadLimits limits_;
  std::size_t max_listing_bytes_;
  OpenServer open_;
  std::string listing_;
  // Not our address, which a later object may have.
  std::uint64_t owner_ = next_owner();
};

IsolatedFile::IsolatedFile(std::shared_ptr<const InputFile> file,
                           const IsolatedFormat& format,
                           const ReadLimits& limits,
                           std::size_t max_listing_bytes,
                           OpenServer open)
    : impl_(std::make_unique<Impl>(
          std::move(file), format, limits, max_listing_bytes, std::move(open))) {}

IsolatedFile::~IsolatedFile() = default;

const std::string& IsolatedFile::path() const { return impl_->path(); }

const std::string& IsolatedFile::listing() const { return impl_->listing(); }

void IsolatedFile::refuse_listing() const { impl_->refuse_listing(); }

std::vector<double> IsolatedFile::read(const ArrayRequest& request, const std::string& name) const {
  return impl_->read(request, name);
}

Answer ask_isolated(const InputFile& file,
                    const ReadLimits& limits,
                    const std::function<bool()>& question) {
  const std::string path = file.path().string();
  const auto asked = started(path, [&] {
    return std::make_unique<ChildProcess>(
        path, file.descriptor(), [&](MessageSocket& socket) { answer(socket, limits, question); });
  });
  Message reply;
  double seconds = limits.max_seconds;
  if (asked->socket().receive(reply, 0, seconds) != Outcome::kReceived) return Answer::kNone;
  if (reply.kind == kYes) return Answer::kYes;
  return reply.kind == kNo ? Answer::kNo : Answer::kNone;
}

}  // namespace hesscope::io
