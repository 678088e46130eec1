// SPDX-License-Identifier: BSD-3-Clause
#include <exception>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/io/hdf5_handle.h>
#include <hesscope/io/isolated_child.h>
#include <hesscope/io/isolated_listing.h>

namespace hesscope::io::isolated {
namespace {

using Outcome = MessageSocket::Outcome;
using Message = MessageSocket::Message;

constexpr double kIdleSeconds = 5;

struct ParentGone {};

/// Delivers blocks to the parent, at most kNumBlocks that it has not taken.
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

  /// Until the parent waits for the outcome.
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

/// What went wrong, as text.
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
                    const Opener& open) {
  const MemoryAllowance memory;
  std::unique_ptr<BlockSource> source;
  std::string listing;
  const auto refusal = error_of(path, [&] {
    memory.set(limits.max_process_bytes);
    const TimeAllowance time(limits.max_seconds);
    source = open();
    listing = encode_listing(source->tensors());
    forbid_further_files();
  });
  if (refusal) return send_error(socket, *refusal);
  if (!socket.send(kListing, std::as_bytes(std::span(listing)))) return;

  for (Message request;;) {
    double idle = kIdleSeconds;
    if (socket.receive(request, sizeof(std::uint64_t), idle) != Outcome::kReceived) return;
    const std::size_t index = number_in(request);
    if (request.kind != kRead || index >= source->tensors().size()) return;
    if (!socket.send(kStarted)) return;
    const std::size_t bytes =
        static_cast<std::size_t>(source->tensors()[index].num_elements()) * sizeof(double);
    memory.set(limits.max_process_bytes + bytes);
    SharedSink sink(socket, blocks, seconds_for(bytes / sizeof(double), limits));
    const auto error = error_of(path, [&] { source->read(index, sink); });
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
           const Opener& open) {
  try {
    if (report_ready(socket)) serve_requests(socket, blocks, path, limits, open);
  } catch (const ParentGone&) {
    // Nobody is left to be told.
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
