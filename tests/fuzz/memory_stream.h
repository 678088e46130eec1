// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <string>

#include <hesscope/core/error.h>
#include <hesscope/storage/input_file.h>

#include "fuzz/targets.h"

namespace hesscope::fuzz {

/// Bytes in memory as a stream; without a checksum, so that fuzzing gets past it.
class MemoryStream final : public io::ByteStream {
 public:
  explicit MemoryStream(Input bytes) : bytes_(bytes) {}

  const std::string& where() const override { return where_; }

  std::uint64_t remaining() const override { return bytes_.size(); }

  void read(std::span<std::byte> out) override {
    if (out.size() > bytes_.size()) throw InputError(where_ + ": truncated");
    std::ranges::copy(bytes_.first(out.size()), out.begin());
    bytes_ = bytes_.subspan(out.size());
  }

  void finish() override {
    if (!bytes_.empty()) throw InputError(where_ + ": bytes are left over");
  }

 private:
  Input bytes_;
  std::string where_ = "input";
};

}  // namespace hesscope::fuzz
