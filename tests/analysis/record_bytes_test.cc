// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <limits>
#include <string>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/analysis/internal/record_bytes.h>

namespace hesscope {
namespace {

using ::testing::ElementsAre;

Record sample() {
  Record record;
  record.set("lambda", -0.0);
  record.set("none", 0.0, Status::kUndefinedZeroMedian);
  record.set("tiny", std::numeric_limits<double>::denorm_min());
  record.set_rows("matrix", Eigen::MatrixXd::Random(3, 2));
  record.set_missing("missing", Status::kFailed);
  record.set_count("count", -7);
  record.set_flag("flag", 3);
  record.set_unproved("lambda");
  return record;
}

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof(double)) == 0; }

TEST(RecordBytes, ComeBackToTheLastBit) {
  const Record record = sample();
  const auto read = record_from_bytes(to_bytes(record));
  ASSERT_TRUE(read.has_value());
  ASSERT_EQ(read->entries().size(), record.entries().size());
  for (const auto& [name, entry] : record.entries()) {
    const Record::Entry& other = read->entries().at(name);
    ASSERT_EQ(other.index(), entry.index()) << name;
    if (const auto* real = std::get_if<Record::Real>(&entry)) {
      const auto& values = std::get<Record::Real>(other).values;
      EXPECT_EQ(std::get<Record::Real>(other).status, real->status) << name;
      ASSERT_EQ(values.size(), real->values.size()) << name;
      for (std::size_t i = 0; i < values.size(); ++i) {
        EXPECT_TRUE(same_bits(values[i], real->values[i])) << name;
      }
    }
  }
  EXPECT_EQ(std::get<std::int64_t>(read->entries().at("count")), -7);
  EXPECT_EQ(std::get<std::int8_t>(read->entries().at("flag")), 3);
  EXPECT_THAT(read->unproved(), ElementsAre("lambda"));
}

TEST(RecordBytes, OfAnEmptyRecord) {
  const auto read = record_from_bytes(to_bytes(Record()));
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(read->entries().empty());
}

TEST(RecordBytes, AreNoRecordsWhenCutOrExtended) {
  const std::string bytes = to_bytes(sample());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(record_from_bytes(bytes.substr(0, size)).has_value()) << size;
  }
  EXPECT_FALSE(record_from_bytes(bytes + '\0').has_value());
  EXPECT_FALSE(record_from_bytes(std::string(64, '\xff')).has_value());
}

}  // namespace
}  // namespace hesscope
