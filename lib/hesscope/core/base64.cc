// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <openssl/evp.h>

#include <hesscope/core/base64.h>

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

}  // namespace hesscope
