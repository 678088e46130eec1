// SPDX-License-Identifier: BSD-3-Clause
#include <span>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/analysis/internal/team_session.h>
#include <hesscope/core/error.h>
#include <hesscope/core/team.h>

namespace hesscope {
namespace {

// The first of two ranks; exchanges after so many find the other one lost, and so does end().
class LosingTeam final : public Team {
 public:
  explicit LosingTeam(int exchanges) : left_(exchanges) {}

  int size() const override { return 2; }

  int rank() const override { return 0; }

  std::string place() const override { return "rank 0"; }

  void begin() override { is_at_work_ = true; }

  void end() override {
    is_at_work_ = false;
    exchange();
  }

  bool is_at_work() const override { return is_at_work_; }

  void send(int, std::span<const double>) override { exchange(); }

  void receive(int, std::span<double>) override { exchange(); }

  void broadcast(int, std::span<std::byte>) override { exchange(); }

  int smallest(int number) override {
    exchange();
    return number;
  }

 private:
  void exchange() {
    if (left_-- <= 0) throw OutputError("the link to rank 1 is lost");
  }

  int left_;
  bool is_at_work_ = false;
};

// Whichever exchange it is, the error is thrown, or dropped where the session has ended: never
// std::terminate(). A session needs some of them.
TEST(TeamSession, SurvivesALostRank) {
  int num_thrown = 0;
  int num_held = 0;
  for (int exchanges = 0; exchanges < 10; ++exchanges) {
    LosingTeam team(exchanges);
    try {
      const detail::TeamSession session(&team, {{"key", "value"}});
      ++num_held;
    } catch (const OutputError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("is lost"));
      ++num_thrown;
    }
    EXPECT_FALSE(team.is_at_work()) << exchanges;
  }
  EXPECT_GE(num_thrown, 2);
  EXPECT_GE(num_held, 2);
}

}  // namespace
}  // namespace hesscope
