// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/distinct_names.h>

namespace hesscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Paths = std::vector<std::filesystem::path>;

TEST(DistinctNames, AreThoseOfTheFilesWhereTheyDiffer) {
  EXPECT_THAT(distinct_names(Paths{"runs/a.h5", "/tmp/b.h5"}, false), ElementsAre("a", "b"));
  EXPECT_THAT(distinct_names(Paths{"runs/a.h5", "/tmp/b.h5"}), ElementsAre("a.h5", "b.h5"));
  EXPECT_THAT(distinct_names(Paths{"a/x.h5"}), ElementsAre("x.h5"));
  EXPECT_THAT(distinct_names(Paths{}), IsEmpty());
}

TEST(DistinctNames, GrowByFoldersUntilAllDiffer) {
  EXPECT_THAT(distinct_names(Paths{"a/x.h5", "b/x.h5", "b/y.h5"}, false),
              ElementsAre("a/x", "b/x", "b/y"));
  EXPECT_THAT(distinct_names(Paths{"out/a/seed-0/history.h5", "out/b/seed-0/history.h5"}, false),
              ElementsAre("a/seed-0/history", "b/seed-0/history"));
  EXPECT_THAT(distinct_names(Paths{"x.h5", "a/x.h5"}), ElementsAre("x.h5", "a/x.h5"));
}

TEST(DistinctNames, AreAtLastTheWholePaths) {
  EXPECT_THAT(distinct_names(Paths{"a/x.h5", "a/x.nc"}, false), ElementsAre("a/x.h5", "a/x.nc"));
  EXPECT_THAT(distinct_names(Paths{"/x.h5", "x.h5"}, false), ElementsAre("/x.h5", "x.h5"));
}

TEST(DistinctNames, AreTheSameForOnePath) {
  EXPECT_THAT(distinct_names(Paths{"a/x", "a/x", "b/x"}), ElementsAre("a/x", "a/x", "b/x"));
}

}  // namespace
}  // namespace hesscope
