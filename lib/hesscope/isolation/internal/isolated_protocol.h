// SPDX-License-Identifier: BSD-3-Clause
//
// The protocol between an isolated file and its child.
//
// The child sends kReady and kListing, or kError. To each kRead it replies kStarted, then one
// kBlock for each block of elements that it has left in the shared memory, alternating between the
// two halves, and finally kDone or kError. Each block is answered by kTaken.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include <sys/mman.h>

#include <hesscope/core/error.h>
#include <hesscope/isolation/internal/child_process.h>
#include <hesscope/storage/read_limits.h>

namespace hesscope::io::isolated {

// To the child.
inline constexpr std::uint64_t kRead = 1;   // an ArrayRequest
inline constexpr std::uint64_t kTaken = 2;  // a block

// From the child.
inline constexpr std::uint64_t kReady = 10;
inline constexpr std::uint64_t kListing = 11;
inline constexpr std::uint64_t kStarted = 12;  // on an array
inline constexpr std::uint64_t kBlock = 13;    // number of its elements
inline constexpr std::uint64_t kDone = 14;
inline constexpr std::uint64_t kError = 15;  // text
inline constexpr std::uint64_t kYes = 16;
inline constexpr std::uint64_t kNo = 17;

inline constexpr std::size_t kBlockElements = std::size_t{1} << 17;
inline constexpr std::size_t kNumBlocks = 2;  // one is filled while the other is copied
inline constexpr std::size_t kMaxErrorBytes = 64 << 10;

inline double seconds_for(std::size_t num_elements, const ReadLimits& limits) {
  const double gibibytes = static_cast<double>(num_elements) * sizeof(double) * 0x1p-30;
  return limits.max_seconds * std::max(1.0, gibibytes);
}

inline std::span<const std::byte> bytes_of(const std::uint64_t& number) {
  return std::as_bytes(std::span(&number, 1));
}

/// 0 if the message does not have the size of a number: no block has 0 elements.
inline std::uint64_t number_in(const MessageSocket::Message& message) {
  std::uint64_t number = 0;
  if (message.payload.size() == sizeof number) {
    std::memcpy(&number, message.payload.data(), sizeof number);
  }
  return number;
}

/// Blocks of elements that are shared by parent and child.
class SharedBlocks {
 public:
  /// @throws OutputError "<what>: ..."
  explicit SharedBlocks(const std::string& what)
      : blocks_(
            ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (blocks_ == MAP_FAILED) {
      throw OutputError(what + ": there is no memory to read it in a separate process");
    }
  }

  ~SharedBlocks() { ::munmap(blocks_, kBytes); }

  SharedBlocks(const SharedBlocks&) = delete;
  SharedBlocks& operator=(const SharedBlocks&) = delete;

  /// To be called once the child has its own mapping.
  void keep_from_other_children() { ::madvise(blocks_, kBytes, MADV_DONTFORK); }

  /// The block that is filled, or copied, after `number` others.
  std::span<double> block(std::uint64_t number) const {
    return {static_cast<double*>(blocks_) + (number % kNumBlocks) * kBlockElements, kBlockElements};
  }

 private:
  static constexpr std::size_t kBytes = kNumBlocks * kBlockElements * sizeof(double);

  void* blocks_;
};

}  // namespace hesscope::io::isolated
