// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <exception>
#include <mutex>
#include <new>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/team.h>

namespace hesscope {
namespace {

using Eigen::Index;

// Numbers exchanged at a time: 8 MiB, so that no buffer grows with the matrix.
constexpr std::size_t kExchangedNumbers = std::size_t{1} << 20;

// How a rank informs the others of its exception.
struct Failure {
  enum class Kind { kOther, kConfig, kInput, kInterrupt };

  Kind kind = Kind::kOther;
  std::size_t length = 0;  // of its message
};

template <typename T>
std::span<std::byte> bytes_of(T& object) {
  return std::as_writable_bytes(std::span(&object, 1));
}

Failure describe(const std::exception_ptr& error, const std::string& place, std::string& words) {
  Failure failure;
  const auto set = [&](Failure::Kind kind, const char* what) {
    failure.kind = kind;
    words = fmt::format("{}: {}", place, what);
  };
  try {
    std::rethrow_exception(error);
  } catch (const Interrupted&) {
    failure.kind = Failure::Kind::kInterrupt;
  } catch (const ConfigError& thrown) {
    set(Failure::Kind::kConfig, thrown.what());
  } catch (const InputError& thrown) {
    set(Failure::Kind::kInput, thrown.what());
  } catch (const std::bad_alloc&) {
    set(Failure::Kind::kOther, "out of memory");
  } catch (const std::exception& thrown) {
    set(Failure::Kind::kOther, thrown.what());
  } catch (...) {
    set(Failure::Kind::kOther, "an exception of an unknown kind");
  }
  failure.length = words.size();
  return failure;
}

[[noreturn]] void throw_as(Failure::Kind kind, const std::string& words) {
  switch (kind) {
    case Failure::Kind::kInterrupt:
      throw Interrupted();
    case Failure::Kind::kConfig:
      throw ConfigError(words);
    case Failure::Kind::kInput:
      throw InputError(words);
    case Failure::Kind::kOther:
      break;
  }
  throw OutputError(words);
}

// Transmits numbers in pieces: those of `owner` are read, those of the others written. All memory
// is allocated at the beginning, by all ranks or by none.
class Exchange {
 public:
  /// @param num_pieces  maximal number of calls of add() between two flushes.
  Exchange(Team& team, std::size_t num_pieces) : team_(team) {
    team.together([&] {
      numbers_.reserve(kExchangedNumbers);
      places_.reserve(num_pieces);
    });
  }

  void begin(int owner) { owner_ = owner; }

  void add(double* data, Index count) {
    for (Index done = 0; done < count;) {
      const auto room = static_cast<Index>(kExchangedNumbers - numbers_.size());
      const Index taken = std::min(room, count - done);
      numbers_.insert(numbers_.end(), data + done, data + done + taken);
      places_.emplace_back(data + done, taken);
      done += taken;
      if (numbers_.size() == kExchangedNumbers) flush();
    }
  }

  void flush() {
    if (numbers_.empty()) return;
    team_.broadcast(owner_, std::as_writable_bytes(std::span(numbers_)));
    if (team_.rank() != owner_) {
      const double* from = numbers_.data();
      for (const auto& [to, count] : places_) {
        std::copy_n(from, count, to);
        from += count;
      }
    }
    numbers_.clear();
    places_.clear();
  }

 private:
  Team& team_;
  int owner_ = 0;
  std::vector<double> numbers_;
  std::vector<std::pair<double*, Index>> places_;
};

}  // namespace

struct Team::State {
  std::mutex mutex;
  bool has_settled_failure = false;  // in the current call: all ranks know it
};

Team::Team() : state_(std::make_unique<State>()) {}

Team::~Team() = default;

void Team::call(const std::function<void()>& announce, const std::function<void()>& body) {
  const std::lock_guard lock(state_->mutex);
  if (rank() == 0) announce();
  state_->has_settled_failure = false;
  std::exception_ptr error;
  try {
    body();
  } catch (...) {
    error = std::current_exception();
  }
  if (state_->has_settled_failure) {
    if (!error) throw PreconditionError("Team::call: the body caught what an exchange threw");
    std::rethrow_exception(error);
  }
  settle(error);
}

void Team::together(const std::function<void()>& share) {
  std::exception_ptr error;
  try {
    share();
  } catch (...) {
    error = std::current_exception();
  }
  settle(error);
}

// The first step of every exchange, so that a rank that threw on its way meets the others here.
void Team::settle(const std::exception_ptr& error) {
  const int failed = smallest(error ? rank() : size());
  if (failed == size()) return;
  state_->has_settled_failure = true;
  std::string words;
  Failure failure;
  if (rank() == failed) failure = describe(error, place(), words);
  broadcast(failed, bytes_of(failure));
  words.resize(failure.length);
  if (!words.empty()) broadcast(failed, std::as_writable_bytes(std::span(words)));
  if (rank() == failed) std::rethrow_exception(error);
  throw_as(failure.kind, words);
}

std::vector<Index> equal_shares(Index count,
                                int num_ranks,
                                const std::function<double(Index)>& work) {
  std::vector<double> done(static_cast<std::size_t>(count) + 1, 0.0);  // before each
  for (Index i = 0; i < count; ++i) {
    done[static_cast<std::size_t>(i) + 1] =
        done[static_cast<std::size_t>(i)] + (work ? work(i) : 1.0);
  }
  std::vector<Index> cuts = {0};
  for (int r = 1; r < num_ranks; ++r) {
    const double wanted = done.back() * r / num_ranks;
    const auto cut = std::lower_bound(done.begin(), done.end(), wanted) - done.begin();
    cuts.push_back(
        std::clamp<Index>(cut, std::min<Index>(cuts.back() + (r == 1 ? 1 : 0), count), count));
  }
  cuts.push_back(count);
  return cuts;
}

void share_part(Team& team, int owner, MatrixPart part) {
  if (part.rows == part.stride || part.cols == 1) {  // are contiguous
    const auto count = static_cast<std::size_t>(part.rows * part.cols);
    if (count > 0) team.broadcast(owner, std::as_writable_bytes(std::span(part.data, count)));
    return;
  }
  Exchange exchange(team, static_cast<std::size_t>(part.cols));
  exchange.begin(owner);
  for (Index c = 0; c < part.cols; ++c) exchange.add(part.data + c * part.stride, part.rows);
  exchange.flush();
}

void share_columns(Team& team, std::span<const int> owners, Eigen::Ref<Eigen::MatrixXd> matrix) {
  Exchange exchange(team, static_cast<std::size_t>(matrix.cols()));
  for (int owner = 0; owner < team.size(); ++owner) {
    exchange.begin(owner);
    for (Index c = 0; c < matrix.cols(); ++c) {
      if (owners[static_cast<std::size_t>(c)] != owner) continue;
      exchange.add(matrix.data() + c * matrix.outerStride(), matrix.rows());
    }
    exchange.flush();
  }
}

}  // namespace hesscope
