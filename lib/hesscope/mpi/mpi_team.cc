// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include <mpi.h>
#include <unistd.h>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/mpi/mpi_team.h>

namespace hesscope {
namespace {

// Counts of MPI are ints.
constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr std::size_t kMostNumbers = kMostBytes / sizeof(double);

constexpr int kTag = 0;

// Calls pass(part) for the parts of a span that MPI can count.
template <typename T, typename Pass>
void in_parts(std::span<T> all, std::size_t most, Pass pass) {
  while (!all.empty()) {
    const std::span<T> part = all.first(std::min(all.size(), most));
    pass(part.data(), static_cast<int>(part.size()));
    all = all.subspan(part.size());
  }
}

// Looks often at first, then less often: a call that follows at once should not wait, and a
// decomposition on the first rank takes long.
void wait_patiently(MPI_Request& request) {
  using std::chrono::microseconds;
  constexpr int kEager = 2000;
  constexpr microseconds kLongest(1000);
  microseconds pause(10);
  for (int looked = 0;; ++looked) {
    int is_there = 0;
    MPI_Test(&request, &is_there, MPI_STATUS_IGNORE);
    if (is_there != 0) return;
    if (looked < kEager) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, kLongest);
    }
  }
}

}  // namespace

void MpiTeam::begin() {
  has_begun_ = true;
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  int size = 0;
  int rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (size != size_ || rank != rank_) {
    throw OutputError(
        fmt::format("MPI: this is rank {} of {}, but the launcher's variables say {} of {}; is "
                    "hesscope-mpi built "
                    "with the MPI that has started it?",
                    rank,
                    size,
                    rank_,
                    size_));
  }
  if (provided < MPI_THREAD_SERIALIZED) {
    throw OutputError("MPI: this library does not let threads call it one after the other");
  }
  is_at_work_ = true;
}

void MpiTeam::end() {
  is_at_work_ = false;
  MPI_Finalize();
}

std::string MpiTeam::place() const {
  std::array<char, 256> name = {};
  ::gethostname(name.data(), name.size() - 1);
  return fmt::format("rank {} on {}", rank_, name.data());
}

void MpiTeam::send(int to, std::span<const double> numbers) {
  in_parts(numbers, kMostNumbers, [&](const double* data, int count) {
    MPI_Send(data, count, MPI_DOUBLE, to, kTag, MPI_COMM_WORLD);
  });
}

void MpiTeam::receive(int from, std::span<double> numbers) {
  in_parts(numbers, kMostNumbers, [&](double* data, int count) {
    MPI_Recv(data, count, MPI_DOUBLE, from, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  });
}

void MpiTeam::broadcast(int from, std::span<std::byte> bytes) {
  in_parts(bytes, kMostBytes, [&](std::byte* data, int count) {
    MPI_Bcast(data, count, MPI_BYTE, from, MPI_COMM_WORLD);
  });
}

int MpiTeam::smallest(int number) {
  int least = number;
  MPI_Allreduce(&number, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return least;
}

void MpiTeam::await(std::span<std::byte> bytes) {
  in_parts(bytes, kMostBytes, [&](std::byte* data, int count) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(data, count, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    wait_patiently(request);
  });
}

}  // namespace hesscope
