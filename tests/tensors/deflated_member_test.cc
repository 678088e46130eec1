// SPDX-License-Identifier: BSD-3-Clause
//
// A deflated member that is read in steps, wherever these end within what zlib writes.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <zlib.h>

#include <hesscope/core/error.h>
#include <hesscope/storage/internal/zip_stream.h>

#include "support/files.h"
#include "support/refusal.h"

namespace hesscope::io {
namespace {

/// As zip archives have it, without a header.
std::string deflated(const std::string& bytes) {
  z_stream state{};
  if (deflateInit2(&state, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2() failed");
  }
  std::string out(deflateBound(&state, bytes.size()), '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  state.avail_in = static_cast<uInt>(bytes.size());
  state.next_out = reinterpret_cast<Bytef*>(out.data());
  state.avail_out = static_cast<uInt>(out.size());
  deflate(&state, Z_FINISH);
  out.resize(state.total_out);
  deflateEnd(&state);
  return out;
}

std::string read_in_steps(const test::ScratchFolder& folder,
                          const std::string& stored,
                          const std::string& content,
                          std::size_t step) {
  test::write_bytes(folder / "member", stored);
  ZipEntry entry;
  entry.name = "member";
  entry.is_deflated = true;
  entry.crc32 = static_cast<std::uint32_t>(
      ::crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
  entry.stored_bytes = stored.size();
  entry.decoded_bytes = content.size();
  const auto stream = open_zip_entry(std::make_shared<InputFile>(folder / "member"), entry);
  std::string out(content.size(), '?');
  for (std::size_t done = 0; done < out.size(); done += step) {
    const std::size_t count = std::min(step, out.size() - done);
    stream->read(std::as_writable_bytes(std::span(out).subspan(done, count)));
  }
  stream->finish();
  return out;
}

TEST(DeflatedMember, MayEndWithinAStepWhoseInputIsUsedUp) {
  const test::ScratchFolder folder;
  constexpr std::size_t kStep = 8192;
  // A match is of at most 258 bytes: one of these ends goes through the last one.
  for (std::size_t size = kStep + 1; size <= kStep + 300; ++size) {
    const std::string content(size, '\0');
    EXPECT_EQ(read_in_steps(folder, deflated(content), content, kStep), content) << size;
  }
}

TEST(DeflatedMember, IsRefusedWhereItIsCutShort) {
  const test::ScratchFolder folder;
  const std::string content(3000, 'x');
  const std::string stored = deflated(content);
  for (std::size_t size = 0; size < stored.size(); ++size) {
    test::expect_refusal<InputError>(
        [&] { read_in_steps(folder, stored.substr(0, size), content, 512); }, "is damaged: ");
  }
}

}  // namespace
}  // namespace hesscope::io
