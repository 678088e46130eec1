// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <memory>
#include <new>

#include <openssl/evp.h>
#include <zlib.h>

#include <hesscope/core/encoding.h>

namespace hesscope {

std::string base64(std::span<const std::byte> bytes) {
  constexpr std::size_t kPiece = 3U << 20U;  // EVP_EncodeBlock counts with an int
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4 + 1);
  while (!bytes.empty()) {
    const std::span<const std::byte> piece = bytes.first(std::min(bytes.size(), kPiece));
    const std::size_t begin = text.size();
    text.resize(begin + (piece.size() + 2) / 3 * 4 + 1);  // and a NUL
    const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data() + begin),
                                       reinterpret_cast<const unsigned char*>(piece.data()),
                                       static_cast<int>(piece.size()));
    text.resize(begin + static_cast<std::size_t>(length));
    bytes = bytes.subspan(piece.size());
  }
  return text;
}

std::vector<std::byte> gzipped(std::span<const std::byte> bytes) {
  constexpr int kGzip = 15 + 16;  // the largest window, with gzip's header
  constexpr int kMemory = 8;
  constexpr std::size_t kPiece = std::size_t{1} << 30U;  // zlib counts with an unsigned
  z_stream stream{};
  const auto end = [](z_stream* begun) { deflateEnd(begun); };
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    throw std::bad_alloc();
  }
  const std::unique_ptr<z_stream, decltype(end)> ended(&stream, end);
  std::vector<std::byte> packed;
  bool is_done = false;
  while (!is_done) {
    const std::span<const std::byte> piece = bytes.first(std::min(bytes.size(), kPiece));
    bytes = bytes.subspan(piece.size());
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(piece.data()));
    stream.avail_in = static_cast<uInt>(piece.size());
    const int flush = bytes.empty() ? Z_FINISH : Z_NO_FLUSH;
    do {
      constexpr std::size_t kStep = 1U << 16U;
      const std::size_t begin = packed.size();
      packed.resize(begin + kStep);
      stream.next_out = reinterpret_cast<Bytef*>(packed.data() + begin);
      stream.avail_out = kStep;
      is_done = deflate(&stream, flush) == Z_STREAM_END;
      packed.resize(begin + kStep - stream.avail_out);
    } while (stream.avail_out == 0);
  }
  return packed;
}

}  // namespace hesscope
