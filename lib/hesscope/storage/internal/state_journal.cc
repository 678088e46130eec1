// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <zlib.h>

#include <hesscope/core/error.h>
#include <hesscope/storage/internal/state_journal.h>

namespace hesscope::io {
namespace {

// A record, in the machine's own byte order, since the run is not continued on another machine:
// CRC-32 of the rest, the owner, the sequence number, the doubles.
constexpr std::size_t kHeadBytes = 24;

std::size_t record_bytes(std::size_t num_values) {
  return kHeadBytes + num_values * sizeof(double);
}

[[noreturn]] void fail(const std::filesystem::path& path, std::string_view action, int error) {
  throw OutputError(fmt::format("{}: cannot {}: {}",
                                path.string(),
                                action,
                                std::error_code(error, std::generic_category()).message()));
}

Descriptor open_file(const std::filesystem::path& path) {
  // O_NONBLOCK: a FIFO in its place must be refused, not waited for.
  Descriptor descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666));
  if (!descriptor.is_open()) fail(path, "open it", errno);

  struct stat status {};

  if (::fstat(descriptor.number(), &status) != 0 || !S_ISREG(status.st_mode)) {
    throw OutputError(fmt::format("{}: is in the way: no regular file", path.string()));
  }
  return descriptor;
}

std::uint64_t checksum_of(const std::vector<char>& record) {
  const auto* bytes = reinterpret_cast<const Bytef*>(record.data() + sizeof(std::uint64_t));
  return ::crc32_z(0, bytes, record.size() - sizeof(std::uint64_t));
}

struct RecordHead {
  std::uint64_t owner = 0;
  std::uint64_t sequence = 0;
};

void encode(const RecordHead& head, std::span<const double> values, std::vector<char>& record) {
  std::memcpy(record.data() + sizeof(std::uint64_t), &head, sizeof(head));
  std::memcpy(record.data() + kHeadBytes, values.data(), values.size_bytes());
  const std::uint64_t checksum = checksum_of(record);
  std::memcpy(record.data(), &checksum, sizeof(checksum));
}

