// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <openssl/evp.h>

#include <hesscope/core/error.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/storage/sha256.h>

namespace hesscope::io {
namespace {

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    check(context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
  }

  void add(std::span<const std::byte> bytes) {
    check(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
  }

  std::string hexadecimal() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
    unsigned int size = 0;
    check(EVP_DigestFinal_ex(context_.get(), digest.data(), &size) == 1);
    std::string text;
    for (const unsigned char byte : std::span(digest).first(size))
      text += fmt::format("{:02x}", byte);
    return text;
  }

 private:
  static void check(bool is_done) {
    if (!is_done) throw OutputError("SHA-256 is not available from this OpenSSL installation");
  }

  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string sha256_of(const InputFile& file) {
  constexpr std::size_t kBlockBytes = std::size_t{256} * 1024;
  Sha256 hash;
  std::vector<std::byte> block(std::min<std::uint64_t>(kBlockBytes, file.size()));
  for (std::uint64_t offset = 0; offset < file.size(); offset += kBlockBytes) {
    const auto part =
        std::span(block).first(std::min<std::uint64_t>(kBlockBytes, file.size() - offset));
    file.read_at(offset, part);
    hash.add(part);
  }
  file.require_unchanged();
  return hash.hexadecimal();
}

std::string sha256_of(std::span<const std::shared_ptr<const InputFile>> files) {
  if (files.size() == 1) return sha256_of(*files.front());
  std::string lines;
  for (const auto& file : files) {
    lines += fmt::format("{}  {}\n", sha256_of(*file), file->path().filename().string());
  }
  return sha256_of_text(lines);
}

std::string sha256_of_file(const std::filesystem::path& path) { return sha256_of(InputFile(path)); }

std::string sha256_of_text(std::string_view text) {
  Sha256 hash;
  hash.add(std::as_bytes(std::span(text)));
  return hash.hexadecimal();
}

std::string sha256_of_numbers(std::span<const double> numbers) {
  Sha256 hash;
  constexpr std::size_t kBlock = 4096;
  std::vector<std::byte> block(8 * kBlock);
  for (std::size_t first = 0; first < numbers.size(); first += kBlock) {
    const std::size_t count = std::min(kBlock, numbers.size() - first);
    for (std::size_t i = 0; i < count; ++i) {
      const auto bits = std::bit_cast<std::uint64_t>(numbers[first + i]);
      for (std::size_t byte = 0; byte < 8; ++byte) {
        block[8 * i + byte] = static_cast<std::byte>(bits >> (8 * byte) & 0xffu);
      }
    }
    hash.add(std::span(block).first(8 * count));
  }
  return hash.hexadecimal();
}

}  // namespace hesscope::io
