// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/storage/part.h>
#include <hesscope/storage/unit_folder.h>

#include "support/files.h"
#include "support/refusal.h"

namespace hesscope::io {
namespace {

using test::expect_refusal;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Others = UnitFolder::Others;

TEST(Part, EveryUnitIsInExactlyOne) {
  for (int count : {1, 2, 3, 7, 40}) {
    for (std::size_t num_units : {0, 1, 5, 12}) {
      for (std::size_t unit = 0; unit < num_units; ++unit) {
        int dealt = 0;
        int ranged = 0;
        for (int index = 0; index < count; ++index) {
          const Part part{.count = count, .index = index};
          const auto [first, last] = part.range(num_units);
          dealt += static_cast<int>(part.is_dealt(unit));
          ranged += static_cast<int>(unit >= first && unit < last);
        }
        EXPECT_EQ(dealt, 1) << unit << " of " << num_units << " in " << count;
        EXPECT_EQ(ranged, 1) << unit << " of " << num_units << " in " << count;
      }
    }
  }
}

TEST(Part, RangesDifferByOneUnitAtMost) {
  for (int index = 0; index < 7; ++index) {
    const auto [first, last] = Part{.count = 7, .index = index}.range(25);
    EXPECT_GE(last - first, 3U);
    EXPECT_LE(last - first, 4U);
  }
}

TEST(Part, IsOneOfThoseThatThereAre) {
  for (const Part part : {Part{0, 0}, {3, -1}, {3, 3}, {-1, 0}, {-1, -2}, {kMostParts + 1, 0}}) {
    const std::string message = fmt::format("there is no part {} of {}", part.index, part.count);
    expect_refusal([&] { part.is_dealt(1); }, message);
    expect_refusal([&] { part.range(5); }, message);
    expect_refusal([&] { place_of("out.h5", part); }, message);
  }
}

class PartsTest : public testing::Test {
 protected:
  void write(const std::string& name) const { std::ofstream(folder_ / name) << "x"; }

  const test::ScratchFolder folder_;
  const std::filesystem::path output_ = folder_ / "out.h5";
  const RunConfiguration configuration_ = {{"seed", "1"}};
};

TEST_F(PartsTest, AreFoundByWhatTheyLeft) {
  EXPECT_THAT(parts_at(output_), IsEmpty());
  for (const char* name : {"out.h5.part-2-of-3.units",
                           "out.h5.part-2-of-3.lock",
                           "out.h5.part-10-of-11.units",
                           "out.h5.part-0-of-3.lock"}) {
    write(name);
  }
  for (const char* name : {"out.h5.part-3-of-3.units",
                           "out.h5.part--1-of-3.units",
                           "out.h5.part-0-of-2147483647.units",
                           "out.h5.part-1-of-3",
                           "out.h5.part-1-of-3.units.old",
                           "out.h5.part-of-3.units",
                           "other.h5.part-1-of-3.units",
                           ".out.h5.part-1-of-3.tmp-units",
                           "out.h5.units"}) {
    write(name);
  }
  EXPECT_THAT(parts_at(output_),
              ElementsAre(Part{.count = 3, .index = 0},
                          Part{.count = 3, .index = 2},
                          Part{.count = 11, .index = 10}));
  EXPECT_EQ(place_of(output_, {.count = 3, .index = 2}).filename(), "out.h5.part-2-of-3");
  EXPECT_THAT(parts_at(folder_ / "none" / "out.h5"), IsEmpty());
}

TEST_F(PartsTest, BorrowUnitsOfTheSameRunAlone) {
  const std::filesystem::path first = place_of(output_, {.count = 2, .index = 0});
  const std::filesystem::path second = place_of(output_, {.count = 2, .index = 1});
  UnitFolder(first, configuration_, Others::kRefuse).write("a", "ours");
  UnitFolder(second, {{"seed", "2"}}, Others::kRefuse).write("b", "theirs");
  {
    UnitFolder units(output_, configuration_, Others::kRefuse);
    units.borrow(first);
    units.borrow(second);
    units.borrow(folder_ / "none");
    EXPECT_EQ(units.read("a"), "ours");
    EXPECT_FALSE(units.read("b").has_value());
    EXPECT_THAT(units.remarks(), IsEmpty());
  }
  EXPECT_FALSE(has_units(output_));  // nothing of its own
  EXPECT_TRUE(has_units(first));
  EXPECT_TRUE(has_units(second));
}

TEST_F(PartsTest, BorrowNothingFromAFolderThatItsOwnerRemovesMeanwhile) {
  const std::filesystem::path part = place_of(output_, {});
  UnitFolder units(output_, configuration_, Others::kRefuse);
  std::atomic<bool> is_done = false;
  std::thread owner([&] {
    while (!is_done) {
      UnitFolder(part, configuration_, Others::kRefuse).write("a", "1");
      remove_units(part, configuration_);
    }
  });
  for (int i = 0; i < 10000; ++i) EXPECT_NO_THROW(units.borrow(part));
  is_done = true;
  owner.join();
  EXPECT_THAT(units.remarks(), IsEmpty());
}

TEST_F(PartsTest, FindNothingOfBorrowedUnitsThatAreGone) {
  const std::filesystem::path part = place_of(output_, {});
  UnitFolder(part, configuration_, Others::kRefuse).write("a", "1");
  UnitFolder units(output_, configuration_, Others::kRefuse);
  units.borrow(part);
  remove_units(part, configuration_);
  EXPECT_FALSE(units.read("a").has_value());
  EXPECT_EQ(units.size(), 0U);
  EXPECT_THAT(units.remarks(), IsEmpty());
}

TEST_F(PartsTest, LeaveDamagedUnitsWhereTheyBorrowThem) {
  const std::filesystem::path part = place_of(output_, {});
  UnitFolder(part, configuration_, Others::kRefuse).write("a", "1");
  const std::filesystem::path file = folder_ / "out.h5.part-0-of-1.units" / "a.unit";
  std::ofstream(file) << "damaged";
  UnitFolder units(output_, configuration_, Others::kRefuse);
  units.borrow(part);
  EXPECT_FALSE(units.read("a").has_value());
  EXPECT_EQ(units.remarks().size(), 1U);
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST_F(PartsTest, AdmitUnitsAsOpeningDoes) {
  UnitFolder(output_, configuration_, Others::kRefuse).write("a", "1");
  admit_units(output_, configuration_, Others::kDiscard);
  EXPECT_TRUE(has_units(output_));
  EXPECT_THROW(admit_units(output_, {{"seed", "2"}}, Others::kRefuse), ConfigError);
  EXPECT_TRUE(has_units(output_));
  admit_units(output_, {{"seed", "2"}}, Others::kDiscard);
  EXPECT_FALSE(has_units(output_));
  admit_units(output_, configuration_, Others::kRefuse);
  EXPECT_FALSE(has_units(output_));
}

}  // namespace
}  // namespace hesscope::io
