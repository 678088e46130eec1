// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include <mpi.h>
#include <sys/types.h>
#include <unistd.h>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/mpi/mpi_team.h>

namespace hesscope {
namespace {

// MPI's counts are ints.
constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr std::size_t kMostNumbers = kMostBytes / sizeof(double);

constexpr int kTag = 0;

// Calls pass(part) for parts of a span that are small enough for MPI's counts.
template <typename T, typename Pass>
void in_parts(std::span<T> all, std::size_t most, Pass pass) {
  while (!all.empty()) {
    const std::span<T> part = all.first(std::min(all.size(), most));
    pass(part.data(), static_cast<int>(part.size()));
    all = all.subspan(part.size());
  }
}

// The rank's place, on this machine.
std::string place_of(int rank) {
  std::array<char, 256> name = {};
  ::gethostname(name.data(), name.size() - 1);
  return fmt::format("rank {} on {}", rank, name.data());
}

// Launchers reap ended processes at once, so that no trace of them is left.
bool is_there(pid_t process) { return ::kill(process, 0) == 0 || errno != ESRCH; }

// Polls often at first, then less often: a call that follows immediately should not wait, and a
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
  find_neighbours();
  is_at_work_ = true;
}

void MpiTeam::find_neighbours() {
  struct Process {
    std::array<char, 256> machine;
    pid_t number;
  };

  Process own = {};
  ::gethostname(own.machine.data(), own.machine.size() - 1);
  own.number = ::getpid();
  std::vector<Process> all(rank_ == 0 ? static_cast<std::size_t>(size_) : 0);
  MPI_Gather(&own, sizeof(own), MPI_BYTE, all.data(), sizeof(own), MPI_BYTE, 0, MPI_COMM_WORLD);
  for (std::size_t r = 1; r < all.size(); ++r) {
    // A process in another container may have a number that is meaningless here.
    if (all[r].machine != own.machine || !is_there(all[r].number)) continue;
    neighbours_.push_back({static_cast<int>(r), all[r].number});
  }
}

std::vector<std::string> MpiTeam::lost() const {
  std::vector<std::string> places;
  if (!is_at_work_) return places;
  for (const Neighbour& each : neighbours_) {
    if (!is_there(each.process)) places.push_back(place_of(each.rank));
  }
  return places;
}

void MpiTeam::end() {
  is_at_work_ = false;
  MPI_Finalize();
}

std::string MpiTeam::place() const { return place_of(rank_); }

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
