// SPDX-License-Identifier: BSD-3-Clause
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/stat.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/storage/unit_folder.h>

#include "support/files.h"

namespace hesscope::io {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

namespace fs = std::filesystem;
using Others = UnitFolder::Others;

class UnitFolderTest : public testing::Test {
 protected:
  const test::ScratchFolder folder_;
  const fs::path output_ = folder_ / "out.h5";
  const fs::path units_ = folder_ / "out.h5.units";
  const RunConfiguration configuration_ = {{"seed", "1"}, {"model", "a\tb\\\n"}, {"last", ""}};
};

TEST_F(UnitFolderTest, KeepsUnitsFromOneObjectToTheNext) {
  const std::string bytes = std::string("any\0bytes\n", 10);
  {
    UnitFolder units(output_, configuration_, Others::kRefuse);
    EXPECT_TRUE(has_units(output_));
    EXPECT_EQ(units.size(), 0U);
    EXPECT_FALSE(units.read("a").has_value());
    units.write("a", bytes);
    units.write("b", "");
    units.write("b", "again");
  }
  UnitFolder units(output_, configuration_, Others::kRefuse);
  EXPECT_EQ(units.size(), 2U);
  EXPECT_EQ(units.read("a"), bytes);
  EXPECT_EQ(units.read("b"), "again");
  units.remove();
  EXPECT_FALSE(has_units(output_));
}

TEST_F(UnitFolderTest, GoesWhenItHoldsNothing) {
  { UnitFolder units(output_, configuration_, Others::kRefuse); }
  EXPECT_FALSE(fs::exists(units_));
}

TEST_F(UnitFolderTest, AnyDamageIsNoticedAndSaid) {
  UnitFolder(output_, configuration_, Others::kRefuse).write("whole", "1");
  UnitFolder(output_, configuration_, Others::kRefuse).write("a", "0123456789");
  const fs::path file = units_ / "a.unit";
  const std::string good = test::read_bytes(file);
  const auto is_noticed = [&] {
    UnitFolder units(output_, configuration_, Others::kRefuse);
    const bool is_gone = !units.read("a").has_value();
    return is_gone && units.remarks().size() == 1 &&
           units.remarks()[0].find(file.string()) != std::string::npos;
  };
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 4);
    test::write_bytes(file, bad);
    EXPECT_TRUE(is_noticed()) << i;
    test::write_bytes(file, good.substr(0, i));
    EXPECT_TRUE(is_noticed()) << i;
  }
  test::write_bytes(file, good);
  UnitFolder units(output_, configuration_, Others::kRefuse);
  EXPECT_EQ(units.read("a"), "0123456789");
  EXPECT_THAT(units.remarks(), IsEmpty());
}

// Its checksums are right, and its numbers those of another checkpoint.
TEST_F(UnitFolderTest, AUnitCopiedOverAnotherIsNotUsed) {
  {
    UnitFolder units(output_, configuration_, Others::kRefuse);
    units.write("000000-spectrum", "first");
    units.flush();
    units.write("000001-spectrum", "second");
  }
  fs::copy_file(units_ / "000000-spectrum.unit",
                units_ / "000001-spectrum.unit",
                fs::copy_options::overwrite_existing);
  UnitFolder units(output_, configuration_, Others::kRefuse);
  EXPECT_EQ(units.read("000000-spectrum"), "first");
  EXPECT_FALSE(units.read("000001-spectrum").has_value());
  EXPECT_THAT(units.remarks(),
              ElementsAre(AllOf(HasSubstr((units_ / "000001-spectrum.unit").string()),
                                HasSubstr("another unit, '000000-spectrum'; computed again"))));
  units.write("000001-spectrum", "second");
  units.flush();
  EXPECT_EQ(UnitFolder(output_, configuration_, Others::kRefuse).read("000001-spectrum"), "second");
}

