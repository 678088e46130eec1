// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/block_tree.h>
#include <hesscope/core/error.h>
#include <hesscope/core/executor.h>
#include <hesscope/core/team.h>

#include "support/thread_team.h"

namespace hesscope {
namespace {

using Eigen::Index;
using test::on_ranks;
using testing::ElementsAre;
using testing::HasSubstr;

// "((0 1) 2)": which sums are added to which.
std::string text_of(const BlockRange& node) {
  if (node.is_leaf()) return std::to_string(node.begin);
  return "(" + text_of(node.left()) + " " + text_of(node.right()) + ")";
}

TEST(BlockTree, AddsHalves) {
  EXPECT_EQ(text_of({0, 1}), "0");
  EXPECT_EQ(text_of({0, 2}), "(0 1)");
  EXPECT_EQ(text_of({0, 3}), "(0 (1 2))");
  EXPECT_EQ(text_of({0, 7}), "((0 (1 2)) ((3 4) (5 6)))");
  EXPECT_EQ(text_of({3, 8}), "((3 4) (5 (6 7)))");
}

// Numbers of very different magnitude: another order of additions gives other bits.
void add_rough(Index b, std::span<double> partial) {
  for (std::size_t i = 0; i < partial.size(); ++i) {
    const double t = static_cast<double>(b) + 0.1 * static_cast<double>(i);
    partial[i] += std::sin(t) * std::exp(20 * std::cos(3 * t));
  }
}

std::vector<double> by_tree(const BlockRange& node, std::size_t size) {
  std::vector<double> sum(size);
  if (node.is_leaf()) {
    add_rough(node.begin, sum);
    return sum;
  }
  sum = by_tree(node.left(), size);
  const std::vector<double> right = by_tree(node.right(), size);
  for (std::size_t i = 0; i < size; ++i) sum[i] += right[i];
  return sum;
}

TEST(BlockTree, IsTheOrderOfSumsOfThreadsAndRanks) {
  for (const Index blocks : {1, 2, 3, 5, 7, 64, 157, 1001}) {
    const std::vector<double> expected = by_tree({0, blocks}, 3);
    std::vector<double> in_order(3);
    for (Index b = 0; b < blocks; ++b) add_rough(b, in_order);
    if (blocks > 7) {
      EXPECT_NE(in_order, expected) << "another order must be seen";
    }
    for (const int threads : {1, 4}) {
      std::vector<double> sum(3, -1.0);
      Executor(threads).sum(blocks, sum, add_rough);
      EXPECT_EQ(sum, expected) << blocks << " blocks, " << threads << " threads";
    }
    for (const int size : {2, 3, 4, 5, 7}) {
      on_ranks(size, [&](const std::shared_ptr<Team>& team) {
        const Executor executor = Executor(2).with(team.get());
        team->call([] {},
                   [&] {
                     std::vector<double> sum(3, -1.0);
                     executor.sum(blocks, sum, add_rough);
                     EXPECT_EQ(sum, expected) << blocks << " blocks, rank " << team->place();
                   });
      });
    }
  }
}

TEST(Team, CutsWorkIntoNeighbours) {
  EXPECT_THAT(equal_shares(10, 3), ElementsAre(0, 4, 7, 10));
  EXPECT_THAT(equal_shares(1, 3), ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(equal_shares(0, 2), ElementsAre(0, 0, 0));
  EXPECT_THAT(equal_shares(4, 2, [](Index i) { return i == 0 ? 6.0 : 2.0; }), ElementsAre(0, 1, 4));
}

TEST(Team, GivesAllRanksWhatEachHasMade) {
  for (const int size : {2, 3, 5}) {
    on_ranks(size, [&](const std::shared_ptr<Team>& team) {
      const Executor executor = Executor(2).with(team.get());
      team->call([] {},
                 [&] {
                   Eigen::MatrixXd columns = Eigen::MatrixXd::Constant(4, 9, -1.0);
                   executor.share(
                       9,
                       [&](Index i) { columns.col(i).setConstant(static_cast<double>(i)); },
                       [&](Index begin, Index end) {
                         return MatrixPart{columns.col(begin).data(), 4, end - begin, 4};
                       });
                   for (Index i = 0; i < 9; ++i) {
                     EXPECT_TRUE((columns.col(i).array() == static_cast<double>(i)).all());
                   }

                   std::vector<int> owners;
                   Eigen::MatrixXd square = Eigen::MatrixXd::Zero(6, 6);
                   for (int c = 0; c < 6; ++c) {
                     owners.push_back(c % team->size());
                     if (owners.back() == team->rank()) square.col(c).setConstant(c + 1.0);
                   }
                   share_columns(*team, owners, square);
                   for (Index c = 0; c < 6; ++c) {
                     EXPECT_TRUE((square.col(c).array() == static_cast<double>(c + 1)).all());
                   }
                 });
    });
  }
}

TEST(Team, ThrowsOnAllRanksWhatOneThrows) {
  for (const int thrower : {0, 1, 2}) {
    on_ranks(3, [&](const std::shared_ptr<Team>& team) {
      const Executor executor = Executor(2).with(team.get());
      const auto sum = [&](const std::function<void(Index)>& before) {
        std::vector<double> result(2);
        executor.sum(20, result, [&](Index b, std::span<double> partial) {
          before(b);
          add_rough(b, partial);
        });
        return result;
      };
      const bool is_thrower = team->rank() == thrower;
      // In a share of the work; between two of them; as somebody's mistake, and as an interruption.
      try {
        team->call([] {},
                   [&] {
                     sum([&](Index) {
                       if (is_thrower) throw InputError("nothing there");
                     });
                   });
        ADD_FAILURE() << team->place();
      } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("nothing there"));
        const std::string place = "rank " + std::to_string(thrower) + " on here: ";
        if (!is_thrower) {
          EXPECT_THAT(error.what(), HasSubstr(place));
        }
      }
      EXPECT_THROW(team->call([] {},
                              [&] {
                                sum([](Index) {});
                                if (is_thrower) throw std::bad_alloc();
                                sum([](Index) {});
                              }),
                   std::exception);
      EXPECT_THROW(team->call([] {},
                              [&] {
                                if (is_thrower) throw Interrupted();
                              }),
                   Interrupted);
      // And the team is as good as before.
      team->call([] {}, [&] { EXPECT_EQ(sum([](Index) {}), by_tree({0, 20}, 2)); });
    });
  }
}

}  // namespace
}  // namespace hesscope
