// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/mpi/internal/block_cyclic.h>

namespace hesscope {
namespace {

using Eigen::Index;

TEST(BlockCyclic, DealsBlocksInTurn) {
  for (const int num_processes : {1, 2, 3, 5}) {
    const detail::BlockCyclic layout(num_processes);
    std::vector<Index> num_dealt(static_cast<std::size_t>(num_processes), 0);
    for (Index i = 0; i < 1000; ++i) {
      const int owner = layout.owner(i);
      ASSERT_EQ(owner, static_cast<int>(i / 64) % num_processes);
      for (int p = 0; p < num_processes; ++p) {
        ASSERT_EQ(layout.num_local(i, p), num_dealt[static_cast<std::size_t>(p)]) << i << " " << p;
      }
      const Index place = num_dealt[static_cast<std::size_t>(owner)]++;
      ASSERT_EQ(layout.local(i), place);
      ASSERT_EQ(layout.global(place, owner), i);
    }
  }
}

}  // namespace
}  // namespace hesscope
