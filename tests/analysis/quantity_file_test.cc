// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/analysis/internal/quantity_file.h>
#include <hesscope/analysis/internal/result_reading.h>
#include <hesscope/analysis/internal/unproved_numbers.h>
#include <hesscope/core/error.h>
#include <hesscope/dataset/result_reader.h>

#include "support/files.h"
#include "support/refusal.h"

namespace hesscope::detail {
namespace {

const Variable kNumbers{.name = "x",
                        .dimensions = {"row", "column"},
                        .long_name = "numbers",
                        .definition = "as they are"};

class QuantityFileTest : public ::testing::Test {
 protected:
  QuantityFileTest() {
    file_.define_dimensions("", {{.name = "row", .size = 2}, {.name = "column", .size = 3}});
  }

  Variable numbers(std::vector<Status> statuses) const {
    Variable variable = kNumbers;
    variable.set_numbers({1, 2, 3, 4, 5, 6}, std::move(statuses));
    return variable;
  }

  test::ScratchFolder folder_;
  QuantityFile file_{folder_.path() / "a.h5", io::Existing::kRefuse};
};

TEST_F(QuantityFileTest, RefusesStatusesThatAreNotOneForEach) {
  file_.define("", kNumbers, kNumbers.dimensions, 1);  // of each row
  test::expect_refusal([&] { file_.write("", numbers(std::vector<Status>(6, Status::kOk))); },
                       "x has 6 statuses, and the file one for each of 2");
  EXPECT_NO_THROW(file_.write("", numbers({Status::kOk, Status::kFailed})));
  file_.commit();
  const io::ResultReader result(folder_.path() / "a.h5");
  EXPECT_EQ(read_statuses(result, "", "x", 2), std::vector({Status::kOk, Status::kFailed}));
}

TEST_F(QuantityFileTest, KeepsWhichNumbersAreNotProved) {
  Variable row = kNumbers;
  row.is_proved = false;
  row.set_numbers({1, 2, 3}, {Status::kOk});
  for (const char* name : {"x", "y", "z", "proved"}) {
    row.name = name;
    file_.define("", row, row.dimensions, 1);
  }
  row.name = "x";
  file_.write("", row, 1);
  row.name = "y";
  for (const std::size_t i : {0, 1}) file_.write("", row, i);
  Variable whole = numbers({Status::kOk});
  whole.name = "z";
  whole.is_proved = false;
  file_.write("", whole);
  whole.name = "proved";
  whole.is_proved = true;
  file_.write("", whole);
  file_.commit();
  const io::ResultReader result(folder_.path() / "a.h5");
  const UnprovedNumbers unproved(result);
  EXPECT_EQ(unproved.text(), "/x 1\n/y 0-1\n/z");
  EXPECT_EQ(unproved.rows_of("", "x", 2), (std::vector{false, true}));
  EXPECT_EQ(unproved.rows_of("", "y", 2), (std::vector{true, true}));
  EXPECT_EQ(unproved.rows_of("", "z", 2), (std::vector{true, true}));
  EXPECT_EQ(unproved.rows_of("", "proved", 2), (std::vector{false, false}));
  EXPECT_EQ(unproved.rows_of("", "x", 1), std::vector{true});  // anywhere
}

TEST(UnprovedNumbers, JoinsRowsThatFollowOneAnother) {
  UnprovedNumbers unproved;
  EXPECT_TRUE(unproved.is_empty());
  for (const std::size_t row : {0, 1, 2, 5, 7, 8}) unproved.add("tracking", "gap", row);
  unproved.add("spectrum", "lambda_max", std::nullopt);
  EXPECT_EQ(unproved.text(), "spectrum/lambda_max\ntracking/gap 0-2,5,7-8");
  EXPECT_EQ(unproved.rows_of("tracking", "gap", 6),
            (std::vector{true, true, true, false, false, true}));
}

TEST(UnprovedNumbers, OfManyRowsAreThoseOfAll) {
  UnprovedNumbers unproved;
  for (std::size_t row = 0; row < 20000; row += 2) unproved.add("tracking", "gap", row);
  EXPECT_EQ(unproved.text(), "tracking/gap");  // what every reader of the file reads
}

TEST(ReadRecords, TakesTheFirstOfEachRow) {
  const test::ScratchFolder folder;
  const std::filesystem::path path = folder.path() / "a.h5";
  Variable counts = kNumbers;
  counts.type = VariableType::kInt64;
  counts.set_numbers({1, 2, 3, 4, 5, 6}, {Status::kOk, Status::kFailed});
  {
    QuantityFile file(path, io::Existing::kRefuse);
    file.define_dimensions("", {{.name = "row", .size = 2}, {.name = "column", .size = 3}});
    file.define("", counts, counts.dimensions, 1);
    file.write("", counts);
    file.commit();
  }
  const io::ResultReader result(path);
  Variable declared = kNumbers;
  declared.type = VariableType::kInt64;
  const std::vector<Group> rows = read_records(result, "", {declared}, 2);
  EXPECT_EQ(rows[0]["x"].number(), 1);
  EXPECT_EQ(rows[0]["x"].status(), Status::kOk);
  EXPECT_EQ(rows[1]["x"].status(), Status::kFailed);
  EXPECT_THROW(read_records(result, "", {declared}, 4), InputError);
}

}  // namespace
}  // namespace hesscope::detail