void write_at(const std::filesystem::path& path,
              int descriptor,
              std::size_t offset,
              const std::vector<char>& record) {
  std::size_t done = 0;
  while (done < record.size()) {
    const ssize_t count = ::pwrite(
        descriptor, record.data() + done, record.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(path, "write to it", errno);
    done += static_cast<std::size_t>(count);
  }
}

// The head of the record there, which is stored in `record`; nothing if it is missing or damaged. A
// record that the system cannot read now is neither, and must not be overwritten.
std::optional<RecordHead> read_at(const std::filesystem::path& path,
                                  int descriptor,
                                  std::size_t offset,
                                  std::vector<char>& record) {
  std::size_t done = 0;
  while (done < record.size()) {
    const ssize_t count = ::pread(
        descriptor, record.data() + done, record.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(path, "read it", errno);
    if (count == 0) return std::nullopt;
    done += static_cast<std::size_t>(count);
  }
  std::uint64_t checksum = 0;
  RecordHead head;
  std::memcpy(&checksum, record.data(), sizeof(checksum));
  std::memcpy(&head, record.data() + sizeof(checksum), sizeof(head));
  // An all-zero record, as read from a hole in a file, would need a nonzero checksum.
  if (checksum != checksum_of(record)) return std::nullopt;
  return head;
}

void sync_file(const std::filesystem::path& path, int descriptor) {
  if (::fsync(descriptor) != 0) fail(path, "sync it to disk", errno);
}

void require_size(const char* function, std::size_t expected, std::size_t found) {
  if (expected == found) return;
  throw PreconditionError(fmt::format("{}: expected {} values, got {}", function, expected, found));
}

// Slots 0 and 1 belong to write(), 2 and 3 to anchor().
constexpr std::size_t kNumSlots = 4;

}  // namespace

StateJournal::StateJournal(std::filesystem::path path, std::size_t num_values, std::uint64_t owner)
    : path_(std::move(path)),
      num_values_(num_values),
      owner_(owner),
      descriptor_(open_file(path_)),
      buffer_(record_bytes(num_values)) {
  // The older of two slots is written next.
  const auto sequence_at = [&](std::size_t slot) {
    const auto head = read_at(path_, descriptor_.number(), slot * buffer_.size(), buffer_);
    const bool is_ours = head && head->owner == owner_;
    held_others_ = held_others_ || (head && !is_ours);
    return is_ours ? head->sequence : 0;
  };
  next_slot_ = sequence_at(0) <= sequence_at(1) ? 0 : 1;
  next_anchor_ = sequence_at(2) <= sequence_at(3) ? 0 : 1;
  for (std::size_t slot = 0; slot < kNumSlots; ++slot) {
    sequence_ = std::max(sequence_, sequence_at(slot));
  }
}

std::vector<std::vector<double>> StateJournal::states() const {
  std::map<std::uint64_t, std::vector<double>, std::greater<>> found;
  std::vector<char> record(buffer_.size());
  for (std::size_t slot = 0; slot < kNumSlots; ++slot) {
    const auto head = read_at(path_, descriptor_.number(), slot * record.size(), record);
    if (!head || head->owner != owner_) continue;
    std::vector<double>& state = found[head->sequence];
    state.resize(num_values_);
    std::memcpy(state.data(), record.data() + kHeadBytes, num_values_ * sizeof(double));
  }
  std::vector<std::vector<double>> states;
  for (auto& [sequence, state] : found) states.push_back(std::move(state));
  return states;
}

void StateJournal::write_slot(std::size_t slot, std::span<const double> state) {
  encode({owner_, sequence_ + 1}, state, buffer_);
  write_at(path_, descriptor_.number(), slot * buffer_.size(), buffer_);
  ++sequence_;
}

void StateJournal::write(std::span<const double> state) {
  require_size("StateJournal::write", num_values_, state.size());
  write_slot(next_slot_, state);
  next_slot_ = 1 - next_slot_;
}

void StateJournal::anchor(std::span<const double> state) {
  require_size("StateJournal::anchor", num_values_, state.size());
  write_slot(2 + next_anchor_, state);
  sync_file(path_, descriptor_.number());
  next_anchor_ = 1 - next_anchor_;
}

RowLog::RowLog(std::filesystem::path path, std::size_t num_columns, std::uint64_t owner)
    : path_(std::move(path)),
      num_columns_(num_columns),
      owner_(owner),
      descriptor_(open_file(path_)),
      buffer_(record_bytes(num_columns)) {
  // The sequence number of row i is i + 1.
  while (true) {
    const auto head = read_at(path_, descriptor_.number(), num_rows_ * buffer_.size(), buffer_);
    held_others_ = held_others_ || (head && head->owner != owner_);
    if (!head || head->owner != owner_ || head->sequence != num_rows_ + 1) break;
    ++num_rows_;
  }
  shorten();
}

std::vector<double> RowLog::rows() const {
  std::vector<double> all(num_rows_ * num_columns_);
  std::vector<char> record(buffer_.size());
  for (std::size_t i = 0; i < num_rows_; ++i) {
    const auto head = read_at(path_, descriptor_.number(), i * record.size(), record);
    if (!head || head->owner != owner_ || head->sequence != i + 1) {
      throw OutputError(
          fmt::format("{}: row {}, written before, cannot be read back", path_.string(), i));
    }
    std::memcpy(
        all.data() + i * num_columns_, record.data() + kHeadBytes, num_columns_ * sizeof(double));
  }
  return all;
}

void RowLog::truncate(std::size_t num_rows) {
  if (num_rows >= num_rows_) return;
  num_rows_ = num_rows;
  shorten();
}

void RowLog::shorten() const {
  if (::ftruncate(descriptor_.number(), static_cast<off_t>(num_rows_ * buffer_.size())) != 0) {
    fail(path_, "shorten it", errno);
  }
}

void RowLog::append(std::span<const double> row) {
  require_size("RowLog::append", num_columns_, row.size());
  encode({owner_, num_rows_ + 1}, row, buffer_);
  write_at(path_, descriptor_.number(), num_rows_ * buffer_.size(), buffer_);
  ++num_rows_;
}

void RowLog::sync() const { sync_file(path_, descriptor_.number()); }

}  // namespace hesscope::io
