// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <deque>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <hesscope/analysis/internal/team_session.h>
#include <hesscope/analysis/team_meeting.h>
#include <hesscope/core/error.h>
#include <hesscope/objective/team_service.h>

namespace hesscope {
namespace {

// Broadcasts the first rank's text; it is empty if the first rank has nothing to compute.
void exchange(Team& team, std::string& words) {
  std::uint64_t length = words.size();
  team.broadcast(0, std::as_writable_bytes(std::span(&length, 1)));
  words.resize(length);
  if (length > 0) team.broadcast(0, std::as_writable_bytes(std::span(words)));
}

// Objectives by their numbers. For checkpoints with buffers of their own, the last two are kept.
class ServedObjectives {
 public:
  explicit ServedObjectives(const detail::CheckpointInputs& inputs) : inputs_(inputs) {}

  std::shared_ptr<const Objective> at(std::int64_t number) {
    if (number == Problem::kTeamNumber) {
      return inputs_.problem.objective_at(inputs_.points.front(), nullptr).objective;
    }
    for (const auto& [known, objective] : made_) {
      if (known == number) return objective;
    }
    made_.emplace_back(number, inputs_.objective_at(static_cast<std::size_t>(number)).objective);
    if (made_.size() > kMostMade) made_.pop_front();
    return made_.back().second;
  }

 private:
  // A checkpoint is compared with the previous one.
  static constexpr std::size_t kMostMade = 2;

  const detail::CheckpointInputs& inputs_;
  std::deque<std::pair<std::int64_t, std::shared_ptr<const Objective>>> made_;
};

// If a rank is lost, an exception is already on its way, or all results are there.
template <typename F>
void dropping_errors(F f) noexcept {
  try {
    f();
  } catch (...) {
  }
}

}  // namespace

void decline(Team& team) {
  team.begin();
  std::string nothing;
  exchange(team, nothing);
  team.end();
}

namespace detail {

TeamSession::TeamSession(Team* team, const io::RunConfiguration& configuration) : team_(team) {
  if (team_ == nullptr) return;
  team_->begin();
  try {
    std::string ours = io::text_of(configuration);
    exchange(*team_, ours);
    team_->together([] {});
  } catch (...) {
    dropping_errors([&] { team_->end(); });
    throw;
  }
}

TeamSession::~TeamSession() {
  if (team_ == nullptr) return;
  dropping_errors([&] { end_service(*team_); });
  dropping_errors([&] { team_->end(); });
}

void serve_inputs(Team& team, const std::function<ServedInputs()>& open) {
  std::optional<ServedInputs> opened;
  std::exception_ptr error;
  try {
    opened = open();
  } catch (...) {
    error = std::current_exception();
  }
  team.begin();
  std::string theirs;
  exchange(team, theirs);
  if (!theirs.empty()) {
    try {
      team.together([&] {
        if (error) std::rethrow_exception(error);
        const std::string difference =
            io::difference_from(opened->configuration, theirs, "here", "there");
        if (difference.empty()) return;
        throw InputError(fmt::format(
            "differs from the first rank in {}; all ranks must run the same program on the same "
            "files",
            difference));
      });
      ServedObjectives objectives(*opened->inputs);
      serve(
          team,
          [&](std::int64_t number) { return objectives.at(number); },
          [&](const Objective& objective, const Eigen::VectorXd& theta, SampleRange) {
            serve_distributed_spectrum(*opened->solver, objective, theta, opened->proves_fully);
          });
    } catch (const std::exception&) {
      // The first rank already knows.
    }
  }
  team.end();
}

}  // namespace detail
}  // namespace hesscope
