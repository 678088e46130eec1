// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/io/unit_folder.h>

#include "support/files.h"

namespace hesscope::io {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
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
    const UnitFolder units(output_, configuration_, Others::kRefuse);
    EXPECT_TRUE(has_units(output_));
    EXPECT_EQ(units.size(), 0U);
    EXPECT_FALSE(units.read("a").has_value());
    units.write("a", bytes);
    units.write("b", "");
    units.write("b", "again");
  }
  const UnitFolder units(output_, configuration_, Others::kRefuse);
  EXPECT_EQ(units.size(), 2U);
  EXPECT_EQ(units.read("a"), bytes);
  EXPECT_EQ(units.read("b"), "again");
  units.remove();
  EXPECT_FALSE(has_units(output_));
}

TEST_F(UnitFolderTest, GoesWhenItHoldsNothing) {
  { const UnitFolder units(output_, configuration_, Others::kRefuse); }
  EXPECT_FALSE(fs::exists(units_));
}

TEST_F(UnitFolderTest, AnyDamageIsNoticed) {
  const UnitFolder units(output_, configuration_, Others::kRefuse);
  units.write("a", "0123456789");
  const fs::path file = units_ / "a.unit";
  const std::string good = test::read_bytes(file);
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 4);
    test::write_bytes(file, bad);
    EXPECT_FALSE(units.read("a").has_value()) << i;
    test::write_bytes(file, good.substr(0, i));
    EXPECT_FALSE(units.read("a").has_value()) << i;
  }
  test::write_bytes(file, good);
  EXPECT_EQ(units.read("a"), "0123456789");
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
  const UnitFolder units(output_, {{"seed", "2"}}, Others::kDiscard);
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
  const UnitFolder units(output_, configuration_, Others::kRefuse);
  EXPECT_EQ(units.size(), 1U);
  EXPECT_FALSE(fs::exists(units_ / ".b.unit.tmp-1"));
  EXPECT_FALSE(fs::exists(folder_ / ".out.h5.tmp-1"));
  EXPECT_FALSE(fs::exists(folder_ / ".out.h5.tmp-units"));
  EXPECT_TRUE(fs::exists(folder_ / ".other.h5.tmp-1"));
}

TEST_F(UnitFolderTest, SaysWhatIsInTheWay) {
  test::write_bytes(units_, "a file");
  EXPECT_THAT([&] { UnitFolder(output_, configuration_, Others::kRefuse); },
              ThrowsMessage<OutputError>(HasSubstr(units_.string())));
  EXPECT_THROW(UnitFolder(folder_ / "none" / "out.h5", configuration_, Others::kRefuse),
               OutputError);
}

TEST_F(UnitFolderTest, RefusesNamesThatAreNone) {
  const UnitFolder units(output_, configuration_, Others::kRefuse);
  for (const char* name : {"", ".hidden", "../up", "a/b", "a b"}) {
    EXPECT_THROW(units.write(name, ""), PreconditionError) << name;
    EXPECT_THROW(units.read(name), PreconditionError) << name;
  }
}

}  // namespace
}  // namespace hesscope::io
