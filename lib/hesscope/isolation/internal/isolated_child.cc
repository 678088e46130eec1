// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/hdf5/internal/hdf5_handle.h>
#include <hesscope/isolation/internal/isolated_child.h>

namespace hesscope::io::isolated {
namespace {

using Outcome = MessageSocket::Outcome;
using Message = MessageSocket::Message;

constexpr double kIdleSeconds = 5;

struct ParentGone {};

/// Delivers blocks to the parent; at most kNumBlocks may be untaken.
class SharedSink final : public BlockSink {
 public:
  SharedSink(MessageSocket& socket, const SharedBlocks& blocks, double seconds)
      : socket_(socket), blocks_(blocks), seconds_(seconds) {
    time_.emplace(seconds_);
  }

  std::size_t max_block() const override { return kBlockElements; }

  std::span<double> room() override {
    if (num_delivered_ - num_taken_ == kNumBlocks) wait_until_taken();
    return blocks_.block(num_delivered_);
  }

  void deliver(std::size_t count) override {
    if (!socket_.send(kBlock, bytes_of(count))) throw ParentGone();
    ++num_delivered_;
  }

  /// Returns when the parent waits for the outcome.
  void finish() {
    while (num_taken_ != num_delivered_) wait_until_taken();
    time_.reset();
  }

 private:
  void wait_until_taken() {
    time_.reset();  // the parent may have been stopped
    Message message;
    double endless = -1;
    if (socket_.receive(message, 0, endless) != Outcome::kReceived) throw ParentGone();
    ++num_taken_;
    time_.emplace(seconds_);
  }

  MessageSocket& socket_;
  const SharedBlocks& blocks_;
  double seconds_;
  std::optional<TimeAllowance> time_;
  std::uint64_t num_delivered_ = 0;
  std::uint64_t num_taken_ = 0;
};

/// The error message, if the body fails.
template <typename Body>
std::optional<std::string> error_of(const std::string& where, Body body) {
  try {
    body();
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    return where + ": reading it takes more memory than there is, or than it is allowed";
  } catch (const InputError& error) {
    return error.what();
  } catch (const std::exception& error) {
    return fmt::format("{}: {}", where, error.what());
  }
}

void send_error(MessageSocket& socket, const std::string& text) {
  const std::string_view start = std::string_view(text).substr(0, kMaxErrorBytes);
  if (!socket.send(kError, std::as_bytes(std::span(start)))) throw ParentGone();
}

void serve_requests(MessageSocket& socket,
                    const SharedBlocks& blocks,
                    const std::string& path,
                    const ReadLimits& limits,
                    const OpenServer& open) {
  const MemoryAllowance memory;
  std::unique_ptr<FileServer> server;
  std::string listing;
  const auto refusal = error_of(path, [&] {
    memory.set(limits.max_process_bytes);
    const TimeAllowance time(limits.max_seconds);
    server = open();
    listing = server->listing();
    forbid_further_files();
  });
  if (refusal) return send_error(socket, *refusal);
  if (!socket.send(kListing, std::as_bytes(std::span(listing)))) return;

  for (Message request;;) {
    double idle = kIdleSeconds;
    if (socket.receive(request, sizeof(ArrayRequest), idle) != Outcome::kReceived) return;
    ArrayRequest array;
    if (request.kind != kRead || request.payload.size() != sizeof array) return;
    std::memcpy(&array, request.payload.data(), sizeof array);
    if (!socket.send(kStarted)) return;
    memory.set(limits.max_process_bytes + array.num_elements * sizeof(double));
    SharedSink sink(socket, blocks, seconds_for(array.num_elements, limits));
    const auto error = error_of(path, [&] { server->read(array, sink); });
    sink.finish();
    if (error) {
      send_error(socket, *error);
    } else if (!socket.send(kDone)) {
      return;
    }
  }
}

}  // namespace

bool report_ready(MessageSocket& socket) {
  { const QuietHdf5 first_call; }
  return socket.send(kReady);
}

void serve(MessageSocket& socket,
           const SharedBlocks& blocks,
           const std::string& path,
           const ReadLimits& limits,
           const OpenServer& open) {
  try {
    if (report_ready(socket)) serve_requests(socket, blocks, path, limits, open);
  } catch (const ParentGone&) {
    // Nobody is left to receive it.
  }
}

void answer(MessageSocket& socket,
            const ReadLimits& limits,
            const std::function<bool()>& question) {
  if (!report_ready(socket)) return;
  const MemoryAllowance memory;
  memory.set(limits.max_process_bytes);
  const TimeAllowance time(limits.max_seconds);
  socket.send(question() ? kYes : kNo);
}

}  // namespace hesscope::io::isolated
