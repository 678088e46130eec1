// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include <hesscope/core/internal/control_group.h>

#include "support/files.h"

namespace hesscope {
namespace {

class ControlGroupMemory : public ::testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((folder_.path() / file).parent_path());
    test::write_bytes(folder_ / file, text);
  }

  detail::ControlGroupMemory memory(const std::string& groups) const {
    std::istringstream stream(groups);
    return detail::control_group_memory(stream, folder_.path());
  }

 private:
  test::ScratchFolder folder_;
};

TEST_F(ControlGroupMemory, IsInfiniteWithoutGroups) {
  EXPECT_EQ(memory("").limit, HUGE_VAL);
  EXPECT_EQ(memory("0::/nowhere\n").free, HUGE_VAL);
  EXPECT_EQ(memory("no groups\n").limit, HUGE_VAL);
}

// As systemd and Slurm nest them: a group without a limit in one with one.
TEST_F(ControlGroupMemory, IsTheLeastOfAllGroupsAbove) {
  write("job/step/memory.max", "max\n");
  write("job/step/memory.current", "100\n");
  write("job/memory.max", "1000\n");
  write("job/memory.current", "700\n");
  write("job/memory.stat", "anon 500\ninactive_file 150\n");
  EXPECT_EQ(memory("0::/job/step\n").limit, 1000);
  EXPECT_EQ(memory("0::/job/step\n").free, 450);
  write("job/step/memory.max", "300\n");
  EXPECT_EQ(memory("0::/job/step\n").limit, 300);
  EXPECT_EQ(memory("0::/job/step\n").free, 200);
  EXPECT_EQ(memory("0::/job\n").limit, 1000);
  EXPECT_EQ(memory("0::/\n").limit, HUGE_VAL);
}

TEST_F(ControlGroupMemory, OfVersion1IsThatOfItsController) {
  write("memory/job/memory.limit_in_bytes", "2000\n");
  write("memory/job/memory.usage_in_bytes", "500\n");
  write("memory/job/memory.stat", "total_inactive_file 100\n");
  write("job/memory.max", "1\n");
  EXPECT_EQ(memory("5:cpu,memory:/job\n1:cpu:/other\n").limit, 2000);
  EXPECT_EQ(memory("5:cpu,memory:/job\n").free, 1600);
  EXPECT_EQ(memory("5:cpu:/job\n").limit, HUGE_VAL);
}

// A container whose own group is mounted as the root, while paths are those of the machine.
TEST_F(ControlGroupMemory, OfAContainerIsThatOfItsRoot) {
  write("memory.max", "4000\n");
  write("memory.current", "1000\n");
  EXPECT_EQ(memory("0::/docker/1234\n").limit, 4000);
  EXPECT_EQ(memory("0::/../1234\n").free, 3000);
}

}  // namespace
}  // namespace hesscope