TEST_F(UnitFolderTest, AUnitOfAnotherRunIsNotUsed) {
  UnitFolder(output_, configuration_, Others::kRefuse).write("a", "ours");
  const fs::path other = folder_ / "other.h5";
  RunConfiguration data = configuration_;
  data[0].second = "2";
  UnitFolder(other, data, Others::kRefuse).write("a", "theirs");
  fs::copy_file(folder_ / "other.h5.units" / "a.unit",
                units_ / "a.unit",
                fs::copy_options::overwrite_existing);
  UnitFolder units(output_, configuration_, Others::kRefuse);
  EXPECT_FALSE(units.read("a").has_value());
  EXPECT_THAT(units.remarks(),
              ElementsAre(AllOf(HasSubstr((units_ / "a.unit").string()),
                                HasSubstr("another run; computed again"))));
}

TEST_F(UnitFolderTest, WhatIsNoFileDoesNotKeepAnyoneWaiting) {
  UnitFolder(output_, configuration_, Others::kRefuse).write("a", "1");
  ASSERT_EQ(::mkfifo((units_ / "b.unit").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", units_ / "c.unit");
  UnitFolder units(output_, configuration_, Others::kRefuse);
  EXPECT_EQ(units.read("a"), "1");
  EXPECT_FALSE(units.read("b").has_value());
  EXPECT_FALSE(units.read("c").has_value());
  EXPECT_EQ(units.remarks().size(), 2U);
}

TEST_F(UnitFolderTest, UnitsThatFollowOneAnotherShareAFile) {
  constexpr int kCount = 2000;
  const auto name = [](int i) { return fmt::format("{:06}", i); };
  const auto num_files = [&] {
    return std::distance(fs::directory_iterator(units_), fs::directory_iterator());
  };
  {
    UnitFolder units(output_, configuration_, Others::kRefuse);
    for (int i = 0; i < kCount; ++i) units.write(name(i), name(2 * i));
    EXPECT_EQ(units.read(name(kCount - 1)), name(2 * kCount - 2));  // written or not
    EXPECT_EQ(units.size(), static_cast<std::size_t>(kCount));
  }
  EXPECT_LT(num_files(), kCount / 10);
  UnitFolder units(output_, configuration_, Others::kRefuse);
  EXPECT_EQ(units.size(), static_cast<std::size_t>(kCount));
  for (int i = 0; i < kCount; ++i) EXPECT_EQ(units.read(name(i)), name(2 * i));
}

TEST_F(UnitFolderTest, WhatFitsIsKeptWhereAllOfThemDoNot) {
  constexpr rlim_t kLargestFile = 100'000;
  const std::string bytes(kLargestFile * 2 / 5, 'x');
  const std::vector<std::string> names = {"a", "b", "c", "d", "e", "f"};
  void (*const before)(int) = std::signal(SIGXFSZ, SIG_IGN);
  rlimit unlimited{};
  ::getrlimit(RLIMIT_FSIZE, &unlimited);
  const rlimit limited = {kLargestFile, unlimited.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &limited);
  {
    UnitFolder units(output_, configuration_, Others::kRefuse);
    // Two fit into a file; as many as the clock puts into one do not, and are kept one by one.
    for (const std::string& name : names) units.write(name, bytes);
    const auto write_what_does_not_fit = [&] {
      units.write("huge", std::string(2 * kLargestFile, 'x'));
      units.flush();
    };
    EXPECT_THROW(write_what_does_not_fit(), OutputError);
  }
  ::setrlimit(RLIMIT_FSIZE, &unlimited);
  std::signal(SIGXFSZ, before);
  UnitFolder units(output_, configuration_, Others::kRefuse);
  for (const std::string& name : names) EXPECT_EQ(units.read(name), bytes) << name;
  EXPECT_FALSE(units.read("huge").has_value());
}

TEST_F(UnitFolderTest, ADamagedUnitLeavesThoseInTheSameFile) {
  {
    UnitFolder units(output_, configuration_, Others::kRefuse);
    units.write("0", "at once");
    for (const char* name : {"a", "b", "c"}) units.write(name, std::string("bytes of ") + name);
    units.flush();
  }
  const fs::path file = units_ / "a.unit";
  ASSERT_TRUE(fs::exists(file));
  std::string bytes = test::read_bytes(file);
  bytes[bytes.find("bytes of a")] = 'B';
  test::write_bytes(file, bytes);
  {
    UnitFolder units(output_, configuration_, Others::kRefuse);
    EXPECT_FALSE(units.read("a").has_value());
    EXPECT_EQ(units.remarks().size(), 1U);
    units.write("a", "bytes of a");
    units.flush();  // not over the others
    EXPECT_EQ(units.read("b"), "bytes of b");
  }
  UnitFolder units(output_, configuration_, Others::kRefuse);
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_EQ(units.read(name), std::string("bytes of ") + name);
  }
}

TEST_F(UnitFolderTest, WhatAJournalBelongsToFollowsFromTheRunAndItsName) {
  UnitFolder units(output_, configuration_, Others::kRefuse);
  const std::uint64_t owner = units.owner_of("state");
  EXPECT_NE(owner, units.owner_of("history"));
  EXPECT_NE(owner,
            UnitFolder(folder_ / "b.h5", {{"seed", "2"}}, Others::kRefuse).owner_of("state"));
  EXPECT_EQ(owner, UnitFolder(folder_ / "c.h5", configuration_, Others::kRefuse).owner_of("state"));
  test::write_bytes(units.journal("state"), "1");  // with it the folder is not empty
  EXPECT_THROW(UnitFolder(output_, {{"seed", "2"}}, Others::kRefuse), ConfigError);
}

TEST_F(UnitFolderTest, RemovesTheUnitsOfThisConfigurationAlone) {
  UnitFolder(output_, configuration_, Others::kRefuse).write("a", "1");
  remove_units(output_, {{"seed", "2"}});
  EXPECT_TRUE(has_units(output_));
  remove_units(output_, configuration_);
  EXPECT_FALSE(has_units(output_));
}

TEST_F(UnitFolderTest, NamesTheFirstKeyThatDiffers) {
  UnitFolder(output_, configuration_, Others::kRefuse).write("a", "1");
  const auto refused = [&](const RunConfiguration& other, const std::string& key) {
    EXPECT_THAT([&] { UnitFolder(output_, other, Others::kRefuse); },
                ThrowsMessage<ConfigError>(AllOf(HasSubstr(units_.string()), HasSubstr(key))));
  };
  refused({{"seed", "2"}, {"model", "a\tb\\\n"}, {"last", ""}}, "'seed'");
  refused({{"seed", "1"}, {"model", "a\tb\\n"}, {"last", ""}}, "'model'");
  refused({{"seed", "1"}, {"model", "a\tb\\\n"}}, "'last'");
  refused({{"seed", "1"}, {"model", "a\tb\\\n"}, {"last", ""}, {"new", ""}}, "'new'");
  refused({}, "'seed'");
  EXPECT_EQ(UnitFolder(output_, configuration_, Others::kRefuse).read("a"), "1");
}

TEST_F(UnitFolderTest, DiscardsOthersWhereAskedTo) {
  UnitFolder(output_, configuration_, Others::kRefuse).write("a", "1");
  UnitFolder units(output_, {{"seed", "2"}}, Others::kDiscard);
  EXPECT_EQ(units.size(), 0U);
  units.write("a", "2");
  EXPECT_EQ(UnitFolder(output_, {{"seed", "2"}}, Others::kRefuse).read("a"), "2");
}

TEST_F(UnitFolderTest, UnitsWithoutTheirConfigurationAreNobodys) {
  UnitFolder(output_, configuration_, Others::kRefuse).write("a", "1");
  fs::remove(units_ / "configuration");
  EXPECT_THROW(UnitFolder(output_, configuration_, Others::kRefuse), ConfigError);
  EXPECT_EQ(UnitFolder(output_, configuration_, Others::kDiscard).size(), 0U);
}

TEST_F(UnitFolderTest, RemovesWhatAKilledWriterLeft) {
  UnitFolder(output_, configuration_, Others::kRefuse).write("a", "1");
  test::write_bytes(units_ / ".b.unit.tmp-1", "half");
  test::write_bytes(folder_ / ".out.h5.tmp-1", "half");
  test::write_bytes(folder_ / ".other.h5.tmp-1", "another's");
  fs::create_directory(folder_ / ".out.h5.tmp-units");  // killed while units were removed
  test::write_bytes(folder_ / ".out.h5.tmp-units" / "a.unit", "1");
  remove_remnants(output_);
  UnitFolder units(output_, configuration_, Others::kRefuse);
  EXPECT_EQ(units.size(), 1U);
  EXPECT_FALSE(fs::exists(units_ / ".b.unit.tmp-1"));
  EXPECT_FALSE(fs::exists(folder_ / ".out.h5.tmp-1"));
  EXPECT_FALSE(fs::exists(folder_ / ".out.h5.tmp-units"));
  EXPECT_TRUE(fs::exists(folder_ / ".other.h5.tmp-1"));
}

// Names that only begin so are somebody's, and so is all that lies in a folder that is refused.
TEST_F(UnitFolderTest, RemovesNothingThatNoWriterLeft) {
  fs::create_directory(folder_ / ".out.h5.tmp-1");  // a writer's is a file
  test::write_bytes(folder_ / ".out.h5.tmp-1" / "file", "mine");
  test::write_bytes(folder_ / ".out.h5.tmp-notes", "mine");
  remove_remnants(output_);
  EXPECT_TRUE(fs::exists(folder_ / ".out.h5.tmp-1" / "file"));
  EXPECT_TRUE(fs::exists(folder_ / ".out.h5.tmp-notes"));
  fs::create_directory(units_);
  fs::create_directory(units_ / ".cache.tmp-units");
  test::write_bytes(units_ / ".cache.tmp-units" / "file", "mine");
  test::write_bytes(units_ / "mine", "mine");
  EXPECT_THROW(UnitFolder(output_, configuration_, Others::kRefuse), ConfigError);
  EXPECT_TRUE(fs::exists(units_ / ".cache.tmp-units" / "file"));
}

TEST_F(UnitFolderTest, AFolderWithAnythingElseInItIsLeftAlone) {
  const auto refuses = [&](const std::string& name) {
    for (const Others others : {Others::kRefuse, Others::kDiscard}) {
      EXPECT_THAT([&] { UnitFolder(output_, configuration_, others); },
                  ThrowsMessage<ConfigError>(
                      HasSubstr("out.h5.units: holds '" + name + "', which is no finished part")));
    }
    remove_units(output_, configuration_);
    EXPECT_TRUE(fs::exists(units_ / name));
    fs::remove(units_ / name);
  };
  fs::create_directory(units_);
  test::write_bytes(units_ / "notes.txt", "mine");
  refuses("notes.txt");
  fs::create_directory(units_ / "sub");
  refuses("sub");
  fs::create_directory(units_ / "a.unit");
  refuses("a.unit");
  UnitFolder(output_, configuration_, Others::kRefuse).write("a", "1");
  test::write_bytes(units_ / "notes.txt", "mine");
  refuses("notes.txt");
  EXPECT_EQ(UnitFolder(output_, configuration_, Others::kRefuse).read("a"), "1");
}

TEST_F(UnitFolderTest, SaysWhatIsInTheWay) {
  test::write_bytes(units_, "a file");
  EXPECT_THAT([&] { UnitFolder(output_, configuration_, Others::kRefuse); },
              ThrowsMessage<OutputError>(HasSubstr(units_.string())));
  EXPECT_THROW(UnitFolder(folder_ / "none" / "out.h5", configuration_, Others::kRefuse),
               OutputError);
}

TEST_F(UnitFolderTest, RefusesNamesThatAreNone) {
  UnitFolder units(output_, configuration_, Others::kRefuse);
  for (const char* name : {"", ".hidden", "../up", "a/b", "a b"}) {
    EXPECT_THROW(units.write(name, ""), PreconditionError) << name;
    EXPECT_THROW(units.read(name), PreconditionError) << name;
  }
}

}  // namespace
}  // namespace hesscope::io
